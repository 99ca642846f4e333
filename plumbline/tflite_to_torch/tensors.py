"""The tensors of a model of TensorFlow Lite: how they are stored, and what that stands for.

Where a tensor is quantized, a number q that it has stands for (q - zero point) * scale, as the
specification of TensorFlow Lite's quantization to 8 bits has it.
"""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

# Ops of which quantized models are made have no other home.
import torch.ao.quantization.fx._decomposed

from plumbline.errors.unsupported_ops import Unsupported


@dataclass(frozen=True)
class Quantization:
    """By what scale and zero point a tensor is quantized, or each place of one dimension of it."""

    scales: tuple[float, ...]
    """Of float32."""
    zero_points: tuple[int, ...]
    """As many as `scales`."""
    axis: int
    """The dimension that has one for each place, if there are several."""

    @property
    def is_by_channel(self) -> bool:
        """Whether there are several scales."""
        return len(self.scales) > 1


@dataclass(frozen=True, eq=False)
class Tensor:
    """What a model says of a tensor."""

    name: str
    dtype: torch.dtype | None
    """None: it has no numbers (strings, or a resource)."""
    shape: tuple[int, ...]
    dynamic_axes: tuple[int, ...]
    """Those along which it had that size as the model was converted, and may have another."""
    is_variable: bool
    """Whether an op keeps its numbers from one call to the next."""
    quantization: Quantization | None
    constant: torch.Tensor | None
    """Its numbers, as they are stored, where they are known as the model is read."""

    @property
    def zero(self) -> int:
        """How 0 is stored."""
        return 0 if self.quantization is None else self.quantization.zero_points[0]

    def stored(
        self, real: torch.Tensor, least: float = -math.inf, most: float = math.inf
    ) -> torch.Tensor:
        """How numbers within `least` and `most` are stored, and others as the nearest of these.

        Raises:
          Unsupported: each place of a dimension has a scale, as only weights have.
        """
        if self.quantization is None or self.dtype is None:
            bounds = [None if math.isinf(bound) else bound for bound in (least, most)]
            bounded = real if bounds == [None, None] else real.clamp(*bounds)
            return bounded if self.dtype is None else bounded.to(self.dtype)
        if self.quantization.is_by_channel:
            raise Unsupported(f"{self.name}, which it computes, has a scale for each channel")
        (scale,), (zero_point,) = self.quantization.scales, self.quantization.zero_points
        # What is stored for a bound is known, and what is rounded is clamped anyway.
        range_ = torch.iinfo(self.dtype)
        first, last = (
            min(max(zero_point + bound / scale, range_.min), range_.max) for bound in (least, most)
        )
        numbers: torch.Tensor = torch.ops.quantized_decomposed.quantize_per_tensor.default(
            real, scale, zero_point, round(first), round(last), self.dtype
        )
        return numbers


@dataclass(frozen=True, eq=False)
class Operand:
    """What an op takes: a tensor, as it is stored."""

    tensor: Tensor
    stored: torch.Tensor
    scales: torch.Tensor | None = None
    """Those of its quantization, if there are several."""
    zero_points: torch.Tensor | None = None
    """Likewise; None: they are 0."""
    order: tuple[int, ...] | None = None
    """Of the dimensions of `stored`, if that is another one than the model has."""
    orders_asked: list[tuple[int, ...]] = field(default_factory=list)
    """Those that it has been asked for."""

    @property
    def real(self) -> torch.Tensor:
        """What its numbers stand for; they themselves if they are not quantized."""
        quantization, ops = self.tensor.quantization, torch.ops.quantized_decomposed
        if quantization is None:
            return self.stored
        dtype = self.stored.dtype
        bounds = torch.iinfo(dtype)
        range_ = bounds.min, bounds.max, dtype
        numbers: torch.Tensor
        if self.scales is None:
            (scale,), (zero_point,) = quantization.scales, quantization.zero_points
            numbers = ops.dequantize_per_tensor.default(self.stored, scale, zero_point, *range_)
        else:
            numbers = ops.dequantize_per_channel.default(
                self.stored, self.scales, self.zero_points, quantization.axis, *range_
            )
        return numbers

    @property
    def less_zero(self) -> torch.Tensor:
        """Its integers less their zero points, as float32, which has all of 8 bits."""
        stored = self.stored.to(torch.float32)
        if self.zero_points is not None:
            assert self.tensor.quantization is not None
            axes = [1] * stored.ndim
            axes[self.tensor.quantization.axis] = -1
            return stored - self.zero_points.view(axes)
        return stored - self.zero if self.zero else stored

    def permuted(self, order: Sequence[int]) -> "Operand":
        """The same with its dimensions in another order, in which it may be stored already."""
        self.orders_asked.append(tuple(order))
        quantization = self.tensor.quantization
        if quantization is not None and quantization.is_by_channel:
            axis = order.index(quantization.axis)
            quantization = dataclasses.replace(quantization, axis=axis)
        tensor = dataclasses.replace(self.tensor, quantization=quantization)
        is_there = self.order == tuple(order)
        stored = self.stored if is_there else self.stored.permute(*order)
        return dataclasses.replace(self, tensor=tensor, stored=stored, order=None)

    def padded(self, widths: Sequence[tuple[int, int]]) -> "Operand":
        """The same with zeros before and behind, for each of its last dimensions."""
        if not any(map(any, widths)):
            return self
        flat = [width for pair in reversed(widths) for width in pair]
        padded = torch.nn.functional.pad(self.stored, flat, value=self.zero)
        return dataclasses.replace(self, stored=padded)

    @property
    def zero(self) -> int:
        """How 0 is stored."""
        return self.tensor.zero


def bias_of_floats(tensor: Tensor) -> Tensor:
    """A tensor, of floats if it is a bias that is stored as integers.

    These are wide, and of the scale of the sums of products that they are added to.
    """
    quantization, stored = tensor.quantization, tensor.constant
    if quantization is None or stored is None or stored.dtype not in (torch.int32, torch.int64):
        return tensor
    scales = torch.tensor(quantization.scales, dtype=torch.float64)
    zero_points = torch.tensor(quantization.zero_points)
    return dataclasses.replace(
        tensor,
        dtype=torch.float32,
        quantization=None,
        constant=((stored - zero_points) * scales).to(torch.float32),
    )
