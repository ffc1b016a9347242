"""Every profile and every key give what the library gives, as text and as bytes, for URLs drawn."""

import os
import subprocess

import pytest
from connection import connect
from drawn import draw

COUNT = 1_000_000 if "UNIQURL_LONG" in os.environ else 100_000
SEED = 20240229
PROFILES = (
    "string syntax scheme crawl aggressive ia whatwg sanitize servlet mediawiki restbase upload ring".split()
)


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    place = tmp_path_factory.mktemp("drawn") / "urls.txt"
    place.write_text("".join(url.hex() + "\n" for url in draw(COUNT, SEED)))
    return place


@pytest.mark.parametrize("profile", PROFILES)
def test_answers_are_those_of_the_library(urls, profile):
    answers = urls.with_name("answers.tsv")
    with urls.open() as lines, answers.open("w") as out:
        subprocess.run([os.environ["UNIQURL_ANSWERS"], profile], stdin=lines, stdout=out, check=True)
    sql = connect()
    sql.execute(
        f"""CREATE VIEW answers AS SELECT unhex(url) AS url, is_text, canonical, codes, is_canonical, key, form
            FROM read_csv('{answers}', delim = '\t', header = false, nullstr = '-', quote = '', columns = {{
                'url': 'VARCHAR', 'is_text': 'BOOL', 'canonical': 'VARCHAR', 'codes': 'VARCHAR',
                'is_canonical': 'BOOL', 'key': 'VARCHAR', 'form': 'VARCHAR', 'at': 'UBIGINT'}})"""
    )
    # One query for the type BLOB, and one for the texts among them. Forms are compared in hexadecimal, since a cast of
    # text to BLOB reads backslashes as escapes.
    for column, rows in [("url", "answers"), ("decode(url)", "answers WHERE is_text")]:
        different = sql.execute(
            f"""WITH asked AS MATERIALIZED (SELECT *, {column} AS asked, '{profile}' AS p FROM {rows})
            SELECT url, p, key, canonical, codes, form, url_canonical(asked, p), url_reject(asked, p),
                url_is_canonical(asked, p), url_key(asked, key, p)
            FROM asked WHERE
                hex(url_canonical(asked, p)) IS DISTINCT FROM canonical
                OR url_reject(asked, p) IS DISTINCT FROM codes
                OR url_is_canonical(asked, p) IS DISTINCT FROM is_canonical
                OR hex(url_key(asked, key, p)) IS DISTINCT FROM form
                OR key = 'host' AND hex(url_host(asked, p)) IS DISTINCT FROM form
                OR key = 'domain' AND hex(url_domain(asked, p)) IS DISTINCT FROM form
                OR key = 'template' AND hex(url_template(asked, p)) IS DISTINCT FROM form
            LIMIT 5"""
        ).fetchall()
        assert different == [], f"seed {SEED}"
    [(rows, texts, accepted)] = sql.execute(
        "SELECT count(*), count_if(is_text), count(canonical) FROM answers"
    ).fetchall()
    # The test would say nothing if nearly all URLs were of one kind.
    assert rows == COUNT and COUNT / 2 < texts < rows and COUNT / 5 < accepted
