"""Files that appear whole or not at all."""

import errno
import os
import tempfile
from pathlib import Path


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes `content` to `path` so that no reader ever sees a part of it.

    The content goes to a temporary file in the same folder first and is renamed into
    place, which POSIX makes atomic. On an error the temporary file is removed and
    whatever `path` held before stays. A device or a pipe, such as /dev/null, is written to
    and never replaced; a link stays, and what it points to is written.

    Raises:
      OSError: the folder does not exist, or cannot be written.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        _put(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def move(source: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Has what is in `source` be at `path`, like `write_bytes`, and maybe in `source` no more.

    On one file system nothing is copied.
    """
    target = Path(path).resolve()
    if target.is_file() or not target.exists():
        try:
            _put(source, target)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    write_bytes(path, Path(source).read_bytes())


def _put(temporary: str | os.PathLike[str], target: Path) -> None:
    """Renames a file into its place."""
    # mkstemp creates files that only their owner can read; outputs follow the umask.
    umask = os.umask(0)
    os.umask(umask)
    os.chmod(temporary, 0o666 & ~umask)
    os.replace(temporary, target)


def write_text(path: str | os.PathLike[str], content: str) -> None:
    """Writes `content` as UTF-8, like `write_bytes`."""
    write_bytes(path, content.encode())


def write_link(path: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Makes `path` a symbolic link to `target`, in the place of whatever it was.

    Raises:
      OSError: the folder does not exist, cannot be written, or has no links.
    """
    # The link is made in a folder beside it, where no other file can have its name.
    with tempfile.TemporaryDirectory(prefix=".link.", dir=os.path.dirname(path) or ".") as folder:
        temporary = os.path.join(folder, "link")
        os.symlink(target, temporary)
        os.replace(temporary, path)
