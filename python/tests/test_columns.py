"""Columns of every type that holds URLs, from and to every library that has them."""

import collections
import doctest
import itertools
import operator
import pathlib
import random
import re
import signal
import struct
import threading
import time

import numpy
import pandas
import pyarrow as pa
import pyarrow.compute
import pytest
import uniqurl

URLS = [
    "http://example.com/a",
    "HTTP://Example.COM:80/%7Ea",
    None,
    "http://example.com:99999/",
    "http://h",
    "",
    " \t",
    "http://example.com/a/long/enough/not/to/be/in/its/view?q=1",
    "x",
    "http://example.com/a",
]
CANONICAL = [
    "http://example.com/a",
    "http://example.com/~a",
    None,
    None,
    "http://h/",
    None,
    None,
    "http://example.com/a/long/enough/not/to/be/in/its/view?q=1",
    None,
    "http://example.com/a",
]
REJECT = [None, None, None, "port-range", None, None, None, None, "relative", None]
ACCOUNT = {"records": 10, "canonical": 5, "rejected": 2, "blank": 3, "skipped": 0, "codes": {"relative": 1, "port-range": 1}}

TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.uint32(), pa.large_string()),
    pa.dictionary(pa.int64(), pa.binary()),
]


def texts(values):
    return [value.decode() if isinstance(value, bytes) else value for value in values]


def column(values, kind):
    if pa.types.is_dictionary(kind):
        plain = pa.array(values, kind.value_type)
        encoded = plain.dictionary_encode()
        return pa.DictionaryArray.from_arrays(encoded.indices.cast(kind.index_type), encoded.dictionary)
    return pa.array(values, kind)


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_output_has_the_type_of_the_input(kind, threads):
    array = column(URLS, kind)
    for array in [array, pa.chunked_array([array[:3], array[3:3], array[3:]]), column(["y"] * 3 + URLS + ["z"], kind)[3:-1]]:
        done = uniqurl.normalize_column(array, "crawl", threads=threads)
        canonical = pa.chunked_array(done.canonical)
        canonical.validate(full=True)
        assert canonical.type == kind
        assert texts(canonical.to_pylist()) == CANONICAL
        assert texts(done.canonical.to_pylist()) == CANONICAL
        reject = pa.chunked_array(done.reject)
        reject.validate(full=True)
        assert reject.to_pylist() == REJECT == done.reject.to_pylist()
        assert done.accounting == ACCOUNT
        assert len(done) == len(array) == len(done.canonical)
        assert done.canonical.null_count == CANONICAL.count(None)
        table = pa.table(done)
        assert table.column_names == ["canonical", "reject"] and texts(table["canonical"].to_pylist()) == CANONICAL


@pytest.mark.parametrize("key", ["url", "template", "host", "domain", "surt", "ssurt", "hash"])
@pytest.mark.parametrize("kind", TYPES + [pa.null()], ids=str)
def test_key_is_a_third_column(kind, key):
    urls = [None] * 10 if kind == pa.null() else URLS
    keys = [None if form is None else uniqurl.key(form, key) for form in CANONICAL]
    expected = urls if kind == pa.null() else keys
    array = column(urls, kind)
    for array in [array, pa.chunked_array([array[:3], array[3:3], array[3:]])]:
        done = uniqurl.normalize_column(array, key=key, threads=2)
        table = pa.table(done)
        assert table.column_names == ["canonical", "reject", key]
        table.validate(full=True)
        assert table[key].to_pylist() == done.key.to_pylist() == expected
        is_dictionary = pa.types.is_dictionary(kind)
        assert table[key].type == (pa.dictionary(kind.index_type, pa.large_string()) if is_dictionary else pa.large_string())
        if kind != pa.null():
            assert texts(done.canonical.to_pylist()) == CANONICAL and done.reject.to_pylist() == REJECT
    assert uniqurl.normalize_column(array).key is None
    assert pa.table(uniqurl.Normalizer().normalize_column(array[:0], key=key)).column_names[2] == key


