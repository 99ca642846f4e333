"""Which ops reach the Torch dialect whole, and as what those do that it has no op for."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

aten = torch.ops.aten

KEPT_OPS = (
    "aten._adaptive_avg_pool2d",
    "aten._adaptive_avg_pool3d",
    "aten._log_softmax",
    "aten._softmax",
    "aten.adaptive_avg_pool1d",
    "aten.adaptive_avg_pool2d",
    "aten.adaptive_avg_pool3d",
    "aten.adaptive_max_pool1d",
    "aten.adaptive_max_pool2d",
    "aten.adaptive_max_pool3d",
    "aten.amax",
    "aten.amin",
    "aten.argmax",
    "aten.argmin",
    "aten.copysign.Tensor",
    "aten.elu",
    "aten.fmod.Tensor",
    "aten.isinf",
    "aten.isnan",
    "aten.leaky_relu",
    "aten.linalg_vector_norm",
    "aten.logcumsumexp",
    "aten.mean",
    "aten.mean.dim",
    "aten.roll",
    "aten.round.decimals",
    "aten.sgn",
    "aten.sign",
    "aten.signbit",
    "aten.trunc",
    "aten.var.correction",
    "aten.var_mean.correction",
)
"""What torch-mlir would take apart with a loss: of precision (the remainder of a quotient that was
rounded first, exp(x) - 1 near 0, half precision rounded at each step), of the sign of zero, of a
turn by more places than there are, or into ops that go no further. Each has a pattern of its own
to TCP."""


def decomposition_table() -> dict[Any, Callable[..., Any]]:
    """torch-mlir's table, and rules for ops that its dialect does not have."""
    table = dict(get_decomposition_table())
    for op, tensor_op in _SCALAR_VARIANTS.items():
        table[op] = _with_tensor(tensor_op)
    for op, same in _OTHER_NAMES.items():
        table[op] = same
    for op, along_one in _ALONG_SEVERAL.items():
        table[op] = _along_each(along_one)
    for op in _WHOLE:
        del table[op]
    table[aten.native_group_norm.default] = _native_group_norm
    return table


def _native_group_norm(
    operand: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    batch: int,
    channels: int,
    spatial: int,
    groups: int,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The groups of channels normalized each, as views that dynamic sizes allow."""
    wide = torch.float64 if operand.dtype == torch.float64 else torch.float32
    grouped = operand.to(wide).reshape(batch, groups, channels // groups, spatial)
    var, mean = torch.var_mean(grouped, (2, 3), correction=0, keepdim=True)
    rstd = torch.rsqrt(var + eps)
    result = ((grouped - mean) * rstd).reshape(operand.shape)
    per_channel = (channels, *[1] * (operand.dim() - 2))
    if weight is not None:
        result = result * weight.to(wide).reshape(per_channel)
    if bias is not None:
        result = result + bias.to(wide).reshape(per_channel)
    mean, rstd = (part.reshape(batch, groups).to(operand.dtype) for part in (mean, rstd))
    return result.to(operand.dtype), mean, rstd


def _along_each(along_one: Any) -> Callable[..., torch.Tensor]:
    """The reduction along several dimensions, or all, made of one along one at a time."""

    def decomposed(
        operand: torch.Tensor, dim: Sequence[int] | None = None, keepdim: bool = False
    ) -> torch.Tensor:
        rank = operand.dim()
        dims = range(rank) if dim is None else {axis % max(rank, 1) for axis in dim}
        # From the last on, so that the numbers of those to come stay.
        for axis in sorted(dims, reverse=True):
            operand = along_one(operand, axis, keepdim)
        # Also where there is no dimension to reduce, the result is a truth value.
        return operand if operand.dtype in (torch.bool, torch.uint8) else operand != 0

    return decomposed


def _with_tensor(tensor_op: Any) -> Callable[..., torch.Tensor]:
    """The op on two tensors, called with a tensor and a number in either order."""

    def decomposed(left: Any, right: Any) -> torch.Tensor:
        # In the dtype that the number has beside the tensor, a tensor of rank 0 promotes alike.
        dtype = torch.result_type(left, right)
        left, right = (
            operand if isinstance(operand, torch.Tensor) else torch.full((), operand, dtype=dtype)
            for operand in (left, right)
        )
        result: torch.Tensor = tensor_op(left, right)
        return result

    return decomposed


_SCALAR_VARIANTS = {
    aten.bitwise_and.Scalar_Tensor: aten.bitwise_and.Tensor,
    aten.bitwise_left_shift.Scalar_Tensor: aten.bitwise_left_shift.Tensor,
    aten.bitwise_left_shift.Tensor_Scalar: aten.bitwise_left_shift.Tensor,
    aten.bitwise_or.Scalar: aten.bitwise_or.Tensor,
    aten.bitwise_or.Scalar_Tensor: aten.bitwise_or.Tensor,
    aten.bitwise_right_shift.Scalar_Tensor: aten.bitwise_right_shift.Tensor,
    aten.bitwise_right_shift.Tensor_Scalar: aten.bitwise_right_shift.Tensor,
    aten.bitwise_xor.Scalar: aten.bitwise_xor.Tensor,
    aten.bitwise_xor.Scalar_Tensor: aten.bitwise_xor.Tensor,
    aten.copysign.Scalar: aten.copysign.Tensor,
    aten.remainder.Scalar_Tensor: aten.remainder.Tensor,
}

_ALONG_SEVERAL = {
    aten.all.dims: aten.all.dim,
    aten.any.dims: aten.any.dim,
}

# Ops of torch-mlir's table that have a pattern of their own to TCP.
_WHOLE = (aten._adaptive_avg_pool2d.default, aten._log_softmax.default)

_OTHER_NAMES = {
    aten.__lshift__.Tensor: aten.bitwise_left_shift.Tensor,
    aten.__rshift__.Tensor: aten.bitwise_right_shift.Tensor,
}
