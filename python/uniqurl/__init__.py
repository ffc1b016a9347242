"""Normalizes and deduplicates URLs at close to memory speed, by the text of the standards."""

from ._core import (
    Column,
    Columns,
    Deduplicated,
    Normalizer,
    Profile,
    Step,
    codes,
    compare,
    dedup,
    explain,
    normalize,
    normalize_column,
    profiles,
)
from ._errors import Error, InputError, InternalError, Rejected, RunError, UsageError

__all__ = [
    "Column",
    "Columns",
    "Deduplicated",
    "Error",
    "InputError",
    "InternalError",
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
    "normalize",
    "normalize_column",
    "profiles",
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
