"""The stage from linalg on tensors to kernels of a GPU and their launches, from text to text."""

from plumbline.context import context_for
from plumbline.linalg_to_gpu.conversion import convert_linalg_to_gpu
from plumbline.target.gpu_chip import DEFAULT_ARCH
from plumbline.tcp.assembly.module import parse_module, print_module


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
    with context_for(text, torch=True) as context:
        module = parse_module(text, context, filename)
        convert_linalg_to_gpu(module, gpu_arch, allow_tf32=allow_tf32, tensors=tensors)
        # With locations, as the stages before: the next one may refuse what a kernel does.
        lowered = print_module(module, debug_info=True, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return lowered
