"""Gives a tensor other dimensions over the same elements in the same order."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.data_movement import BroadcastOp, TransposeOp
from plumbline.tcp.ops.elementwise import ElementwiseOp
from plumbline.tcp.shapes import DYNAMIC


def reshape(operand: Tensor, sizes: Sequence[Size | None]) -> Tensor:
    """`operand` with the dimensions `sizes`; None, once at most, is what the others leave.

    Dimensions in front and at the end that stay the same are left alone. Those between are merged
    into one, and that one is taken apart: `tensor.collapse_shape`, then `tensor.expand_shape`.
    """
    have = size_arithmetic.all_of(operand)
    want = list(sizes)
    # Over no elements at all, those between may make up another number.
    alike = 0 if 0 in have else min(len(have), len(want))
    front = 0
    while front < alike and same(have[front], want[front]):
        front += 1
    back = 0
    while back < alike - front and same(have[-1 - back], want[-1 - back]):
        back += 1
    inner_have = have[front : len(have) - back]
    inner_want = want[front : len(want) - back]
    if not inner_have and not inner_want:
        return operand
    new = _fill_in(inner_want, size_arithmetic.product(inner_have))
    begin, end = front, len(have) - back
    if begin == end or not new:
        # Dimensions of size 1 come or go: next to one that stays, if there is one.
        if front:
            begin, new = begin - 1, [have[begin - 1], *new]
        elif back:
            end, new = end + 1, [*new, have[end]]
    merged = size_arithmetic.product(have[begin:end])
    return _split(_merge(operand, begin, end, merged), begin, new)


def _fill_in(sizes: Sequence[Size | None], whole: Size) -> list[Size]:
    """`sizes` with what is left of the product `whole` in place of None."""
    given = [size for size in sizes if size is not None]
    if len(given) == len(sizes):
        return given
    # With a size of 0 among the others, PyTorch refuses to guess; a division by it must not happen.
    divisor = size_arithmetic.greatest(size_arithmetic.product(given), 1)
    left = size_arithmetic.divide_down(whole, divisor)
    return [left if size is None else size for size in sizes]


def _merge(operand: Tensor, begin: int, end: int, merged: Size) -> Tensor:
    """The dimensions from `begin` to before `end` as one, of the size `merged`."""
    if end - begin == 1:
        return operand
    before, after = operand.type.sizes[:begin], operand.type.sizes[end:]
    inner = operand.type.sizes[begin:end]
    size = DYNAMIC if DYNAMIC in inner else size_arithmetic.static(merged)
    type_ = TensorType((*before, size, *after), operand.type.dtype)
    if begin == end:
        # Of rank 0.
        value = tensor_dialect.expand_shape(type_.builtin(), operand.value, [], [], [1])
        return Tensor(value, type_)
    groups = [
        *([axis] for axis in range(begin)),
        list(range(begin, end)),
        *([axis] for axis in range(end, operand.type.rank)),
    ]
    return Tensor(tensor_dialect.collapse_shape(type_.builtin(), operand.value, groups), type_)


def _split(operand: Tensor, axis: int, sizes: Sequence[Size]) -> Tensor:
    """The dimension `axis` as several, of the given sizes."""
    before, after = operand.type.sizes[:axis], operand.type.sizes[axis + 1 :]
    static = [size_arithmetic.static(size) for size in sizes]
    # A merged dimension must be dynamic where one that is made of it is.
    merged = (
        DYNAMIC if DYNAMIC in static else size_arithmetic.static(size_arithmetic.product(sizes))
    )
    operand = _cast(operand, (*before, merged, *after))
    if len(sizes) == 1:
        return operand
    type_ = TensorType((*before, *static, *after), operand.type.dtype)
    if not sizes:
        return Tensor(tensor_dialect.collapse_shape(type_.builtin(), operand.value, []), type_)
    groups = [
        *([index] for index in range(axis)),
        list(range(axis, axis + len(sizes))),
        *([index + len(sizes) - 1] for index in range(axis + 1, operand.type.rank)),
    ]
    outer = [size_arithmetic.of(operand, index) for index in range(operand.type.rank)]
    every = [*outer[:axis], *sizes, *outer[axis + 1 :]]
    dynamic = [size for size in every if not isinstance(size, int)]
    value = tensor_dialect.expand_shape(
        type_.builtin(), operand.value, groups, dynamic, list(type_.sizes)
    )
    return Tensor(value, type_)


def _cast(operand: Tensor, sizes: tuple[int, ...]) -> Tensor:
    if operand.type.sizes == sizes:
        return operand
    type_ = TensorType(sizes, operand.type.dtype)
    return Tensor(tensor_dialect.cast(type_.builtin(), operand.value), type_)


def same(left: Size | None, right: Size | None) -> bool:
    """Whether two sizes are certainly the same."""
    if left is None or right is None or isinstance(left, int) or isinstance(right, int):
        return isinstance(left, int) and left == right
    return _origin(left) == _origin(right)


def _origin(size: ir.Value) -> tuple[ir.Value, int | None]:
    """The tensor and axis that a size is read from, as far up as can be told."""
    owner = size.owner
    if isinstance(owner, ir.Block) or owner.name != "tensor.dim":
        return size, None
    index = owner.operands[1].owner
    if isinstance(index, ir.Block) or index.name != "arith.constant":
        return size, None
    source, axis = owner.operands[0], int(index.attributes["value"].value)
    while not isinstance(source.owner, ir.Block):
        producer = source.owner.opview
        if isinstance(producer, TransposeOp):
            axis = producer.permutation[axis].value
        elif not _keeps_size(producer, axis):
            break
        source = producer.operation.operands[0]
    return source, axis


def _keeps_size(producer: ir.OpView, axis: int) -> bool:
    """Whether an op's result and first operand have the same size along an axis."""
    if isinstance(producer, BroadcastOp):
        return axis not in [stretched.value for stretched in producer.axes]
    return isinstance(producer, ElementwiseOp) or producer.operation.name == "tensor.cast"
