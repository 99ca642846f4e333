"""What code is made for, in LLVM's words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """What code is made for. `features` are LLVM's, such as "+avx2,-fma"."""

    triple: str
    cpu: str
    features: str = ""
