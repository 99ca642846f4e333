"""Batch norms, which TCP composes of other ops.

Half precision is computed in f32 and rounded once.
"""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.stablehlo_to_tcp.data_movement import broadcast_in_dim
from plumbline.stablehlo_to_tcp.pattern import Patterns, integer, tensors
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.dtypes import computed_in
from plumbline.tcp.building.elementwise import apply, like
from plumbline.tcp.building.reduction import reduce
from plumbline.tcp.building.shapes import broadcast, cast, from_size
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.ops.elementwise import AddOp, DivfOp, MulOp, SqrtOp, SubOp


def _wide(op: ir.OpView) -> list[Tensor]:
    return [cast(operand, computed_in(operand.type.dtype)) for operand in tensors(op)]


def _normalized(
    op: ir.OpView, operand: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor
) -> Tensor:
    """(operand - mean) / sqrt(variance + epsilon) * scale + offset, for each feature."""
    feature = integer(op, "feature_index")
    epsilon = ir.FloatAttr(op.attributes["epsilon"]).value
    sizes = size_arithmetic.all_of(operand)

    def stretched(of_features: Tensor) -> Tensor:
        return broadcast_in_dim(of_features, [feature], sizes)

    deviation = apply(SqrtOp, apply(AddOp, variance, like(variance, epsilon)))
    centered = apply(SubOp, operand, stretched(mean))
    divided = apply(DivfOp, centered, stretched(deviation))
    return apply(AddOp, apply(MulOp, divided, stretched(scale)), stretched(offset))


def convert_batch_norm_inference(op: ir.OpView) -> Tensor:
    """A batch norm by a mean and a variance that are given."""
    (dtype, *_) = (operand.type.dtype for operand in tensors(op))
    return cast(_normalized(op, *_wide(op)), dtype)


def convert_batch_norm_training(op: ir.OpView) -> list[Tensor]:
    """A batch norm by the mean and the variance of the operand, which are results too."""
    (dtype, *_) = (operand.type.dtype for operand in tensors(op))
    operand, scale, offset = _wide(op)
    feature = integer(op, "feature_index")
    axes = [axis for axis in range(operand.type.rank) if axis != feature]
    sizes = size_arithmetic.all_of(operand)
    mean = _mean(operand, axes)
    centered = apply(SubOp, operand, broadcast_in_dim(mean, [feature], sizes))
    variance = _mean(apply(MulOp, centered, centered), axes)
    normalized = _normalized(op, operand, scale, offset, mean, variance)
    return [cast(result, dtype) for result in (normalized, mean, variance)]


def _mean(operand: Tensor, axes: Sequence[int]) -> Tensor:
    total = reduce(operand, axes, "sum")
    count = size_arithmetic.product([size_arithmetic.of(operand, axis) for axis in axes])
    divisor = cast(from_size(count), operand.type.dtype)
    return apply(DivfOp, total, broadcast(divisor, (total,), total.type.sizes))


PATTERNS: Patterns = {
    "stablehlo.batch_norm_inference": convert_batch_norm_inference,
    "stablehlo.batch_norm_training": convert_batch_norm_training,
}
