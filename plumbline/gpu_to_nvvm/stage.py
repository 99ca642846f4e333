"""The stage from kernels of a GPU, and their launches, to NVVM and LLVM dialect; text to text."""

from plumbline.context import make_context
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
    module = parse_module(text, make_context(torch=True), filename)
    convert_gpu_to_nvvm(module, abi, memory, weights_are, queue)
    return print_module(module, is_verified=True)
