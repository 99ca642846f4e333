"""StableHLO as files and frameworks hold it: as text, or as bytecode of MLIR's.

Bytecode is portable where it is of VHLO, which StableHLO's later versions read; JAX serializes
programs so. It may also be of StableHLO as this version has it.
"""

from pathlib import Path

from torch_mlir import ir

from plumbline.context import lent_context
from plumbline.errors import UserError

_MAGIC = b"ML\xefR"
"""How bytecode of MLIR's begins."""


def is_bytecode(file: Path) -> bool:
    """Whether a file begins as bytecode does.

    Raises:
      UserError: it cannot be read.
    """
    return _content(file, len(_MAGIC)) == _MAGIC


def read(file: Path) -> str:
    """The text of a file's module.

    Raises:
      UserError: it cannot be read, or is neither bytecode of StableHLO nor UTF-8.
    """
    return text_of(_content(file), str(file))


def _content(file: Path, count: int = -1) -> bytes:
    """So many bytes at its beginning; -1: all of them."""
    try:
        with file.open("rb") as opened:
            return opened.read(count)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error


def text_of(content: bytes, who: str) -> str:
    """The text of a module in bytecode, or what is text already; messages call it `who`.

    Raises:
      UserError: it is neither bytecode of StableHLO nor UTF-8.
    """
    if content.startswith(_MAGIC):
        return _decoded(content, who)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UserError(
            f"{who}: it is neither text nor bytecode of MLIR; what Exported.serialize() of JAX "
            "gives is to be read by jax.export.deserialize first"
        ) from error


def _decoded(content: bytes, who: str) -> str:
    # The wheel has no public module for it.
    from torch_mlir._mlir_libs import _stablehlo

    said: list[str] = []

    def note(diagnostic: ir.Diagnostic) -> bool:
        said.append(diagnostic.message)
        return True

    with lent_context(torch=True, stablehlo=True) as context:
        # Attributes may be of dialects that lay programs out for several devices, as JAX's are.
        context.allow_unregistered_dialects = True
        handler = context.attach_diagnostic_handler(note)
        try:
            module = _stablehlo.deserialize_portable_artifact(context, content)
        except (ValueError, ir.MLIRError) as error:
            reasons = "; ".join(said) or str(error)
            raise UserError(
                f"{who}: its bytecode cannot be read: {reasons}; a program of JAX's may be handed "
                "over as the Exported itself, or as the text that its mlir_module() gives"
            ) from error
        finally:
            handler.detach()
        text: str = module.operation.get_asm(enable_debug_info=True)
        # A context is lent again with no module in it alone.
        del module
    return text
