"""The parts of complex numbers, and how they lie beside each other at a boundary."""

from typing import TypeVar

from torch_mlir import ir
from torch_mlir.dialects import complex as complex_dialect

from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import concatenate, slice_along
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import unsqueeze
from plumbline.tcp.building.tensors import Tensor, TensorType

Pair = tuple[ir.Value, ir.Value]
"""The real and the imaginary part of a value: tensors, or numbers."""

CAST = "builtin.unrealized_conversion_cast"
"""What stands between complex values and their parts, or pairs, while a module is split."""

_T = TypeVar("_T")


def is_complex(type_: ir.Type) -> bool:
    """Whether a type is of complex numbers, or of a ranked tensor of such."""
    if isinstance(type_, ir.RankedTensorType):
        type_ = type_.element_type
    return isinstance(type_, ir.ComplexType)


def part_type(type_: ir.Type) -> ir.Type:
    """What the parts of values of a type are; a type that is not complex, as it is."""
    if isinstance(type_, ir.RankedTensorType):
        return ir.RankedTensorType.get(type_.shape, part_type(type_.element_type), type_.encoding)
    return type_.element_type if isinstance(type_, ir.ComplexType) else type_


def as_tensor(part: ir.Value) -> Tensor:
    """A part as what TCP's ops are built of."""
    return Tensor(part, TensorType(tuple(part.type.shape), str(part.type.element_type)))


def values(op: ir.Operation) -> list[ir.Value]:
    """What an op takes and makes, and the arguments of its blocks."""
    arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
    return [*op.operands, *op.results, *arguments]


def has_complex(op: ir.Operation) -> bool:
    """Whether an op takes or makes complex numbers."""
    return any(is_complex(value.type) for value in values(op))


def has_complex_tensor(op: ir.Operation) -> bool:
    """The same, of tensors."""
    return any(
        is_complex(value.type) and isinstance(value.type, ir.RankedTensorType)
        for value in values(op)
    )


def twice(type_: ir.Type, what: _T) -> list[_T]:
    """Something for each part of a value of a type; once, for real ones."""
    return [what] * (1 + is_complex(type_))


def re_and_im(number: ir.Value) -> list[ir.Value]:
    """The parts of a number that is no tensor."""
    return [complex_dialect.re(number), complex_dialect.im(number)]


def dynamic_sizes(part: ir.Value) -> list[ir.Value]:
    """The sizes of a tensor that its type does not tell."""
    sizes = size_arithmetic.all_of(as_tensor(part))
    return [size for size in sizes if not isinstance(size, int)]


# -- boundaries ------------------------------------------------------------------------------------


def pairs_type(type_: ir.Type) -> ir.Type:
    """The type of complex numbers at a boundary: of pairs. Others as they are."""
    if not is_complex(type_):
        return type_
    return ir.RankedTensorType.get([*type_.shape, 2], type_.element_type.element_type)


def of_pairs(pairs: ir.Value) -> Pair:
    """The parts of numbers that lie beside each other."""
    whole = as_tensor(pairs)
    last = whole.type.rank - 1
    sizes = size_arithmetic.all_of(whole)
    real, imaginary = (
        reshape(slice_along(whole, last, number, 1), sizes[:-1]).value for number in (0, 1)
    )
    return real, imaginary


def to_pairs(pair: Pair) -> ir.Value:
    """Parts beside each other."""
    rank = pair[0].type.rank
    parts = [unsqueeze(as_tensor(part), [rank]) for part in pair]
    return concatenate(parts, rank, [*parts[0].type.sizes[:-1], 2]).value
