"""The stage from linalg on tensors to kernels of a GPU and their launches, from text to text."""

from plumbline.linalg_to_gpu.conversion import convert_linalg_to_gpu
from plumbline.stages.text_stage import lower_text
from plumbline.target.gpu_chip import DEFAULT_ARCH


def linalg_to_gpu(
    text: str,
    filename: str,
    *,
    gpu_arch: str = DEFAULT_ARCH,
    allow_tf32: bool = False,
    tensors: str = "host",
) -> str:
    """Lowers `text`, which messages call `filename`, as `convert_linalg_to_gpu` does.

    Raises:
      UserError: it is no such module, or has what cannot be lowered; or there is no such GPU.
    """
    return lower_text(
        text,
        filename,
        lambda module: convert_linalg_to_gpu(
            module, gpu_arch, allow_tf32=allow_tf32, tensors=tensors
        ),
    )
