"""The seen store: adds and answers beside a set of Python, its rules, and its errors."""

import multiprocessing
import pickle
import random
import warnings

import pyarrow as pa
import pytest
import uniqurl

URLS = ["HTTP://A.com/", "http://b.com", None, "", "bad", "http://a.com/#x"]


@pytest.fixture
def store(tmp_path):
    return uniqurl.SeenStore(tmp_path / "store")


def test_add_returns_the_number_of_new_keys(store):
    assert store.add(URLS) == 2
    assert store.add(URLS) == 0
    assert store.add(["http://c.com/", "http://b.com/"]) == 1
    assert store.add([]) == 0
    assert store.contains(["http://C.com", "http://d.com", *URLS]).to_pylist() == [
        True, False, True, True, None, None, None, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "column",
    [
        pa.array(URLS),
        pa.chunked_array([URLS[:2], URLS[2:]], pa.large_string()),
        pa.array(URLS).cast(pa.binary()),
        pa.array(URLS).dictionary_encode(),
        pa.table({"url": URLS}),
        iter(URLS),
        [None if url is None else url.encode() for url in URLS],
    ],
    ids=["array", "chunks", "binary", "dictionary", "table", "generator", "bytes"],
)
def test_every_kind_of_column_is_added_and_found(store, column):
    if hasattr(column, "__next__"):
        column = list(column)
    assert store.contains(column).to_pylist() == [False, False, None, None, None, False]
    assert store.add(column) == 2
    found = pa.chunked_array(store.contains(column))
    assert found.type == pa.bool_()
    assert found.to_pylist() == [True, True, None, None, None, True]


def test_answers_are_those_of_a_set(store):
    numbers = random.Random(1)
    known = set()
    for _ in range(25):
        urls = [f"http://h{numbers.randrange(50)}.example/{numbers.randrange(40)}" for _ in range(300)]
        assert store.contains(urls).to_pylist() == [url in known for url in urls]
        assert store.add(urls) == len(set(urls) - known)
        known.update(urls)
    assert store.stats()["keys"] == len(known)


def test_stats_describe_every_run_and_add(store):
    assert (store.stats()["keys"], store.stats()["runs"]) == (0, [])
    store.add(URLS)
    stats = store.stats()
    assert (stats["keys"], stats["rules"], stats["key"]) == (2, "crawl@1", "url")
    [run] = stats["runs"]
    assert (run["keys"], run["removed"]) == (2, 0)
    assert stats["bytes"] >= run["bytes"] > 0
    [add] = run["adds"]
    assert (add["number"], add["keys"]) == (1, 2) and add["time"] > 1_700_000_000


def test_other_rules_are_refused(tmp_path):
    path = tmp_path / "store"
    uniqurl.SeenStore(path, "crawl", key="surt").add(["http://a.com/"])
    for profile, options in [("crawl", {}), ("ia", {"key": "surt"}), ("crawl", {"key": "surt", "sort_query": True})]:
        with pytest.raises(uniqurl.UsageError):
            uniqurl.SeenStore(path, profile, **options)
    assert uniqurl.SeenStore(path, key="surt").contains(["http://a.com"]).to_pylist() == [True]
    with pytest.raises(uniqurl.UsageError):
        uniqurl.SeenStore(tmp_path / "other", key="md5")
    assert not (tmp_path / "other").exists()


def test_damage_and_foreign_directories_are_input_errors(store, tmp_path):
    store.add(URLS)
    [run] = store.stats()["runs"]
    path = store.path / run["name"]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(uniqurl.InputError) as caught:
        store.contains(["http://a.com/", "http://b.com/"])
    assert (caught.value.code, caught.value.path) == ("damaged", str(path))
    file = tmp_path / "file"
    file.write_text("http://a.com/\n")
    with pytest.raises(uniqurl.InputError):
        uniqurl.SeenStore(file)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_merge_that_fails_is_a_warning_after_the_add(store):
    for number in range(9):
        store.add([f"http://h/{number}"])
    path = store.path / store.stats()["runs"][0]["name"]
    data = bytearray(path.read_bytes())
    # A block, which an add of other keys does not read.
    data[20] ^= 1
    path.write_bytes(data)
    with pytest.warns(RuntimeWarning, match="damaged.*the store is changed"):
        assert store.add(["http://new/"]) == 1
    with warnings.catch_warnings():
        # An exception would say that the keys were not added.
        warnings.simplefilter("error")
        assert store.add(["http://more/"]) == 1
    assert store.stats()["keys"] == 11


def test_pickled_store_is_the_same_store(store):
    store.add(["http://a.com/"])
    again = pickle.loads(pickle.dumps(store))
    assert again.contains(["http://a.com", "http://b.com"]).to_pylist() == [True, False]
    assert again.add(["http://b.com"]) == 1
    assert store.contains(["http://b.com"]).to_pylist() == [True]


def added(store, urls):
    return store.add(urls)


def test_processes_that_add_wait_for_each_other(store):
    shares = [[f"http://h/{number}" for number in range(start, start + 100)] for start in range(0, 400, 50)]
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        new = pool.starmap(added, [(store, urls) for urls in shares])
    assert sum(new) == store.stats()["keys"] == 450
