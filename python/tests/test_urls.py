"""Single URLs and their errors."""

import ast
import copy
import doctest
import importlib.metadata
import inspect
import pathlib
import pickle
import subprocess
import sys
import threading
import time

import pytest
import uniqurl


def test_readme_example_is_exact():
    assert uniqurl.normalize("HTTP://EX%41MPLE.com:80/a/../b") == "http://example.com/b"


def test_bytes_give_bytes_and_text_gives_text():
    assert uniqurl.normalize(b"http://h/\xff") == b"http://h/%FF"
    assert uniqurl.normalize("http://h/\u00e9") == "http://h/%C3%A9"
    assert uniqurl.normalize(b"\xff x", "string") == b"\xff x"


def test_single_url_has_the_keys_of_a_set():
    url = "HTTP://www.Example.com:80/A?b"
    for key in ["url", "surt", "ssurt", "hash"]:
        with pytest.raises(uniqurl.Rejected):
            uniqurl.key("http://h:x/", key)
    assert uniqurl.key(url, "surt") == "com,example,www)/A?b"
    assert uniqurl.key(url, "surt", "ia") == uniqurl.Normalizer("ia").key(url, "surt") == "com,example)/a?b"
    assert uniqurl.key(url.encode(), "ssurt", drop_query=True) == b"com,example,www,//80:http@/A"
    assert uniqurl.key(url, "hash") == uniqurl.key(uniqurl.normalize(url), "hash")
    assert uniqurl.key(b"\xff", "url", "string") == b"\xff"
    page = "http://h.example/pt-BR/user/17?page=2"
    assert uniqurl.key(page, "template") == "http://h.example/pt-BR/user/{int}?page"
    assert uniqurl.key(b"\xff", "template", "string") == b"%FF"
    with pytest.raises(uniqurl.UsageError, match="^unknown key `SURT` .expected url, template, host, domain, domain-icann, surt, ssurt or hash.$"):
        uniqurl.key(url, "SURT")
    with pytest.raises(uniqurl.UsageError, match="^ssurt names the ports of the registry"):
        uniqurl.key(url, "ssurt", profile_toml='name = "x"\nversion = 1\nbase = "crawl"\n[ports]\ngopher = 70\n')
    with pytest.raises(uniqurl.Rejected, match="^too-long at byte 5"):
        uniqurl.key(url, "hash", max_url=5)


def test_reference_is_resolved_by_rfc_3986():
    assert uniqurl.resolve("http://a/b/c/d;p?q", "../../../g") == "http://a/g"
    assert uniqurl.resolve(b"x:/a", b"/..//\xff") == b"x:/.//\xff"
    assert uniqurl.resolve("http://\u00e9/", "HTTP:%41") == "HTTP:%41"
    with pytest.raises(uniqurl.UsageError, match="^the base has no scheme$"):
        uniqurl.resolve("/a", "b")
    with pytest.raises(TypeError, match="^base and reference are both str or both bytes$"):
        uniqurl.resolve(b"http://h/", "b")


def test_extracted_urls_have_the_type_of_the_text():
    text = "caf\u00e9 <http://a/\n b>, (HTTP://H/\u00e9)\u3002 C:\\x"
    assert uniqurl.extract(text) == ["http://a/b", "HTTP://H/\u00e9"]
    assert uniqurl.extract(text.encode()) == [url.encode() for url in uniqurl.extract(text)]
    assert uniqurl.extract(b"\xff http://h/\xff ") == [b"http://h/\xff"]
    assert uniqurl.extract("") == []


def test_extract_releases_the_gil():
    ticks, over = [], threading.Event()

    def tick():
        while not over.wait(0.0005):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    text, calls = b": " * 3_000_000, []
    thread.start()
    for _ in range(10):
        start = time.perf_counter()
        assert uniqurl.extract(text) == []
        calls.append((start, time.perf_counter()))
    over.set()
    thread.join()
    # If the lock were held, ticks would occur only between two calls.
    middles = [((3 * start + end) / 4, (start + 3 * end) / 4) for start, end in calls]
    assert any(start < at < end for at in ticks for start, end in middles)


@pytest.mark.parametrize("url", [None, 1, bytearray(b"http://h/"), ["http://h/"]])
def test_non_url_argument_is_a_type_error(url):
    with pytest.raises(TypeError):
        uniqurl.normalize(url)


