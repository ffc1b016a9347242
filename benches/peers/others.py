#!/usr/bin/env python3
"""What people run today in place of uniqurl, on a list of URLs: others.py TOOL IN OUT FORMAT.

DuckDB and Polars make lines unique, or the targets of a combined log, on as many threads as THREADS and
POLARS_MAX_THREADS say; DuckDB with the limit MEMORY, if there is one, and the folder SPILL. w3lib and surt normalize
each line and keep a set."""

import os
import sys


def duckdb(source, target, log):
    import duckdb

    line = "split_part(line, ' ', 7)" if log else "line"
    # No byte of a line is a delimiter or a quotation mark.
    table = (
        "read_csv(?, header=false, auto_detect=false, delim='\x01', quote='', escape='', "
        "columns={'line': 'VARCHAR'})"
    )
    config = {"threads": int(os.environ["THREADS"])}
    if "MEMORY" in os.environ:
        config |= {"memory_limit": os.environ["MEMORY"], "temp_directory": os.environ["SPILL"]}
    connection = duckdb.connect(config=config)
    connection.execute(
        f"COPY (SELECT DISTINCT {line} FROM {table}) TO '{target}' "
        "(FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '')",
        [source],
    )


def polars(source, target, log):
    import polars

    lines = polars.scan_csv(source, has_header=False, separator="\x01", quote_char=None, new_columns=["line"])
    if log:
        lines = lines.select(polars.col("line").str.split(" ").list.get(6))
    lines.unique().sink_csv(target, include_header=False, separator="\x01", quote_style="never")


def w3lib(source, target, _):
    from w3lib.url import canonicalize_url

    each(source, target, canonicalize_url)


def surt(source, target, _):
    import surt

    each(source, target, surt.surt)


def each(source, target, normalize):
    seen = set()
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            canonical = normalize(line.rstrip("\n"))
            if canonical not in seen:
                seen.add(canonical)
                out.write(canonical + "\n")


if __name__ == "__main__":
    tool, source, target, form = sys.argv[1:]
    {"duckdb": duckdb, "polars": polars, "w3lib": w3lib, "surt": surt}[tool](source, target, form == "combined")