def test_column_and_set_have_the_same_keys():
    urls = pa.array([f"http://{host}.example/{path}" for host in "ab" for path in range(140_000)])
    for key in ["surt", "hash"]:
        done = uniqurl.normalize_column(urls, key=key, threads=3)
        assert done.canonical.num_chunks == done.key.num_chunks > 1
        assert done.key.to_pylist() == uniqurl.dedup(urls, key=key).urls.to_pylist()
    octets = uniqurl.normalize_column([b"\xff"], "string", key="url")
    assert (pa.table(octets)["url"].type, octets.key.to_pylist()) == (pa.large_binary(), [b"\xff"])
    templates = uniqurl.normalize_column([b"\xff"], "string", key="template")
    assert (pa.table(templates)["template"].type, templates.key.to_pylist()) == (pa.large_string(), ["%FF"])
    assert uniqurl.dedup(urls, key="template").urls.to_pylist() == [f"http://{host}.example/{{int}}" for host in "ab"]
    assert pa.table(uniqurl.normalize_column([b"\xff"], "string", key="hash"))["hash"].type == pa.large_string()
    for refused, why in [({"key": "md5"}, "^unknown key `md5` .expected url, template, host, domain, domain-icann, surt, ssurt or hash.$"), ({"key": "ssurt", "profile_toml": OWN_PORTS}, "^ssurt names")]:
        with pytest.raises(uniqurl.UsageError, match=why):
            uniqurl.normalize_column(urls, **refused)


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("key, keys", [("domain", ["example.co.uk", "example.co.uk"]), ("host", ["www.example.co.uk", "b.example.co.uk"])])
def test_url_without_a_host_has_no_key_of_hosts(kind, key, keys):
    urls = ["http://www.example.co.uk/a", "mailto:a@b", None, "nonsense", "http://b.example.co.uk/", "mailto:a@b"]
    done = uniqurl.normalize_column(column(urls, kind), key=key)
    assert done.key.to_pylist() == [keys[0], None, None, None, keys[1], None]
    assert texts(done.canonical.to_pylist()) == [urls[0], None, None, None, urls[4], None]
    assert done.reject.to_pylist() == [None, "no-host", None, "relative", None, "no-host"]
    terms = ("records", "canonical", "rejected", "blank")
    assert [done.accounting[term] for term in terms] == [6, 2, 3, 1]
    assert done.accounting["codes"] == {"no-host": 2, "relative": 1}
    made = uniqurl.dedup(column(urls, kind), key=key)
    assert made.urls.to_pylist() == list(dict.fromkeys(keys))
    assert made.accounting["codes"] == done.accounting["codes"]
    assert made.accounting["duplicates"] == 2 - len(set(keys))
    with pytest.raises(uniqurl.Rejected, match="^no-host at byte 0"):
        uniqurl.key("mailto:a@b", key)


OWN_PORTS = 'name = "x"\nversion = 1\nbase = "crawl"\n[ports]\ngopher = 70\n'


def test_key_of_a_log_target_names_no_host():
    line = '10.0.0.7 - - [17/May/2015:10:05:03 +0000] "GET {} HTTP/1.1" 200 5 "-" "-"'
    lines = [line.format(target) for target in ["//a/%7eb", "http://X/"]]
    for options, keys in [({}, ["//a/~b", "x)/"]), ({"assume_scheme": "http"}, ["//a/~b", "x)/"]), ({"base": "http://h"}, ["h)//a/~b", "x)/"])]:
        assert uniqurl.normalize_column(lines, format="combined", key="surt", **options).key.to_pylist() == keys


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("key", [None, "surt", "domain"])
def test_rejected_values_are_kept(kind, key):
    urls = ["HTTP://h", "http://h:99999/", None, " ", "mailto:a@b", "http://h:99999/", "x", "http://h/"]
    array = column(urls, kind)
    chunks = pa.chunked_array([array[:3], array[3:3], array[1:], array])
    null = uniqurl.normalize_column(chunks, key=key)
    kept = uniqurl.normalize_column(chunks, key=key, errors="keep")
    assert kept.accounting == null.accounting
    assert kept.reject.to_pylist() == null.reject.to_pylist()
    canonical = pa.chunked_array(kept.canonical)
    canonical.validate(full=True)
    assert canonical.type == kind
    rows = zip(chunks.to_pylist(), null.canonical.to_pylist(), null.reject.to_pylist(), strict=True)
    assert canonical.to_pylist() == [form if codes is None else url for url, form, codes in rows]
    if key is not None:
        assert kept.key.to_pylist() == null.key.to_pylist()
    for chunk in canonical.chunks if pa.types.is_dictionary(kind) else []:
        values = chunk.dictionary.to_pylist()
        assert len(values) == len(set(values))


def test_rejected_lines_of_a_log_are_kept():
    lines = ["no request", 'h - - [10/Oct/2000:13:55:36 +0000] "GET /%7Ea HTTP/1.1" 200 1', None]
    for kind in [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]:
        done = uniqurl.normalize_column(pa.array(lines).cast(kind), format="clf", errors="keep")
        assert done.canonical.to_pylist() == ["no request", "/~a", None]
        assert done.reject.to_pylist() == ["log-syntax", None, None]


