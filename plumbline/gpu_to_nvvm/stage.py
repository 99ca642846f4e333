"""The stage from kernels of a GPU, and their launches, to NVVM and LLVM dialect; text to text."""

from plumbline.gpu_to_nvvm.conversion import convert_gpu_to_nvvm
from plumbline.stages.text_stage import lower_text


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
    return lower_text(
        text,
        filename,
        lambda module: convert_gpu_to_nvvm(module, abi, memory, weights_are, queue),
        debug_info=False,
    )
