"""URLs drawn from a seed: those of the repository's samples and vectors, spliced and with some bytes changed."""

import pathlib
import random
import re

ROOT = pathlib.Path(__file__).parents[2]
# What readers of URLs stumble over.
PIECES = [
    b"%", b"%2", b"%2f", b"%2E%2e", b"%FF", b"%25", b"/", b"//", b"/../", b"/./", b"\\", b"?", b"#", b"&", b";", b"=",
    b":", b"@", b":80", b":443", b":99999", b"[", b"]", b"[::1]", b"127.1", b"0x7f", b"www.", b"xn--", b".", b" ",
    b"\t", b"\n", b"\r", b"\0", b"\x7f", b"\x80", b"\xff", "é".encode(), "。".encode(), b"utm_source=x", b"HTTP:",
    b"index.html", b"jsessionid=0123456789ABCDEF0123456789ABCDEF", b"2024/02/29", b"A" * 70,
]  # fmt: skip


def seeds():
    lines = (ROOT / "corpora/sample.txt").read_bytes().splitlines()
    for vectors in sorted((ROOT / "corpora/vectors").glob("*.tsv")):
        for line in vectors.read_bytes().splitlines():
            url = line.split(b"\t")[0]
            lines.append(re.sub(rb"\\x(..)", lambda m: bytes.fromhex(m[1].decode()), url))
    return lines


def draw(count, seed):
    """Yields URLs, the same for a seed everywhere."""
    choice, known = random.Random(seed), seeds()
    for _ in range(count):
        url = choice.choice(known)
        if choice.random() < 0.3:
            other = choice.choice(known)
            url = url[: choice.randint(0, len(url))] + other[choice.randint(0, len(other)) :]
        for _ in range(choice.choice((0, 0, 1, 1, 2, 5))):
            at = choice.randint(0, len(url))
            piece = choice.choice(PIECES) if choice.random() < 0.8 else choice.randbytes(2)
            url = url[:at] + piece + url[at + choice.choice((0, 0, 1, 3)) :]
        yield url
