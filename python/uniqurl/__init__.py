"""Normalizes and deduplicates URLs at close to memory speed, by the text of the standards.

A column is whatever has ``__arrow_c_array__`` or ``__arrow_c_stream__``: an array or chunked array of
PyArrow, a series of Polars or pandas, a relation of DuckDB or a table, of one column. Its type is
string, large_string, string_view, binary, large_binary, binary_view, or a dictionary of these.
``normalize_column`` takes any other iterable too, as a list or an array of NumPy is: all in it are
``str`` or all ``bytes``, and None for what is missing. Its column is one of large_string or large_binary.

Keywords ``**options`` choose what the command chooses with ``--with`` and kin:

* a switch of the profile, on or off: ``sort_query=True``, ``strip_www=False``, ...
* ``drop_param``, ``keep_param``: names of query parameters, with ``*`` and ``?``
* ``allow``: codes of checks to switch off (``servlet``, ``sanitize``)
* ``ring``: the lists of a decoder ring (profile ``ring``)
* ``base``: what relative references are resolved against
* ``assume_scheme``: the scheme of what has none
* ``transcode``: the charset of triplets that are not UTF-8, such as ``latin1``; they are written as UTF-8
* ``redirects``: what redirects to what, a mapping or pairs of URLs; each becomes the end of its chain
* ``max_url``: longest URL in bytes, 65,536 where nothing is said; a value that is more than 1 MiB
  longer is rejected unread, be it blanks alone
* ``profile_toml``: the text of a profile file, in place of a profile
"""

from ._core import (
    Column,
    Columns,
    Deduplicated,
    Normalizer,
    Profile,
    Step,
    __version__,
    codes,
    compare,
    dedup,
    explain,
    extract,
    key,
    normalize,
    normalize_column,
    profiles,
    resolve,
)
from ._errors import Error, InputError, InternalError, MissingError, Rejected, RunError, UsageError

__all__ = [
    "Column",
    "Columns",
    "Deduplicated",
    "Error",
    "InputError",
    "InternalError",
    "MissingError",
    "Normalizer",
    "Profile",
    "Rejected",
    "RunError",
    "Step",
    "UsageError",
    "codes",
    "compare",
    "dedup",
    "explain",
    "extract",
    "key",
    "normalize",
    "normalize_column",
    "profiles",
    "resolve",
]


def _normalizer(profile, options):
    """What a pickled Normalizer is made of."""
    return Normalizer(profile, **(options or {}))


def _profile(name, version):
    """What a pickled Profile is: one that this version has."""
    for profile in profiles():
        if (profile.name, profile.version) == (name, version):
            return profile
    raise UsageError("usage", f"there is no profile {name}@{version}")


def _step(*held):
    """What a pickled Step is made of."""
    return Step._made(*held)
