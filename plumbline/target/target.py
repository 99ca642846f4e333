"""What code is made for, in LLVM's words."""

from dataclasses import dataclass

WEBASSEMBLY = "wasm32"
"""The architecture whose code browsers run, with pointers of 32 bits."""

THUMB = "thumb"
"""The architecture of Arm's microcontrollers: its CPUs of 32 bits, with instructions of 16 bits."""

MICROCONTROLLER = "microcontroller"
"""What messages, and the table of kinds of files, call each of these."""


def is_microcontroller(cpu: str) -> bool:
    """Whether a CPU of that name runs programs alone, without an operating system: a Cortex-M."""
    return cpu.startswith("cortex-m")


def is_freestanding(cpu: str) -> bool:
    """Whether code for a CPU of that name is, as `Target.is_freestanding` says."""
    return cpu == WEBASSEMBLY or is_microcontroller(cpu)


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

    @property
    def is_freestanding(self) -> bool:
        """Whether code has nothing but memory there: no files, and no other modules beside it."""
        return self.architecture in (WEBASSEMBLY, THUMB)
