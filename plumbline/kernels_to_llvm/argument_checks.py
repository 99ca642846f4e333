"""What the checked entry of a program requires of its arguments."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.kernels_to_llvm.building import integer, integer_type
from plumbline.kernels_to_llvm.size_building import build_size, index_constant
from plumbline.runtime.requirement import require
from plumbline.signature.argument_shapes import ArgumentShapes, Definition, Place, Requirement
from plumbline.signature.size_expressions import Size


def check_arguments(shapes: ArgumentShapes, arguments: Sequence[ir.Value]) -> None:
    """Requires that memrefs have sizes that fit `shapes`, and lie row-major without gaps.

    The types of the memrefs say nothing of their sizes, strides and offsets.
    """
    layouts = [_Layout.of(argument) for argument in arguments]
    _check_sizes(shapes, layouts)
    for number, layout in enumerate(layouts):
        _check_layout(number, layout)


def check_pointers(arguments: Sequence[ir.Value]) -> None:
    """Requires that memrefs lie somewhere, aligned to their elements."""
    for number, argument in enumerate(arguments):
        index = memref.ExtractAlignedPointerAsIndexOp(argument).result
        address = arith.index_cast(integer_type(), index)
        bytes_ = argument.type.element_type.width // 8
        check_address(f"argument {number}", address, bytes_, _Layout.of(argument).sizes)


def check_address(
    what: str, address: ir.Value, alignment: int, sizes: Sequence[ir.Value] = ()
) -> None:
    """Requires that an address is not null, but where a size is 0, and is a multiple of a number.

    Args:
      what: how messages call what lies there.
      address: an integer.
      alignment: in bytes, a power of two; below 2, all addresses will do.
      sizes: of the tensor there. Of an empty one nothing is touched.
    """
    holds = arith.cmpi(arith.CmpIPredicate.ne, address, integer(0))
    for size in sizes:
        holds = arith.ori(holds, _equal(size, index_constant(0)))
    require(holds, f"{what} is null")
    if alignment > 1:
        rest = arith.andi(address, integer(alignment - 1))
        require(_equal(rest, integer(0)), f"{what} is not aligned to {alignment} bytes")


@dataclass(frozen=True)
class _Layout:
    """Where the elements of a memref are, as values."""

    offset: ir.Value
    sizes: Sequence[ir.Value]
    strides: Sequence[ir.Value]

    @classmethod
    def of(cls, buffer: ir.Value) -> "_Layout":
        """The layout of a memref."""
        _, offset, *rest = memref.ExtractStridedMetadataOp(buffer).results
        rank = len(rest) // 2
        return cls(offset, rest[:rank], rest[rank:])


def _check_sizes(shapes: ArgumentShapes, layouts: Sequence[_Layout]) -> None:
    symbols: dict[int, ir.Value] = {}

    def value(of: Size | Place) -> ir.Value:
        if isinstance(of, Place):
            return layouts[of.argument].sizes[of.axis]
        return build_size(of, symbols)

    for step in shapes.steps:
        if isinstance(step, Definition):
            multiple = value(step.place)
            if step.rest != 0:
                multiple = arith.subi(multiple, value(step.rest))
            symbols[step.symbol] = (
                multiple
                if step.scale == 1
                else arith.floordivsi(multiple, index_constant(step.scale))
            )
            continue
        holds = _all(
            [
                arith.cmpi(relation, value(step.actual), value(bound))
                for relation, bound in _relations(step)
            ]
        )
        # What is known now is no number to be filled in then.
        said = ["{}" if not isinstance(of, int) else str(of) for of in step.values]
        numbers = [value(of) for of in step.values if not isinstance(of, int)]
        require(holds, step.message.format(*said), numbers)


def _relations(step: Requirement) -> list[tuple[arith.CmpIPredicate, Size]]:
    if step.low is not None and step.low == step.high:
        return [(arith.CmpIPredicate.eq, step.low)]
    bounds = ((arith.CmpIPredicate.sge, step.low), (arith.CmpIPredicate.sle, step.high))
    return [(relation, bound) for relation, bound in bounds if bound is not None]


def _check_layout(number: int, layout: _Layout) -> None:
    """Requires what the function takes for granted: row-major without gaps, from offset 0."""
    zero, one = index_constant(0), index_constant(1)
    fits = [_equal(layout.offset, zero)]
    empty = []
    stride = one
    for size, own in reversed([*zip(layout.sizes, layout.strides, strict=True)]):
        # A step that is never taken may be of any length.
        fits.append(arith.ori(_equal(size, one), _equal(own, stride)))
        empty.append(_equal(size, zero))
        stride = arith.muli(stride, size)
    holds = _all(fits)
    for size_is_zero in empty:
        holds = arith.ori(holds, size_is_zero)
    require(
        holds,
        f"the strides or the offset of argument {number} are not those of row-major memory without "
        "gaps; copy it into such memory",
    )


def _all(conditions: Sequence[ir.Value]) -> ir.Value:
    holds, *rest = conditions
    for condition in rest:
        holds = arith.andi(holds, condition)
    return holds


def _equal(left: ir.Value, right: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, left, right)