def test_first_rejected_row_raises():
    urls = ["http://h/"] * 200_000 + ["http://h:99999/", "x"]
    for column in [urls, pa.chunked_array([urls[:7], [], urls[7:]]), pa.array(urls).dictionary_encode()]:
        with pytest.raises(uniqurl.Rejected, match="row 200000: port-range") as raised:
            uniqurl.normalize_column(column, errors="raise")
        assert (raised.value.code, raised.value.at, raised.value.codes) == ("port-range", 9, ("port-range",))
    with pytest.raises(uniqurl.Rejected, match="row 1: no-host"):
        uniqurl.normalize_column(["http://h/", "mailto:a@b"], key="domain", errors="raise")
    with pytest.raises(uniqurl.Rejected, match="row 0: too-long") as raised:
        uniqurl.normalize_column(["http://h/"], max_url=4, errors="raise")
    assert raised.value.at == 4
    assert uniqurl.normalize_column(urls[:9], errors="raise").accounting["canonical"] == 9
    with pytest.raises(uniqurl.UsageError, match="errors is raise, null or keep"):
        uniqurl.normalize_column(urls[:1], errors="ignore")


def test_only_used_dictionary_values_get_keys():
    values = pa.array([f"http://h/{i}" for i in range(100_000)] + ["x"])
    chunks = [pa.DictionaryArray.from_arrays(pa.array([i, None, i], pa.int32()), values) for i in range(200)]
    done = uniqurl.normalize_column(pa.chunked_array(chunks), key="surt")
    assert done.key.to_pylist() == [key for i in range(200) for key in [f"h)/{i}", None, f"h)/{i}"]]
    assert max(len(chunk.dictionary) for chunk in pa.chunked_array(done.key).chunks) == 1
    for url in ["http://h/", "HTTP://h/"]:
        rows = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 70_000, pa.int8()), pa.array([url, None]))
        done = uniqurl.normalize_column(rows, key="surt")
        assert done.key.num_chunks == 1 and done.key.to_pylist() == ["h)/", None] * 70_000


def test_large_column_agrees_with_single_urls():
    random.seed(7)
    hosts = ["h", "Example.com", "example.com:80", "b\u00fccher.example", "[::1]", "h:99999", ""]
    paths = ["/", "/a/../b", "/%7e", "/%zz", "/caf\u00e9", "", "/long/" + "x" * 40, "/ "]
    some = [f"{s}://{h}{p}" for s in ["http", "HTTPS", "x"] for h in hosts for p in paths]
    urls = [random.choice(some + [None, "", " "]) for _ in range(140_000)]
    forms = {}
    for url in set(urls) - {None, "", " "}:
        try:
            forms[url] = (uniqurl.normalize(url), None)
        except uniqurl.Rejected as rejected:
            forms[url] = (None, ",".join(rejected.codes))
    expected = [forms.get(url, (None, None)) for url in urls]
    for kind in [pa.string(), pa.large_string(), pa.string_view()]:
        for threads in [1, 3]:
            done = uniqurl.normalize_column(pa.array(urls, kind), threads=threads)
            assert done.canonical.num_chunks > 1
            assert pa.chunked_array(done.canonical).to_pylist() == [form for form, _ in expected]
            assert pa.chunked_array(done.reject).to_pylist() == [code for _, code in expected]


def test_clean_values_are_not_copied():
    urls = pa.array([f"http://example.com/{i}" for i in range(300_000)])
    done = pa.chunked_array(uniqurl.normalize_column(urls).canonical)
    assert done.num_chunks == 1
    assert done.chunk(0).buffers()[2].address == urls.buffers()[2].address
    view = pa.array(["http://example.com/long", "HTTP://example.com/long"], pa.string_view())
    buffers = pa.chunked_array(uniqurl.normalize_column(view).canonical).chunk(0).buffers()
    assert view.buffers()[2].address in [buffer.address for buffer in buffers if buffer]


def test_dictionary_holds_each_canonical_form_once():
    indices = pa.array([0, 1, 2, None, 1, 3], pa.int32())
    values = pa.array(["http://h/~", "http://h/%7e", "bad", None, "not used"])
    array = pa.DictionaryArray.from_arrays(indices, values)
    done = uniqurl.normalize_column(array)
    canonical = pa.chunked_array(done.canonical).chunk(0)
    assert canonical.dictionary.to_pylist() == ["http://h/~"]
    assert canonical.to_pylist() == ["http://h/~", "http://h/~", None, None, "http://h/~", None]
    assert done.accounting["canonical"] == 3 and done.accounting["codes"] == {"relative": 1}


