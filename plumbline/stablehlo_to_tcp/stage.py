"""The stage from StableHLO to TCP, from text to text."""

from torch_mlir import ir

from plumbline.context import context_for
from plumbline.loader_to_stablehlo.parsing import parse_stablehlo
from plumbline.stablehlo_to_tcp.conversion import convert_stablehlo_to_tcp
from plumbline.stablehlo_to_tcp.signatures import keep_entry, name_entry
from plumbline.tcp.assembly.module import print_module


def stablehlo_to_tcp(text: str, filename: str, func_name: str) -> str:
    """Lowers `text`, which messages call `filename`; its function is called `func_name` then.

    Raises:
      UserError: it is no such module, has no public function or several, or has what cannot be
        lowered.
    """
    with context_for(text, torch=True, stablehlo=True) as context:
        module = parse_stablehlo(text, context, filename)
        lower_entry(module, filename, func_name)
        # With locations: a later stage that refuses an operation names the user's source by them.
        lowered = print_module(module, debug_info=True, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return lowered


def lower_entry(module: ir.Module, filename: str, func_name: str) -> None:
    """Lowers a module in place, as `stablehlo_to_tcp` does a text.

    Raises:
      UserError: as it does, but for what is no module.
    """
    keep_entry(module, filename)
    convert_stablehlo_to_tcp(module)
    # Now that no other function is left that may have the name.
    name_entry(module, func_name)
