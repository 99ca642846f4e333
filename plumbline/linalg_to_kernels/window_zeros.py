"""Zeros around what windows move over, with which nothing is multiplied.

Of the products of a convolution of 3x3 windows over 7x7 planes with zeros around them 18 % are with
zeros, of 14x14 planes 9 %. Where all rows of a register tile lie on zeros, the loop within a window
leaves these out; where a tile is whole rows of a plane it is known which of them do at its sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.building import index, least
from plumbline.linalg_to_kernels.computations import reassociation
from plumbline.linalg_to_kernels.constants import argument_attributes
from plumbline.linalg_to_kernels.pads import Pads, zeros_around
from plumbline.linalg_to_kernels.products import DYNAMIC, Access

ZEROS = "plumbline.zeros"
"""The attribute of an argument of a group that has zeros around it wherever the group is called:
how many before and after it along each axis."""


_MOST_TURNS = 16
"""How often a loop within a window runs at most of which each turn has products of its own.

In the gradient of weights windows are as long as a signal: a convolution of 1024 elements took
75 s to compile.
"""


def zeros_of(value: ir.Value) -> Pads:
    """The zeros around a tensor that it has in memory, as far as is known: none along no axis."""
    noted = argument_attributes(value)
    if ZEROS in noted:
        counts = list(ir.DenseI64ArrayAttr(noted[ZEROS]))
        return tuple(zip(counts[::2], counts[1::2], strict=True))
    op = defining_operation(value)
    if op is not None and op.name == "tensor.expand_shape":
        return _expanded(zeros_of(op.operands[0]), reassociation(op))
    zeros = zeros_around(value)
    return () if zeros is None else zeros.pads


def _expanded(pads: Pads, groups: Sequence[Sequence[int]]) -> Pads:
    """The zeros along several axes in place of some; none if there are zeros along one of these."""
    if any(len(group) > 1 and any(pad) for pad, group in zip(pads, groups, strict=False)):
        return ()
    return tuple(pad for pad, group in zip(pads, groups, strict=False) for _ in group)


def note_of_zeros(value: ir.Value) -> ir.DenseI64ArrayAttr | None:
    """What `ZEROS` says of a tensor."""
    pads = zeros_of(value)
    return ir.DenseI64ArrayAttr.get([count for pad in pads for count in pad]) if pads else None


@dataclass(frozen=True)
class WindowZeros:
    """Zeros along an axis that windows move along."""

    axis: int
    pads: tuple[int, int]
    within: tuple[int, int]
    """The loop within a window, and how far a step of it leads."""
    over: tuple[int, int]
    """The loop over windows, and how far a step of it leads."""
    on_zeros: tuple[frozenset[int], ...] | None = None
    """For each turn of the loop within a window the rows of a tile that lie on zeros, where all
    tiles are whole rows of windows."""

    def bounds(
        self,
        windows: tuple[ir.Value, ir.Value],
        size: ir.Value,
        window: ir.Value,
    ) -> tuple[ir.Value, ir.Value]:
        """Builds where the loop within a window begins and ends, from one window to another.

        Args:
          windows: the first and the last one.
          size: of what they move over, along the axis, with its zeros.
          window: how often the loop runs.
        """
        first, last = (arith.muli(at, index(self.over[1])) for at in windows)
        before, after = self.pads
        # They are below 0 where there is nothing to leave out.
        lower = self._steps(arith.subi(index(before), last))
        upper = self._steps(arith.subi(arith.subi(size, index(after)), first))
        lower = arith.maxsi(lower, index(0))
        return lower, arith.maxsi(least(upper, window), lower)

    def _steps(self, distance: ir.Value) -> ir.Value:
        """How many steps within a window lead so far, or farther."""
        _, step = self.within
        return distance if step == 1 else arith.ceildivsi(distance, index(step))


def window_zeros(
    access: Access,
    pads: Pads,
    shape: Sequence[int],
    summed: Sequence[int],
    sizes: Sequence[int],
    rows: tuple[Sequence[int], int],
) -> tuple[WindowZeros, ...]:
    """The zeros that windows lie on.

    Args:
      access: how loops move through the operand that windows move over.
      pads: the zeros around it.
      shape: its sizes, with these, or DYNAMIC.
      summed: the loops that are summed over.
      sizes: how often each loop runs, or DYNAMIC.
      rows: the loops that the rows of tiles are along, and how many rows a tile has.
    """
    along, height = rows
    result = []
    for axis, (pad, terms) in enumerate(zip(pads, access.axes, strict=False)):
        within = [term for term in terms if term[0] in summed]
        over = [term for term in terms if term[0] not in summed]
        if not any(pad) or len(within) != 1 or len(over) != 1:
            continue
        found = WindowZeros(axis, pad, within[0], over[0])
        if not along or over[0][0] != along[-1]:
            result.append(found)
            continue
        size, width, window = shape[axis], sizes[over[0][0]], sizes[within[0][0]]
        if DYNAMIC in (size, width, window) or height % width or window > _MOST_TURNS:
            continue
        on_zeros = tuple(
            frozenset(
                row
                for row in range(height)
                if not pad[0] <= at * within[0][1] + row % width * over[0][1] < size - pad[1]
            )
            for at in range(window)
        )
        result.append(replace(found, on_zeros=on_zeros))
    return tuple(result)
