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

import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, AnyStr, Literal, Protocol, TypedDict, TypeVar, final, overload, type_check_only
from typing_extensions import Unpack

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

__version__: str

@type_check_only
class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

@type_check_only
class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Url = TypeVar("_Url", str, bytes, str | bytes)
_Column = _ArrowArray | _ArrowStream
_Urls = _Column | Iterable[str | None] | Iterable[bytes | None]
_Path = str | os.PathLike[str]
_Errors = Literal["raise", "null", "keep"]
_Key = Literal["url", "template", "host", "domain", "domain-icann", "surt", "ssurt", "hash"]

_Bytes = str | bytes
_Names = str | Iterable[str]
_Pairs = Mapping[str, _Bytes] | Mapping[bytes, _Bytes] | Iterable[tuple[_Bytes, _Bytes]]

@type_check_only
class Options(TypedDict, total=False):
    """The keywords ``**options``: a switch of the profile is on or off, and None is as if the keyword were
    absent. The text at the top tells what the others are."""

    keep_userinfo: bool | None
    keep_fragment: bool | None
    fold_scheme: bool | None
    strip_www: bool | None
    lower_path: bool | None
    squeeze_slashes: bool | None
    strip_session: bool | None
    strip_index: bool | None
    strip_trailing_slash: bool | None
    drop_query: bool | None
    strip_tracking: bool | None
    blank_values: bool | None
    squeeze_query: bool | None
    sort_query: bool | None
    keep_empty_segments: bool | None
    drop_param: _Names | None
    keep_param: _Names | None
    allow: _Names | None
    deny: _Names | None
    ring: str | None
    base: _Bytes | None
    assume_scheme: _Bytes | None
    transcode: str | None
    redirects: _Pairs | None
    max_url: int | None
    profile_toml: str | None

class Error(Exception):
    """All errors of uniqurl."""

    @property
    def code(self) -> str: ...

class Rejected(Error, ValueError):
    """A URL has no canonical form under the profile: ``code`` is the first reason, ``at`` the byte offset
    in the URL where the problem starts, and ``codes`` holds all reasons."""

    at: int
    codes: tuple[str, ...]
    def __init__(self, code: str, at: int, codes: tuple[str, ...], message: str) -> None: ...

class UsageError(Error, ValueError):
    """An argument is invalid, alone or together with another."""

class InputError(Error, OSError):
    """A file cannot be read. ``errno`` is the error number if the system refused."""

    path: str
    def __init__(self, code: str, message: str, path: str, errno: int | None = None) -> None: ...

class MissingError(InputError, FileNotFoundError):
    """A file does not exist."""

class RunError(Error):
    """A run ended early for a reason other than an input."""

class InternalError(Error):
    """A bug in uniqurl itself."""

@type_check_only
class ColumnAccounting(TypedDict):
    """``records = canonical + rejected + blank``; headers and comments are ``skipped``."""

    records: int
    canonical: int
    rejected: int
    blank: int
    skipped: int
    codes: dict[str, int]

@type_check_only
class SetAccounting(TypedDict):
    """``records = unique + duplicates + rejected + blank``; headers and comments are ``skipped``."""

    records: int
    unique: int
    duplicates: int
    rejected: int
    blank: int
    skipped: int
    codes: dict[str, int]

@type_check_only
class FileAccounting(TypedDict):
    """The contents of one file. An ``unfinished`` file needs more memory to decompress than the limit
    allows; it was read up to there."""

    path: str
    state: Literal["ok", "damaged", "missing", "refused", "unfinished"]
    bytes: int
    records: int
    rejected: int
    blank: int
    codes: dict[str, int]

@type_check_only
class AddStats(TypedDict):
    """An add to a store: its number, when it was (seconds since 1970), and its keys that are in the run."""

    number: int
    time: int
    keys: int

