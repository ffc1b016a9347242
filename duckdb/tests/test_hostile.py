"""Eight threads ask about hostile bytes: no query fails, and each answer is that of one thread alone."""

import os
import random
import threading
import time

import duckdb
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
    database.execute("CREATE TABLE urls (i INTEGER, url BLOB)")
    for i, url in enumerate(hostile()):
        database.execute("INSERT INTO urls VALUES (?, ?)", [i, url])
    database.execute("SET threads = 1")
    expected = {}
    for call in CALLS:
        expected[call] = database.execute(f"SELECT sum(hash({call})) FROM urls").fetchall()
    database.execute("SET threads = 8")
    end, failures, answered = time.monotonic() + SECONDS, [], []

    def ask(seed):
        choice, connection = random.Random(seed), database.cursor()
        while time.monotonic() < end and not failures:
            call = choice.choice(CALLS)
            try:
                if connection.execute(f"SELECT sum(hash({call})) FROM urls").fetchall() != expected[call]:
                    failures.append(f"{call} has another answer")
                answered.append(call)
                if choice.random() < 0.2:
                    connection.execute("SELECT url_canonical(url, 'no-profile') FROM urls").fetchall()
                    failures.append("an unknown profile is no error")
            except duckdb.InvalidInputException as error:
                if "unknown profile `no-profile`" not in str(error):
                    failures.append(error)
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(answered) >= 8
