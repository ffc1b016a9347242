"""Whole processes beside each other, for scripts/bench-peers and scripts/bench-scale.

All contenders run in each round, in random order, so that other load of the machine meets everyone. Their seconds are
medians of the rounds; beside them stand the shortest and the longest, which hold the true median in 15 of 16 series of
five rounds, whatever the distribution.
"""

import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
GENERATED = ROOT / "corpora/generated"
PROFILE = re.search(r"^profile=(\w+)", (ROOT / "scripts/lib.bash").read_text(), re.MULTILINE)[1]


class Contender(NamedTuple):
    name: str
    command: str | list  # a line for sh, or words
    check: object = None  # called after the first run; gives the number of lines that the command wrote
    feeds: tuple = ()  # what writes into its FIFOs


def note(text):
    print(f"{Path(sys.argv[0]).name}: {text}", file=sys.stderr, flush=True)


def build():
    """The command as it is released."""
    note("building uniqurl")
    subprocess.run(["cargo", "build", "--quiet", "--profile", PROFILE, "--bin", "uniqurl"], cwd=ROOT, check=True)
    return str(TARGET / PROFILE / "uniqurl")


def python_of_peers():
    """A Python with the packages of benches/peers/others.py, in the versions of python/constraints.txt, or None."""
    make = '. "$(dirname "$0")/lib.bash"; venv peers duckdb polars w3lib surt >&2 && echo "$bin/python"'
    run = subprocess.run(["bash", "-c", make, ROOT / "scripts/turns.py"], stdout=subprocess.PIPE, text=True)
    if run.returncode:
        note("WARNING: DuckDB, Polars, w3lib and surt cannot be installed and are NOT measured")
    return None if run.returncode else run.stdout.strip()


def corpus(kind, size, seed=1):
    """A corpus, in the page cache, and the truth about it. It stays there for the next run."""
    path = GENERATED / f"{kind}-{size}-{seed}"
    truth = path.with_name(path.name + ".json")
    # The truth is written last.
    if not truth.exists():
        note(f"generating {path}")
        subprocess.run([ROOT / "scripts/corpus", kind, size, str(seed), path], check=True, stderr=subprocess.DEVNULL)
    lines_of(path)
    return str(path), json.loads(truth.read_text())


def lines_of(path):
    with open(path, "rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b""))


def machine():
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(errors="replace"))
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return (f"{cpu[1] if cpu else 'unknown CPU'}, {os.cpu_count()} CPUs, {os.uname().sysname} {os.uname().release}, "
            f"load {os.getloadavg()[0]:.2f}, {time.strftime('%F', time.gmtime())}, commit {commit.stdout.strip()}")


def once(contender):
    # What the contender before wrote is on the disk before this one starts, or it would pay for it.
    subprocess.run(["sync", "-f", GENERATED], check=True)
    environment = {**os.environ, "LC_ALL": "C"}  # one collation for all
    begun = time.perf_counter()
    process = subprocess.Popen(contender.command, shell=isinstance(contender.command, str), cwd=ROOT, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    for feed in contender.feeds:
        threading.Thread(target=feed, daemon=True).start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # Memory is that of the largest process; what was read came from the disk.
    return SimpleNamespace(wall=time.perf_counter() - begun, cpu=usage.ru_utime + usage.ru_stime,
                           peak=usage.ru_maxrss * 1024, read=usage.ru_inblock * 512, status=process.returncode)


def compare(title, contenders, rounds, size=0):
    """Prints a table, and returns its rows by name. All but the first are compared with it."""
    runs, lines = {contender.name: [] for contender in contenders}, {}
    for turn in range(rounds):
        for contender in random.sample(contenders, len(contenders)):
            if contender.name not in runs:
                continue
            run = once(contender)
            # A virtual machine that hands free memory back to its host takes over a second to touch a gigabyte of it
            # again, and whoever comes first would pay for all.
            if run.wall < 10 and not run.status:
                run = once(contender)
            if run.status:
                if contender.name.startswith("uniqurl"):
                    sys.exit(f"status {run.status}: {contender.command}")
                note(f"WARNING: {contender.name} ended with {run.status} and is left out")
                del runs[contender.name]
                continue
            runs[contender.name].append(run)
            if turn == 0 and contender.check:
                lines[contender.name] = contender.check()
    print(f"\n{title}; medians of {rounds} rounds, the shortest and the longest")
    print(f"  {'':28} {'seconds':22} {'x first':>8} {'CPU s':>8} {'GB/s':>6} {'peak MB':>8} {'lines':>10}")
    found, first = {}, None
    for name, of in runs.items():
        walls = [run.wall for run in of]
        row = {"name": name, "runs": len(of), "seconds": statistics.median(walls),
               "seconds_interval": [min(walls), max(walls)], "cpu": statistics.median(run.cpu for run in of),
               "peak": max(run.peak for run in of), "read": max(run.read for run in of), "distinct": lines.get(name)}
        first = first or row["seconds"]
        found[name] = {**row, "ratio": row["seconds"] / first}
        seconds = f"{row['seconds']:.3f} ({min(walls):.3f}-{max(walls):.3f})"
        print(f"  {name:28} {seconds:22} {row['seconds'] / first:8.2f} {row['cpu']:8.3f} {size / row['seconds'] / 1e9:6.2f} "
              f"{row['peak'] / 1e6:8.0f} {lines.get(name) or '':>10}", flush=True)
    return found
