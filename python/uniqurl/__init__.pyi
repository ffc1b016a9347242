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

import os
from collections.abc import Iterable, Iterator
from typing import Any, AnyStr, Literal, Protocol, TypedDict, TypeVar, final, overload, type_check_only

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
_Key = Literal["url", "surt", "ssurt", "hash"]

class Error(Exception):
    """All errors of uniqurl."""

    @property
    def code(self) -> str: ...

class Rejected(Error, ValueError):
    """A URL has no canonical form under the profile: ``code`` is the first reason, ``at`` the offset in
    the bytes of the URL where the trouble starts, and ``codes`` are all reasons."""

    at: int
    codes: tuple[str, ...]
    def __init__(self, code: str, at: int, codes: tuple[str, ...], message: str) -> None: ...

class UsageError(Error, ValueError):
    """An argument means nothing, or not together with another."""

class InputError(Error, OSError):
    """A file cannot be read. ``errno`` is what the system says, where it is the system that refused."""

    path: str
    def __init__(self, code: str, message: str, path: str, errno: int | None = None) -> None: ...

class MissingError(InputError, FileNotFoundError):
    """A file is not there."""

class RunError(Error):
    """A run ended early, for another reason than an input."""

class InternalError(Error):
    """A fault in uniqurl itself."""

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
    """What one file held. One that is ``unfinished`` takes more memory to unpack than a limit grants; it was
    read up to there."""

    path: str
    state: Literal["ok", "damaged", "missing", "refused", "unfinished"]
    bytes: int
    records: int
    rejected: int
    blank: int
    codes: dict[str, int]

