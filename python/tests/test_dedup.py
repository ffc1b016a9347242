"""Sets of files and of columns, and their accounting."""

import collections
import copy
import errno
import gzip
import os
import pickle
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import uniqurl

LINES = [b"http://b.com", b"HTTP://A.com/", b"", b"http://a.com/#x", b"bad", b"http://h/\xff", b" \t", b"http://b.com/"]
SET = ["http://b.com/", "http://a.com/", "http://h/%FF"]
TERMS = {"records": 8, "unique": 3, "duplicates": 2, "rejected": 1, "blank": 2, "skipped": 0, "codes": {"relative": 1}}


@pytest.fixture
def paths(tmp_path):
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_bytes(b"\n".join(LINES[:4]) + b"\n")
    packed.write_bytes(gzip.compress(b"\n".join(LINES[4:]) + b"\n"))
    return [plain, str(packed)]


def test_files_and_columns_give_the_same_set(paths):
    of_files = uniqurl.dedup(paths, format="lines")
    column = pa.chunked_array([LINES[:5], LINES[5:]], pa.binary())
    of_column = uniqurl.dedup(column)
    of_several = uniqurl.dedup([pa.array(LINES[:2]), pa.array(LINES[2:]).dictionary_encode()])
    for found in [of_files, of_column, of_several]:
        assert found.urls.to_pylist() == SET
        assert pa.chunked_array(found.urls).type == pa.large_string()
        assert found.accounting == TERMS
        assert len(found) == len(found.urls) == 3
    assert [(file["records"], file["state"]) for file in of_files.files] == [(4, "ok"), (4, "ok")]


@pytest.mark.parametrize("profile", ["string", "scheme", "crawl", "aggressive", "ia", "whatwg"])
def test_files_and_columns_agree_under_every_profile(paths, profile):
    for options in [{}, {"order": "sorted"}, {"order": "count"}, {"key": "surt"}, {"key": "hash", "order": "sorted"}]:
        of_files = uniqurl.dedup(paths, profile, format="lines", **options)
        of_column = uniqurl.dedup(pa.array(LINES), profile, threads=1, **options)
        assert of_files.urls.to_pylist() == of_column.urls.to_pylist()
        assert of_files.accounting == of_column.accounting
        if options.get("order") == "sorted":
            assert of_files.urls.to_pylist() == sorted(of_files.urls.to_pylist())


def test_order_count_puts_the_most_frequent_first(tmp_path):
    urls = ["http://b/", "http://c/", "http://a/", "HTTP://C"]
    path = tmp_path / "urls"
    path.write_text("\n".join(urls))
    for inputs in [path, pa.array(urls)]:
        found = uniqurl.dedup(inputs, order="count")
        assert found.urls.to_pylist() == ["http://c/", "http://a/", "http://b/"]


def test_host_under_string_gives_a_binary_set(tmp_path):
    rules = {"profile_toml": 'name = "s"\nversion = 1\nbase = "crawl"\n[host."s.x"]\nbase = "string"\n'}
    urls = [b"http://s.x/\xff", b"http://a/"]
    path = tmp_path / "urls"
    path.write_bytes(b"\n".join(urls))
    for inputs in [path, pa.array(urls)]:
        found = uniqurl.dedup(inputs, **rules)
        assert pa.chunked_array(found.urls).type == pa.large_binary()
        assert found.urls.to_pylist() == urls
    lines = pa.array(['["http://s.x/\u00e9"]', '["http://a/"]'])
    done = uniqurl.normalize_column(lines, format="json:/0", **rules)
    assert done.canonical.to_pylist() == ["http://s.x/\u00e9".encode(), b"http://a/"]


def test_logs_are_read_as_the_command_reads_them(tmp_path):
    log = tmp_path / "access.log"
    line = '10.0.0.7 - - [17/May/2015:10:05:03 +0000] "GET {} HTTP/1.1" 200 5 "-" "-"\n'
    log.write_text(line.format("/%7Ea") + line.format("/~a") + line.format("*"))
    found = uniqurl.dedup(log, base="https://example.com")
    assert found.urls.to_pylist() == ["https://example.com/~a"]
    assert found.accounting["codes"] == {"asterisk-form": 1}


def test_a_missing_or_damaged_file_is_an_error_with_its_code(paths, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        uniqurl.dedup([tmp_path / "none", *paths])
    assert (caught.value.code, caught.value.path) == ("missing", str(tmp_path / "none"))
    assert isinstance(caught.value, uniqurl.MissingError) and isinstance(caught.value, uniqurl.InputError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.errno, str(again)) == (uniqurl.MissingError, errno.ENOENT, str(caught.value))
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"http://a.com/\n" * 1000)[:-9])
    with pytest.raises(uniqurl.InputError) as caught:
        uniqurl.dedup(cut)
    assert caught.value.code == "truncated" and not isinstance(caught.value, FileNotFoundError)
    found = uniqurl.dedup([tmp_path / "none", tmp_path, cut, *paths], format="lines", keep_going=True)
    assert [file["state"] for file in found.files] == ["damaged", "ok", "ok", "missing", "refused"]
    assert set(found.urls.to_pylist()) == set(SET)


