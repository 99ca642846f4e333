"""Modules of StableHLO, from text and bytecode."""

from torch_mlir import ir

from plumbline.errors import UserError
from plumbline.loader_to_stablehlo.device_layouts import without_layouts
from plumbline.loader_to_stablehlo.spellings import as_read_here
from plumbline.tcp.assembly.module import parse_module


def parse_stablehlo(text: str, context: ir.Context, filename: str) -> ir.Module:
    """The module that `text` holds.

    Raises:
      UserError: it does not parse or verify.
    """
    # Attributes may be of dialects that lay programs out for several devices, as JAX's are.
    context.allow_unregistered_dialects = True
    return parse_module(as_read_here(without_layouts(text)), context, filename)


def decode_stablehlo(content: bytes, context: ir.Context, who: str) -> ir.Module:
    """The module that bytecode holds, which messages call `who`.

    Raises:
      UserError: it is not of a version of StableHLO that can be read.
    """
    # The wheel has no public module for it.
    from torch_mlir._mlir_libs import _stablehlo

    said: list[str] = []

    def note(diagnostic: ir.Diagnostic) -> bool:
        said.append(diagnostic.message)
        return True

    context.allow_unregistered_dialects = True
    handler = context.attach_diagnostic_handler(note)
    try:
        module: ir.Module = _stablehlo.deserialize_portable_artifact(context, content)
    except (ValueError, ir.MLIRError) as error:
        reasons = "; ".join(said) or str(error)
        raise UserError(
            f"{who}: its bytecode cannot be read: {reasons}; a program of JAX's may be handed "
            "over as the Exported itself, or as the text that its mlir_module() gives"
        ) from error
    finally:
        handler.detach()
    return module