def test_long_results_are_split_into_chunks():
    # A piece has 31-bit offsets, and few enough rows that its longest possible result fits.
    base = "http://h/" + "a" * 100_000 + "/"
    for kind in [pa.string(), pa.string_view()]:
        done = uniqurl.normalize_column(pa.array(["x"] * 1000, kind), base=base)
        assert done.canonical.num_chunks == 2
        assert set(done.canonical.to_pylist()) == {base + "x"}
    moved = uniqurl.normalize_column(pa.array(["http://h/x"] * 1000), redirects={"http://h/x": base})
    assert moved.canonical.num_chunks == 2 and set(moved.canonical.to_pylist()) == {base}
    indices = pa.array([0] * 1000, pa.int32())
    array = pa.DictionaryArray.from_arrays(indices, pa.array([base]))
    done = uniqurl.normalize_column(array, format="ws:1", max_url=len(base))
    assert done.canonical.num_chunks == 2
    assert set(done.canonical.to_pylist()) == {base}
    assert uniqurl.normalize_column(array, max_url=len(base)).canonical.num_chunks == 1


def test_long_values_are_split_into_chunks():
    long = "a" * (2 << 20)
    for kind in [pa.string(), pa.string_view()]:
        done = uniqurl.normalize_column(pa.array([f"HTTP://h/{long}"] * 25, kind), max_url=4 << 20)
        assert done.canonical.num_chunks == 2
        assert set(done.canonical.to_pylist()) == {f"http://h/{long}"}


def test_unused_dictionary_values_are_dropped():
    values = pa.array([f"HTTP://h/{i}" for i in range(100_000)])
    chunks = [pa.DictionaryArray.from_arrays(pa.array([i, i + 1, None, i], pa.int32()), values) for i in range(200)]
    done = uniqurl.normalize_column(pa.chunked_array(chunks))
    canonical = pa.chunked_array(done.canonical)
    assert canonical.to_pylist() == [u for i in range(200) for u in [f"http://h/{i}", f"http://h/{i + 1}", None, f"http://h/{i}"]]
    assert max(len(chunk.dictionary) for chunk in canonical.chunks) == 2
    assert done.accounting["canonical"] == 600 and done.accounting["blank"] == 200
    same = uniqurl.normalize_column(pa.DictionaryArray.from_arrays(pa.array([1]), pa.array(["HTTP://h/", "http://h/"])))
    assert len(pa.chunked_array(same.canonical).chunk(0).dictionary) == 2


def test_ordered_dictionary_stays_ordered():
    indices = pa.array([1, 0], pa.int32())
    for url in ["http://h/a", "HTTP://h/a"]:
        array = pa.DictionaryArray.from_arrays(indices, pa.array(["http://h/", url]), ordered=True)
        done = uniqurl.normalize_column(array)
        canonical = pa.chunked_array(done.canonical)
        assert canonical.type == array.type == pa.table(done)["canonical"].type
        pa.chunked_array([array, *canonical.chunks])


def test_dictionary_of_nulls_is_blank():
    indices = pa.array([0, 0, None], pa.int32())
    for values in [pa.nulls(1), pa.nulls(1, pa.string())]:
        done = uniqurl.normalize_column(pa.DictionaryArray.from_arrays(indices, values))
        assert done.canonical.to_pylist() == [None] * 3
        assert (done.accounting["canonical"], done.accounting["blank"]) == (0, 3)


def junk_in_nulls(kind):
    """A column whose null rows hold invalid data: bytes that are not UTF-8, and views with a missing
    buffer and a wrong prefix."""
    if not pa.types.is_string_view(kind):
        values = pa.array([b"HTTP://h/a", b"\xff", b"http://h/b", b"\xff" * 20], pa.binary())
        mask = pa.array([True, False, True, False])
        return pyarrow.compute.if_else(mask, values, None).cast(kind)
    values = pa.array(["HTTP://h/a", "short", "http://h/b/longer/than/a/view", "http://h/c/longer/than/a/view"], kind)
    _, views, data = values.buffers()
    views = bytearray(views)
    views[16:32] = struct.pack("<i12s", 5, b"\xff" * 12)
    views[48:64] = struct.pack("<i4sii", 29, b"\xff" * 4, 7, 1 << 30)
    return pa.Array.from_buffers(kind, 4, [pa.py_buffer(b"\x05"), pa.py_buffer(bytes(views)), data])


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_bytes_of_nulls_are_not_read(kind):
    array = junk_in_nulls(kind)
    last = array.to_pylist()[2]
    expected = ["http://h/a", None, last, None]
    rows = pa.StructArray.from_arrays([array], ["url"], mask=pa.array([False, False, True, False]))
    indices = pa.array([0, 1, 2, 3, None], pa.int32())
    dictionary = pa.DictionaryArray.from_arrays(indices, array)
    for given, wanted in [
        (array, expected),
        (array[1:], expected[1:]),
        (rows, ["http://h/a", None, None, None]),
        (dictionary, expected + [None]),
    ]:
        done = uniqurl.normalize_column(given)
        canonical = pa.chunked_array(done.canonical)
        assert canonical.to_pylist() == wanted == done.canonical.to_pylist()
        assert done.accounting["blank"] == wanted.count(None)
        if given is not dictionary and wanted[0]:
            canonical.validate(full=True)
        assert uniqurl.dedup(given).urls.to_pylist() == [url for url in wanted if url]
    lines = uniqurl.normalize_column(dictionary, format="ws:1")
    assert lines.canonical.to_pylist() == expected + [None]


