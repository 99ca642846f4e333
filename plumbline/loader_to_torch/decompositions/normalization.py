"""Normalizations."""

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten


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


RULES: Rules = {aten.native_group_norm.default: _native_group_norm}
