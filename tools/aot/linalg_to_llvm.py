"""Stage program: lowers a .mlir file of linalg on tensors to the LLVM dialect, for a CPU."""

from plumbline.context import make_context
from plumbline.linalg_to_llvm.conversion import convert_linalg_to_llvm
from plumbline.tcp.assembly.module import parse_module, print_module
from tools.aot import stage


def linalg_to_llvm(text: str, filename: str) -> str:
    """The stage, from text to text."""
    module = parse_module(text, make_context(torch=True), filename)
    convert_linalg_to_llvm(module)
    return print_module(module)


if __name__ == "__main__":
    stage.run_text_stage(__doc__, linalg_to_llvm)