def test_file_over_a_limit_is_unfinished(tmp_path):
    # RFC 8878 3.1.1: a frame with a window of 256 MiB, and one block, raw and the last.
    wide = tmp_path / "wide.zst"
    urls = b"http://a.com/\n"
    wide.write_bytes(b"\x28\xb5\x2f\xfd\x00\x90" + (len(urls) << 3 | 1).to_bytes(3, "little") + urls)
    with pytest.raises(uniqurl.InputError) as caught:
        uniqurl.dedup(wide, format="lines")
    assert caught.value.code == "limit"
    found = uniqurl.dedup(wide, format="lines", keep_going=True)
    assert [file["state"] for file in found.files] == ["unfinished"]


def test_error_path_may_hold_any_bytes(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    with pytest.raises(uniqurl.InputError) as caught:
        uniqurl.dedup(path)
    assert caught.value.path == path


def test_input_error_has_the_attributes_of_an_os_error(tmp_path):
    missing, cut = tmp_path / "none", tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"http://a.com/\n" * 1000)[:-9])
    for path, number in [(missing, errno.ENOENT), (cut, None)]:
        with pytest.raises(OSError) as caught:
            uniqurl.dedup(path)
        for error in [caught.value, pickle.loads(pickle.dumps(caught.value))]:
            assert (error.errno, error.filename, error.strerror) == (number, str(path), str(error))


def test_error_for_urls_as_paths_names_columns():
    for inputs in ["http://h/a", ["http://h/a", "http://h/b"]]:
        with pytest.raises(uniqurl.InputError, match="http://h/a: missing: .*; URLs themselves come in as a column"):
            uniqurl.dedup(inputs)


def test_table_format_is_a_usage_error(paths):
    for format in ["parquet", "parquet:url", "arrow:1"]:
        with pytest.raises(uniqurl.UsageError, match="tables come in as columns"):
            uniqurl.dedup(paths, format=format)
        with pytest.raises(uniqurl.UsageError, match="tables come in as columns"):
            uniqurl.normalize_column(pa.array(["http://h/"]), format=format)


def test_table_file_is_rejected(tmp_path):
    table = pa.table({"url": ["http://h/a", "HTTP://h/b"]})
    paths = {name: tmp_path / name for name in ["parquet", "arrow", "stream", "feather", "packed"]}
    pyarrow.parquet.write_table(table, paths["parquet"])
    for name, make in [("arrow", pa.ipc.new_file), ("stream", pa.ipc.new_stream)]:
        with make(paths[name], table.schema) as writer:
            writer.write(table)
    pyarrow.feather.write_feather(table, paths["feather"])
    paths["packed"].write_bytes(gzip.compress(paths["parquet"].read_bytes()))
    for path in paths.values():
        with pytest.raises(uniqurl.InputError, match="a table is not read here$") as caught:
            uniqurl.dedup(path)
        assert (caught.value.code, caught.value.path) == ("format", str(path))
        found = uniqurl.dedup(path, keep_going=True)
        assert (len(found), found.files[0]["state"]) == (0, "refused")


def test_ssurt_rejects_custom_ports(paths):
    rules = {"profile_toml": 'name = "t"\nversion = 1\nbase = "scheme"\n[ports]\nhttp = 81\n'}
    for inputs in [paths, pa.array(["http://h:81/"])]:
        with pytest.raises(uniqurl.UsageError, match="^ssurt names the ports of the registry, and the profile file has others$"):
            uniqurl.dedup(inputs, key="ssurt", **rules)
    assert uniqurl.dedup(pa.array(["http://h:81/"]), key="surt", **rules).urls.to_pylist() == ["h)/"]


@pytest.mark.parametrize("options", [{"format": "nonsense"}, {"order": "random"}, {"key": "md5"}])
def test_unknown_option_values_are_usage_errors(options):
    with pytest.raises(uniqurl.UsageError):
        uniqurl.dedup([], **options)


def test_error_for_an_unknown_format_lists_those_of_the_function():
    column = pa.array(["http://h/"])
    for work, there, not_there in [
        (lambda name: uniqurl.dedup([], format=name), "auto, lines, .*, csv:COL, .* or sitemap\\)$", "parquet|feature"),
        (lambda name: uniqurl.normalize_column(column, format=name), "lines, .* or cdxj\\)$", "auto,|csv|w3c|warc|parquet|feature"),
    ]:
        with pytest.raises(uniqurl.UsageError, match=rf"^unknown format `Auto` \(expected {there}") as caught:
            work("Auto")
        assert not re.search(not_there, str(caught.value))
    with pytest.raises(uniqurl.UsageError, match="^format auto is for files, "):
        uniqurl.normalize_column(column, format="auto")
    for name in "lines target clf combined vhost log:%r elb alb haproxy ltsv ws:1 tsv:1 json:/a cdxj".split():
        assert len(uniqurl.normalize_column(column, format=name)) == 1


