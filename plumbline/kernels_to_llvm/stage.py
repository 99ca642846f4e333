"""The stage from kernels on buffers to the LLVM dialect, from text to text."""

from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.stages.text_stage import lower_text


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
    return lower_text(
        text,
        filename,
        lambda module: convert_kernels_to_llvm(module, abi, memory, weights_are),
        debug_info=False,
    )
