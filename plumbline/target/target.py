"""What code is made for, in LLVM's words."""

from dataclasses import dataclass

WEBASSEMBLY = "wasm32"
"""The architecture whose code browsers run, with pointers of 32 bits."""


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

    @property
    def is_webassembly(self) -> bool:
        """Whether code is for a virtual machine, in place of a CPU and Linux."""
        return self.architecture == WEBASSEMBLY