def test_rejection_has_code_and_offset():
    with pytest.raises(uniqurl.Rejected) as caught:
        uniqurl.normalize("http://example.com:99999/")
    rejected = caught.value
    assert (rejected.code, rejected.at, rejected.codes) == ("port-range", 19, ("port-range",))
    assert isinstance(rejected, ValueError) and isinstance(rejected, uniqurl.Error)
    assert str(rejected).startswith("port-range at byte 19: ")
    again = pickle.loads(pickle.dumps(rejected))
    assert (again.code, again.at, str(again)) == ("port-range", 19, str(rejected))


def test_rejected_url_raises_is_none_or_is_kept():
    bad, good = "http://h:99999/", "HTTP://h"
    crawl = uniqurl.Normalizer()
    for normalize in [uniqurl.normalize, crawl, crawl.normalize]:
        assert [normalize(url, errors="null") for url in (good, bad)] == ["http://h/", None]
        assert [normalize(url, errors="keep") for url in (good, bad)] == ["http://h/", bad]
        assert normalize(bad.encode(), errors="keep") == bad.encode()
        with pytest.raises(uniqurl.Rejected):
            normalize(bad, errors="raise")
        with pytest.raises(uniqurl.UsageError, match="errors is raise, null or keep"):
            normalize(good, errors="ignore")
    assert uniqurl.normalize("http://h/a", max_url=4, errors="null") is None


def test_missing_url_is_none_only_where_a_rejected_one_is():
    crawl = uniqurl.Normalizer()
    for normalize in [uniqurl.normalize, crawl, crawl.normalize]:
        for missing in [None, float("nan")]:
            assert normalize(missing, errors="null") is None
            for errors in ["raise", "keep"]:
                with pytest.raises(TypeError, match="^a URL is str or bytes, not "):
                    normalize(missing, errors=errors)
        for url in [1.5, 3, False, ["http://h/"]]:
            with pytest.raises(TypeError, match="^a URL is str or bytes, not "):
                normalize(url, errors="null")


def test_rejection_has_all_codes():
    with pytest.raises(uniqurl.Rejected) as caught:
        uniqurl.normalize("/a%2Fb\\c", "servlet")
    assert set(caught.value.codes) == {"encoded-slash", "backslash"}
    assert caught.value.code == caught.value.codes[0]
    allowed = uniqurl.normalize("/a%2Fb\\c", "servlet", allow=["encoded-slash", "backslash"])
    assert allowed == "/a%2Fb%5Cc"
    assert all(code in uniqurl.codes() for code in caught.value.codes)


def test_length_is_limited_as_in_the_command():
    longest = "http://h/" + "a" * (65536 - 9)
    assert uniqurl.normalize(longest) == longest
    with pytest.raises(uniqurl.Rejected) as caught:
        uniqurl.normalize(longest + "a")
    assert (caught.value.code, caught.value.at) == ("too-long", 65536)
    assert uniqurl.normalize(longest + "a", max_url=70000) == longest + "a"


def test_switches_and_options_are_keywords():
    url = "http://www.h/?b=1&a=2&utm_source=x&ref=y"
    assert uniqurl.normalize("http://h/?b=2&a&a=", blank_values=True) == "http://h/?b&a&a"
    assert uniqurl.normalize(url, sort_query=True, strip_tracking=True, drop_param="r*f") == "http://www.h/?a=2&b=1"
    assert uniqurl.normalize(url, keep_param=["a"]) == "http://www.h/?a=2"
    assert uniqurl.normalize("http://www.example.com/index.html", "aggressive", strip_www=False) == "http://www.example.com/"
    assert uniqurl.normalize("../g", "syntax", base="http://a/b/c/d;p?q") == "http://a/b/g"
    assert uniqurl.normalize("example.com/x", assume_scheme="https") == "https://example.com/x"
    assert uniqurl.normalize("/wiki/A%2FB", "ring", ring="decode=2F") == "/wiki/A/B"


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "browser"},
        {"profile": "syntax", "sort_query": True},
        {"profile": "crawl@9"},
        {"allow": ["encoded-slash"]},
        {"profile": "servlet", "allow": ["no-such-code"]},
        {"ring": "decode=2F"},
        {"base": "/relative"},
        {"max_url": 1 << 40},
        {"max_url": 1 << 80},
        {"max_url": 0},
        {"max_url": -1},
        {"base": "http://h/" + "a" * (64 << 20)},
        {"redirects": {"http://h/": "http://h/" + "a" * (64 << 20)}},
        {"profile_toml": "base = 1"},
        {"profile_toml": 'name = "a"\nversion = 1\nbase = "crawl"\n[host."h.x"]\n', "drop_param": "a"},
    ],
)
def test_invalid_option_is_a_usage_error(options):
    with pytest.raises(uniqurl.UsageError) as caught:
        uniqurl.normalize("http://h/", **options)
    assert caught.value.code == "usage" and str(caught.value)


