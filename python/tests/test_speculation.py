"""Speculation with two hosts: Spark runs no copy of a task on the host of the first. Each worker of this
cluster has its own address in the loopback network, and the copy of a slow task wins."""

import os
import socket
import subprocess
import sys
import time

import pytest
from test_spark import (
    SMALL_AND_SPECULATING,
    as_lines,
    assert_adds_up,
    expected,
    files,
    in_each_partition,
    pyspark,
    uniqurl_spark,
)

from pyspark.sql import SparkSession

HOSTS = ["127.0.0.2", "127.0.0.3"]


@pytest.fixture
def spark(tmp_path):
    home = os.path.dirname(pyspark.__file__)
    os.environ["SPARK_HOME"] = home
    os.environ["PYSPARK_PYTHON"] = sys.executable
    for host in HOSTS:
        try:
            socket.create_server((host, 0)).close()
        except OSError:
            pytest.skip(f"{host} is no address of this machine")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    deploy, parts = "org.apache.spark.deploy", []

    def start(host, role, *arguments):
        command = [f"{home}/bin/spark-class", f"{deploy}.{role.lower()}.{role}", "--host", host, "--webui-port", "0"]
        environment = {**os.environ, "SPARK_LOCAL_IP": host}
        log = open(tmp_path / f"{role}-{host}.log", "wb")
        parts.append(subprocess.Popen([*command, *arguments], env=environment, stdout=log, stderr=log))

    start("127.0.0.1", "Master", "--port", str(port))
    for host in HOSTS:
        start(host, "Worker", "-c", "1", "-m", "1g", "-d", str(tmp_path / host), master)
    settings = {
        **SMALL_AND_SPECULATING,
        "spark.executor.memory": "768m",
        "spark.local.dir": str(tmp_path / "local"),
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master(master).appName("uniqurl")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = None
    try:
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        until = time.monotonic() + 120
        # The driver is one of them.
        while session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 1 + len(HOSTS):
            assert time.monotonic() < until, "the executors did not come"
            time.sleep(0.1)
        yield session
    finally:
        if session is not None:
            session.stop()
        for part in parts:
            part.terminate()
        for part in parts:
            part.wait(60)


def test_winning_speculative_copy_counts_once(spark, files, expected, tmp_path):
    def dawdle(task):
        if task.partitionId() == 2:
            (tmp_path / f"attempt-{task.attemptNumber()}").touch()
            if task.attemptNumber() == 0:
                time.sleep(600)

    accounting = uniqurl_spark.Accounting(spark)
    lines = in_each_partition(uniqurl_spark.read_lines(spark, str(files)), dawdle)
    start = time.monotonic()
    found = uniqurl_spark.dedup(lines, "line", accounting=accounting)
    assert as_lines(found.collect()) == expected[0]
    assert time.monotonic() - start < 600, "the first one was waited for"
    assert (tmp_path / "attempt-1").exists(), "there was no copy"
    assert_adds_up(accounting.value, expected)
