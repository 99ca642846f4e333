"""What code is made for, in LLVM's words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """What code is made for. `features` are LLVM's, such as "+avx2,-fma"."""

    triple: str
    cpu: str
    features: str = ""

    @property
    def architecture(self) -> str:
        """The first part of the triple, such as "x86_64"."""
        return self.triple.partition("-")[0]