@pytest.mark.parametrize("options", [{"sort-query": True}, {"no_such": True}, {"no_such": None}, {"sort-query": None}, {"sort_query": 1}])
def test_unknown_keyword_is_a_type_error(options):
    with pytest.raises(TypeError):
        uniqurl.Normalizer("crawl", **options)


@pytest.mark.parametrize(
    "name, value",
    [("sort_query", 1), ("no_such", True), ("allow", 3), ("drop_param", b"a"), ("keep_param", [1]), ("base", 1), ("max_url", 1.5), ("ring", b""), ("transcode", b"latin1"), ("redirects", 3)],
)
def test_type_error_names_the_keyword(name, value):
    with pytest.raises(TypeError, match=f"^{name}: "):
        uniqurl.normalize("http://h/", **{name: value})


@pytest.mark.parametrize(
    "name, told",
    [
        ("strip_ww", "; did you mean 'strip_www'?"),
        ("sort-query", "; did you mean 'sort_query'?"),
        ("drop_params", "; did you mean 'drop_param'?"),
        ("no_such", ""),
    ],
)
def test_type_error_names_the_keyword_that_was_meant(name, told):
    for value in [True, None]:
        with pytest.raises(TypeError) as caught:
            uniqurl.normalize("http://h/", **{name: value})
        assert str(caught.value) == f"{name}: unknown option or switch{told}"


def test_option_of_none_counts_as_absent():
    names = "sort_query allow deny drop_param keep_param ring base assume_scheme max_url profile_toml transcode redirects"
    assert uniqurl.Normalizer(**dict.fromkeys(names.split())).description == "crawl@1"


def test_error_for_an_unknown_version_names_the_existing_one():
    with pytest.raises(uniqurl.UsageError, match="^the only version of the profile crawl is crawl@1$"):
        uniqurl.normalize("http://h/", "crawl@2")


def test_transcode_option_reads_another_charset():
    assert uniqurl.normalize("http://h/%F6re%26/%C3%B6", transcode="latin1") == "http://h/%C3%B6re%26/%C3%B6"
    with pytest.raises(uniqurl.UsageError, match="^transcode: .utf-16. is no charset"):
        uniqurl.Normalizer(transcode="utf-16")
    with pytest.raises(uniqurl.UsageError, match="^profile ia reads no charset"):
        uniqurl.Normalizer("ia", transcode="latin1")


def test_redirects_are_a_mapping_or_pairs():
    moved = {"http://h/old": "http://H/new", b"http://h/new": b"http://h/"}
    for redirects in [moved, list(moved.items()), iter(moved.items()), [list(pair) for pair in moved.items()]]:
        made = uniqurl.Normalizer(redirects=redirects)
        assert made("http://h/%6fld#top") == pickle.loads(pickle.dumps(made))("http://h/old") == "http://h/"
    told = [
        ([("x", "http://h/")], uniqurl.UsageError, "^redirects: line 1: the first URL is rejected: relative"),
        ([("http://h/a", "http://h/b"), ("http://h/a", "http://h/c")], uniqurl.UsageError, "^redirects: line 2: the first URL has another"),
        ([("http://h/",)], TypeError, "^redirects: a redirect is two URLs$"),
        ("old.tsv", TypeError, "^redirects: a redirect is two URLs$"),
        ([("http://h/", 3)], TypeError, "^redirects: 'int' object"),
    ]
    for redirects, error, said in told:
        for work in [uniqurl.Normalizer, lambda **options: uniqurl.normalize("http://h/", **options)]:
            with pytest.raises(error, match=said):
                work(redirects=redirects)


