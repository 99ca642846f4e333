"""In which order the axes of a function's tensors lie in memory, where that is not their own.

Its machine code has such tensors with the axes in that order, row-major without gaps. Whoever calls
it has them as the program does.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.signature import AxisOrder, Signature, TensorSpec

_T = TypeVar("_T")


@dataclass(frozen=True)
class AxisOrders:
    """Those of all arguments and all results. None: a tensor's axes lie in their own order."""

    inputs: tuple[AxisOrder | None, ...]
    outputs: tuple[AxisOrder | None, ...]

    def for_callers(self, signature: Signature) -> Signature:
        """A signature of machine code, as callers have the tensors."""
        shapes = signature.shapes
        return dataclasses.replace(
            signature,
            inputs=tuple(map(_spec, signature.inputs, self.inputs)),
            outputs=tuple(map(_spec, signature.outputs, self.outputs)),
            shapes=ArgumentShapes(shapes.symbols, tuple(map(_own, shapes.shapes, self.inputs))),
            result_shapes=tuple(map(_own, signature.result_shapes, self.outputs)),
        )


def _spec(spec: TensorSpec, order: AxisOrder | None) -> TensorSpec:
    return dataclasses.replace(spec, sizes=_own(spec.sizes, order), order=order)


def _own(sizes: Sequence[_T], order: AxisOrder | None) -> tuple[_T, ...]:
    """The sizes of a tensor's axes, of those as they lie in memory."""
    if order is None:
        return tuple(sizes)
    return tuple(sizes[place] for place in inverse(order))


def inverse(order: AxisOrder) -> AxisOrder:
    """What takes axes from this order back to their own."""
    return tuple(order.index(axis) for axis in range(len(order)))