def test_invalid_input_is_a_type_error():
    for inputs in [b"name", 3, [3], None, {"a.txt": 1}, [["a.txt"]], ["a.txt", 3], ["a.txt", b"b.txt"], [b"a.txt"]]:
        with pytest.raises(TypeError):
            uniqurl.dedup(inputs)
    with pytest.raises(TypeError, match="^inputs are paths or Arrow columns, or an iterable of these, not int$"):
        uniqurl.dedup(3)
    with pytest.raises(uniqurl.UsageError):
        uniqurl.dedup(pa.array(LINES), format="combined")
    of_column = uniqurl.dedup(pa.array(LINES), format="lines", keep_going=True)
    assert (of_column.accounting, of_column.files) == (TERMS, [])
    with pytest.raises(TypeError):
        uniqurl.dedup([pa.array(LINES), pa.array([3])], keep_going=True)
    assert len(uniqurl.dedup([])) == 0


def test_inputs_may_be_any_iterable(tmp_path):
    for name in ["a", "b"]:
        (tmp_path / f"{name}.txt").write_text(f"HTTP://{name}\nhttp://h\n")
    paths = sorted(tmp_path.iterdir())
    for inputs in [paths, tuple(paths), collections.deque(paths), set(paths), dict.fromkeys(paths).keys(), tmp_path.glob("*.txt"), iter(map(str, paths))]:
        found = uniqurl.dedup(inputs, order="sorted")
        assert found.urls.to_pylist() == ["http://a/", "http://b/", "http://h/"] and len(found.files) == 2
    columns = [pa.array(LINES), pa.array(LINES[:1])]
    assert len(uniqurl.dedup(column for column in columns)) == len(uniqurl.dedup(columns))

    def ends():
        yield paths[0]
        raise KeyboardInterrupt("said")

    with pytest.raises(KeyboardInterrupt, match="^said$"):
        uniqurl.dedup(ends())


def test_results_can_be_copied_and_name_what_to_pickle():
    urls = pa.array(["HTTP://h/", "x", None])
    done, found = uniqurl.normalize_column(urls), uniqurl.dedup(urls)
    for answer, instead in [
        (done, pa.table(done)),
        (done.canonical, pa.chunked_array(done.canonical)),
        (found, (pa.chunked_array(found.urls), found.accounting, found.files)),
    ]:
        assert len(copy.copy(answer)) == len(copy.deepcopy(answer)) == len(answer)
        with pytest.raises(TypeError, match=r"is not pickled, but pyarrow\."):
            pickle.dumps(answer)
        assert pickle.loads(pickle.dumps(instead)) == instead


INTERRUPTED = """
import os, pathlib, signal, sys, threading, time
import numpy
import pyarrow as pa
import uniqurl

def held():
    return [len(os.listdir(f"/proc/self/{what}")) for what in ("task", "fd")]

some = pathlib.Path(sys.argv[1])
some.write_bytes(b"".join(b"http://Example.com/%d\\n" % (i % 1000) for i in range(200_000)))
chunk = pa.array(["HTTP://h/", "http://h/a"] * 50_000)
many = pa.chunked_array([chunk] * 10_000)
dictionary = None
if sys.argv[2] == "long values":
    labels = ["".join(chr(0x4E00 + (row + label) * 7 % 20_000) for row in range(990)) for label in range(18)]
    long_values = pa.array(["http://" + ".".join(labels) + "/"] * 1500)
if sys.argv[2] == "dictionary":
    values = pa.concat_arrays([pa.array(["http://b\\u00fccher.example/"] * 100_000)] * 100)
    dictionary = pa.DictionaryArray.from_arrays(pa.array(numpy.arange(len(values))), values)
end, pipe = os.pipe()
os.write(pipe, b"http://h/\\n")
work = {
    "files": lambda: uniqurl.dedup([some] * 10_000),
    "sorted files": lambda: uniqurl.dedup([some] * 10_000, order="sorted"),
    "column": lambda: uniqurl.dedup(many),
    "rows": lambda: uniqurl.normalize_column(many),
    "long values": lambda: uniqurl.normalize_column(long_values, threads=1),
    "dictionary": lambda: uniqurl.normalize_column(dictionary),
    "pipe": lambda: uniqurl.dedup(f"/proc/self/fd/{end}"),
}[sys.argv[2]]
uniqurl.normalize_column(many[:300_000])
before, waits = held(), []
for _ in range(3):
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    try:
        work()
        sys.exit("it ended by itself")
    except KeyboardInterrupt:
        waits.append(time.monotonic() - pressed[0])
    timer.join()
os.close(pipe)
# An optimized package abandons the work within a second, a debug build within about a minute.
until = time.monotonic() + 180
while held()[0] > before[0] and time.monotonic() < until:
    time.sleep(0.01)
after = held()
assert after[0] <= before[0] and after[1] <= before[1], (before, after)
assert uniqurl.dedup(chunk).urls.to_pylist() == ["http://h/", "http://h/a"]
print(min(waits))
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads where Linux shows them")
@pytest.mark.parametrize("work", ["files", "sorted files", "column", "rows", "long values", "dictionary", "pipe"])
def test_ctrl_c_ends_a_run_quickly_without_leftovers(tmp_path, work):
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "some.txt"), work]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    # The best of three, since the machine may be busy.
    assert float(done.stdout) < 0.2
