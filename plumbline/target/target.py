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


WINDOWS = "windows"
"""What messages, and the table of kinds of files, call the system of that name."""

_FOR_WINDOWS = "-windows"
"""How the name of a CPU ends whose programs are for that in place of Linux: "skylake-windows"."""


def is_for_windows(cpu: str) -> bool:
    """Whether code for a CPU of that name is for Windows."""
    return cpu.endswith(_FOR_WINDOWS)


def without_system(cpu: str) -> str:
    """The name of a CPU alone, in LLVM's words."""
    return cpu.removesuffix(_FOR_WINDOWS)


def is_freestanding(cpu: str) -> bool:
    """Whether code for a CPU of that name is, as `Target.is_freestanding` says."""
    return cpu == WEBASSEMBLY or is_microcontroller(cpu)


def is_for_linux(cpu: str) -> bool:
    """Whether code for a CPU of that name is for Linux, as this process is."""
    return not (is_freestanding(cpu) or is_for_windows(cpu))


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
    def is_for_windows(self) -> bool:
        """Whether code is for Windows, whose object files and calls are others than Linux's."""
        return "windows" in self.triple

    @property
    def is_freestanding(self) -> bool:
        """Whether code has nothing but memory there: no files, and no other modules beside it."""
        return self.architecture in (WEBASSEMBLY, THUMB)
