"""Makes an extension that DuckDB loads of a shared library: appends the footer that says what the file is.

    python footer.py LIBRARY VERSION uniqurl.duckdb_extension

The platform is that of the `duckdb` of this Python. The file is not signed, so DuckDB loads it only where
`allow_unsigned_extensions` is set.
"""

import sys

import duckdb

# The C API that src/ffi.rs asks for. The file loads into this version of DuckDB and later ones.
API = "v1.2.0"

library, version, out = sys.argv[1:]
[(platform,)] = duckdb.sql("PRAGMA platform").fetchall()
fields = ["4", platform, API, version, "C_STRUCT", "", "", ""]
# The first field is the version of the footer, and stands last. A signature of 256 bytes comes after them.
footer = b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields))
with open(library, "rb") as file:
    content = file.read()
with open(out, "wb") as file:
    file.write(content + footer + bytes(256))
