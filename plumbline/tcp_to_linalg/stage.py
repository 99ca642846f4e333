"""The stage from TCP to linalg on tensors, from text to text."""

from plumbline.context import context_for
from plumbline.target.choices import RuntimeChecks
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg


def tcp_to_linalg(text: str, filename: str, runtime_checks: RuntimeChecks) -> str:
    """Lowers `text`, which messages call `filename`.

    Raises:
      UserError: it is no such module, or has what cannot be lowered.
    """
    # Programs with ops that TCP lacks carry dialects of torch-mlir (tm_tensor) beside TCP.
    with context_for(text, torch=True) as context:
        module = parse_module(text, context, filename)
        convert_tcp_to_linalg(module, runtime_checks)
        # With locations, as the stage before: what MLIR refuses later is told at the user's line.
        lowered = print_module(module, debug_info=True, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return lowered