@pytest.mark.parametrize("kind", TYPES + [pa.null()], ids=str)
def test_null_row_of_a_struct_is_null(kind):
    values = column([None] * 4 if kind == pa.null() else ["http://h/x", "http://behind.null/", None, "HTTP://h/y"], kind)
    rows = pa.StructArray.from_arrays([values], ["url"], mask=pa.array([False, True, False, False]))
    expected = [None] * 4 if kind == pa.null() else ["http://h/x", None, None, "http://h/y"]
    for skipped in [0, 1]:
        done = uniqurl.normalize_column(rows[skipped:])
        assert texts(done.canonical.to_pylist()) == expected[skipped:]
        assert pa.chunked_array(done.canonical).type == kind
        assert done.accounting["blank"] == expected[skipped:].count(None)


def test_bytes_that_are_not_utf8_are_kept():
    done = uniqurl.normalize_column(pa.array([b"http://h/\xff", b"http://h/a"]))
    assert done.canonical.to_pylist() == [b"http://h/%FF", b"http://h/a"]
    same = uniqurl.normalize_column(pa.array([b"\xff\x00"]), "string")
    assert same.canonical.to_pylist() == [b"\xff\x00"]


def test_requested_text_type_does_not_lose_binary_urls():
    found = uniqurl.dedup(pa.array([b"http://h/\xff", b"http://h/a"]), "string")
    with pytest.raises(pa.ArrowInvalid):
        pa.chunked_array(found.urls, type=pa.string())
    done = uniqurl.normalize_column(pa.array([b"http://h/\xff"]), "string")
    assert pa.chunked_array(done.canonical, type=pa.binary_view()).to_pylist() == [b"http://h/\xff"]


def test_overlong_urls_are_rejected_and_blanks_are_null():
    urls = ["http://h/" + "a" * 65536, " " * 65537, "\t" * 65537 + "a"]
    for kind in [pa.string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]:
        done = uniqurl.normalize_column(column(urls, kind))
        assert done.reject.to_pylist() == ["too-long", None, "too-long"]
        assert (done.accounting["rejected"], done.accounting["blank"]) == (2, 1)
    # As in the command, a blank value over the limit is rejected without being read.
    most = 16 << 20
    for format in [None, "lines", "ws:1"]:
        done = uniqurl.normalize_column(pa.array([" " * most, " " * (most + 1)]), format=format)
        assert done.reject.to_pylist() == [None, "too-long"]
    edge = ["http://h/" + "a" * length for length in (65536 - 9, 65537 - 9)]
    assert uniqurl.normalize_column(edge).reject.to_pylist() == [None, "too-long"]
    assert uniqurl.normalize_column(["\t", "\t ", "\ta"]).reject.to_pylist() == [None, None, "relative"]
    for empty in [pa.array([], pa.string()), pa.chunked_array([], pa.string_view())]:
        done = uniqurl.normalize_column(empty)
        assert len(done) == 0 and pa.table(done).num_rows == 0
    nothing = uniqurl.normalize_column(pa.nulls(3))
    assert nothing.canonical.to_pylist() == [None] * 3 and nothing.accounting["blank"] == 3


