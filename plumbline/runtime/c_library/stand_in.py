"""The C sources of what programs call in place of Linux's C library, where there is another."""

from dataclasses import dataclass
from pathlib import Path

from plumbline.target.target import Target

PREFIX = "plumbline_"
"""What the names of its functions begin with, before those of what they stand for."""


@dataclass(frozen=True)
class StandIn:
    """What stands for some functions of the C library."""

    source: Path
    functions: tuple[str, ...]
    """Those that it has others for."""
    options: tuple[str, ...]
    """What a C compiler is told."""

    @property
    def object_name(self) -> str:
        """What its object file is called, in archives too."""
        return f"{PREFIX}{self.source.stem}.o"


_FREESTANDING = StandIn(
    Path(__file__).with_name("freestanding.c"),
    ("abort", "aligned_alloc", "dprintf", "madvise", "malloc", "snprintf"),
    ("-ffreestanding", "-ffunction-sections"),
)

_WINDOWS = StandIn(
    Path(__file__).with_name("windows.c"),
    ("aligned_alloc", "dprintf", "free", "madvise", "snprintf", "strtol"),
    (),
)


def stand_in_for(target: Target) -> StandIn | None:
    """What programs for a target are linked with; None where they call the C library itself."""
    if target.is_for_windows:
        return _WINDOWS
    return _FREESTANDING if target.is_freestanding else None
