"""Eight threads ask about hostile bytes: no query fails, and each answer is that of one thread alone."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest
from connection import connect
from drawn import PIECES, draw

SECONDS = 600 if "UNIQURL_LONG" in os.environ else 4
MEGABYTE = 1 << 20
CALLS = [
    f"{function}, '{profile}')"
    for function in (
        "url_canonical(url", "url_reject(url", "url_is_canonical(url", "url_domain(url", "url_template(url",
        "url_key(url, 'surt'", "url_key(url, 'ssurt'", "url_key(url, 'hash'",
    )
    for profile in ("string", "crawl", "aggressive", "ia", "whatwg", "sanitize", "servlet", "upload")
]  # fmt: skip


def hostile():
    choice = random.Random(7)
    yield from (b"", b"\0", b"http://h/\0", b"\xff" * 13, b"%" * 4096)
    yield from draw(4000, 7)
    yield from (choice.randbytes(choice.randint(0, 40)) for _ in range(1000))
    # Long and of one piece: what is not linear in the length would take minutes.
    for piece in choice.sample(PIECES, 6):
        yield b"http://h/?" + piece * (MEGABYTE // len(piece))
    yield b"http://" + b"a." * (MEGABYTE // 2)
    yield choice.randbytes(MEGABYTE)


def test_threads_get_the_answers_of_one():
    database = connect(threads=8)
    database.execute("CREATE TABLE urls (url BLOB)")
    database.executemany("INSERT INTO urls VALUES (?)", [[url] for url in hostile()])
    database.execute("SET threads = 1")
    expected = {call: database.execute(f"SELECT sum(hash({call})) FROM urls").fetchall() for call in CALLS}
    database.execute("SET threads = 8")
    end = time.monotonic() + SECONDS

    def ask(seed):
        choice, connection, answered = random.Random(seed), database.cursor(), 0
        while time.monotonic() < end:
            call = choice.choice(CALLS)
            assert connection.execute(f"SELECT sum(hash({call})) FROM urls").fetchall() == expected[call], call
            with pytest.raises(duckdb.InvalidInputException, match="unknown profile `none`"):
                connection.execute("SELECT url_canonical(url, 'none') FROM urls").fetchall()
            answered += 1
        return answered

    with ThreadPoolExecutor(8) as pool:
        assert all(answered > 0 for answered in pool.map(ask, range(8)))
