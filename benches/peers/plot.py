"""Draws a chart of whole jobs from the figures of scripts/bench-peers, as SVG: one in light and one in dark colours.

usage: plot.py RESULTS.json CHART.svg

The dark chart is CHART-dark.svg. Only the standard library is needed.
"""

import json
import sys
from html import escape
from pathlib import Path

# A corpus, and the words that stand over its bars.
TITLES = {
    "clean": "a list, two thirds of it distinct",
    "dup": "a list, 1 URL in 65 distinct",
    "access": "a web server's log",
}
# The bars, by the start of a contender's name. Others are left out: lines of output are enough for them.
LABELS = {
    "uniqurl dedup": "uniqurl dedup",
    "cp; sync": "cp, synced",
    "DuckDB": "DuckDB DISTINCT",
    "Polars": "Polars unique",
    "huniq": "huniq",
    "runiq": "runiq",
    "sort -u": "sort -u",
    "cut | huniq": "cut | huniq",
    "cut | runiq": "cut | runiq",
    "cut | sort -u": "cut | sort -u",
}
LIGHT = {"ink": "#1f2328", "soft": "#59636e", "ours": "#0969da", "theirs": "#afb8c1", "copy": "#d1d9e0", "page": "#ffffff"}
DARK = {"ink": "#f0f6fc", "soft": "#9198a1", "ours": "#4493f8", "theirs": "#656c76", "copy": "#3d444d", "page": "#0d1117"}

WIDTH, LEFT, RIGHT, BAR, GAP = 760, 150, 150, 17, 6


def label(name):
    return next((text for start, text in LABELS.items() if name.startswith(start)), None)


def groups(processes):
    """The bars of each corpus, the shortest first."""
    found = {}
    for row in processes:
        # The scripts' runs, on 10 MB, have corpora of the same names.
        if label(row["name"]) and row["corpus"] in TITLES and row["bytes"] > 5e7:
            found.setdefault(row["corpus"], []).append(row)
    return {corpus: sorted(rows, key=lambda row: row["seconds"]) for corpus, rows in found.items()}


def interval(row):
    """The shortest and the longest run."""
    return row.get("seconds_interval") or (row["seconds"], row["seconds"])


def size(count):
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def chart(results, colours):
    lines, y = [], 14

    def text(x, y, words, colour="ink", more=""):
        lines.append(f'<text x="{x}" y="{y}" fill="{colours[colour]}" {more}>{escape(words)}</text>')

    for corpus, rows in groups(results["processes"]).items():
        y += 18
        text(0, y, f"{TITLES[corpus]} ({size(rows[0]['bytes'])})", more='font-weight="600"')
        y += 10
        longest = max(interval(row)[1] for row in rows)
        ours = next((row["seconds"] for row in rows if row["name"].startswith("uniqurl")), None)
        for row in rows:
            seconds, name = row["seconds"], label(row["name"])
            width = max(1, (WIDTH - LEFT - RIGHT) * seconds / longest)
            kind = "ours" if name.startswith("uniqurl") else "copy" if name.startswith("cp") else "theirs"
            times = f" ({seconds / ours:.1f}x)" if ours and kind != "ours" else ""
            text(LEFT - 8, y + 13, name, more='text-anchor="end"')
            lines.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" fill="{colours[kind]}"/>')
            low, high = (LEFT + (WIDTH - LEFT - RIGHT) * end / longest for end in interval(row))
            if high - low > 1:
                lines.append(f'<path d="M{low:.1f} {y + BAR / 2}H{high:.1f}" stroke="{colours["ink"]}" fill="none"/>')
            end = max(LEFT + width, high)
            text(f"{end + 8:.1f}", y + 13, f"{seconds:.2f} s{times}", "ink" if kind == "ours" else "soft")
            y += BAR + GAP
        y += 8
    y += 14
    text(0, y, "Medians, the shortest and the longest run; shorter is better. Only uniqurl normalizes, the others compare lines.", "soft")
    y += 17
    text(0, y, results["machine"], "soft", 'font-size="11"')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" width="{WIDTH}" height="{y + 10}" '
        f'font-family="system-ui, sans-serif" font-size="13" role="img">\n'
        "<title>uniqurl dedup beside other programs that make lines unique</title>\n"
        f'<rect width="100%" height="100%" fill="{colours["page"]}"/>\n'
    )
    return head + "\n".join(lines) + "\n</svg>\n"


def main():
    if len(sys.argv) != 3 or not sys.argv[2].endswith(".svg"):
        sys.exit(__doc__)
    results = json.loads(Path(sys.argv[1]).read_text())
    if not groups(results["processes"]):
        sys.exit(f"{sys.argv[1]}: no whole-process runs to draw")
    path = Path(sys.argv[2])
    path.write_text(chart(results, LIGHT))
    path.with_name(f"{path.stem}-dark.svg").write_text(chart(results, DARK))


main()
