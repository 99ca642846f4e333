"""Reading files that a user names."""

from pathlib import Path

from plumbline.errors import UserError


def read(file: Path) -> str:
    """The text of `file`.

    Raises:
      UserError: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not a text file: {error}") from error
