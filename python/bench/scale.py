"""A job of many partitions, one after another on one core, beside what the model of docs/scale.md says.

A task of the first stage reads its part, normalizes it, drops its duplicates, and writes what is left in
as many blocks as there are tasks in the second; one of those reads its blocks, drops duplicates again,
and writes Parquet. The rates of the model come from one part of another corpus. Seconds are of CPU time.
"""

import argparse
import os
import pathlib
import tempfile
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import polars
import pyarrow as pa
import uniqurl

normalizer = uniqurl.Normalizer("crawl")


def parts_of(path, count):
    """The file in parts of about the same size, cut at line feeds."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        start = 0
        for part in range(1, count + 1):
            file.seek(max(start, size * part // count))
            file.readline()
            end = file.tell()
            file.seek(start)
            yield file.read(end - start)
            start = end


class Clock:
    def __init__(self):
        self.seconds = {}
        self.last = time.process_time()

    def lap(self, name):
        now = time.process_time()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.last
        self.last = now

    def start(self):
        self.last = time.process_time()


def first_stage(part, blocks, folder, number, clock):
    clock.start()
    lines = part.split(b"\n")
    lines.pop()
    column = pa.array(lines, pa.binary())
    clock.lap("read")
    done = normalizer.normalize_column(column, threads=1)
    clock.lap("normalize")
    found = polars.DataFrame({"url": polars.Series(done.canonical)}).drop_nulls().unique()
    clock.lap("drop duplicates")
    shuffled = 0
    for (block,), rows in found.with_columns(polars.col("url").hash(7).mod(blocks).alias("block")).partition_by("block", as_dict=True).items():
        path = folder / f"{block}-{number}"
        rows.select("url").write_ipc(path, compression="lz4")
        shuffled += path.stat().st_size
    clock.lap("write shuffle")
    return {"records": len(lines), "bytes": len(part), "rows": len(found), "shuffled": shuffled}


def second_stage(folder, block, out, clock):
    clock.start()
    paths = sorted(folder.glob(f"{block}-*"))
    found = polars.concat([polars.read_ipc(path, memory_map=False) for path in paths])
    clock.lap("read shuffle")
    unique = found.unique()
    clock.lap("drop duplicates again")
    unique.write_parquet(out / f"{block}.parquet", compression="zstd")
    clock.lap("write")
    return {"rows": len(found), "unique": len(unique), "written": (out / f"{block}.parquet").stat().st_size}


def run(path, parts, blocks):
    """One job: what all its tasks took, and how much they moved."""
    clock, moved = Clock(), {}
    with tempfile.TemporaryDirectory() as name:
        folder, out = pathlib.Path(name, "shuffle"), pathlib.Path(name, "out")
        folder.mkdir(), out.mkdir()
        for number, part in enumerate(parts_of(path, parts)):
            for what, count in first_stage(part, blocks, folder, number, clock).items():
                moved[what] = moved.get(what, 0) + count
        for block in range(blocks):
            for what, count in second_stage(folder, block, out, clock).items():
                if what != "rows":
                    moved[what] = moved.get(what, 0) + count
    return clock.seconds, moved


# What each step's time grows with.
DRIVEN_BY = {
    "read": "bytes",
    "normalize": "bytes",
    "drop duplicates": "records",
    "write shuffle": "rows",
    "read shuffle": "rows",
    "drop duplicates again": "rows",
    "write": "unique",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus")
    parser.add_argument("calibration", help="another one, about as large as a few parts")
    parser.add_argument("--parts", type=int, default=64)
    wish = parser.parse_args()

    blocks = max(1, wish.parts // 8)
    few = max(1, round(os.path.getsize(wish.calibration) / (os.path.getsize(wish.corpus) / wish.parts)))
    run(wish.calibration, few, blocks)
    seconds, moved = run(wish.calibration, few, blocks)
    rates = {step: seconds[step] / moved[by] for step, by in DRIVEN_BY.items()}
    taken, did = run(wish.corpus, wish.parts, blocks)
    print(f"{wish.parts} parts of {did['bytes'] // wish.parts} bytes, {blocks} blocks; rates from {few} parts of another corpus")
    print(", ".join(f"{name} {count}" for name, count in did.items()) + "\n")
    print("| step | grows with | ns each | model, ms/part | measured, ms/part | measured / model |")
    print("|---|---|---|---|---|---|")
    total = [0.0, 0.0]
    for step, by in DRIVEN_BY.items():
        model, measured = rates[step] * did[by] / wish.parts, taken[step] / wish.parts
        total = [total[0] + model, total[1] + measured]
        print(f"| {step} | {by} | {rates[step] * 1e9:.2f} | {model * 1e3:.1f} | {measured * 1e3:.1f} | {measured / model:.2f} |")
    print(f"| all | | | {total[0] * 1e3:.1f} | {total[1] * 1e3:.1f} | {total[1] / total[0]:.2f} |")
    expected = uniqurl.dedup(wish.corpus, format="lines").accounting
    assert did["unique"] == expected["unique"], (did, expected)
    print(f"\nthe set is that of uniqurl.dedup: {expected['unique']} of {expected['records']} records")


if __name__ == "__main__":
    main()