def test_with_base_copies_keep_their_options():
    crawl = uniqurl.Normalizer(sort_query=True, assume_scheme="ftp")
    for page, url in [("http://h/a/b", "http://h/c?d&e"), (b"http://k", "http://k/c?d&e")]:
        on_page = crawl.with_base(page)
        again = pickle.loads(pickle.dumps(on_page))
        assert on_page("/c?e&d") == again("/c?e&d") == url
        assert on_page("//x") == "ftp://x/"
    assert on_page.with_base("http://l/")("/") == "http://l/"
    for base, error, said in [("/x", uniqurl.UsageError, "^base: relative"), (None, TypeError, "^base: ")]:
        with pytest.raises(error, match=said):
            crawl.with_base(base)
    # Relative redirects use the base of the page, too.
    moved = uniqurl.Normalizer(base="http://h/", redirects={"old": "new"}).with_base("http://k/")
    assert (moved("old"), moved("http://h/old")) == ("http://k/new", "http://h/old")
    assert pickle.loads(pickle.dumps(moved))("old") == "http://k/new"


def test_pickle_keeps_options_as_given():
    names = ["a"]
    made = uniqurl.Normalizer(drop_param=names)
    names.append("b")
    again = pickle.loads(pickle.dumps(made))
    assert again("http://h/?a&b") == made("http://h/?a&b") == "http://h/?b"


def test_list_option_takes_any_iterable():
    for several in [["utm_*"], ("utm_*",), {"utm_*"}, frozenset(["utm_*"]), {"utm_*": 1}, iter(["utm_*"])]:
        assert uniqurl.Normalizer(drop_param=several)("http://h/?utm_x") == "http://h/"
    made = uniqurl.Normalizer(drop_param=(name for name in ["utm_*"]))
    assert pickle.loads(pickle.dumps(made))("http://h/?utm_x") == "http://h/"
    assert uniqurl.normalize("/a%2Fb", "servlet", allow={"encoded-slash"}) == "/a%2Fb"

    def ends():
        yield "utm_*"
        raise KeyboardInterrupt("said")

    for work in [uniqurl.Normalizer, lambda **options: uniqurl.normalize("http://h", **options)]:
        with pytest.raises(KeyboardInterrupt, match="^said$"):
            work(drop_param=ends())
        with pytest.raises(TypeError, match="^drop_param: 'bytes' object"):
            work(drop_param=b"utm_*")


def test_a_normalizer_survives_pickling():
    made = uniqurl.Normalizer("scheme", sort_query=True, max_url=100)
    again = pickle.loads(pickle.dumps(made))
    assert again.description == made.description == "scheme@1 with=sort-query"
    assert again("http://h?b&a") == made.normalize("http://h?b&a") == "http://h/?a&b"
    with pytest.raises(uniqurl.Rejected):
        again("http://h/" + "a" * 100)


def again(made):
    return [copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]


def test_a_profile_is_pickled_and_copied():
    for profile, other in zip(uniqurl.profiles(), uniqurl.profiles()[1:]):
        for same in again(profile):
            assert same == profile and hash(same) == hash(profile) and same != other
            assert (same.name, same.toml, repr(same)) == (profile.name, profile.toml, repr(profile))
    made, arguments = uniqurl.profiles()[0].__reduce__()
    with pytest.raises(uniqurl.UsageError, match="^unknown profile `string@7`$"):
        made(arguments[0], 7)


def test_a_step_is_pickled_and_copied():
    names = ["rule", "sentence", "source", "before", "after"]
    for url in ["HTTP://h/%7Ea", b"HTTP://h"]:
        for step in uniqurl.explain(url):
            for same in again(step):
                assert [getattr(same, name) for name in names] == [getattr(step, name) for name in names]


def test_profile_round_trips_through_its_toml():
    for profile in uniqurl.profiles():
        made = uniqurl.Normalizer(profile_toml=profile.toml)
        assert made.description.split()[0] == f"{profile.name}@{profile.version}"
    aggressive = next(profile for profile in uniqurl.profiles() if profile.name == "aggressive")
    assert set(aggressive.on) < set(aggressive.switches)
    with pytest.raises(uniqurl.UsageError):
        uniqurl.Normalizer("crawl", profile_toml=uniqurl.profiles()[0].toml)


