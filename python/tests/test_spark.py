"""Spark itself, with two executors that are processes of their own.

What the jobs find is compared with what the command finds in the same files, byte for byte.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

pyspark = pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("there is no java", allow_module_level=True)
COMMAND = os.environ.get("UNIQURL")
if COMMAND is None:
    pytest.skip("UNIQURL names no command to compare with", allow_module_level=True)

from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from uniqurl import spark as uniqurl_spark

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "spark_dedup.py"
PARTS = 8
BAD = [
    b"",
    b" \t ",
    b"relative",
    b"http://h:99999/",
    b"http://[::1/",
    b"http://h/\xff\xfe",
    b"\xff\xfe\x00",
    b"http://h/\x00\x01\r",
    b"HTTP://H/%zz%7e\xc3\xa9",
    b"http://b\xc3\xbccher.example/",
    b"http://h/" + b"a" * 70_000,
]


# Many small tasks on this machine, with speculative copies of slow ones.
SMALL_AND_SPECULATING = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.files.maxPartitionBytes": "64k",
    "spark.sql.files.openCostInBytes": "64k",
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "500ms",
    "spark.ui.showConsoleProgress": "false",
    # gzip is part of Java. The default, snappy, may load a native library for the wrong C library.
    "spark.sql.parquet.compression.codec": "gzip",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("uniqurl")
    settings = {
        **SMALL_AND_SPECULATING,
        "spark.local.dir": str(tmp_path_factory.mktemp("local")),
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.ui.port": "0",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Text files with duplicates within and across them, and with bad records."""
    random.seed(3)
    folder = tmp_path_factory.mktemp("urls")
    hosts = ["example.com", "EXAMPLE.com:80", "www.example.org", "h", "[::1]"]
    for part in range(PARTS):
        lines = []
        for _ in range(2500):
            path = random.choice(["/{}", "/a/../{}", "/%7e{}", "/~{}", "/{}?q=%C3%A9", "/{}#top"])
            url = "http://" + random.choice(hosts) + path.format(random.randrange(4000))
            lines.append(url.encode() + random.choice([b"", b"", b"\r"]))
        lines += BAD
        random.shuffle(lines)
        mark = b"\xef\xbb\xbf" if part == 0 else b""
        (folder / f"part-{part}.txt").write_bytes(mark + b"\n".join(lines) + b"\n")
    return folder


def command(*arguments):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def expected(files, tmp_path_factory):
    """The set as the command writes it, sorted, and its accounting."""
    stats = tmp_path_factory.mktemp("stats") / "stats.json"
    inputs = sorted(files.iterdir())
    urls = command("dedup", "-q", "-f", "lines", "--order", "sorted", "--stats", stats, *inputs)
    return urls, json.loads(stats.read_text())


def as_lines(rows):
    return b"".join(sorted(bytes(row[0]) + b"\n" for row in rows))


def assert_adds_up(account, expected):
    _, stats = expected
    for term in ["records", "unique", "duplicates", "rejected", "blank"]:
        assert account[term] == stats[term], term
    assert account["codes"] == {code: count for code, count in stats["codes"].items() if count}


def test_set_equals_that_of_the_command(spark, files, expected, capsys):
    accounting = uniqurl_spark.Accounting(spark)
    lines = uniqurl_spark.read_lines(spark, str(files))
    assert lines.rdd.getNumPartitions() > 2
    found = uniqurl_spark.dedup(lines, "line", accounting=accounting)
    assert as_lines(found.collect()) == expected[0]
    assert_adds_up(accounting.value, expected)
    seconds = accounting.seconds
    run = executor_seconds(spark)
    with capsys.disabled():
        print(
            f"\nnormalizing took {seconds['normalizing']:.3f} s: "
            f"{seconds['normalizing'] / seconds['worker']:.1%} of the time in Python workers, "
            f"{seconds['normalizing'] / run:.1%} of the run time of all tasks"
        )
    assert 0 < seconds["normalizing"] < seconds["worker"]