def test_any_iterable_of_urls_is_a_column():
    text, octets = ["HTTP://h", None, "x"], [b"HTTP://h", None, b"x"]
    plain = ["HTTP://h", "x"]
    columns = [
        (text, pa.large_string()),
        (tuple(text), pa.large_string()),
        (collections.deque(text), pa.large_string()),
        ((url for url in text), pa.large_string()),
        (dict.fromkeys(text).keys(), pa.large_string()),
        (numpy.array(text, dtype=object), pa.large_string()),
        (octets, pa.large_binary()),
        (numpy.array(octets, dtype=object), pa.large_binary()),
        (numpy.array(plain), pa.large_string()),
        (numpy.array(plain, dtype=numpy.dtypes.StringDType()), pa.large_string()),
        (numpy.array([b"HTTP://h", b"x"]), pa.large_binary()),
        (set(plain + [None]), pa.large_string()),
        (pandas.Series([None, "HTTP://h"], dtype=object)[::-1], pa.string()),
    ]
    for urls, kind in columns:
        done = uniqurl.normalize_column(urls)
        canonical = pa.chunked_array(done.canonical)
        assert canonical.type == kind
        assert set(texts(canonical.to_pylist())) == {"http://h/", None}, urls
        assert done.accounting["canonical"] == 1
    assert uniqurl.Normalizer().normalize_column(text).reject.to_pylist() == [None, None, "relative"]
    for nothing in [[], [None, None]]:
        done = uniqurl.normalize_column(nothing)
        assert (done.canonical.to_pylist(), done.accounting["blank"]) == (nothing, len(nothing))
    with pytest.raises(UnicodeEncodeError):
        uniqurl.normalize_column(["\ud800"])

    def ends():
        yield "HTTP://h"
        raise KeyboardInterrupt("said")

    with pytest.raises(KeyboardInterrupt, match="^said$"):
        uniqurl.normalize_column(ends())


def test_signal_interrupts_reading_an_iterable():
    def ends(*_):
        raise TimeoutError("said")

    values = itertools.repeat("", 50_000_000)
    before = signal.signal(signal.SIGALRM, ends)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError, match="^said$"):
            uniqurl.normalize_column(values)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert operator.length_hint(values) > 0


def test_switch_may_be_a_numpy_bool():
    for value in [True, False]:
        made = uniqurl.Normalizer("aggressive", sort_query=numpy.bool_(value))
        assert made.description == uniqurl.Normalizer("aggressive", sort_query=value).description
    with pytest.raises(TypeError, match="^sort_query: 'int64' object"):
        uniqurl.Normalizer(sort_query=numpy.int64(1))


def test_several_codes_are_separated_by_commas():
    for kind in [pa.string(), pa.dictionary(pa.int8(), pa.string())]:
        done = uniqurl.normalize_column(column(["/a%2Fb\\c"], kind), "servlet")
        assert done.reject.to_pylist() == ["encoded-slash,backslash"]
        assert done.accounting["codes"] == {"encoded-slash": 1, "backslash": 1}


@pytest.mark.parametrize("array, told", [
    (pa.array([1]), "Int64"),
    (pa.array([["http://h/"]]), "List"),
    ([["http://h/"]], "^row 0 is neither str, bytes nor None, but list$"),
    (["http://h/", None, float("nan")], "^row 2 is neither str, bytes nor None, but float$"),
    (numpy.array(["http://h/", pandas.NA]), "^row 1 is neither str, bytes nor None, but NAType$"),
    (numpy.array([1]), "^row 0 is neither str, bytes nor None, but int64$"),
    (["http://h/", None, b"http://h/"], "^row 2 is bytes, and those before it are not$"),
    ([b"http://h/", "http://h/"], "^row 1 is str, and those before it are not$"),
    ({"url": ["http://h/"]}, "^dict has keys, so it is not a column$"),
    ("http://h/", "^str is one URL instead of a column$"),
    (b"http://h/", "^bytes is one URL instead of a column$"),
    (bytearray(b"http://h/"), "but int$"),
    (None, "^NoneType is not an Arrow column"),
    (3, "^int is not an Arrow column"),
])
def test_column_without_urls_is_a_type_error(array, told):
    with pytest.raises(TypeError, match=told):
        uniqurl.normalize_column(array)
    with pytest.raises(TypeError):
        uniqurl.normalize_column(pa.table({"a": ["x"], "b": ["y"]}))


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_exception_of_a_source_propagates_unchanged(raised):
    def batches():
        yield pa.record_batch({"url": ["HTTP://h"]})
        if raised:
            raise raised("said")

    class Series:
        @property
        def array(self):
            raise raised("said")

    def reader():
        return pa.RecordBatchReader.from_batches(pa.schema({"url": pa.string()}), batches())

    for work in [uniqurl.normalize_column, uniqurl.dedup]:
        for source in [reader, Series]:
            with pytest.raises(raised, match="^said$"):
                work(source())
    raised = None
    assert uniqurl.normalize_column(reader()).canonical.to_pylist() == ["http://h/"]