@type_check_only
class RunStats(TypedDict):
    """A file of a store: its keys, and those that it takes out of older runs."""

    name: str
    bytes: int
    keys: int
    removed: int
    adds: list[AddStats]

@type_check_only
class StoreStats(TypedDict):
    """Numbers about a store. ``bytes`` are those of all of its files."""

    keys: int
    bytes: int
    rules: str
    key: str
    runs: list[RunStats]

@final
class Column:
    """A result column, in chunks. PyArrow reads it as ``pyarrow.chunked_array(column)``, Polars as
    ``frame.with_columns(column.to_polars())``, and pandas as ``frame["canonical"] = column``."""

    @property
    def null_count(self) -> int: ...
    @property
    def num_chunks(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, index: int) -> Any: ...
    def to_pylist(self) -> list[Any]: ...
    def to_polars(self) -> Any:
        """The column as a series of Polars, which ``with_columns`` and other expressions take."""

    def to_pandas(self, index: Any = None) -> Any:
        """The column as a series of pandas. A frame reads a series by its index, so ``index`` is that of
        the frame, unless the frame only counts its rows."""

@final
class Columns:
    """The result for each row of a column: ``canonical`` has the type of the input, ``reject`` is text, and
    ``key`` exists if it was requested. The object is also a table of these columns:
    ``pyarrow.table(columns)``, ``polars.DataFrame(columns)``. To send it to another process, pickle the
    table of PyArrow."""

    @property
    def canonical(self) -> Column: ...
    @property
    def reject(self) -> Column: ...
    @property
    def key(self) -> Column | None: ...
    @property
    def accounting(self) -> ColumnAccounting: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def _repr_html_(self) -> str: ...

@final
class Deduplicated:
    """A set and its accounting. ``urls`` is a column of large_string, or of large_binary under the profile
    ``string``, even if only one host uses it; ``files`` describes each file if files were read."""

    @property
    def urls(self) -> Column: ...
    @property
    def accounting(self) -> SetAccounting: ...
    @property
    def files(self) -> list[FileAccounting]: ...
    def __len__(self) -> int: ...
    def _repr_html_(self) -> str: ...

@final
class Step:
    """One rule that acted on a URL. It can be pickled."""

    @property
    def rule(self) -> str: ...
    @property
    def sentence(self) -> str: ...
    @property
    def source(self) -> str | None: ...
    @property
    def before(self) -> str | bytes: ...
    @property
    def after(self) -> str | bytes: ...

