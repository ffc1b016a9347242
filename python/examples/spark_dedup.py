"""The set of URLs in a crawl or in logs, as Parquet, by Spark.

    spark-submit spark_dedup.py PATH OUT [--format FORMAT] [--profile NAME] [--base URL] [--partitions N]

PATH holds URLs, one a line (``--format lines``), Common Crawl's columnar index (``cc-index``, Parquet with a column
``url``), or logs in a format of the command that reads each line by itself (``combined``,
``log:FORMAT``, ``json:/url``, ...). OUT is a directory that does not exist; it gets one column,
``canonical``, of bytes. The accounting is printed as JSON, and appears when OUT is complete.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession
from uniqurl import spark as uniqurl


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description="Writes the set of URLs in PATH to OUT.")
    parser.add_argument("path")
    parser.add_argument("out")
    parser.add_argument("--format", default="lines")
    parser.add_argument("--profile", default="crawl")
    parser.add_argument("--base")
    parser.add_argument("--partitions", type=int, help="after the shuffle; Spark chooses where none is given")
    wish = parser.parse_args(arguments)

    spark = SparkSession.builder.appName("uniqurl").getOrCreate()
    if wish.format == "cc-index":
        # A columnar format reads only this column.
        records, column, line_format = spark.read.parquet(wish.path).select("url"), "url", None
    else:
        records, column = uniqurl.read_lines(spark, wish.path), "line"
        line_format = None if wish.format == "lines" else wish.format

    accounting = uniqurl.Accounting(spark)
    found = uniqurl.dedup(
        records,
        column,
        wish.profile,
        format=line_format,
        base=wish.base,
        partitions=wish.partitions,
        accounting=accounting,
    )
    found.write.parquet(wish.out)
    account = accounting.value
    assert account["records"] == sum(account[term] for term in ("unique", "duplicates", "rejected", "blank"))
    print(json.dumps(account))
    return account


if __name__ == "__main__":
    main()
