"""Normalizations."""

from collections.abc import Sequence

import torch
from torch._decomp import get_decompositions

from plumbline.loader_to_torch.decompositions.rule import Rules
from plumbline.loader_to_torch.memory_order import memory_order

aten = torch.ops.aten

_FEW_CHANNELS = 64
"""So many in a group's mean is added up for each of them in less time than it is gathered."""


def _batch_norm_of_known_statistics(
    operand: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor,
    var: torch.Tensor,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """As PyTorch's kernel computes it: each element is scaled and shifted, by two ops.

    Its rule takes more, in which ResNet-50 has it 53 times.
    """
    wide = _wide(operand)
    scale = torch.reciprocal(torch.sqrt(var.to(wide) + eps))
    if weight is not None:
        scale = scale * weight
    shift = -mean.to(wide) * scale if bias is None else bias - mean.to(wide) * scale
    per_channel = (operand.shape[1], *[1] * (operand.dim() - 2))
    result = operand * scale.reshape(per_channel) + shift.reshape(per_channel)
    none = operand.new_zeros((0,))
    return result.to(operand.dtype), none, none


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
    wide = _wide(operand)
    is_known = isinstance(spatial, int) and isinstance(channels, int)
    if is_known and groups < channels and _has_channels_last(operand):
        return _channels_last_group_norm(operand, weight, bias, spatial, groups, eps)
    # Reshaped as it is given, which costs nothing, and made wide where it is read.
    grouped = operand.reshape(batch, groups, channels // groups, spatial).to(wide)
    var, mean = torch.var_mean(grouped, (2, 3), correction=0, keepdim=True)
    rstd = torch.rsqrt(var + eps)
    per_channel = (channels, *[1] * (operand.dim() - 2))
    # Channel by channel, so that what follows is computed along with it.
    centred = operand.to(wide) - _of_channels(mean, batch, per_channel)
    result = centred * _of_channels(rstd, batch, per_channel)
    result = _scaled_and_shifted(result, weight, bias)
    mean, rstd = (part.reshape(batch, groups).to(operand.dtype) for part in (mean, rstd))
    return result.to(operand.dtype), mean, rstd


def _channels_last_group_norm(
    operand: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    spatial: int,
    groups: int,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same of what has its channels side by side, which vectors hold, rather than a group.

    Each channel has a mean and a variance. A group's are the mean of its channels' means, and that
    of their variances and of how far their means are from it, squared.
    """
    batch, channels = operand.shape[:2]
    wide = _wide(operand)
    # Reshaped, so that it is made wide where it is read.
    planes = operand.reshape(batch, channels, spatial).to(wide)
    of_channels = torch.var_mean(planes, 2, correction=0)
    var, mean = (part.reshape(batch, groups, channels // groups) for part in of_channels)
    means = _mean_for_each(mean)
    rstds = torch.rsqrt(_mean_for_each(var + (mean - means) ** 2) + eps)
    per_channel = (batch, channels, *[1] * (operand.dim() - 2))
    result = (operand.to(wide) - means.reshape(per_channel)) * rstds.reshape(per_channel)
    result = _scaled_and_shifted(result, weight, bias)
    mean, rstd = (part[..., 0].to(operand.dtype) for part in (means, rstds))
    return result.to(operand.dtype), mean, rstd


def _mean_for_each(parts: torch.Tensor) -> torch.Tensor:
    """The mean along the last axis, for each element along it.

    Of a few it is added up for each anew, so that all have it in memory: what is read there by the
    number of its group is gathered.
    """
    count = parts.shape[-1]
    if count > _FEW_CHANNELS:
        return parts.mean(-1, keepdim=True).expand(parts.shape)
    return parts.unsqueeze(-2).expand(*parts.shape, count).mean(-1)


def _has_channels_last(operand: torch.Tensor) -> bool:
    order = memory_order(operand)
    return order is not None and order[-1] == 1


def _scaled_and_shifted(
    result: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None
) -> torch.Tensor:
    """By what each channel has."""
    per_channel = (result.shape[1], *[1] * (result.dim() - 2))
    if weight is not None:
        result = result * weight.to(result.dtype).reshape(per_channel)
    if bias is not None:
        result = result + bias.to(result.dtype).reshape(per_channel)
    return result


def _of_channels(part: torch.Tensor, batch: int, per_channel: Sequence[int]) -> torch.Tensor:
    """What each group has, [batch, groups, 1, 1], for each of its channels."""
    groups = part.shape[1]
    each = part.expand(batch, groups, per_channel[0] // groups, 1)
    return each.reshape(batch, *per_channel)


def _rms_norm(
    operand: torch.Tensor,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None = None,
    eps: float | None = None,
) -> torch.Tensor:
    """Divided by the root of the mean square; torch-mlir takes no eps for 0 in place of a small."""
    wide = _wide(operand)
    value = operand.to(wide)
    dims = list(range(-len(normalized_shape), 0))
    small = torch.finfo(wide).eps if eps is None else eps
    result = value * torch.rsqrt((value * value).mean(dims, keepdim=True) + small)
    if weight is not None:
        result = result * weight
    return result.to(operand.dtype)


def _weight_norm_backward(
    grad_w: torch.Tensor,
    saved_v: torch.Tensor,
    saved_g: torch.Tensor,
    saved_norms: torch.Tensor,
    dim: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of v and g, of which w is g v / |v|: each slice along `dim` has its norm."""
    others = [axis for axis in range(saved_v.dim()) if axis != dim]
    of_g = (grad_w * saved_v).sum(others, keepdim=True) / saved_norms
    # What of the gradient lies along v changes the norm alone.
    across = grad_w - saved_v * (of_g / saved_norms)
    return saved_g / saved_norms * across, of_g


def _wide(operand: torch.Tensor) -> torch.dtype:
    """What PyTorch computes norms in, of operands of that dtype."""
    if operand.is_complex():
        return operand.dtype
    return torch.float64 if operand.dtype == torch.float64 else torch.float32


RULES: Rules = {
    **get_decompositions([aten._batch_norm_with_update_functional, aten.batch_norm_backward]),
    aten._native_batch_norm_legit_no_training.default: _batch_norm_of_known_statistics,
    aten._weight_norm_interface_backward.default: _weight_norm_backward,
    aten.native_group_norm.default: _native_group_norm,
    aten.rms_norm.default: _rms_norm,
}
