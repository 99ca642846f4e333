"""Fourier transforms of ONNX, and what goes with them."""

import math
from collections.abc import Mapping, Sequence

import torch

from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, integer, tensor, torch_dtype


def _complex(x: torch.Tensor) -> torch.Tensor:
    """What has real numbers, or real and imaginary parts, in its last dimension, without it."""
    if x.shape[-1] == 1:
        return x.squeeze(-1)
    numbers: torch.Tensor = torch.view_as_complex(x.contiguous())
    return numbers


def _dft(node: Node, data: Value, length: Value = None, axis: Value = None) -> torch.Tensor:
    x = tensor(data)
    # Formerly an attribute, of another default.
    along = node.attribute("axis", 1 if node.opset < 20 else -2) if axis is None else integer(axis)
    along %= x.ndim
    count = None if length is None else integer(length)
    signal = _complex(x)
    one_sided, inverse = node.attribute("onesided", 0), node.attribute("inverse", 0)
    if one_sided and inverse:
        made: torch.Tensor = torch.fft.irfft(signal, count, along)
        return made.unsqueeze(-1)
    if one_sided and not signal.is_complex():
        return torch.view_as_real(torch.fft.rfft(signal, count, along))
    if inverse:
        return torch.view_as_real(torch.fft.ifft(signal, count, along))
    transformed = torch.fft.fft(signal, count, along)
    if one_sided:
        # Not as a slice, of which PyTorch does not see that it is within any size.
        half = torch.arange(transformed.shape[along] // 2 + 1)
        transformed = transformed.index_select(along, half)
    return torch.view_as_real(transformed)


def _stft(
    node: Node, data: Value, step: Value, window: Value = None, length: Value = None
) -> torch.Tensor:
    signal = _complex(tensor(data))
    weights = None if window is None else tensor(window)
    if length is not None:
        size = integer(length)
    else:
        size = signal.shape[1] if weights is None else weights.shape[0]
    transformed: torch.Tensor = torch.stft(
        signal,
        size,
        integer(step),
        window=torch.ones(size, dtype=tensor(data).dtype) if weights is None else weights,
        center=False,
        onesided=bool(node.attribute("onesided", 1)) and not signal.is_complex(),
        return_complex=True,
    )
    transformed = torch.view_as_real(transformed.transpose(1, 2))
    # Of complex signals, PyTorch gives no half.
    is_half = node.attribute("onesided", 1) and signal.is_complex()
    return transformed[:, :, : size // 2 + 1] if is_half else transformed


def _window(coefficients: Sequence[float]) -> Pattern:
    """Of a sum of cosines, of which one more each has a whole period more."""

    def pattern(node: Node, size: Value) -> torch.Tensor:
        count = integer(size)
        period = count if node.attribute("periodic", 1) else count - 1
        angles = torch.arange(count) * (2 * math.pi / period)
        terms = [scale * torch.cos(n * angles) for n, scale in enumerate(coefficients)]
        return torch.stack(terms).sum(0).to(torch_dtype(node.attribute("output_datatype", 1)))

    return pattern


def _mel_weights(
    node: Node, bins: Value, length: Value, rate: Value, lower: Value, upper: Value
) -> torch.Tensor:
    count, size = integer(bins), integer(length)
    low, high = (
        2595 * torch.log10(1 + tensor(edge).to(torch.float64) / 700) for edge in (lower, upper)
    )
    steps = torch.arange(count + 2) * (high - low) / (count + 2)
    frequencies = 700 * torch.expm1((steps + low) / 2595 * math.log(10))
    edges = torch.div((size + 1) * frequencies, tensor(rate), rounding_mode="floor")
    start, peak, end = (edges[first : first + count] for first in range(3))
    places = torch.arange(size // 2 + 1)[:, None]
    # The peak counts as of what rises to it, also where that is of no width.
    rising = torch.where(start == peak, 1.0, (places - start) / (peak - start).clamp(min=1))
    falling = (end - places) / (end - peak).clamp(min=1)
    weights = torch.where((start <= places) & (places <= peak), rising, 0.0)
    weights = torch.where((peak <= places) & (places < end), falling, weights)
    return weights.to(torch_dtype(node.attribute("output_datatype", 1)))


PATTERNS: Mapping[str, Pattern] = {
    "BlackmanWindow": _window([0.42, -0.5, 0.08]),
    "DFT": _dft,
    "HammingWindow": _window([25 / 46, -21 / 46]),
    "HannWindow": _window([0.5, -0.5]),
    "MelWeightMatrix": _mel_weights,
    "STFT": _stft,
}
