"""The stage from kernels of a GPU, and their launches, to NVVM and LLVM dialect; text to text."""

from plumbline.context import context_for
from plumbline.gpu_to_nvvm.conversion import convert_gpu_to_nvvm
from plumbline.tcp.assembly.module import parse_module, print_module


def gpu_to_nvvm(
    text: str,
    filename: str,
    abi: str = "memref",
    memory: str = "malloc",
    weights_are: str = "embedded",
    queue: str = "own",
) -> str:
    """Lowers `text`, which messages call `filename`; what else there is is of `choices.py`.

    Raises:
      UserError: it is no such module, or has what cannot be lowered.
    """
    with context_for(text, torch=True) as context:
        module = parse_module(text, context, filename)
        convert_gpu_to_nvvm(module, abi, memory, weights_are, queue)
        lowered = print_module(module, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return lowered
