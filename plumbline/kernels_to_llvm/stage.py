"""The stage from kernels on buffers to the LLVM dialect, from text to text."""

from plumbline.context import context_for
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.tcp.assembly.module import parse_module, print_module


def kernels_to_llvm(
    text: str,
    filename: str,
    abi: str = "memref",
    memory: str = "malloc",
    weights_are: str = "embedded",
) -> str:
    """Lowers `text`, which messages call `filename`; what else there is is of `choices.py`.

    Raises:
      UserError: it is no such module, or has what cannot be lowered.
    """
    with context_for(text, torch=True) as context:
        module = parse_module(text, context, filename)
        convert_kernels_to_llvm(module, abi, memory, weights_are)
        lowered = print_module(module, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return lowered
