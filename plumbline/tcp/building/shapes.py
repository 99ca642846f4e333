"""Brings operands to one shape, element type and rank."""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.dtypes import element_type, signedness
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.data_movement import BroadcastOp, ConstOp
from plumbline.tcp.ops.elementwise import CastOp
from plumbline.tcp.shapes import DYNAMIC


def cast(operand: Tensor, dtype: str) -> Tensor:
    """`operand` with elements of `dtype`."""
    if operand.type.dtype == dtype:
        return operand
    type_ = TensorType(operand.type.sizes, dtype)
    op = CastOp(
        operand.value,
        in_int_signedness=signedness(operand.type.dtype),
        out_int_signedness=signedness(dtype),
        results=type_.builtin(),
    )
    return Tensor(op.out, type_)


def scalar(value: int | float, dtype: str) -> Tensor:
    """A tensor of rank 0 that holds `value`."""
    return _splat(value, TensorType((), dtype))


def from_size(size: Size, dtype: str = "si64") -> Tensor:
    """A size as a tensor of rank 0."""
    if isinstance(size, int):
        return scalar(size, dtype)
    number = arith.index_cast(ir.IntegerType.get_signless(64), size)
    return cast(from_element(number, "si64"), dtype)


def from_element(element: ir.Value, dtype: str) -> Tensor:
    """A tensor of rank 0 that holds the element `element`."""
    type_ = TensorType((), dtype)
    return Tensor(tensor_dialect.from_elements(type_.builtin(), [element]), type_)


def full(value: int | float, dtype: str, like: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """A tensor of shape `sizes` with the same `value` everywhere.

    The tensors `like` have, between them, each dynamic size (see `broadcast`).
    """
    unit = tuple(1 if size == DYNAMIC else size for size in sizes)
    return broadcast(_splat(value, TensorType(unit, dtype)), like, sizes)


def _splat(value: int | float, type_: TensorType) -> Tensor:
    element = element_type(type_.dtype)
    attribute = (
        ir.FloatAttr.get(element, float(value))
        if isinstance(element, ir.FloatType)
        else ir.IntegerAttr.get(element, int(value))
    )
    op = ConstOp(value=ir.DenseElementsAttr.get_splat(type_.builtin(), attribute))
    return Tensor(op.out, type_)


def broadcast(operand: Tensor, like: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """`operand` stretched to the shape `sizes`, to which PyTorch's broadcasting takes it.

    Missing dimensions are added in front. Where a dimension of size 1 becomes a dynamic one, its
    size is read from the first tensor of `like` that has it (torch.export takes no dynamic
    dimension to be 1, so that a dynamic one never needs to be stretched itself).
    """
    return _stretch(operand, sizes, lambda axis: _size(axis, sizes, like))


def broadcast_to(operand: Tensor, sizes: Sequence[Size]) -> Tensor:
    """`operand` stretched to the shape `sizes`, by the same rules."""
    return _stretch(operand, [size_arithmetic.static(s) for s in sizes], lambda axis: sizes[axis])


def _stretch(operand: Tensor, sizes: Sequence[int], size_of: Callable[[int], Size]) -> Tensor:
    operand = _raise_rank(operand, len(sizes))
    axes = [
        axis
        for axis, (have, want) in enumerate(zip(operand.type.sizes, sizes, strict=True))
        if have == 1 and want != 1
    ]
    if not axes:
        return operand
    stretched = list(operand.type.sizes)
    for axis in axes:
        stretched[axis] = sizes[axis]
    type_ = TensorType(tuple(stretched), operand.type.dtype)
    amounts = [size_arithmetic.value(size_of(axis)) for axis in axes]
    op = BroadcastOp(operand.value, amounts, axes=axes, results=type_.builtin())
    return Tensor(op.out, type_)


def _raise_rank(operand: Tensor, rank: int) -> Tensor:
    return unsqueeze(operand, range(rank - operand.type.rank))


def unsqueeze(operand: Tensor, axes: Sequence[int]) -> Tensor:
    """`operand` with dimensions of size 1 added, which `axes` of the result are."""
    if not axes:
        return operand
    rank = operand.type.rank + len(axes)
    own = [axis for axis in range(rank) if axis not in axes]
    type_ = TensorType(
        tuple(1 if axis in axes else operand.type.sizes[own.index(axis)] for axis in range(rank)),
        operand.type.dtype,
    )
    # A group for each dimension, which takes those added after it; the first, those before too.
    begins = [0, *own[1:]]
    ends = [*own[1:], rank]
    groups = [list(range(begin, end)) for begin, end in zip(begins, ends, strict=True)]
    dynamic = [size for size in size_arithmetic.all_of(operand) if not isinstance(size, int)]
    value = tensor_dialect.expand_shape(
        type_.builtin(), operand.value, groups if own else [], dynamic, list(type_.sizes)
    )
    return Tensor(value, type_)


def _size(axis: int, sizes: Sequence[int], like: Sequence[Tensor]) -> Size:
    if sizes[axis] != DYNAMIC:
        return sizes[axis]
    for candidate in like:
        own = axis - (len(sizes) - candidate.type.rank)
        if own >= 0 and candidate.type.sizes[own] != 1:
            return size_arithmetic.of(candidate, own)
    raise AssertionError(f"no operand has the dynamic dimension {axis} of the result")
