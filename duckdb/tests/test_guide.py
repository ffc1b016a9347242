"""The queries of docs/duckdb.md, in order and on one connection, print what the page says.

A block `sql` is run, and a block `text` after it is the result of its last query. As in the tests of the other pages,
`UNIQURL_WRITE=1` writes the results into the page.
"""

import os
import re
import shutil

import duckdb
from drawn import ROOT

PAGE = ROOT / "docs/duckdb.md"
BLOCK = re.compile(r"^```sql\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def test_queries_of_the_guide_print_what_it_says(tmp_path, monkeypatch):
    page = PAGE.read_text()
    shutil.copy(os.environ["UNIQURL_DUCKDB"], tmp_path)
    monkeypatch.chdir(tmp_path)
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})

    def run(block):
        query, printed = block.groups()
        result = connection.sql(query)
        if printed is None:
            return block[0]
        lines = [line.rstrip() for line in str(result).strip().splitlines()]
        return f"```sql\n{query}```\n\n```text\n" + "\n".join(lines) + "\n```\n"

    written, count = BLOCK.subn(run, page)
    assert count > 4
    if "UNIQURL_WRITE" in os.environ:
        PAGE.write_text(written)
    assert written == page
