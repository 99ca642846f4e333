"""Which GPU kernels are made for, and what is known of it."""

import re
from dataclasses import dataclass

from plumbline.errors import UserError

DEFAULT_ARCH = "sm_80"
"""Of 2020: asynchronous copies to shared memory, tensor cores for bf16 and tf32. Drivers compile
PTX for it to code of every GPU since."""

DECLARED_BYTES = 48 << 10
"""How much shared memory a kernel may declare. What is more its launch has to ask for."""

SHARED_ALIGNMENT = 1024
"""Bytes: where tiles in shared memory begin. So far a swizzle goes, in which `wgmma` reads them."""

_ARCH = re.compile(r"sm_(\d+)([af]?)")
_OLDEST = 70
"""From which on threads of a warp have program counters of their own, as shuffles expect."""


@dataclass(frozen=True)
class GpuChip:
    """A GPU by its architecture, and what its kernels may do."""

    capability: int
    """The compute capability, times ten."""
    multiprocessors: int
    """How many it has, of the usual cards of its kind."""
    is_this_one: bool = False
    """Whether code is for this architecture alone ("sm_90a"), rather than for later ones too."""
    allows_tf32: bool = False
    """Whether products of f32 may be taken of numbers rounded to TF32, which have 10 bits of
    mantissa in place of 23: on tensor cores, and so eight times as fast."""

    @classmethod
    def of(cls, arch: str = DEFAULT_ARCH, *, allows_tf32: bool = False) -> "GpuChip":
        """The chip of an architecture such as "sm_80".

        Raises:
          UserError: that is no name of one, or it is older than kernels need.
        """
        match = _ARCH.fullmatch(arch)
        if match is None or int(match[1]) < _OLDEST:
            raise UserError(
                f'gpu_arch {arch!r}: it is a name such as "sm_80" or "sm_90a", from sm_{_OLDEST} on'
            )
        capability = int(match[1])
        multiprocessors = _MULTIPROCESSORS.get(capability, _USUAL)
        return cls(capability, multiprocessors, match[2] == "a", allows_tf32)

    @property
    def has_asynchronous_copies(self) -> bool:
        """Whether elements go from global to shared memory by themselves: `cp.async`."""
        return self.capability >= 80

    @property
    def shared_bytes(self) -> int:
        """How much shared memory a block may take, if its launch asks for it.

        That is so on each GPU that runs PTX for this one: while H100 has 227 KB, the least of chips
        since A100 have 99 (CUDA C++ Programming Guide, "Technical Specifications").
        """
        if self.capability < 80:
            return DECLARED_BYTES
        own = _SHARED_KB.get(self.capability) if self.is_this_one else None
        return (own or _LEAST_SHARED_KB) << 10

    @property
    def has_tensor_cores(self) -> bool:
        """Whether there are `mma` of 16 rows for f16, bf16, TF32 and int8, and `ldmatrix`."""
        return self.capability >= 80

    @property
    def has_warp_group_products(self) -> bool:
        """Whether there is `wgmma`, which takes operands from shared memory: on sm_90a alone."""
        return self.capability == 90 and self.is_this_one


_MULTIPROCESSORS = {70: 80, 75: 40, 80: 108, 86: 84, 89: 128, 90: 132, 100: 148, 120: 170}
"""Of V100, T4, A100, A10, L40, H100, B200, RTX 5090: NVIDIA's white papers."""

_USUAL = 108

_SHARED_KB = {90: 227, 100: 227, 103: 227}
"""Of a block, where code is for one architecture alone: others have less, or none of their own."""

_LEAST_SHARED_KB = 99
"""Of a block on any GPU from sm_80 on."""
