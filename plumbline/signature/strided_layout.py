"""How weights lie in a library of which a program reads a part, or turns axes about.

Those are the elements of a view of the weight, one after the other, and each axis of the view is
some strides of the weight's memory, as an axis is that `reshape` makes of several: of a transposed
convolution's weights [I, O, 4, 4] all that have the remainders 0 and 1 by 2, [O * 2 * 2, I, 2, 2],
turned about.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIGIT = r"\d+(?:by|back)\d+"
_TEXT = re.compile(rf"view_(\d+)((?:_axis(?:_{_DIGIT})*)*)")


@dataclass(frozen=True)
class StridedLayout:
    """A layout for arrays with some number of elements, which makes arrays of one shape of them."""

    offset: int
    """The element that comes first."""
    axes: tuple[tuple[tuple[int, int], ...], ...]
    """Of each axis the sizes and strides it is made of, in elements, the outermost first."""

    def __str__(self) -> str:
        """The layout in letters that any symbol may have: `view_6_axis_4by1_axis_2back4`."""
        axes = (
            "".join(
                f"_{size}{'back' if stride < 0 else 'by'}{abs(stride)}" for size, stride in axis
            )
            for axis in self.axes
        )
        return f"view_{self.offset}" + "".join(f"_axis{axis}" for axis in axes)

    @staticmethod
    def parse(text: str) -> "StridedLayout | None":
        """The layout that `str` gives this text for, or None if it gives that for none."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return None
        axes = (re.findall(_DIGIT, axis) for axis in match[2].split("_axis")[1:])
        layout = StridedLayout(int(match[1]), tuple(tuple(map(_digit, axis)) for axis in axes))
        return layout if str(layout) == text else None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the arrays that it makes."""
        return tuple(math.prod(size for size, _ in axis) for axis in self.axes)

    def takes(self, shape: Sequence[int]) -> bool:
        """Whether arrays of a shape have all elements that it reads, and no fewer than it gives."""
        digits = [digit for axis in self.axes for digit in axis]
        ends = [(size - 1) * stride for size, stride in digits]
        first = self.offset + sum(end for end in ends if end < 0)
        last = self.offset + sum(end for end in ends if end > 0)
        count = math.prod(shape)
        return first >= 0 and last < count and 0 < math.prod(self.shape) <= count

    def pack(self, array: NDArray[Any]) -> NDArray[Any]:
        """A copy in this layout, row-major.

        Raises:
          ValueError: it is not for arrays of this shape.
        """
        if not self.takes(array.shape):
            raise ValueError(f"an array of shape {array.shape} cannot lie as {self}")
        digits = [digit for axis in self.axes for digit in axis]
        view = np.lib.stride_tricks.as_strided(
            np.ascontiguousarray(array).reshape(-1)[self.offset :],
            [size for size, _ in digits],
            [stride * array.itemsize for _, stride in digits],
            writeable=False,
        )
        return np.array(view, order="C").reshape(self.shape)


def _digit(text: str) -> tuple[int, int]:
    size, direction, stride = re.split("(by|back)", text)
    return int(size), int(stride) if direction == "by" else -int(stride)
