"""Compares a column with the library on the same bytes, and with other packages in a loop.

Each round runs all contenders in turn, so that other load on the machine affects all of them. A ratio
is the median of the ratios within rounds. The results of each contender are checked before any timing.
The library writes to memory as fresh as the column's; the second run of the same batch writes to
memory that was touched before.
"""

import argparse
import statistics
import time

import can_ada
import pyarrow as pa
import uniqurl
from uniqurl._core import _library_seconds
from w3lib.url import canonicalize_url


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", help="a list of URLs")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loop", type=int, default=50_000, help="rows for what is called in a loop")
    wish = parser.parse_args()

    with open(wish.corpus, encoding="utf-8") as lines:
        urls = [line.rstrip("\n") for _, line in zip(range(wish.rows), lines)]
    some = urls[: wish.loop]
    column = pa.array(urls, pa.string())
    rows = len(urls)
    size = column.buffers()[2].size
    del urls

    normalizer = uniqurl.Normalizer("crawl")
    done = normalizer.normalize_column(column.slice(0, len(some)))
    one_by_one = []
    for url in some:
        try:
            one_by_one.append(normalizer(url))
        except uniqurl.Rejected:
            one_by_one.append(None)
    assert done.canonical.to_pylist() == one_by_one
    assert can_ada.parse("HTTP://a.com:80/../b").href == "http://a.com/b"
    assert canonicalize_url("HTTP://a.com/?b=1&a=2") == "http://a.com/?a=2&b=1"

    def timed(work):
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    def ada():
        for url in some:
            try:
                can_ada.parse(url).href
            except ValueError:
                pass

    def w3lib():
        for url in some:
            try:
                canonicalize_url(url)
            except ValueError:
                pass

    contenders = {
        "library": lambda: _library_seconds(column, "crawl", 1)[0] / rows,
        "library, the same batch again": lambda: _library_seconds(column, "crawl", 2)[1] / rows,
        "column, one thread": lambda: timed(lambda: normalizer.normalize_column(column, threads=1)) / rows,
        "column, all cores": lambda: timed(lambda: normalizer.normalize_column(column)) / rows,
        "can_ada": lambda: timed(ada) / len(some),
        "w3lib": lambda: timed(w3lib) / len(some),
    }
    for work in contenders.values():
        work()
    seconds = {name: [] for name in contenders}
    for _ in range(wish.rounds):
        for name, work in contenders.items():
            seconds[name].append(work())
    print(f"{rows} URLs, {size} bytes; {wish.rounds} rounds; w3lib and can_ada on {len(some)} of them\n")
    print("| contender | ns/URL, fastest | median | beside the column |")
    print("|---|---|---|---|")
    base = seconds["column, one thread"]
    beside = lambda name: statistics.median(taken / own for taken, own in zip(seconds[name], base))
    for name, taken in seconds.items():
        print(f"| {name} | {min(taken) * 1e9:.1f} | {statistics.median(taken) * 1e9:.1f} | {beside(name):.2f}x |")
    print(f"\ncolumn / library: {1 / beside('library'):.2f} (at most 1.3)")
    print(f"w3lib / column: {beside('w3lib'):.1f} (at least 20)")
    print(f"can_ada / column: {beside('can_ada'):.1f} (at least 4)")


if __name__ == "__main__":
    main()
