"""The stage from the Torch dialect to TCP, from text to text."""

from plumbline.context import context_for
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp


def torch_to_tcp(text: str, filename: str) -> str:
    """Lowers `text`, which messages call `filename`.

    Raises:
      UserError: it is no such module, or has what cannot be lowered.
    """
    with context_for(text, torch=True) as context:
        module = parse_module(text, context, filename)
        convert_torch_to_tcp(module)
        # With locations: a later stage that refuses an operation names the user's source by them.
        lowered = print_module(module, debug_info=True, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return lowered
