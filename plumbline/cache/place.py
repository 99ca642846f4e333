"""Where what is compiled just in time is kept, as whoever compiles says it."""

import os
import warnings
from pathlib import Path
from typing import TypeAlias

from plumbline.cache.folder import CacheFolder
from plumbline.errors import UserError

VARIABLE = "PLUMBLINE_CACHE_DIR"
"""The environment variable that names a folder for all that say nothing else; empty: none."""

CachePlace: TypeAlias = bool | str | os.PathLike[str]
"""A folder; True: what the environment says; False: none."""


def cache_folder(who: str, place: CachePlace) -> CacheFolder | None:
    """The folder that a place stands for, or None, where nothing is kept.

    Of one that the environment names, and that cannot be used, there is a warning.

    Raises:
      UserError: it is no place, or a folder that cannot be used; the message begins with `who`.
    """
    if place is False:
        return None
    if place is True:
        return _of_environment()
    if not isinstance(place, str | os.PathLike) or not os.fspath(place):
        raise UserError(f"{who}: cache is {place!r}; it is True, False or a folder")
    try:
        return CacheFolder(place)
    except (OSError, UserError, ValueError) as error:
        raise UserError(f"{who}: cache: {_said(error)}") from error


def _of_environment() -> CacheFolder | None:
    named = os.environ.get(VARIABLE)
    path = _default_path() if named is None else Path(named) if named else None
    if path is None:
        return None
    try:
        return CacheFolder(path)
    except (OSError, UserError) as error:
        # Where there is no home to write to, as in a service, nobody has asked for it.
        if named is not None or isinstance(error, UserError):
            warnings.warn(
                f"{_said(error)} (or, for none, an empty one, by {VARIABLE}); until then programs "
                "are compiled anew in each process",
                stacklevel=4,
            )
        return None


def _default_path() -> Path | None:
    """By the XDG Base Directory Specification, for which a path that is relative does not count."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        base = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "plumbline"


def _said(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.filename} cannot be used: {error.strerror}"
    return str(error)
