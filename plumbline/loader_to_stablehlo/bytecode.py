"""StableHLO as files hold it: as text, or as bytecode of MLIR's.

Bytecode is portable where it is of VHLO, which StableHLO's later versions read; JAX serializes
programs so. It may also be of StableHLO as this version has it.
"""

from pathlib import Path

from plumbline.errors import UserError

_MAGIC = b"ML\xefR"
"""How bytecode of MLIR's begins."""


def is_bytecode(file: Path) -> bool:
    """Whether a file begins as bytecode does.

    Raises:
      UserError: it cannot be read.
    """
    return read(file, len(_MAGIC)) == _MAGIC


def read(file: Path, count: int = -1) -> bytes:
    """So many bytes at the beginning of a file; -1: all of them.

    Raises:
      UserError: it cannot be read.
    """
    try:
        with file.open("rb") as opened:
            return opened.read(count)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error


def text_or_bytecode(content: bytes, who: str) -> str | bytes:
    """Content as it is where it is bytecode, and else as text; messages call it `who`.

    Raises:
      UserError: it is neither bytecode nor UTF-8.
    """
    if content.startswith(_MAGIC):
        return content
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UserError(
            f"{who}: it is neither text nor bytecode of MLIR; what Exported.serialize() of JAX "
            "gives is to be read by jax.export.deserialize first"
        ) from error
