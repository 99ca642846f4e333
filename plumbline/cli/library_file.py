"""The shared object that a command line names."""

from pathlib import Path

from plumbline.errors import UserError


def existing(file: Path) -> Path:
    """`file` itself.

    Raises:
      UserError: there is no such file; the message names the one that was meant, if it is there.
    """
    if file.is_file():
        return file
    if file.exists():
        raise UserError(f"{file}: it is no file")
    library = file.with_name(f"lib{file.name}")
    hint = f"; there is {library}" if library.is_file() else ""
    raise UserError(f"{file}: there is no such file{hint}")