def test_failing_stream_is_a_runtime_error():
    def batches():
        yield pa.record_batch({"url": ["http://h"]})
        raise ValueError("said")

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            schema = pa.schema({"url": pa.string()})
            return pa.RecordBatchReader.from_batches(schema, batches()).__arrow_c_stream__()

    for work in [uniqurl.normalize_column, uniqurl.dedup]:
        with pytest.raises(RuntimeError, match="said"):
            work(Stream())


def test_reader_without_batches_keeps_its_schema():
    for schema, rows in [(pa.schema({"url": pa.string_view()}), 0), (pa.schema({"a": pa.string(), "b": pa.string()}), None)]:
        reader = pa.RecordBatchReader.from_batches(schema, [])
        if rows is None:
            with pytest.raises(TypeError, match="^a table of 2 columns instead of one column$"):
                uniqurl.normalize_column(reader)
        else:
            done = uniqurl.normalize_column(reader)
            assert (len(done), pa.chunked_array(done.canonical).type) == (rows, pa.string_view())


def test_normalizing_a_column_releases_the_gil():
    urls = pa.array([f"HTTP://Example.com/{i}/%7e/../%41" for i in range(400_000)])
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.0005):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    for _ in range(5):
        uniqurl.normalize_column(urls, threads=1)
    end = time.perf_counter()
    over.set()
    thread.join()
    within = sum(start < at < end for at in ticks)
    # If the lock were held, at most one tick would fit between two calls.
    assert within > 20


def test_threads_are_limited_as_in_the_command():
    urls = pa.array(["http://h/"])
    assert len(uniqurl.normalize_column(urls, threads=1024)) == 1
    for threads in [-1, 0, 1025, 10**6, 10**30, -(10**30)]:
        for work in [uniqurl.normalize_column, uniqurl.Normalizer().normalize_column, uniqurl.dedup]:
            with pytest.raises(uniqurl.UsageError, match="threads is 1 to 1024"):
                work(urls, threads=threads)
    with pytest.raises(TypeError, match="^threads: "):
        uniqurl.normalize_column(urls, threads=1.5)


def test_polars_round_trip():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"url": URLS})
    done = uniqurl.normalize_column(frame["url"])
    assert polars.Series(done.canonical).to_list() == CANONICAL
    assert polars.DataFrame(done).to_dict(as_series=False) == {"canonical": CANONICAL, "reject": REJECT}
    for some in [frame, frame.lazy()]:
        added = some.with_columns(done.reject.to_polars(), form=done.canonical.to_polars()).lazy().collect()
        assert added.columns == ["url", "reject", "form"] and added["form"].to_list() == CANONICAL
    for nulls in [polars.Series([None, None]), polars.DataFrame({"url": [None, None]})]:
        done = uniqurl.normalize_column(nulls)
        assert done.canonical.to_pylist() == [None] * 2 and done.accounting["blank"] == 2
        assert polars.Series(done.canonical).to_list() == [None] * 2
    categories = frame["url"].cast(polars.Categorical)
    assert pa.chunked_array(uniqurl.normalize_column(categories).canonical).to_pylist() == CANONICAL


def test_duckdb_round_trip():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    urls = pa.table({"url": URLS})
    done = uniqurl.normalize_column(connection.sql("select url from urls"))
    assert len(done) == urls.num_rows
    answer = pa.table(done)
    assert answer.num_rows == len(URLS)
    rows = connection.sql("select canonical, reject from answer").fetchall()
    assert rows == list(zip(CANONICAL, REJECT))