def test_partial_action_does_not_change_the_accounting(spark):
    urls = [(f"http://h/{number % 700}",) for number in range(1000)]
    frame = spark.createDataFrame(urls, "url string").repartition(4)
    accounting = uniqurl_spark.Accounting(spark)
    found = uniqurl_spark.dedup(frame, "url", accounting=accounting)
    for act in [found.count, lambda: found.take(1), found.count]:
        act()
        account = accounting.value
        assert (account["records"], account["unique"], account["duplicates"]) == (1000, 700, 300)


def test_cached_and_counted_frame_counts_once_in_a_union(spark):
    urls = [(f"http://h/{number % 700}",) for number in range(1000)]
    frame = spark.createDataFrame(urls, "url string").repartition(4)
    of_set, of_rows = uniqurl_spark.Accounting(spark), uniqurl_spark.Accounting(spark)
    found = uniqurl_spark.dedup(frame, "url", accounting=of_set).cache()
    rows = uniqurl_spark.canonicalize(frame, "url", accounting=of_rows).cache()
    assert (found.count(), rows.count()) == (700, 1000)
    assert (found.union(found).count(), rows.union(rows).count()) == (1400, 2000)
    account = of_set.value
    assert (account["records"], account["unique"], account["duplicates"]) == (1000, 700, 300)
    assert of_rows.value["records"] == 1000


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("urls", [["bad", "", "worse"], []], ids=["none good", "none"])
def test_empty_set_has_an_accounting(spark, adaptive, urls):
    # Adaptive execution runs no task on input that it knows to be empty.
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    try:
        accounting = uniqurl_spark.Accounting(spark)
        frame = spark.createDataFrame([(url,) for url in urls], "url string")
        assert uniqurl_spark.dedup(frame, "url", accounting=accounting).collect() == []
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")
    account = accounting.value
    assert (account["records"], account["unique"], account["duplicates"]) == (len(urls), 0, 0)
    of_rows = uniqurl_spark.Accounting(spark)
    uniqurl_spark.canonicalize(frame, "url", accounting=of_rows).collect()
    assert of_rows.value["records"] == len(urls) and "unique" not in of_rows.value


def executor_seconds(spark):
    """The run time of all tasks, as Spark's interface reports it."""
    context = spark.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return sum(stage["executorRunTime"] for stage in json.load(answer)) / 1000


def in_each_partition(lines, act):
    """The same rows, with a function called first in each task."""

    def work(batches):
        act(TaskContext.get())
        yield from batches

    return lines.mapInArrow(work, lines.schema)


def test_killed_executor_does_not_change_the_set(spark, files, expected, tmp_path):
    mark = tmp_path / "killed"

    def kill(task):
        # The worker's parent is the daemon that forked it, and the daemon's parent is the executor.
        if task.partitionId() == 3:
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                return
            time.sleep(1)
            status = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text()
            executor = int(status.rsplit(")", 1)[1].split()[1])
            name = pathlib.Path(f"/proc/{executor}/cmdline").read_bytes()
            assert b"CoarseGrainedExecutorBackend" in name, name
            mark.write_text(str(executor))
            os.kill(executor, signal.SIGKILL)
            time.sleep(60)

    accounting = uniqurl_spark.Accounting(spark)
    lines = in_each_partition(uniqurl_spark.read_lines(spark, str(files)), kill)
    found = uniqurl_spark.dedup(lines, "line", accounting=accounting)
    assert as_lines(found.collect()) == expected[0]
    assert mark.read_text().isdigit(), "no executor was killed"
    assert_adds_up(accounting.value, expected)


