"""Sizes that depend on values: PyTorch calls their symbols unbacked, as no argument has them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class UnbackedSize:
    """A size of a result that each call tells."""

    output: int
    axis: int


def without_unbacked(
    output: int, sizes: Sequence[int | None], unbacked: Sequence[UnbackedSize]
) -> tuple[int | None, ...]:
    """The sizes of the result number `output`, where None stands for one that a call tells."""
    return tuple(
        None if UnbackedSize(output, axis) in unbacked else size for axis, size in enumerate(sizes)
    )