def test_pandas_round_trip():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(URLS, dtype=pandas.ArrowDtype(pa.string()))
    done = uniqurl.normalize_column(series)
    frame = pa.table(done).to_pandas(types_mapper=pandas.ArrowDtype)
    assert [None if value is pandas.NA else value for value in frame["canonical"]] == CANONICAL
    assert isinstance(frame["canonical"].dtype, pandas.ArrowDtype)
    # Code without Arrow support iterates over the values, and does not treat the column as one value.
    frame = pandas.DataFrame({"url": series})[::-1].assign(canonical=done.canonical)
    assert [None if pandas.isna(value) else value for value in frame["canonical"]] == CANONICAL
    assert list(done.reject) == REJECT and set(done.canonical) == set(CANONICAL)
    frame["series"] = done.canonical.to_pandas(frame.index)
    assert frame["series"].equals(frame["canonical"])
    series = done.canonical.to_pandas()
    assert series.name == "canonical" and list(series.index) == list(range(len(URLS)))


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_column_is_a_sequence(kind):
    array = column(URLS, kind)
    made = uniqurl.normalize_column(pa.chunked_array([array[:3], array[3:3], array[3:]])).canonical
    assert texts(made[row] for row in range(len(made))) == texts(made) == CANONICAL
    assert texts(made[row - len(made)] for row in range(len(made))) == CANONICAL
    for row in [len(made), -len(made) - 1]:
        with pytest.raises(IndexError, match=f"^row {row} of 10$"):
            made[row]
    with pytest.raises(TypeError):
        made[1:]
    with pytest.raises(IndexError):
        uniqurl.normalize_column([]).canonical[0]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_notebook_shows_accounting_and_first_rows(kind):
    urls = ["http://h/a", "<script>alert('&')</script>", None, "http://h/" + "a" * 300] + ["http://h/b"] * 20
    shown = uniqurl.normalize_column(column(urls, kind), key="host", errors="keep")._repr_html_()
    rows = re.findall("<tr>(.*?)</tr>", shown)
    assert shown.startswith("<p>records 24 = canonical 22 + rejected 1 + blank 1</p><table>") and len(rows) == 11
    assert rows[:2] == ["<th>canonical</th><th>reject</th><th>host</th>", "<td>http://h/a</td><td></td><td>h</td>"]
    assert rows[2] == "<td>&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;</td><td>relative</td><td></td>"
    assert rows[3] == "<td></td><td></td><td></td>" and "aaa...</td>" in rows[4] and len(rows[4]) < 300
    found = uniqurl.dedup(column(urls, kind), order="sorted")._repr_html_()
    assert found.startswith("<p>records 24 = unique 3 + duplicates 19 + ") and found.count("<td>") == 3
    octets = uniqurl.dedup([pa.array([b"<\xff>"])], "string")._repr_html_()
    assert octets.endswith("<table><tr><th>canonical</th></tr><tr><td>&lt;\\xFF&gt;</td></tr></table>")


class OldSeries:
    """A series of pandas before it had the PyCapsule interface."""

    def __init__(self, array):
        self.array = self
        self.inner = array

    def __arrow_array__(self, type=None):
        return self.inner


def test_series_without_capsules_is_read_through_its_array():
    done = uniqurl.normalize_column(OldSeries(pa.array(URLS)))
    assert done.canonical.to_pylist() == CANONICAL


def test_values_can_be_lines_of_a_log():
    line = '10.0.0.7 - - [17/May/2015:10:05:03 +0000] "GET {} HTTP/1.1" 200 5 "-" "-"'
    lines = [line.format("/%7Ea"), None, line.format("/a\\x22b"), line.format("*"), "nonsense", "", "a\nb"]
    expected = ["https://h/~a", None, "https://h/a%22b", None, None, None, None]
    codes = [None, None, None, "asterisk-form", "log-syntax", None, "log-syntax"]
    for kind in [pa.string(), pa.binary_view(), pa.dictionary(pa.int32(), pa.string())]:
        done = uniqurl.normalize_column(column(lines, kind), base="https://h/", format="combined")
        assert texts(done.canonical.to_pylist()) == expected
        assert done.reject.to_pylist() == codes
        assert pa.chunked_array(done.canonical).type == (pa.binary() if kind == pa.binary_view() else pa.string())
    bare = uniqurl.normalize_column(pa.array(lines), format="combined")
    assert bare.canonical.to_pylist()[0] == "/~a"
    for format in ["w3c", "csv:url", "warc", "text", "nonsense"]:
        with pytest.raises(uniqurl.UsageError):
            uniqurl.normalize_column(pa.array(lines), format=format)


def test_comment_lines_are_skipped():
    lines = ["!meta {}", 'com,h)/ 2020 {"url":"http://h/"}', " CDX N b a"]
    done = uniqurl.normalize_column(lines, format="cdxj")
    assert (done.canonical.to_pylist(), done.reject.to_pylist()) == ([None, "http://h/", None], [None] * 3)
    assert (done.accounting["records"], done.accounting["skipped"], done.accounting["blank"]) == (1, 2, 0)


def test_profile_decides_how_targets_in_lines_are_read():
    for profile, codes in [("servlet", ["no-leading-slash", "asterisk-form,no-leading-slash"]), ("crawl", ["relative", "asterisk-form"])]:
        assert uniqurl.normalize_column(["a/b", "*"], profile, format="target").reject.to_pylist() == codes


def test_readme_examples_are_exact():
    text = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert examples
    for example in examples:
        exec(example, {})


def test_notebook_shows_what_its_cells_print():
    page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
    cells = "\n".join(re.findall(r"```pycon\n(.*?)```", page.read_text(), re.DOTALL))
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(cells, {}, page.name, str(page), 0))
    assert runner.failures == 0 and runner.tries > 25
