"""A folder of files that were long in the making, each under the key of what it was made of.

A file begins with a line that says what it is, the digest of all that follows, and its key. Which
one is torn, of something else, or not as it was written, does not count; what one holds is handed
on as it was written or not at all. Who can write there could put machine code into a process: the
folder and its files are read where they belong to the process's user, whom nobody else can write
for.

A file is written under another name, and then renamed, which POSIX does as a whole: processes that
write the same one at once all leave a good one. Each read makes it the last used; those not used
for longest are removed when there is too much.
"""

import contextlib
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from plumbline.errors import UserError

_MAGIC = b"plumbline cache, digest, key, content\n"
_DIGEST_BYTES = hashlib.sha256().digest_size

_FILE = re.compile(rf"[0-9a-f]{{{2 * _DIGEST_BYTES}}}")
"""What files are called: by their keys."""

_UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.part")
"""What they are called while they are written."""

_ABANDONED = 3600.0
"""After so many seconds whoever wrote a file has ended before it."""

_MOST_BYTES = 1 << 30

_LARGEST = 0.125
"""How much of the most one file may take: a larger one would drive out what serves more often."""

_KEPT = 0.75
"""How much of the most is kept where there is more, so that not each file has others looked at."""


class CacheFolder:
    """Such a folder. Threads and processes may use it at the same time, and it may disappear."""

    def __init__(self, path: str | os.PathLike[str], *, most_bytes: int = _MOST_BYTES) -> None:
        """Makes the folder, if there is none.

        Raises:
          OSError: it cannot be made or read.
          UserError: somebody else can write there.
        """
        self.path = Path(path).absolute()
        self._most_bytes = most_bytes
        with self._opened():
            pass

    def read(self, key: bytes) -> bytes | None:
        """What was written under a key; None if nothing was, or is there as it was written."""
        try:
            with self._opened() as folder:
                # A pipe would be waited for.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
                file = os.open(key.hex(), flags, dir_fd=folder)
                with open(file, "rb") as opened:
                    status = os.fstat(file)
                    if not stat.S_ISREG(status.st_mode) or _problem(status):
                        return None
                    content = _checked(key, opened.read())
                    if content is not None:
                        # What can only be read serves as well.
                        with contextlib.suppress(OSError):
                            os.utime(file)
        except (OSError, UserError):
            return None
        return content

    def write(self, key: bytes, content: bytes) -> None:
        """Keeps what is read under a key from then on, if that can be, and it is not too large."""
        if len(content) > _LARGEST * self._most_bytes:
            return
        name, unfinished = key.hex(), f".{secrets.token_hex(16)}.part"
        body = key + content
        with contextlib.suppress(OSError, UserError), self._opened() as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            file = os.open(unfinished, flags, mode=0o600, dir_fd=folder)
            try:
                with open(file, "wb") as opened:
                    opened.writelines((_MAGIC, hashlib.sha256(body).digest(), body))
                os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(unfinished, dir_fd=folder)
                raise
            self._keep_bounded(folder)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """A descriptor of the folder, which is then what was looked at, whatever becomes of it."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if problem := _problem(os.fstat(folder)):
                raise UserError(
                    f"{self.path} {problem}; what is kept there is run as machine code: name a "
                    "folder of your own"
                )
            yield folder
        finally:
            os.close(folder)

    def _keep_bounded(self, folder: int) -> None:
        """Removes what was not used for longest, and what was abandoned."""
        found: list[tuple[float, int, str]] = []
        for entry in os.scandir(folder):
            # What another process has removed meanwhile is gone.
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if _FILE.fullmatch(entry.name):
                    found.append((status.st_mtime, status.st_size, entry.name))
                elif (
                    _UNFINISHED.fullmatch(entry.name) and status.st_mtime < time.time() - _ABANDONED
                ):
                    os.unlink(entry.name, dir_fd=folder)
        total = sum(size for _, size, _ in found)
        if total <= self._most_bytes:
            return
        for _, size, name in sorted(found):
            if total <= _KEPT * self._most_bytes:
                break
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
            total -= size


def _problem(status: os.stat_result) -> str | None:
    """Why others than this process's user can write what has this status."""
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by other users"
    return None


def _checked(key: bytes, file: bytes) -> bytes | None:
    """The content of a file, if that is of the key and as it was written."""
    view = memoryview(file)
    start = len(_MAGIC) + _DIGEST_BYTES
    body = view[start:]
    if (
        view[: len(_MAGIC)] != _MAGIC
        or view[len(_MAGIC) : start] != hashlib.sha256(body).digest()
        or body[: len(key)] != key
    ):
        return None
    return bytes(body[len(key) :])
