"""The new URLs of a crawl beside all crawls before it, by Spark: one seen store for each shard of hosts.

    uniqurl dedup crawl.warc.gz --split-by host:64 -o shards
    spark-submit spark_seen.py shards stores new

``shards`` and ``stores`` are directories that all executors see, on a file system with locks. All URLs of a
host are in one shard, so each shard has a store of its own, and no two tasks write to the same one. Each task
writes the URLs that its store does not have to ``new``, and then adds them: a task that runs again writes its
file again, and loses no URL.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import uniqurl
from pyspark.sql import SparkSession


def of_shard(shard: Path, stores: Path, new: Path) -> dict[str, Any]:
    store = uniqurl.SeenStore(stores / shard.name, threads=1)
    urls = pa.chunked_array(uniqurl.dedup(shard, format="lines", threads=1).urls)
    seen = pa.chunked_array(store.contains(urls))
    found = urls.filter(pa.compute.invert(seen))
    out = new / f"{shard.name}.parquet"
    # A copy of this task may write, too: the file appears whole.
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    pa.parquet.write_table(pa.table({"canonical": found}), part)
    part.rename(out)
    # A copy that was faster has added them already.
    store.add(found)
    return {"shard": shard.name, "urls": len(urls), "new": len(found)}


def main(arguments: Sequence[str] | None = None) -> list[dict[str, Any]]:
    parser = argparse.ArgumentParser(description="Writes the URLs of each shard that its store has not seen.")
    parser.add_argument("shards", type=Path)
    parser.add_argument("stores", type=Path)
    parser.add_argument("new", type=Path)
    wish = parser.parse_args(arguments)
    stores, new = wish.stores.absolute(), wish.new.absolute()
    stores.mkdir(exist_ok=True)
    new.mkdir()
    shards = sorted(wish.shards.absolute().iterdir())

    context = SparkSession.builder.appName("uniqurl").getOrCreate().sparkContext
    done = context.parallelize(shards, len(shards)).map(lambda shard: of_shard(shard, stores, new)).collect()
    print(json.dumps(done))
    return done


if __name__ == "__main__":
    main()