def test_explanation_steps_lead_to_the_canonical_form():
    url = "HTTP://example.com:80/%7Ea"
    steps = uniqurl.explain(url, "scheme")
    assert [step.rule for step in steps] == ["decode-unreserved", "scheme-case", "default-port"]
    assert steps[0].before == url and steps[-1].after == uniqurl.normalize(url, "scheme")
    assert all(one.after == other.before for one, other in zip(steps, steps[1:]))
    assert steps[2].source == "RFC 3986 section 6.2.3"
    for bad, options in [("x", {}), ("http://h/", {"max_url": 8})]:
        with pytest.raises(uniqurl.Rejected):
            uniqurl.explain(bad, "scheme", **options)


@pytest.mark.parametrize(
    "a, b, rung",
    [
        ("http://h/", "http://h/", "string"),
        ("HTTP://h/%7e", "http://h/~", "syntax"),
        ("http://h:80", "http://h/", "scheme"),
        (b"http://h/#top", "http://h/", "crawl"),
        ("http://www.h.com/", "http://h.com/index.html", "aggressive"),
        ("http://h/a%2Fb", "http://h/a/b", "different"),
    ],
)
def test_compare_returns_the_lowest_profile_that_merges_two_urls(a, b, rung):
    assert uniqurl.compare(a, b) == rung


def test_panic_is_a_catchable_exception():
    from uniqurl._core import _panic

    with pytest.raises(uniqurl.InternalError) as caught:
        _panic()
    assert isinstance(caught.value, Exception) and "asked for" in str(caught.value)
    assert uniqurl.normalize("http://h") == "http://h/"


def test_forked_process_has_its_own_threads():
    code = """
import os, sys, pyarrow as pa, uniqurl
column = pa.array(["http://h/%d" % i for i in range(300000)])
one = len(uniqurl.normalize_column(column, threads=2))
child = os.fork()
if child == 0:
    os._exit(0 if len(uniqurl.normalize_column(column, threads=2)) == one else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120).returncode == 0


def test_fork_during_thread_start_does_not_deadlock():
    code = """
import os, signal, sys, threading, pyarrow as pa, uniqurl
column = pa.array(["http://h/%d" % i for i in range(300000)])
over = threading.Event()

def work():
    while not over.is_set():
        for threads in [200, 201]:
            uniqurl.normalize_column(column[:140000], threads=threads)

thread = threading.Thread(target=work)
thread.start()
hung = 0
for _ in range(30):
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        os._exit(0 if len(uniqurl.normalize_column(column, threads=2)) == 300000 else 1)
    hung += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    if hung:
        break
over.set()
thread.join()
sys.exit(hung)
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120).returncode == 0


@pytest.mark.parametrize("first", ["normalize_column(column, threads=1)", "normalize('http://h', drop_param=['a'])"])
def test_fork_during_first_use_does_not_deadlock(first):
    code = f"""
import os, signal, sys, threading, uniqurl
sys.setswitchinterval(1e-6)
column = uniqurl.dedup([]).urls
go = threading.Event()

def work():
    go.wait()
    uniqurl.{first}

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
go.set()
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        uniqurl.{first}
        os._exit(0)
    children.append(child)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""
    # The window is short: one process in five hit it.
    for _ in range(30):
        assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120).returncode == 0


def test_docstrings_equal_those_of_the_stub():
    stub = ast.parse(pathlib.Path(uniqurl.__file__).with_suffix(".pyi").read_text())
    assert inspect.getdoc(uniqurl) == ast.get_docstring(stub)
    told = {node.name: ast.get_docstring(node) for node in reversed(stub.body) if hasattr(node, "name")}
    for name in uniqurl.__all__:
        assert inspect.getdoc(getattr(uniqurl, name)) == told[name], name


def test_docstring_examples_are_exact():
    tests = doctest.DocTestFinder(recurse=False)
    runner = doctest.DocTestRunner()
    things = [getattr(uniqurl, name) for name in uniqurl.__all__] + [uniqurl.Normalizer.with_base]
    for thing in things:
        for test in tests.find(thing, thing.__name__, module=False, globs=vars(uniqurl)):
            runner.run(test)
    assert (runner.failures, runner.tries) == (0, 5)


def test_package_has_its_version():
    assert uniqurl.__version__ == importlib.metadata.version("uniqurl")


def test_package_contains_its_license():
    licence = next(file for file in importlib.metadata.files("uniqurl") if file.match("licenses/LICENSE"))
    text = licence.read_text()
    assert "MIT License" in text and "Apache License" in text
    assert importlib.metadata.metadata("uniqurl")["License-Expression"] == "(MIT OR Apache-2.0) AND MPL-2.0"
