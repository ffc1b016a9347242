"""The same normalization inside Apache Spark: canonical forms in Arrow batches, sets by Spark's shuffle.

Needs ``pyspark`` 3.5 or later, ``pyarrow`` and ``pandas``, which Spark's ``mapInArrow`` asks for, on the
driver, and this package on every executor.
``docs/spark.md`` says how large partitions and executors should be.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from . import Normalizer

__all__ = ["Accounting", "canonicalize", "dedup", "read_lines", "salt"]

# The columns of an answer.
ADDED = ("canonical", "reject")
TERMS = ("records", "canonical", "rejected", "blank", "skipped")


class _Parts(AccumulatorParam):
    """The counts of each partition. A task may run again after an executor died or by speculation. It has
    the same counts for the same partition, and nothing is counted twice."""

    def zero(self, value: dict) -> dict:
        return {}

    def addInPlace(self, parts: dict, more: dict) -> dict:
        parts.update(more)
        return parts


class Accounting:
    """The accounting of one :func:`canonicalize` or :func:`dedup`, complete when an action on its
    result is. Every record is in exactly one of its terms::

        records = canonical + rejected + blank
        canonical = unique + duplicates          # of dedup

    Use one accounting for one data frame: it does not add up several frames. Several actions on the
    frame count as one, the action that read most of it. ``take``, ``show``, ``first`` and ``limit`` may
    stop a task before its partition ends, and the rows read by that task are not counted. An action that
    uses the frame twice, such as a union with itself, may evaluate it twice and then counts its rows
    twice: ``cache`` the frame and ``count`` it first.
    """

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        self._read = context.accumulator({}, _Parts())
        self._unique = context.accumulator({}, _Parts())
        # True if a set is made. An empty set may have no parts: Spark runs no task on empty input.
        self._has_set = False

    @property
    def value(self) -> dict[str, Any]:
        """The terms and ``codes``, with ``unique`` and ``duplicates`` if a set was made."""
        parts = self._read.value.values()
        account: dict[str, Any] = {term: sum(part[term] for part in parts) for term in TERMS}
        codes: dict[str, int] = {}
        for part in parts:
            for code, count in part["codes"].items():
                codes[code] = codes.get(code, 0) + count
        account["codes"] = codes
        if self._has_set:
            # The stage of another action may have other partitions, or some of them, as with take: it
            # counts no more rows than a stage with all of them.
            stages: dict[int, int] = {}
            for (stage, _), count in self._unique.value.items():
                stages[stage] = stages.get(stage, 0) + count
            account["unique"] = max(stages.values(), default=0)
            account["duplicates"] = account["canonical"] - account["unique"]
        return account

    @property
    def seconds(self) -> dict[str, float]:
        """``normalizing``: seconds in uniqurl. ``worker``: seconds that tasks spent in their Python worker.
        The difference is serialization of Arrow batches and waiting."""
        parts = self._read.value.values()
        return {name: sum(part[name] for part in parts) / 1e9 for name in ("normalizing", "worker")}


def canonicalize(
    df: DataFrame,
    col: str,
    profile: str | None = None,
    *,
    format: str | None = None,
    key: str | None = None,
    accounting: Accounting | None = None,
    **options: Any,
) -> DataFrame:
    """``df`` with two more columns: ``canonical``, which is binary and null for a row without a canonical
    form, and ``reject``, the codes of a rejected URL separated by commas. With ``key`` (``template``,
    ``host``, ``domain``, ``domain-icann``, ``surt``, ``ssurt``, ``hash`` or ``url``) the result also has a column of that name, which is binary, and
    null where there is no key. If ``df`` already has a column of one of these names, raises
    ``ValueError``.

    ``col`` is text or binary; the results are bytes, so a URL that is not UTF-8 is kept. Nulls and values
    of only spaces and tabs are blank: null in both columns. With ``format``, each value is a line that
    holds a URL, as for ``uniqurl.normalize_column``.
    """
    _check_name(col)
    # Spark ignores the case of names unless spark.sql.caseSensitive is set.
    by_case = df.sparkSession.conf.get("spark.sql.caseSensitive").lower() == "true"
    names = df.columns if by_case else [name.lower() for name in df.columns]
    added = ADDED if key is None else (*ADDED, key)
    for name, known in zip(df.columns, names):
        if known in added:
            raise ValueError(f"the data frame has a column {name} already; withColumnRenamed gives it another name")
    normalizer = Normalizer(profile, **options)
    normalizer.normalize_column(pa.array([], pa.binary()), format=format, key=key)
    wanted = col if by_case else col.lower()
    if wanted not in names:
        raise KeyError(f"the data frame has no column {col}")
    place = names.index(wanted)
    kind = df.schema[place].dataType
    if not isinstance(kind, (StringType, BinaryType)):
        raise TypeError(f"column {col} is {kind.simpleString()}, neither string nor binary")
    fields = [*df.schema, StructField("canonical", BinaryType()), StructField("reject", StringType())]
    if key is not None:
        fields.append(StructField(key, BinaryType()))
    schema = StructType(fields)
    read = None if accounting is None else accounting._read

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        start = time.perf_counter_ns()
        counted: dict[str, Any] = dict.fromkeys(TERMS, 0)
        codes: dict[str, int] = {}
        normalizing = 0
        for batch in batches:
            # A view of the same buffers as bytes, since the text may not be UTF-8.
            urls = batch.column(place).cast(_bytes_of(batch.column(place).type))
            before = time.perf_counter_ns()
            done = normalizer.normalize_column(urls, format=format, key=key, threads=1)
            normalizing += time.perf_counter_ns() - before
            told = done.accounting
            for term in TERMS:
                counted[term] += told[term]
            for code, count in told["codes"].items():
                codes[code] = codes.get(code, 0) + count
            canonical = _one(pa.chunked_array(done.canonical), pa.binary())
            reject = _one(pa.chunked_array(done.reject), pa.string())
            columns = [*batch.columns, canonical, reject]
            if done.key is not None:
                columns.append(_one(pa.chunked_array(done.key), pa.binary()))
            yield pa.RecordBatch.from_arrays(columns, names=schema.names)
        if read is not None:
            worker = time.perf_counter_ns() - start
            part = {**counted, "codes": codes, "normalizing": normalizing, "worker": worker}
            read.add({TaskContext.get().partitionId(): part})

    return df.mapInArrow(work, schema)


def dedup(
    df: DataFrame,
    col: str,
    profile: str | None = None,
    *,
    format: str | None = None,
    key: str | None = None,
    partitions: int | None = None,
    accounting: Accounting | None = None,
    **options: Any,
) -> DataFrame:
    """The set of canonical URLs of a column: one column ``canonical``, binary, in no order. With ``key`` it is
    the set of their keys, in a column named after the key.

    Each partition drops its own duplicates before Spark's shuffle, which is by the hash of the whole
    URL, so neither a hot URL nor a hot host makes one partition larger than others. Bytes are
    compared, so the set is exact. ``partitions`` is the number of partitions after the shuffle; by
    default Spark chooses it.
    """
    _check_name(col)
    # A set made earlier has a column of such a name, and Spark cannot map a column named `a.b`.
    name = col if col.isidentifier() and col.lower() not in (*ADDED, key) else "_"
    urls = df.select(F.col("`" + col.replace("`", "``") + "`").alias(name))
    canonical = canonicalize(urls, name, profile, format=format, key=key, accounting=accounting, **options)
    unit = "canonical" if key is None else key
    found = canonical.select(unit).where(F.col(unit).isNotNull())
    if partitions is not None:
        found = found.dropDuplicates().repartition(partitions, unit)
    found = found.dropDuplicates()
    if accounting is None:
        return found
    accounting._has_set = True
    unique = accounting._unique

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = 0
        for batch in batches:
            rows += batch.num_rows
            yield batch
        task = TaskContext.get()
        unique.add({(task.stageId(), task.partitionId()): rows})

    return found.mapInArrow(count, found.schema)


def read_lines(spark: SparkSession, paths: str | list[str]) -> DataFrame:
    """The lines of text files as one column ``line`` of bytes. As for the command, a line ends with a line
    feed, or with a carriage return and a line feed. A carriage return at the end of a file and a
    byte-order mark at its start are left out."""
    lines = spark.read.option("lineSep", "\n").text(paths).select(F.col("value").cast("binary").alias("line"))
    cut = "if(substring(line, -1, 1) = X'0D', substring(line, 1, length(line) - 1), line)"
    return lines.select(F.expr(cut).alias("line"))


def salt(canonical: str | Column, parts: int) -> Column:
    """A number from 0 to ``parts - 1`` from a canonical URL: the first 28 bits of the key ``hash``.
    It is the same on every machine and in every version.

    Partition by ``(host, salt)`` if a job groups by host and some hosts are hot.
    """
    column = F.col(canonical) if isinstance(canonical, str) else canonical
    bits = F.conv(F.substring(F.sha2(column, 256), 1, 7), 16, 10).cast("int")
    return F.pmod(bits, F.lit(parts))


def _check_name(col: str) -> None:
    """Rejects a ``Column``, which most functions of Spark accept too, before it fails further in."""
    if not isinstance(col, str):
        raise TypeError(f"col is the name of a column, not {type(col).__name__}; withColumn gives an expression a name")


def _bytes_of(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string(kind):
        return pa.binary()
    return pa.large_binary() if pa.types.is_large_string(kind) else kind


def _one(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """The column as one array of a type."""
    if column.num_chunks == 1:
        return column.chunk(0).cast(kind)
    return pa.concat_arrays(column.chunks).cast(kind) if column.num_chunks else pa.array([], kind)
