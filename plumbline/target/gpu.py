"""The GPUs that code is made for: NVIDIA's, by their architectures."""

from plumbline.errors import UserError
from plumbline.target.gpu_chip import GpuChip
from plumbline.target.target import Target
from plumbline.target.trial import problem_with

TRIPLE = "nvptx64-nvidia-cuda"


def gpu_target(arch: str) -> Target:
    """What kernels are made for: the GPUs of an architecture, such as "sm_80", and later ones.

    Raises:
      UserError: LLVM can make no code for such, or it is older than kernels need.
    """
    GpuChip.of(arch)
    if problem_with(arch, TRIPLE):
        raise UserError(f"gpu_arch {arch!r}: LLVM knows no such GPU; try an older one's name")
    return Target(TRIPLE, arch)
