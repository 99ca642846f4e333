"""The stage from StableHLO to TCP, from text to text."""

from torch_mlir import ir

from plumbline.loader_to_stablehlo.parsing import parse_stablehlo
from plumbline.stablehlo_to_tcp.conversion import convert_stablehlo_to_tcp
from plumbline.stablehlo_to_tcp.signatures import keep_entry, name_entry
from plumbline.stages.text_stage import lower_text


def stablehlo_to_tcp(text: str, filename: str, func_name: str) -> str:
    """Lowers `text`, which messages call `filename`; its function is called `func_name` then.

    Raises:
      UserError: it is no such module, has no public function or several, or has what cannot be
        lowered.
    """
    return lower_text(
        text,
        filename,
        lambda module: lower_entry(module, filename, func_name),
        stablehlo=True,
        parse=parse_stablehlo,
    )


def lower_entry(module: ir.Module, filename: str, func_name: str) -> None:
    """Lowers a module in place, as `stablehlo_to_tcp` does a text.

    Raises:
      UserError: as it does, but for what is no module.
    """
    keep_entry(module, filename)
    convert_stablehlo_to_tcp(module)
    # Now that no other function is left that may have the name.
    name_entry(module, func_name)
