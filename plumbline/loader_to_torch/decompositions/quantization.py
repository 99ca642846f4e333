"""What rounds numbers to integers of a few bits, with a scale and a zero point, and back."""

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules, along

aten = torch.ops.aten


def quantized(
    operand: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    least: int,
    greatest: int,
) -> torch.Tensor:
    """The integers that stand for float32 numbers, as float64; those beyond become the nearest.

    The zero point is added before all is rounded, to even, which is what PyTorch's kernels do.
    """
    rounded = torch.round(operand * _reciprocal(scale) + zero_point.to(torch.float32))
    return torch.clamp(rounded.to(torch.float64), least, greatest)


def dequantized(
    integers: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor
) -> torch.Tensor:
    """The float32 numbers that integers stand for."""
    return (integers - zero_point).to(torch.float32) * scale.to(torch.float32)


def _reciprocal(scale: torch.Tensor) -> torch.Tensor:
    return 1.0 / scale.to(torch.float32)


def _fake_quantize(
    operand: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: int,
    quant_max: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What is left of numbers that become integers and numbers again, and which are in range.

    Other than in `quantized`, and as in PyTorch, the zero point is added to what has been rounded.
    """
    rounded = torch.round(operand * _reciprocal(scale)).to(torch.float64) + zero_point
    bound = torch.clamp(rounded, quant_min, quant_max)
    return dequantized(bound, scale, zero_point).to(operand.dtype), rounded == bound


def _fake_quantize_per_channel(
    operand: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    scale, zero_point = (along(values, operand, axis) for values in (scale, zero_point))
    return _fake_quantize(operand, scale, zero_point, quant_min, quant_max)


def _fake_quantize_per_tensor(
    operand: torch.Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[torch.Tensor, torch.Tensor]:
    values = torch.full((), scale), torch.full((), zero_point, dtype=torch.int64)
    return _fake_quantize(operand, *values, quant_min, quant_max)


def _fake_quantize_if_enabled(
    operand: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    enabled: torch.Tensor,
    quant_min: int,
    quant_max: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    result, in_range = _fake_quantize(operand, scale, zero_point, quant_min, quant_max)
    is_enabled = enabled != 0
    return torch.where(is_enabled, result, operand), in_range | ~is_enabled


def _fake_quantize_per_channel_alone(
    operand: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    axis: int,
    quant_min: int,
    quant_max: int,
) -> torch.Tensor:
    return _fake_quantize_per_channel(operand, scale, zero_point, axis, quant_min, quant_max)[0]


RULES: Rules = {
    aten.fake_quantize_per_channel_affine.default: _fake_quantize_per_channel_alone,
    aten.fake_quantize_per_channel_affine_cachemask.default: _fake_quantize_per_channel,
    aten.fake_quantize_per_tensor_affine_cachemask.default: _fake_quantize_per_tensor,
    aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default: (
        _fake_quantize_if_enabled
    ),
}