def test_speculation_does_not_change_the_set(spark, files, expected):
    # Spark starts no second copy of a task on the host of the first, and both executors run on one
    # host. The slow task is marked, but its copy never starts; test_speculation.py has two hosts. The
    # counts of such a copy are merged below.
    def dawdle(task):
        if task.partitionId() == 2:
            time.sleep(4)

    accounting = uniqurl_spark.Accounting(spark)
    lines = in_each_partition(uniqurl_spark.read_lines(spark, str(files)), dawdle)
    found = uniqurl_spark.dedup(lines, "line", accounting=accounting)
    assert as_lines(found.collect()) == expected[0]
    assert_adds_up(accounting.value, expected)
    for partition, part in dict(accounting._read.value).items():
        accounting._read.add({partition: part})
    for task, rows in dict(accounting._unique.value).items():
        accounting._unique.add({task: rows})
    assert_adds_up(accounting.value, expected)


def test_no_row_has_both_a_canonical_form_and_codes(spark, files):
    lines = [(line, number) for number, line in enumerate(BAD)]
    frame = spark.createDataFrame([(bytearray(line), number) for line, number in lines], "line binary, number int")
    rows = uniqurl_spark.canonicalize(frame, "line", "scheme").orderBy("number").collect()
    assert [bytes(row["line"]) for row in rows] == BAD
    for row, line in zip(rows, BAD):
        assert row["canonical"] is None or row["reject"] is None
    text = frame.select(F.col("line").cast("string").alias("url"))
    got = [bytes(row["canonical"]) for row in uniqurl_spark.canonicalize(text, "URL").collect() if row["canonical"]]
    assert b"http://h/%FF%FE" in got
    with pytest.raises(TypeError):
        uniqurl_spark.canonicalize(frame, "number")
    for of_column in [uniqurl_spark.canonicalize, uniqurl_spark.dedup]:
        with pytest.raises(TypeError, match="^col is the name of a column, not Column; "):
            of_column(frame, F.col("line"))
    salts = {row[0] for row in frame.select(uniqurl_spark.salt("line", 4)).collect()}
    assert salts <= {0, 1, 2, 3} and len(salts) > 1


def test_keys_equal_those_of_the_command(spark, tmp_path):
    urls = ["HTTP://www.h.x:80/a", "http://www.h.x/a", "bad", "http://b.x/"]
    path = tmp_path / "urls.txt"
    path.write_text("\n".join(urls))
    frame = spark.createDataFrame([(url,) for url in urls], "url string")
    for key in ["surt", "hash", "url"]:
        # A set accepts a column with the name of the key.
        for name in ["url", key]:
            found = uniqurl_spark.dedup(frame.withColumnRenamed("url", name), name, key=key, partitions=2)
            assert found.columns == [key]
            keys = sorted(bytes(row[key]) for row in found.collect())
            assert keys == command("dedup", "-q", "--order", "sorted", "--key", key, "-f", "lines", path).splitlines()
    rows = uniqurl_spark.canonicalize(frame, "url", key="surt")
    assert rows.columns == ["url", "canonical", "reject", "surt"]
    assert [row.surt and bytes(row.surt) for row in rows.collect()] == [b"x,h,www)/a", b"x,h,www)/a", None, b"x,b)/"]
    with pytest.raises(ValueError, match="has a column URL already"):
        uniqurl_spark.canonicalize(frame.withColumnRenamed("url", "URL"), "URL", key="url")
    with pytest.raises(ValueError, match="^unknown key `md5` .expected url, template, host, domain, domain-icann, surt, ssurt or hash.$"):
        uniqurl_spark.canonicalize(frame, "url", key="md5")


def test_sets_and_odd_column_names_can_be_read_again(spark):
    urls = [(b"HTTP://h/%61",), (b"http://h/a",), (None,)]
    for name in ["canonical", "Canonical", "REJECT", "reject", "a.b", "a`b", "_canonical"]:
        found = uniqurl_spark.dedup(spark.createDataFrame(urls, f"`{name.replace('`', '``')}` binary"), name)
        assert [bytes(row.canonical) for row in found.collect()] == [b"http://h/a"]
        again = uniqurl_spark.dedup(found.union(found), "canonical")
        assert again.columns == ["canonical"]
        assert [bytes(row.canonical) for row in again.collect()] == [b"http://h/a"]


