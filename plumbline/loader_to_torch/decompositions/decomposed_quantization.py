"""What quantization in PyTorch 2 Export (PT2E) makes of models: ops of `quantized_decomposed`.

Most have kernels that are written by PyTorch's ops, and are taken apart into these. Here are those
whose kernels look at the values of tensors: scales and zero points that follow from what a call is
given, as of activations that are quantized dynamically.
"""

from collections.abc import Callable
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

_MIDDLE = 128
"""The zero point of symmetric bytes without a sign."""


def _least_and_greatest(operand: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Those of the elements and 0, which quantized numbers can stand for without rounding."""
    return operand.amin().clamp(max=0), operand.amax().clamp(min=0)


def _choose_qparams(
    operand: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """The scale and the zero point by which integers of a range stand for all of the elements.

    They are computed in float32, and given as float64 and int64, as PyTorch's kernel does.
    """
    least, greatest = _least_and_greatest(operand)
    scale = _not_below((greatest - least) / float(quant_max - quant_min), eps)
    zero_point = quant_min - torch.round(least / scale).to(torch.int32)
    bound = zero_point.clamp(quant_min, quant_max)
    return scale.to(torch.float64), bound.to(torch.int64)


def _choose_qparams_symmetric(
    operand: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same of integers whose middle stands for 0."""
    least, greatest = _least_and_greatest(operand)
    scale = torch.maximum(-least, greatest) / (float(quant_max - quant_min) / 2)
    zero_point = torch.full((1,), _MIDDLE if dtype == torch.uint8 else 0, dtype=torch.int64)
    return _not_below(scale, eps).to(torch.float64), zero_point


def _not_below(scale: torch.Tensor, eps: float) -> torch.Tensor:
    """A scale as float32 [1], which is at least `eps`."""
    return scale.reshape(1).to(torch.float32).clamp(min=eps)


def _quantize(
    operand: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: torch.Tensor | int,
    quant_max: torch.Tensor | int,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Numbers of any float dtype as integers of `dtype`, rounded to even, then moved."""
    # The kernel computes with numbers of Python's, which are rounded as they meet tensors.
    reciprocal = (1.0 / scale.to(torch.float64)).to(torch.float32).reshape(())
    moved = torch.round(operand.to(torch.float32) * reciprocal) + zero_point.reshape(())
    return torch.clamp(moved, quant_min, quant_max).to(dtype)  # type: ignore[arg-type]


def _dequantize(
    integers: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    quant_min: torch.Tensor | int,
    quant_max: torch.Tensor | int,
    dtype: torch.dtype,
    *,
    out_dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The numbers that integers stand for."""
    moved = integers.to(out_dtype or torch.float32) - zero_point.reshape(())
    return (moved * scale.to(torch.float32).reshape(())).to(out_dtype or torch.float32)


_OF_OVERLOADS: dict[tuple[str, str], Callable[..., Any]] = {
    ("choose_qparams", "tensor"): _choose_qparams,
    ("choose_qparams_symmetric", "tensor"): _choose_qparams_symmetric,
    ("dequantize_per_tensor", "tensor"): _dequantize,
    ("dequantize_per_tensor", "tensor2"): _dequantize,
    ("quantize_per_tensor", "tensor"): _quantize,
    ("quantize_per_tensor", "tensor2"): _quantize,
}


def rules_of_registered() -> Rules:
    """Rules of those ops that there are: a library or a part of PyTorch brings them along."""
    return {
        getattr(packet, overload): rule
        for (name, overload), rule in _OF_OVERLOADS.items()
        if (packet := getattr(torch.ops.quantized_decomposed, name, None)) is not None
        and overload in packet.overloads()
    }