@final
class Column:
    """A column of an answer, in chunks. PyArrow takes it as ``pyarrow.chunked_array(column)``, Polars
    as ``polars.Series(column)``, and pandas as ``frame["canonical"] = column``."""

    @property
    def null_count(self) -> int: ...
    @property
    def num_chunks(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def to_pylist(self) -> list[Any]: ...

@final
class Columns:
    """What became of a column, row by row: ``canonical`` is of the type that came in, ``reject`` is
    text, and ``key`` is there where one was asked for. It is a table of them for whoever takes one:
    ``pyarrow.table(columns)``, ``polars.DataFrame(columns)``. For another process pickle that of PyArrow."""

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

@final
class Deduplicated:
    """A set and its accounting. ``urls`` is a column of large_string, and of large_binary under the
    profile ``string``, be it that of one host; ``files`` tells of each file, where files were read."""

    @property
    def urls(self) -> Column: ...
    @property
    def accounting(self) -> SetAccounting: ...
    @property
    def files(self) -> list[FileAccounting]: ...
    def __len__(self) -> int: ...

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
    """A built-in profile: its switches, which of them are on, the checks that ``allow`` switches off,
    and all of it as a profile file. It can be pickled, and is equal to itself when it comes back."""

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
    """A profile and what was chosen beside it, made once for many URLs. It can be shared by threads,
    called like a function, and pickled."""

    def __new__(cls, profile: str | None = None, **options: Any) -> Normalizer: ...
    def normalize(self, url: _Url) -> _Url: ...
    def __call__(self, url: _Url) -> _Url: ...
    def key(self, url: _Url, key: _Key) -> _Url: ...
    def explain(self, url: str | bytes) -> list[Step]: ...
    def normalize_column(
        self,
        array: _Urls,
        *,
        format: str | None = None,
        key: _Key | None = None,
        threads: int | None = None,
    ) -> Columns: ...
    def with_base(self, base: str | bytes) -> Normalizer:
        """The same with another ``base``, as each page of a crawl has one. What was made once is shared.

        >>> Normalizer(sort_query=True).with_base("http://h/a/")("b?d&c")
        'http://h/a/b?c&d'
        """

    @property
    def description(self) -> str: ...

def normalize(url: _Url, profile: str | None = None, **options: Any) -> _Url:
    """The canonical form of a URL, as ``str`` or ``bytes`` as it came in; ``profile`` is ``crawl``
    where nothing is said.

    >>> normalize("HTTP://EX%41MPLE.com:80/a/../b")
    'http://example.com/b'

    Raises :class:`Rejected`, and ``UnicodeEncodeError`` for a ``str`` that is no text:
    ``url.encode(errors="surrogateescape")`` gives the bytes that such a one was made of. For many URLs make
    a :class:`Normalizer`, or a column.
    """

def normalize_column(
    array: _Urls,
    profile: str | None = None,
    *,
    format: str | None = None,
    key: _Key | None = None,
    threads: int | None = None,
    **options: Any,
) -> Columns:
    """The canonical forms of a column, on all cores or on ``threads``, without the interpreter's lock.

    Nulls stay null. What is rejected is null in ``canonical``, and its codes stand in ``reject``,
    between commas. What holds nothing but spaces and tabs is no URL but blank: null in both. Where
    nothing changes, the buffers that came in go out again.

    With ``format``, a value is not a URL but a line that holds one: ``combined``, ``log:FORMAT``,
    ``ws:2``, ``json:/url`` and the other formats of the command whose lines stand for themselves.
    ``canonical`` is then string or binary.

    With ``key``, the answer has a column ``key`` more, called as the key is: the one that :func:`key` gives
    for each URL, null where ``canonical`` is. It is large_string, and large_binary under the profile
    ``string``; of a dictionary it is one.
    """

@overload
def dedup(
    inputs: _Path | Iterable[_Path],
    profile: str | None = None,
    *,
    format: str = "auto",
    order: Literal["first", "sorted", "none"] = "first",
    key: _Key = "url",
    threads: int | None = None,
    keep_going: bool = False,
    **options: Any,
) -> Deduplicated:
    """The set of the URLs in files, or in columns, and its accounting.

    Several of them stand in a list or any other iterable, as ``pathlib.Path.glob`` gives. Strings are
    paths there: URLs come in as an Arrow column, such as ``pyarrow.array(urls)``.

    Files are read as ``uniqurl dedup`` reads them: compressed or not, in any ``format`` but tables.
    Raises :class:`InputError` for a file that is damaged, and its subclass :class:`MissingError` for one that
    is not there; with ``keep_going`` it is in ``files``. Nulls of a column, and what holds nothing but
    spaces and tabs, are blank. A column is no file: for it ``keep_going`` does nothing, and a ``format``
    other than ``auto`` and ``lines`` is a :class:`UsageError`.

    Ctrl-C ends it with :class:`KeyboardInterrupt`, and so does an exception of any other handler of a
    signal. Only a read from a pipe that says nothing stays behind, until that does.
    """

@overload
def dedup(
    inputs: _Column | Iterable[_Column],
    profile: str | None = None,
    *,
    order: Literal["first", "sorted", "none"] = "first",
    key: _Key = "url",
    threads: int | None = None,
    **options: Any,
) -> Deduplicated: ...

def key(url: _Url, key: _Key, profile: str | None = None, **options: Any) -> _Url:
    """The key of a URL that ``--key`` of the command and ``key`` of :func:`dedup` name: ``surt``, ``ssurt``,
    ``hash``, or ``url``, which is its canonical form. It is ``str`` or ``bytes`` as the URL is.

    >>> key("http://www.example.com/a?b", "surt")
    'com,example,www)/a?b'

    With the profile ``ia`` a ``surt`` is the key of a web archive's index. Raises :class:`Rejected`.
    """

def resolve(base: AnyStr, reference: AnyStr) -> AnyStr:
    """The target of a reference, read against a base (RFC 3986 section 5.2, strictly): both are ``str`` or both
    ``bytes``, and so is it.

    >>> resolve("http://a/b/c/d;p?q", "../g?y#s")
    'http://a/b/g?y#s'

    Nothing is normalized and nothing checked; :func:`normalize` with a ``base`` does both. Raises
    :class:`UsageError` where the base has no scheme.
    """

def extract(text: AnyStr) -> list[AnyStr]:
    """The URLs in a text, in order, told from what surrounds them as RFC 3986 Appendix C describes: ``str`` or
    ``bytes`` as the text is.

    >>> extract("It is under <http://example.com/a>, or was (see http://example.com/b).")
    ['http://example.com/a', 'http://example.com/b']

    They have a scheme, and stand as they are in the text: :func:`normalize_column` says which are good.
    """

def explain(url: str | bytes, profile: str | None = None, **options: Any) -> list[Step]:
    """What each rule does to a URL, in order. Raises :class:`Rejected`."""

def compare(
    a: str | bytes, b: str | bytes
) -> Literal["string", "syntax", "scheme", "crawl", "aggressive", "different"]:
    """The lowest rung of the ladder of RFC 3986 section 6.2 that joins two URLs."""

def profiles() -> list[Profile]:
    """The built-in profiles."""

def codes() -> dict[str, str]:
    """Every code of a rejection, and what it means."""
