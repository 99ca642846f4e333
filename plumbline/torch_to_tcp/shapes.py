"""Brings operands to one shape, element type and rank."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.tcp.ops.data_movement import BroadcastOp, ConstOp
from plumbline.tcp.ops.elementwise import CastOp
from plumbline.torch_to_tcp.pattern import Tensor
from plumbline.torch_to_tcp.torch_types import DYNAMIC, TorchTensorType, element_type, signedness


def cast(operand: Tensor, dtype: str) -> Tensor:
    """`operand` with elements of `dtype`."""
    if operand.type.dtype == dtype:
        return operand
    type_ = TorchTensorType(operand.type.sizes, dtype)
    op = CastOp(
        operand.value,
        in_int_signedness=signedness(operand.type.dtype),
        out_int_signedness=signedness(dtype),
        results=type_.builtin(),
    )
    return Tensor(op.out, type_)


def full(value: int | float, dtype: str, like: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """A tensor of shape `sizes` with the same `value` everywhere.

    The tensors `like` have, between them, each dynamic size (see `broadcast`).
    """
    type_ = TorchTensorType(tuple(1 if size == DYNAMIC else size for size in sizes), dtype)
    element = element_type(dtype)
    attribute = (
        ir.FloatAttr.get(element, float(value))
        if isinstance(element, ir.FloatType)
        else ir.IntegerAttr.get(element, int(value))
    )
    op = ConstOp(value=ir.DenseElementsAttr.get_splat(type_.builtin(), attribute))
    return broadcast(Tensor(op.out, type_), like, sizes)


def broadcast(operand: Tensor, like: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """`operand` stretched to the shape `sizes`, to which PyTorch's broadcasting takes it.

    Missing dimensions are added in front. Where a dimension of size 1 becomes a dynamic one, its
    size is read from the first tensor of `like` that has it (torch.export takes no dynamic
    dimension to be 1, so that a dynamic one never needs to be stretched itself).
    """
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
    type_ = TorchTensorType(tuple(stretched), operand.type.dtype)
    amounts = [_size(axis, sizes, like) for axis in axes]
    op = BroadcastOp(operand.value, amounts, axes=axes, results=type_.builtin())
    return Tensor(op.out, type_)


def _raise_rank(operand: Tensor, rank: int) -> Tensor:
    added = rank - operand.type.rank
    if added == 0:
        return operand
    type_ = TorchTensorType((1,) * added + operand.type.sizes, operand.type.dtype)
    # The added dimensions go to the first group: [[0, 1, 2], [3], ...].
    groups: list[list[int]] = [
        list(range(added + 1)) if axis == 0 else [axis + added]
        for axis in range(operand.type.rank)
    ]
    dynamic = [
        tensor_dialect.dim(operand.value, _index(axis))
        for axis, size in enumerate(operand.type.sizes)
        if size == DYNAMIC
    ]
    value = tensor_dialect.expand_shape(
        type_.builtin(), operand.value, groups, dynamic, list(type_.sizes)
    )
    return Tensor(value, type_)


def _size(axis: int, sizes: Sequence[int], like: Sequence[Tensor]) -> ir.Value:
    if sizes[axis] != DYNAMIC:
        return _index(sizes[axis])
    for candidate in like:
        own = axis - (len(sizes) - candidate.type.rank)
        if own >= 0 and candidate.type.sizes[own] != 1:
            return tensor_dialect.dim(candidate.value, _index(own))
    raise AssertionError(f"no operand has the dynamic dimension {axis} of the result")


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)