def test_column_named_like_a_result_column_is_rejected(spark):
    for name in ["canonical", "reject", "Canonical", "REJECT"]:
        frame = spark.createDataFrame([("http://h", "")], f"url string, {name} string")
        with pytest.raises(ValueError, match=f"has a column {name} already.*withColumnRenamed"):
            uniqurl_spark.canonicalize(frame, "url")
    spark.conf.set("spark.sql.caseSensitive", "TRUE")
    try:
        added = uniqurl_spark.canonicalize(spark.createDataFrame([("http://h",)], "Canonical string"), "Canonical")
        assert [bytes(row.canonical) for row in added.select("canonical").collect()] == [b"http://h/"]
        with pytest.raises(ValueError, match="has a column canonical already"):
            uniqurl_spark.canonicalize(added, "Canonical")
        found = uniqurl_spark.dedup(added, "Canonical")
        assert [bytes(row.canonical) for row in found.collect()] == [b"http://h/"]
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_the_example_reads_lists_indexes_and_logs(spark, files, expected, tmp_path):
    sys.path.insert(0, str(EXAMPLE.parent))
    import spark_dedup

    lines = [line for path in sorted(files.iterdir()) for line in path.read_bytes().split(b"\n")]
    index = tmp_path / "index"
    texts = [line.decode() for line in lines if line.isascii() and line]
    frame = spark.createDataFrame([(text, 200) for text in texts], "url string, fetch_status int")
    frame.repartition(3).write.parquet(str(index))
    log = tmp_path / "access.log"
    log.write_text("".join(f'h - - [17/May/2015:10:05:03 +0000] "GET /{n % 7}\\x7e HTTP/1.1" 200 5 "-" "-"\n' for n in range(50)))
    plain = tmp_path / "plain.txt"
    plain.write_text("\n".join(texts) + "\n")
    for kind, source, arguments in [
        ("lines", str(files), [*sorted(files.iterdir())]),
        ("cc-index", str(index), [plain]),
        ("combined", str(log), ["-f", "combined", "--base", "https://h/", log]),
    ]:
        out = tmp_path / f"out-{kind}"
        options = ["--base", "https://h/"] if kind == "combined" else []
        account = spark_dedup.main([source, str(out), "--format", kind, *options])
        got = as_lines(spark.read.parquet(str(out)).collect())
        # As parts of one command line, the last -f counts.
        by_command = arguments if kind == "combined" else ["-f", "lines", *arguments]
        assert got == command("dedup", "-q", "--order", "sorted", *by_command), kind
        assert account["unique"] == got.count(b"\n")
    bad = tmp_path / "bad.txt"
    bad.write_text("bad\nworse\n")
    account = spark_dedup.main([str(bad), str(tmp_path / "out-bad")])
    assert (account["rejected"], account["unique"]) == (2, 0)


def test_pipe_gives_a_line_for_each_line(spark):
    urls = ["HTTP://h/%7e", "bad", "", "http://h/\u00e9", "http://h"]
    lines = spark.sparkContext.parallelize(urls, 2)
    piped = lines.pipe(f"{COMMAND} normalize -q -f lines -", checkCode=True).collect()
    assert piped == ["http://h/~", "", "", "http://h/%C3%A9", "http://h/"]
    # Without checkCode, a command that fails half-way looks like one with little output, and the rows
    # that it wrote before are already passed on.
    cut = lines.pipe("sh -c 'head -n 1; exit 2'").collect()
    assert len(cut) < len(urls)
    with pytest.raises(Exception, match="error code 2"):
        lines.pipe("sh -c 'head -n 1; exit 2'", checkCode=True).collect()
    # The pipe carries text: a record with a line feed becomes two.
    assert lines.map(lambda url: "http://a\nhttp://b").pipe(f"{COMMAND} normalize -q -f lines -").count() == 10
