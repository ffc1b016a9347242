"""Normalizes and deduplicates URLs at close to memory speed, by the text of the standards.

A column is any object with ``__arrow_c_array__`` or ``__arrow_c_stream__``: an array or chunked array
of PyArrow, a series of Polars or pandas, or a relation of DuckDB or a table with one column. Its type is
string, large_string, string_view, binary, large_binary, binary_view, or a dictionary of these.
``normalize_column`` also takes other iterables, such as a list or an array of NumPy. Their items are
all ``str`` or all ``bytes``, with None for a missing value. They become a column of large_string or
large_binary.

The keywords ``**options`` correspond to ``--with`` and related options of the command:

* a switch of the profile, on or off: ``sort_query=True``, ``strip_www=False``, ...
* ``drop_param``, ``keep_param``: names of query parameters, with ``*`` and ``?``
* ``allow``: codes of checks to switch off (``servlet``, ``sanitize``)
* ``deny``: codes of checks to switch on that are off by default (``sanitize``)
* ``ring``: the lists of a decoder ring (profile ``ring``)
* ``base``: the URL that relative references are resolved against
* ``assume_scheme``: the scheme of URLs that have none
* ``transcode``: the charset of triplets that are not UTF-8, such as ``latin1``; they are written as UTF-8
* ``redirects``: a mapping from URLs to their targets, or pairs; each URL becomes the end of its chain
* ``max_url``: the longest URL in bytes, 65,536 by default; a value of more than 16 MiB, or of 1 MiB more than
  ``max_url`` if that is longer, is rejected without being read, even if it is blank
* ``profile_toml``: the text of a profile file, instead of a profile
"""

from ._core import (
    Column,
    Columns,
    Deduplicated,
    Normalizer,
    Profile,
    SeenStore,
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
    "SeenStore",
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
    raise UsageError("usage", f"unknown profile `{name}@{version}`")


def _seen_store(path, profile, key, threads, options):
    """What a pickled SeenStore is made of."""
    return SeenStore(path, profile, key=key, threads=threads, **(options or {}))


def _step(*held):
    """What a pickled Step is made of."""
    return Step._made(*held)
