"""Stage program: lowers a .mlir file of TCP to linalg on tensors."""

from plumbline.context import make_context
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from tools.aot import stage


def tcp_to_linalg(text: str, filename: str) -> str:
    """The stage, from text to text."""
    # Programs with ops that TCP lacks carry dialects of torch-mlir (tm_tensor) beside TCP.
    module = parse_module(text, make_context(torch=True), filename)
    convert_tcp_to_linalg(module)
    return print_module(module)


if __name__ == "__main__":
    stage.run_text_stage(__doc__, tcp_to_linalg)
