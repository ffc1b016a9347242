"""Type checkers accept all arguments that the functions take, and few others."""

import ast
import inspect
import pathlib
import subprocess
import sys

import pytest
import uniqurl

pytest.importorskip("mypy")

# Lines that must be errors are marked: under --strict, an unused `type: ignore` is an error.
TAKEN = """
import os
import pathlib
import uniqurl

name: str = uniqurl.normalize("http://h")
octets: bytes = uniqurl.normalize(b"http://h")
surt: str = uniqurl.key("http://h", "surt", "ia")
uniqurl.key("http://h", "SURT")  # type: ignore
crawl = uniqurl.Normalizer("crawl", sort_query=True)
uniqurl.Normalizer(sort_query="yes")  # type: ignore
uniqurl.Normalizer(sort_querry=True)  # type: ignore
uniqurl.normalize("http://h", "aggressive", drop_param=["utm_*"], keep_param="id", base=b"http://h", max_url=9)
uniqurl.dedup("a.txt", redirects={"http://h": b"http://g"}, allow=["port-range"], transcode=None)
uniqurl.explain("http://h", redirects=[("http://h", "http://g")], transcode="latin1", profile_toml=None)
kept: str = uniqurl.normalize("http://h", errors="keep")
lost: str = uniqurl.normalize("http://h", errors="null")  # type: ignore
missing: bytes | None = crawl(b"http://h", errors="null")
nothing: str | None = uniqurl.normalize(None, errors="null")
uniqurl.normalize(None, errors="keep")  # type: ignore
uniqurl.normalize("http://h", errors="ignore")  # type: ignore
on_page: uniqurl.Normalizer = crawl.with_base("http://h").with_base(b"http://h")
target: bytes = uniqurl.resolve(b"http://h/", b"a")
uniqurl.resolve("http://h/", b"a")  # type: ignore
found: list[str] = uniqurl.extract("see http://h/")
shout: str = crawl(name) + crawl.normalize(name)

def either(url: str | bytes, maybe: str | None, some: str | list[str]) -> str | bytes:
    uniqurl.dedup(some)
    crawl.normalize(url)
    crawl(url)
    uniqurl.explain(url)
    uniqurl.normalize(maybe)  # type: ignore
    crawl(maybe, errors="null")
    return uniqurl.normalize(url)

names: list[str] = ["a.txt"]
paths: list[pathlib.Path] = [pathlib.Path("a.txt")]
mixed: list[str | os.PathLike[str]] = ["a.txt", pathlib.Path("b.txt")]
uniqurl.dedup("a.txt")
uniqurl.dedup(pathlib.Path("a.txt"), "crawl", format="lines", keep_going=True)
uniqurl.dedup(names)
uniqurl.dedup(sorted(os.listdir()))
uniqurl.dedup(paths)
uniqurl.dedup(mixed)
uniqurl.dedup(["a.txt", pathlib.Path("b.txt")])
uniqurl.dedup([])
uniqurl.dedup(tuple(paths))
uniqurl.dedup(("a.txt", pathlib.Path("b.txt")))
uniqurl.dedup(b"a.txt")  # type: ignore
uniqurl.dedup([b"a.txt"])  # type: ignore
uniqurl.dedup(path for path in paths)
uniqurl.dedup(pathlib.Path().glob("*.txt"))
uniqurl.dedup({"a.txt"})
uniqurl.dedup([3])  # type: ignore

class Array:
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        raise NotImplementedError

array = Array()
done = uniqurl.normalize_column(array)
uniqurl.normalize_column(["http://h", None])
keyed: uniqurl.Column | None = uniqurl.normalize_column(array, key="hash").key
uniqurl.dedup(array, key="host")
crawl.normalize_column(array, key="md5")  # type: ignore
uniqurl.normalize_column(b"http://%d" % host for host in range(3))
uniqurl.normalize_column({"http://h"}, errors="keep", strip_www=True)
crawl.normalize_column(array, errors="raise")
uniqurl.normalize_column([3])  # type: ignore
columns: list[uniqurl.Column] = [done.canonical]
print(done.canonical[0], done.canonical.to_polars(), done.canonical.to_pandas())
uniqurl.dedup(array)
uniqurl.dedup(done.canonical, order="sorted")
uniqurl.dedup(columns)
uniqurl.dedup([array, array])
uniqurl.dedup([array, done.canonical])
uniqurl.dedup((array, done.canonical))

store = uniqurl.SeenStore("seen", "crawl", key="surt", sort_query=True)
uniqurl.SeenStore(pathlib.Path("seen"))
uniqurl.SeenStore("seen", key="md5")  # type: ignore
new: int = store.add(array) + store.add(["http://h", None]) + store.add(done.canonical)
seen: uniqurl.Column = store.contains(array)
store.contains(b"http://h")  # type: ignore
keys: int = store.stats()["runs"][0]["adds"][0]["keys"]

for file in uniqurl.dedup(names, keep_going=True).files:
    assert file["state"] != "unfinished" or file["records"] == 0
"""


def test_stub_accepts_exactly_the_supported_arguments(tmp_path):
    taken = tmp_path / "taken.py"
    taken.write_text(TAKEN)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(taken)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stub_has_each_option_and_default():
    stub = ast.parse(pathlib.Path(uniqurl.__file__).with_suffix(".pyi").read_text())
    told = {node.name: node for node in reversed(stub.body) if hasattr(node, "name")}
    options = [item.target.id for item in told["Options"].body if isinstance(item, ast.AnnAssign)]
    switches = {switch for profile in uniqurl.profiles() for switch in profile.switches}
    assert switches < set(options) and len(options) == len(set(options))
    makers = {
        uniqurl.Normalizer: method(told["Normalizer"], "__new__"),
        uniqurl.SeenStore: method(told["SeenStore"], "__new__"),
        **{getattr(uniqurl, name): told[name] for name in TAKE_OPTIONS},
    }
    for function, node in makers.items():
        positional = [argument.arg for argument in node.args.args if argument.arg != "cls"]
        keywords = [argument.arg for argument in node.args.kwonlyargs]
        signature = inspect.signature(function)
        assert list(signature.parameters) == positional + keywords + options, function
        for name, default in zip(keywords, node.args.kw_defaults):
            assert signature.parameters[name].default == ast.literal_eval(default), name
        assert all(signature.parameters[name].default is None for name in options)
        # Each of them is taken.
        with pytest.raises(TypeError, match="unknown option or switch"):
            uniqurl.Normalizer(**dict.fromkeys(options), other=None)
        uniqurl.Normalizer(**dict.fromkeys(options))


TAKE_OPTIONS = ["dedup", "explain", "key", "normalize", "normalize_column"]


def method(of, name):
    return next(item for item in of.body if getattr(item, "name", None) == name)
