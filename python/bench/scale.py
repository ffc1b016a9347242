"""Compares a Spark job of many partitions, run one by one on one core, with the prediction of a model.

The model is fitted to four smaller jobs over other corpora: with few parts, with small parts, without
duplicates, and with many blocks in the shuffle. Then the job runs, and is compared with the model.

Costs are seconds of CPU time of all processes of the job, including the Python workers, since CPU time
does not depend on other load. Spark itself reports the amounts read, shuffled and written.
"""

import argparse
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import numpy
import pyspark

os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import uniqurl
from pyspark.sql import SparkSession
from uniqurl import spark as uniqurl_spark

TICK = os.sysconf("SC_CLK_TCK")


def processes_of(root):
    """The seconds of CPU time of a process and of each of its live descendants."""
    times, children = {}, {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = pathlib.Path(path).read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        process = int(path.split("/")[2])
        # utime, stime, and those of children that were waited for.
        times[process] = sum(map(int, fields[11:15])) / TICK
        children.setdefault(int(fields[1]), []).append(process)
    found, waiting = {}, [root]
    while waiting:
        process = waiting.pop()
        found[process] = times.get(process, 0.0)
        waiting += children.get(process, [])
    return found


def cpu_of(root):
    return sum(processes_of(root).values())


def most_memory(processes):
    """The peak memory in bytes of the largest process."""
    most = 0
    for process in processes:
        try:
            status = pathlib.Path(f"/proc/{process}/status").read_text()
        except OSError:
            continue
        held = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
        most = max([most, *(int(kilobytes) << 10 for kilobytes in held)])
    return most


class Spark:
    """Spark with one core."""

    def __init__(self, place, blocks, part):
        builder = SparkSession.builder.master("local[1]").appName("scale")
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "3g",
            "spark.local.dir": str(place / "local"),
            "spark.sql.warehouse.dir": str(place / "warehouse"),
            "spark.sql.shuffle.partitions": str(blocks),
            # Each file is one partition, and there are two stages.
            "spark.sql.files.maxPartitionBytes": str(part * 2),
            "spark.sql.files.openCostInBytes": str(part * 2),
            "spark.sql.adaptive.enabled": "false",
            "spark.ui.port": "0",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.context = self.session.sparkContext
        self.driver = int(self.context._jvm.java.lang.ProcessHandle.current().pid())
        self.place = place

    def ask(self, what):
        url = f"{self.context.uiWebUrl}/api/v1/applications/{self.context.applicationId}/{what}"
        for _ in range(20):
            try:
                with urllib.request.urlopen(url, timeout=60) as answer:
                    return json.load(answer)
            except OSError:
                # On a busy machine Spark closes the connection after eight seconds.
                time.sleep(1)
        raise TimeoutError(url)

    def run(self, folder, blocks):
        """Runs one job over the files of a folder. Returns the costs and amounts of its two stages."""
        out = self.place / "out"
        shutil.rmtree(out, ignore_errors=True)
        self.session.conf.set("spark.sql.shuffle.partitions", str(blocks))
        before = {stage["stageId"] for stage in self.ask("stages")}
        # The time and the CPU time when each stage was first seen. Tasks run one by one.
        seen, over = {}, threading.Event()

        def watch():
            tracker = self.context.statusTracker()
            while not over.wait(0.01):
                for stage in tracker.getActiveStageIds():
                    if stage not in seen:
                        seen[stage] = cpu_of(self.driver)

        watcher = threading.Thread(target=watch)
        watcher.start()
        accounting = uniqurl_spark.Accounting(self.session)
        lines = uniqurl_spark.read_lines(self.session, str(folder))
        start = time.perf_counter()
        uniqurl_spark.dedup(lines, "line", accounting=accounting).write.parquet(str(out))
        seconds = time.perf_counter() - start
        end = cpu_of(self.driver)
        over.set()
        watcher.join()
        workers = [process for process in processes_of(self.driver) if process != self.driver]
        stages = sorted(
            (stage for stage in self.ask("stages?status=complete") if stage["stageId"] not in before),
            key=lambda stage: stage["stageId"],
        )
        first, second = stages
        begun = [seen[stage["stageId"]] for stage in stages] + [end]
        account = accounting.value
        tasks = self.ask(f"stages/{second['stageId']}/{second['attemptId']}/taskSummary?quantiles=0.5,1.0")
        return {
            "worker": most_memory(workers),
            "hashing": max(tasks["peakExecutionMemory"]),
            "tasks": (first["numCompleteTasks"], second["numCompleteTasks"]),
            "cpu": (begun[1] - begun[0], begun[2] - begun[1]),
            "run": tuple(stage["executorRunTime"] / 1e3 for stage in stages),
            "seconds": seconds,
            "normalizing": accounting.seconds["normalizing"],
            "read": sum(path.stat().st_size for path in folder.iterdir()),
            "records": account["records"],
            "passed": first["shuffleWriteRecords"],
            "shuffled": first["shuffleWriteBytes"],
            "unique": account["unique"],
            "written": sum(path.stat().st_size for path in out.glob("*.parquet")),
        }


def of_corpus(folder, count, size, seed):
    """`count` files of `size` bytes, which together are one corpus."""
    folder.mkdir(parents=True)
    corpus = ["scripts/corpus", "mixed", str(size * count), str(seed)]
    with subprocess.Popen(corpus, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as source:
        rest = b""
        for number in range(count):
            text = rest + (source.stdout.read() if number == count - 1 else source.stdout.read(size))
            cut = text.rindex(b"\n") + 1
            (folder / f"part-{number:05}.txt").write_bytes(text[:cut])
            rest = text[cut:]
    assert source.returncode == 0 and not rest
    return folder


def distinct(folder, source, count):
    """The set of another folder in `count` files, without duplicates."""
    folder.mkdir(parents=True)
    urls = uniqurl.dedup(sorted(source.iterdir()), format="lines").urls.to_pylist()
    each = -(-len(urls) // count)
    for number in range(count):
        lines = urls[number * each : (number + 1) * each]
        (folder / f"part-{number:05}.txt").write_text("\n".join(lines) + "\n")
    return folder


class Model:
    """The cost of a task. In the first stage: a constant, a rate per byte read, and a rate per row passed on.
    In the second stage: a constant and a rate per row received."""

    def __init__(self, jobs):
        def fit(stage, amounts):
            rows = [[job["tasks"][stage], *(job[amount] for amount in amounts)] for job in jobs]
            rows = numpy.array(rows, float)
            took = [job["cpu"][stage] for job in jobs]
            left = list(range(rows.shape[1]))
            while True:
                scale = rows[:, left].max(axis=0)
                rates = numpy.zeros(rows.shape[1])
                rates[left] = numpy.linalg.lstsq(rows[:, left] / scale, took, rcond=None)[0] / scale
                if min(rates) >= 0:
                    return rates
                # A negative cost is impossible: the jobs cannot separate this rate from the others.
                left = [i for i in left if rates[i] > 0]

        self.first, self.second = fit(0, ["read", "passed"]), fit(1, ["passed"])

    def cpu(self, job):
        first = self.first @ [job["tasks"][0], job["read"], job["passed"]]
        return first, self.second @ [job["tasks"][1], job["passed"]]


def month(model, like, part):
    """A month of Common Crawl, which has almost no duplicate URLs."""
    records, size = 3e9, 2e11
    job = {
        "tasks": (-(-size // part),) * 2,
        "records": records,
        "read": size,
        "passed": records,
        "shuffled": records * like["shuffled"] / like["passed"],
        "written": records * like["written"] / like["unique"],
    }
    return job, model.cpu(job)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", type=int, default=64)
    parser.add_argument("--size", type=int, default=32, help="megabytes of a part")
    wish = parser.parse_args()
    size, few = wish.size << 20, 8
    blocks_of = lambda parts: max(1, parts * size >> 27)

    with tempfile.TemporaryDirectory(dir=os.environ.get("CARGO_TARGET_DIR")) as name:
        place = pathlib.Path(name)
        large = of_corpus(place / "large", few, size, 2)
        small = of_corpus(place / "small", few, size // 8, 3)
        folders = {
            f"{few} parts of another corpus": (large, blocks_of(few)),
            f"{few} parts, an eighth as large": (small, 1),
            f"{few} parts, nothing twice": (distinct(place / "distinct", large, few), blocks_of(few)),
            "the same, many blocks": (large, 2 * few),
        }
        spark = Spark(place, blocks_of(wish.parts), size)
        for _ in range(5):
            # The compilers of the JVM take about a minute, once.
            spark.run(large, few)
        jobs = {what: spark.run(folder, blocks) for what, (folder, blocks) in folders.items()}
        model = Model(list(jobs.values()))
        folder = of_corpus(place / "parts", wish.parts, size, 1)
        job = spark.run(folder, blocks_of(wish.parts))
        start = time.process_time()
        expected = uniqurl.dedup(sorted(folder.iterdir()), format="lines")
        alone = time.process_time() - start
        assert job["unique"] == expected.accounting["unique"], (job, expected)
        spark.session.stop()

    jobs[f"{wish.parts} parts"] = job
    print("| job | tasks | read, MB | records | rows shuffled | distinct | CPU seconds |")
    print("|---|---|---|---|---|---|---|")
    for what, done in jobs.items():
        tasks, cpu = (" + ".join(format(n, f) for n in done[of]) for of, f in (("tasks", "d"), ("cpu", ".1f")))
        print(f"| {what} | {tasks} | {done['read'] / 1e6:.0f} | {done['records']} | {done['passed']} | {done['unique']} | {cpu} |")
    (start, byte, row), (start2, row2) = model.first, model.second
    print(f"\nfirst stage: {start:.2f} s a task + {byte * 1e9:.1f} ns a byte + {row * 1e9:.0f} ns a row that is shuffled")
    print(f"second stage: {start2:.2f} s a task + {row2 * 1e9:.0f} ns a row")
    print("\n| per partition | model, CPU s | measured, CPU s | measured / model |")
    print("|---|---|---|---|")
    for stage, what in enumerate(["first stage", "second stage"]):
        said, took, tasks = model.cpu(job)[stage], job["cpu"][stage], job["tasks"][stage]
        print(f"| {what} | {said / tasks:.2f} | {took / tasks:.2f} | {took / said:.2f} |")
    said, took = sum(model.cpu(job)), sum(job["cpu"])
    print(f"| all | {said / wish.parts:.2f} | {took / wish.parts:.2f} | {took / said:.2f} |")
    print(
        f"\n{took:.0f} s of CPU time, {job['seconds']:.0f} s by the clock; run time of tasks {sum(job['run']):.0f} s, "
        f"of it {job['normalizing']:.1f} s in uniqurl ({job['normalizing'] / sum(job['run']):.1%})"
    )
    print(f"shuffled {job['shuffled'] / job['passed']:.1f} bytes a row, written {job['written'] / job['unique']:.1f} a URL")
    print(
        f"memory: a Python worker {job['worker'] / 1e6:.0f} MB at most; Spark's hashing {job['hashing'] / 1e6:.0f} MB at most "
        f"in a task of {job['shuffled'] / job['tasks'][1] / 1e6:.0f} MB shuffled, {job['passed'] // job['tasks'][1]} rows"
    )
    print(f"uniqurl.dedup by itself: {alone:.1f} s of CPU time, the same {job['unique']} URLs")
    like = jobs[f"{few} parts, nothing twice"]
    whole, cpu = month(model, like, 1 << 27)
    print("\n| a month of Common Crawl | first stage | second stage |")
    print("|---|---|---|")
    print(f"| tasks | {whole['tasks'][0]:.0f} | {whole['tasks'][1]:.0f} |")
    print(f"| reads, GB | {whole['read'] / 1e9:.0f} | {whole['shuffled'] / 1e9:.0f} |")
    print(f"| writes, GB | {whole['shuffled'] / 1e9:.0f} | {whole['written'] / 1e9:.0f} |")
    print(f"| core hours | {cpu[0] / 3600:.1f} | {cpu[1] / 3600:.1f} |")


if __name__ == "__main__":
    main()
