"""Spells pads in loops that write each element of the result once.

Those that kernels lay around what they read (`Strategies.goes_along`) are gone by then. To fill the
result and to copy what is padded into it writes most elements twice: with that, a pooling of
112x112 planes took 1.1 times as long; where more is computed of each element it made no difference
(AMD Zen 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.bindings.walk import defining_operation, operations_named
from plumbline.linalg_to_kernels.building import for_each, index
from plumbline.linalg_to_kernels.computations import DYNAMIC, is_zero, number_everywhere

Pads = tuple[tuple[int, int], ...]
"""How many zeros are before and after a tensor along each of its axes."""


def pad_by_elements(module: ir.Operation) -> None:
    """Replaces each `tensor.pad` of `module` by so many of one value on each side."""
    with module.context:
        # Without what is in them, which is gone where they are erased.
        for op in operations_named(module, "tensor.pad"):
            if (pad := pad_of(op)) is not None:
                with ir.InsertionPoint(op), op.location:
                    op.results[0].replace_all_uses_with(pad.built())
                op.erase()


@dataclass(frozen=True)
class Zeros:
    """Zeros around a tensor."""

    source: ir.Value
    pads: Pads


def zeros_around(padded: ir.Value) -> Zeros | None:
    """What a tensor is, if it is another with so many zeros around it."""
    op = defining_operation(padded)
    pad = pad_of(op) if op is not None and op.name == "tensor.pad" else None
    if pad is None or not is_zero(number_everywhere(pad.value)):
        return None
    return Zeros(pad.source, tuple(zip(pad.low, pad.high, strict=True)))


def pad_of(op: ir.Operation) -> "Pad | None":
    """A pad of sizes that are known, none of which takes anything off, and of one value."""
    (block,) = op.regions[0].blocks
    low, high = (
        list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("static_low", "static_high")
    )
    # The sign of what is DYNAMIC is negative too.
    if min((0, *low, *high)) < 0 or len(block.operations) != 1:
        return None
    value = block.operations[0].operands[0]
    if value in block.arguments:
        return None
    return Pad(op.operands[0], ir.RankedTensorType(op.results[0].type), low, high, value)


@dataclass(frozen=True)
class Pad:
    """So many of one value before and after a tensor along each axis."""

    source: ir.Value
    type: ir.RankedTensorType
    low: Sequence[int]
    high: Sequence[int]
    value: ir.Value

    def built(self) -> ir.Value:
        """Builds the loops; gives the result."""
        inside = [
            tensor.dim(self.source, index(axis)) if size == DYNAMIC else index(size)
            for axis, size in enumerate(ir.RankedTensorType(self.source.type).shape)
        ]
        sizes = [
            arith.addi(size, index(low + high)) if static == DYNAMIC else index(static)
            for size, low, high, static in zip(
                inside, self.low, self.high, self.type.shape, strict=True
            )
        ]
        mixed = [
            size if static == DYNAMIC else static
            for size, static in zip(sizes, self.type.shape, strict=True)
        ]
        out = tensor.EmptyOp(mixed, self.type.element_type)

        def over(out: ir.Value, taken: list[ir.Value], put: list[ir.Value]) -> ir.Value:
            """Writes all that is at such places of the first axes, which are inside."""
            axis = len(put)
            if axis == len(sizes):
                return tensor.insert(tensor.extract(self.source, taken), out, put)

            def inner(at: ir.Value, out: ir.Value) -> list[ir.Value]:
                place = arith.addi(at, index(self.low[axis]))
                return [over(out, [*taken, at], [*put, place])]

            before = index(self.low[axis])
            after = arith.addi(inside[axis], before)
            if self.low[axis]:
                out = fill(out, put, (index(0), before))
            (out,) = for_each(index(0), inside[axis], 1, inner, [out], parallel=True)
            return fill(out, put, (after, sizes[axis])) if self.high[axis] else out

        def fill(
            out: ir.Value, put: list[ir.Value], bounds: tuple[ir.Value, ir.Value] | None = None
        ) -> ir.Value:
            """Writes the value at such places of the first axes, and within bounds of the next."""
            axis = len(put)
            if axis == len(sizes):
                return tensor.insert(self.value, out, put)
            lower, upper = bounds or (index(0), sizes[axis])

            def one(at: ir.Value, out: ir.Value) -> list[ir.Value]:
                return [fill(out, [*put, at])]

            (out,) = for_each(lower, upper, 1, one, [out], parallel=True)
            return out

        return over(out.result, [], [])
