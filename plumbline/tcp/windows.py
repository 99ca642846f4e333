"""Windows that move over the spatial dimensions of a tensor, and the rules about them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from plumbline.tcp.dialect import VerificationError
from plumbline.tcp.shapes import DYNAMIC, verify_count

_MOST = 2**31 - 1
"""Of an entry: what is computed of two of them is a number of 64 bits then."""


@dataclass(frozen=True)
class Windows:
    """How windows lie over a tensor: one entry for each spatial dimension."""

    kernel: Sequence[int]
    """The number of elements that a window takes; may be dynamic."""
    strides: Sequence[int]
    """The distance from one window to the next."""
    dilations: Sequence[int]
    """The distance from one element of a window to the next."""
    padding_low: Sequence[int]
    """The number of elements that are thought before the first."""
    padding_high: Sequence[int]
    """The number of elements that are thought after the last."""

    @staticmethod
    def verified(
        kernel: Sequence[int],
        *,
        strides: Iterable[ir.Attribute],
        dilations: Iterable[ir.Attribute],
        padding_low: Iterable[ir.Attribute],
        padding_high: Iterable[ir.Attribute],
    ) -> "Windows":
        """The windows that an op's attributes describe.

        Raises:
          VerificationError: there are too few or too many entries, or one is too small or large.
        """
        windows = Windows(
            kernel,
            strides=[entry.value for entry in strides],
            dilations=[entry.value for entry in dilations],
            padding_low=[entry.value for entry in padding_low],
            padding_high=[entry.value for entry in padding_high],
        )
        for name, least in (
            ("strides", 1),
            ("dilations", 1),
            ("padding_low", 0),
            ("padding_high", 0),
        ):
            entries = getattr(windows, name)
            verify_count(
                f"entries of '{name}', one for each spatial dimension", len(entries), len(kernel)
            )
            verify_least(name, entries, least)
            _verify_most(name, entries)
        _verify_most("kernel", kernel)
        return windows

    def _extent(self, axis: int) -> int:
        """From the first element of a window to the last, both counted."""
        return self.dilations[axis] * (self.kernel[axis] - 1) + 1

    def count(self, shape: Sequence[int]) -> list[int]:
        """How many windows fit along each spatial dimension of that shape.

        Raises:
          VerificationError: not even one fits along a dimension.
        """
        counts = []
        for axis, size in enumerate(shape):
            if DYNAMIC in (size, self.kernel[axis]):
                counts.append(DYNAMIC)
                continue
            padded = size + self.padding_low[axis] + self.padding_high[axis]
            if padded < self._extent(axis):
                raise VerificationError(
                    f"requires a window within the padded input, but got {self._extent(axis)} of "
                    f"{padded} elements along spatial axis {axis}"
                )
            counts.append((padded - self._extent(axis)) // self.strides[axis] + 1)
        return counts

    def covered(self, shape: Sequence[int]) -> list[int]:
        """How many elements that many windows cover, without the padding: `count` turned round."""
        return [
            DYNAMIC
            if DYNAMIC in (size, self.kernel[axis])
            else (size - 1) * self.strides[axis]
            + self._extent(axis)
            - self.padding_low[axis]
            - self.padding_high[axis]
            for axis, size in enumerate(shape)
        ]

    def trimmed(self, shape: Sequence[int]) -> "Windows":
        """As many windows, without their last elements that lie in the padding in all of them.

        Where one window covers a whole dimension and much more, that leaves the padding out.
        """
        kernel, padding_high = list(self.kernel), list(self.padding_high)
        for axis, size in enumerate(shape):
            if DYNAMIC in (size, kernel[axis]):
                continue
            # Of those the first window has the most inside.
            reached = max(-(-(size + self.padding_low[axis]) // self.dilations[axis]), 1)
            # An element less moves the end of a window by as much as it leaves of the padding.
            left_out = min(kernel[axis] - reached, self.padding_high[axis] // self.dilations[axis])
            if left_out > 0:
                kernel[axis] -= left_out
                padding_high[axis] -= left_out * self.dilations[axis]
        return replace(self, kernel=kernel, padding_high=padding_high)


def _verify_most(name: str, entries: Sequence[int]) -> None:
    """Holds the entries of an attribute against the most that one may be."""
    if any(entry > _MOST for entry in entries):
        raise VerificationError(f"requires '{name}' of {_MOST} or less, but got {list(entries)}")


def verify_least(name: str, entries: Sequence[int], least: int) -> None:
    """Holds the entries of an attribute against the least that one may be.

    Raises:
      VerificationError: one is less.
    """
    if any(entry < least for entry in entries):
        raise VerificationError(f"requires '{name}' of {least} or more, but got {list(entries)}")
