"""What each function answers, and which queries fail."""

import duckdb
import pytest
from connection import connect


@pytest.fixture(scope="module")
def sql():
    connection = connect()
    return lambda query, *values: connection.execute(query, values).fetchall()


DIRTY = "HTTP://user@WWW.Example.CO.UK:80/a/../17?b=2#top"


@pytest.mark.parametrize(
    "call, expected",
    [
        ("url_canonical(?)", "http://www.example.co.uk/17?b=2"),
        ("url_canonical(?, 'syntax')", "http://user@www.example.co.uk:80/17?b=2#top"),
        ("url_canonical(?, 'aggressive')", "http://example.co.uk/17?b=2"),
        ("url_canonical(?, 'crawl@1')", "http://www.example.co.uk/17?b=2"),
        ("url_reject(?)", None),
        ("url_is_canonical(?)", False),
        ("url_key(?, 'surt')", "uk,co,example,www)/17?b=2"),
        ("url_key(?, 'surt', 'wayback')", "uk,co,example)/17?b=2"),
        ("url_key(?, 'ssurt')", "uk,co,example,www,//80:http@/17?b=2"),
        ("url_key(?, 'domain')", "example.co.uk"),
        ("url_key(?, 'domain_icann')", "example.co.uk"),
        ("url_host(?)", "www.example.co.uk"),
        ("url_host(?, 'aggressive')", "example.co.uk"),
        ("url_domain(?)", "example.co.uk"),
        ("url_template(?)", "http://www.example.co.uk/{int}?b"),
    ],
)
def test_value_of_a_url(sql, call, expected):
    assert sql(f"SELECT {call}", DIRTY) == [(expected,)]
    blob = expected.encode() if isinstance(expected, str) else expected
    assert sql(f"SELECT {call}", DIRTY.encode()) == [(blob,)]


def test_rejected_url_is_null_and_has_a_code(sql):
    url = "http://[::1"
    for form in ["canonical(?)", "host(?)", "domain(?)", "template(?)", "key(?, 'hash')"]:
        assert sql(f"SELECT url_{form}", url) == [(None,)]
    assert sql("SELECT url_reject($1), url_is_canonical($1)", url) == [("host", False)]
    # Profiles that judge give every code.
    codes = sql("SELECT url_reject('http://h/%2e%2e/%2F', 'sanitize')")[0][0].split(",")
    assert len(codes) > 1 and codes == sorted(set(codes), key=codes.index)


def test_url_without_a_host_has_no_host_and_no_domain(sql):
    assert sql("SELECT url_host($1), url_domain($1), url_reject($1)", "mailto:a@b") == [(None,) * 3]


def test_hash_is_that_of_sha256(sql):
    query = "SELECT url_key(u, 'hash') = sha256(url_canonical(u))[:32] FROM (SELECT 'http://h' AS u)"
    assert sql(query) == [(True,)]


def test_null_in_any_argument_is_null(sql):
    for call in [
        "canonical(NULL::VARCHAR)",
        "canonical(NULL::BLOB)",
        "canonical('http://h/', NULL)",
        "key('http://h/', NULL)",
        "key('http://h/', 'surt', NULL)",
        "reject(NULL::VARCHAR)",
        "is_canonical(NULL::VARCHAR)",
    ]:
        assert sql(f"SELECT url_{call}") == [(None,)]
    rows = sql("SELECT url_canonical(IF(i % 3 = 0, NULL, 'http://h/' || i)) FROM range(5000) t(i)")
    assert rows == [(None if i % 3 == 0 else f"http://h/{i}",) for i in range(5000)]


def test_names_may_change_from_row_to_row(sql):
    query = """SELECT url_canonical('http://h:80/#x', p), url_key('http://h/1', k) FROM
        (VALUES ('scheme', 'host'), ('crawl', 'surt'), ('string', 'host'), (NULL, NULL)) t(p, k)"""
    expected = [("http://h/#x", "h"), ("http://h/", "h)/1"), ("http://h:80/#x", "h"), (None, None)]
    assert sql(query) == expected


def test_unknown_name_is_an_error_with_all_names(sql):
    for name in ["crawll", "", "crawl@2", "é\0"]:
        with pytest.raises(duckdb.InvalidInputException, match="unknown profile .*string, .*crawl, .*ring"):
            sql("SELECT url_canonical('http://h/', ?)", name)
    with pytest.raises(duckdb.InvalidInputException, match="unknown key `md5` .*url, .*surt, .*hash"):
        sql("SELECT url_key('http://h/', 'md5')")
    # The connection goes on.
    assert sql("SELECT url_host('http://h/')") == [("h",)]


def test_string_keeps_bytes_that_are_not_text(sql):
    url = b"http://h/\xff\0\n"
    assert sql("SELECT url_canonical($1, 'string')", b"a\xff\0") == [(b"a\xff\0",)]
    assert sql("SELECT url_reject($1, 'string')", url) == [("newline",)]


def test_values_of_all_lengths_come_back(sql):
    query = """SELECT i FROM (SELECT i, IF(i % 5 = 0, NULL, repeat('a', i)) AS u FROM range(1, 6000) t(i)
        UNION ALL SELECT i, repeat('b', i) FROM range(65530, 65550) t(i))
        WHERE url_canonical(u, 'string') IS DISTINCT FROM u OR url_key(u::BLOB, 'url', 'string') IS DISTINCT FROM u::BLOB"""
    assert sql(query) == []


def test_dictionaries_and_constants_are_columns_like_others(sql, tmp_path):
    place = tmp_path / "urls.parquet"
    sql(f"COPY (SELECT 'HTTP://host-number-' || (i % 7) AS u FROM range(50000) t(i)) TO '{place}'")
    query = f"SELECT url_canonical(u), count(*) FROM '{place}' GROUP BY 1 ORDER BY 1"
    expected = [(f"http://host-number-{n}/", 50000 // 7 + (n < 50000 % 7)) for n in range(7)]
    assert sql(query) == expected
    assert sql("SELECT DISTINCT url_host('http://a/') FROM range(5000)") == [("a",)]


def test_two_databases_of_a_process_have_the_functions(sql):
    assert connect().execute("SELECT url_host('http://a/')").fetchall() == [("a",)]
