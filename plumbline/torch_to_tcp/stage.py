"""The stage from the Torch dialect to TCP, from text to text."""

from plumbline.context import make_context
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp


def torch_to_tcp(text: str, filename: str) -> str:
    """Lowers `text`, which messages call `filename`.

    Raises:
      UserError: it is no such module, or has what cannot be lowered.
    """
    module = parse_module(text, make_context(torch=True), filename)
    convert_torch_to_tcp(module)
    # With locations: a later stage that refuses an operation names the user's source by them.
    return print_module(module, debug_info=True, is_verified=True)