@final
class Profile:
    """A built-in profile: its switches, the switches that are on, the checks that ``allow`` switches off,
    and its text as a profile file. It can be pickled, and the restored profile is equal to it."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def summary(self) -> str: ...
    @property
    def on(self) -> list[str]: ...
    @property
    def switches(self) -> list[str]: ...
    @property
    def checks(self) -> list[str]: ...
    @property
    def toml(self) -> str: ...

@final
class Normalizer:
    """A profile and its options, made once for many URLs. It can be shared by threads, called like a
    function, and pickled."""

    def __new__(cls, profile: str | None = None, **options: Unpack[Options]) -> Normalizer: ...
    @overload
    def normalize(self, url: _Url, *, errors: Literal["raise", "keep"] = "raise") -> _Url: ...
    @overload
    def normalize(self, url: _Url | None, *, errors: Literal["null"]) -> _Url | None: ...
    @overload
    def __call__(self, url: _Url, *, errors: Literal["raise", "keep"] = "raise") -> _Url: ...
    @overload
    def __call__(self, url: _Url | None, *, errors: Literal["null"]) -> _Url | None: ...
    def key(self, url: _Url, key: _Key) -> _Url: ...
    def explain(self, url: str | bytes) -> list[Step]: ...
    def normalize_column(
        self,
        array: _Urls,
        *,
        format: str | None = None,
        key: _Key | None = None,
        threads: int | None = None,
        errors: _Errors = "null",
    ) -> Columns: ...
    def with_base(self, base: str | bytes) -> Normalizer:
        """A copy with another ``base``, such as that of each page of a crawl. It shares its rules with the original.

        >>> Normalizer(sort_query=True).with_base("http://h/a/")("b?d&c")
        'http://h/a/b?c&d'
        """

    @property
    def description(self) -> str: ...

@final
class SeenStore:
    """The URLs of all runs so far, in a directory: made to be larger than memory, and asked exactly. It is made
    if nothing has the name.

    A store has one profile and key, with all options: others raise :class:`UsageError`. Nothing is kept
    open, so a store can be shared by threads, and pickled. Readers see it as it was when they began;
    processes that add wait for each other.
    """

    def __new__(
        cls,
        path: _Path,
        profile: str | None = None,
        *,
        key: _Key = "url",
        threads: int | None = None,
        **options: Unpack[Options],
    ) -> SeenStore: ...
    @property
    def path(self) -> pathlib.Path: ...
    def add(self, urls: _Urls) -> int:
        """Adds the keys of URLs, and returns how many are new.

        Nulls, blank and rejected values add none; :func:`normalize_column` tells why. The keys are on the disk
        when this returns. An error means that none was added. Where runs cannot be merged after the add, as on a
        full disk, that is a :class:`RuntimeWarning`, and the next add tries again. Ctrl-C ends it with
        :class:`KeyboardInterrupt`; the store is then as before, or as after the add.
        """

    def contains(self, urls: _Urls) -> Column:
        """Whether the key of each URL is in the store, as a column of bool. It is null for a value without a
        key: a null, a blank or a rejected one.
        """

    def stats(self) -> StoreStats:
        """Numbers about the store: ``keys``, ``bytes`` on disk, ``rules``, ``key``, and its ``runs``, oldest first."""

@overload
def normalize(
    url: _Url,
    profile: str | None = None,
    *,
    errors: Literal["raise", "keep"] = "raise",
    **options: Unpack[Options],
) -> _Url:
    """The canonical form of a URL, as ``str`` or ``bytes`` like the URL. The default profile is ``crawl``.

    >>> normalize("HTTP://EX%41MPLE.com:80/a/../b")
    'http://example.com/b'

    With ``errors="null"`` a rejected URL gives None, and so does a missing one: None, or the NaN of pandas. With
    ``errors="keep"`` a rejected URL comes back as it is. Otherwise raises :class:`Rejected`; and
    ``UnicodeEncodeError`` for a ``str`` with lone surrogates: ``url.encode(errors="surrogateescape")`` gives the
    bytes that such a string was made of. For many URLs use a :class:`Normalizer` or a column.
    """

@overload
def normalize(
    url: _Url | None,
    profile: str | None = None,
    *,
    errors: Literal["null"],
    **options: Unpack[Options],
) -> _Url | None: ...
def normalize_column(
    array: _Urls,
    profile: str | None = None,
    *,
    format: str | None = None,
    key: _Key | None = None,
    threads: int | None = None,
    errors: _Errors = "null",
    **options: Unpack[Options],
) -> Columns:
    """The canonical forms of a column, on all cores or on ``threads``, without the interpreter's lock.

    Nulls stay null. A rejected value is null in ``canonical``, and ``reject`` holds its codes, separated
    by commas. A value of only spaces and tabs is blank: it is null in both columns. If nothing changes,
    the buffers of the input are returned.

    ``errors="keep"`` leaves a rejected value in ``canonical`` as it came, without a key; its codes stay in
    ``reject``. ``errors="raise"`` raises :class:`Rejected` for the first rejected row.

    With ``format``, each value is a line that holds a URL: ``combined``, ``log:FORMAT``, ``ws:2``,
    ``json:/url`` or another format of the command that reads each line by itself. ``canonical`` is then
    string or binary.

    With ``key``, the result also has the column ``key``, which tables name after the key: the key of each
    URL, as :func:`key` returns it, or null where there is none. It is large_string, or large_binary
    under the profile ``string``. If the input is a dictionary, so is this column.
    """

@overload
def dedup(
    inputs: _Path | Iterable[_Path],
    profile: str | None = None,
    *,
    format: str = "auto",
    order: Literal["first", "sorted", "count"] = "first",
    key: _Key = "url",
    threads: int | None = None,
    keep_going: bool = False,
    **options: Unpack[Options],
) -> Deduplicated:
    """The set of the URLs in files or in columns, and its accounting.

    Several inputs form a list or any other iterable, such as ``pathlib.Path.glob`` returns. Strings are
    paths; pass URLs as an Arrow column, such as ``pyarrow.array(urls)``.

    Files are read as ``uniqurl dedup`` reads them: compressed or not, in any ``format`` except tables.
    Raises :class:`InputError` for a damaged file, and its subclass :class:`MissingError` for a file that
    does not exist; with ``keep_going`` such a file is listed in ``files`` instead. Nulls of a column, and
    values of only spaces and tabs, are blank. For columns ``keep_going`` has no effect, and a ``format``
    other than ``auto`` and ``lines`` is a :class:`UsageError`.

    ``order="count"`` puts the most frequent URLs first, and those of equal counts in the order of their bytes.

    Ctrl-C ends the run with :class:`KeyboardInterrupt`. An exception from any other signal handler ends it
    too. Only a read from a silent pipe goes on until the pipe has data.
    """

@overload
def dedup(
    inputs: _Column | Iterable[_Column],
    profile: str | None = None,
    *,
    order: Literal["first", "sorted", "count"] = "first",
    key: _Key = "url",
    threads: int | None = None,
    **options: Unpack[Options],
) -> Deduplicated: ...

def key(url: _Url, key: _Key, profile: str | None = None, **options: Unpack[Options]) -> _Url:
    """The key of a URL. Its name is one that ``--key`` of the command and ``key`` of :func:`dedup` take:
    ``template``, ``host``, ``domain``, ``domain-icann``, ``surt``, ``ssurt``, ``hash``, or ``url``, the canonical form. The key is ``str`` or
    ``bytes`` like the URL.

    >>> key("http://www.example.com/a?b", "surt")
    'com,example,www)/a?b'

    Under the profile ``ia``, ``surt`` is the key in the index of a web archive. Raises :class:`Rejected`.
    """

def resolve(base: AnyStr, reference: AnyStr) -> AnyStr:
    """The target of a reference, resolved against a base by RFC 3986 section 5.2, strictly. Both are ``str``
    or both ``bytes``, and so is the target.

    >>> resolve("http://a/b/c/d;p?q", "../g?y#s")
    'http://a/b/g?y#s'

    Nothing is normalized or checked; :func:`normalize` with a ``base`` does both. Raises
    :class:`UsageError` if the base has no scheme.
    """

def extract(text: AnyStr) -> list[AnyStr]:
    """The URLs in a text, in order, separated from the text around them as RFC 3986 Appendix C describes.
    They are ``str`` or ``bytes`` like the text.

    >>> extract("It is under <http://example.com/a>, or was (see http://example.com/b).")
    ['http://example.com/a', 'http://example.com/b']

    Each has a scheme and is returned as it is written. :func:`normalize_column` finds the valid ones.
    """

def explain(url: str | bytes, profile: str | None = None, **options: Unpack[Options]) -> list[Step]:
    """The rules that change a URL, in order, with each change. Raises :class:`Rejected`."""

def compare(
    a: str | bytes, b: str | bytes
) -> Literal["string", "syntax", "scheme", "crawl", "aggressive", "different"]:
    """The lowest profile on the ladder of RFC 3986 section 6.2 that gives two URLs the same form."""

def profiles() -> list[Profile]:
    """The built-in profiles."""

def codes() -> dict[str, str]:
    """Every rejection code and its meaning."""
