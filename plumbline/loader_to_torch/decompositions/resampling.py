"""Images and volumes of other sizes, which are read between their elements."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp.decompositions import upsample_compute_output_size
from torch._prims_common import suggest_memory_format

from plumbline.loader_to_torch.decompositions.byte_resampling import resampled_bytes
from plumbline.loader_to_torch.decompositions.nearest_resampling import nearest
from plumbline.loader_to_torch.decompositions.resampling_weights import (
    Filter,
    Taps,
    cubic,
    lanczos,
    step_between,
    sums_at_once,
    taps_below,
    taps_beside,
    taps_in_band,
    triangle,
)
from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten

# -- sizes changed with a filter -------------------------------------------------------------------


def _with_filter(filter_: Filter, reach: int) -> Rule:
    """Each new element the mean of the old ones below a filter, that widens as they get more.

    Args:
      filter_: the weights.
      reach: the distance beyond which they are 0.
    """

    def decomposed(
        image: torch.Tensor,
        output_size: list[int],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> torch.Tensor:
        def taps(axis: int, dtype: torch.dtype) -> Taps:
            old, new, scale = image.shape[axis], output_size[axis], (scales_h, scales_w)[axis]
            step = step_between(old, new, scale, dtype, align_corners=align_corners)
            return taps_below(filter_, reach, old, new, step, dtype)

        if image.dtype == torch.uint8:
            return resampled_bytes(image, output_size, taps)
        # The places too are rounded as PyTorch does it: where an element begins to count, it shows.
        wide = torch.float64 if image.dtype == torch.float64 else torch.float32
        resampled = image.to(wide)
        # Rows first, of which there are fewer then to take the columns of.
        for axis in (-2, -1):
            resampled = taps(axis, wide).sums(resampled, axis)
        return resampled.to(image.dtype)

    return decomposed


def _between_neighbours(reach: int) -> Rule:
    """The rule of ops that read an image between its elements, and are told sizes or factors.

    An axis is done after the other, unless channels are last: with all at once, as by PyTorch's
    rule, each new element is of 4 or 16 old ones in places of their own, where rows are read as
    they lie by this. Images of twice the size take a quarter of the time, of 16 times a tenth (AMD
    Zen 5).

    Args:
      reach: as `taps_beside` has it.
    """

    def decomposed(
        image: torch.Tensor,
        output_size: list[int] | None,
        align_corners: bool,
        scale_factors: list[float] | None = None,
    ) -> Any:
        sizes: list[int] = upsample_compute_output_size(  # type: ignore[no-untyped-call]
            image.size(), output_size, scale_factors
        )
        factors: Sequence[float | None] = scale_factors or [None] * len(sizes)

        def taps(axis: int, dtype: torch.dtype) -> Taps | None:
            old, new = image.shape[axis], sizes[axis]
            step = step_between(old, new, factors[axis], dtype, align_corners=align_corners)
            # PyTorch copies an axis of the same size between two neighbours whatever the factor.
            are_known = isinstance(old, int) and isinstance(new, int)
            if are_known and old == new and (reach == 1 or step == 1):
                return None
            return taps_beside(reach, old, new, step, dtype, align_corners=align_corners)

        def merged(axis: int, dtype: torch.dtype) -> Taps:
            found = taps(axis, dtype)
            # Of an axis of the same size nobody asks.
            assert found is not None
            return found.merged(image.shape[axis])

        if image.dtype == torch.uint8 and len(sizes) == _PLANE:
            return resampled_bytes(image, sizes, merged)
        if not image.is_floating_point():
            return NotImplemented
        wide = torch.float64 if image.dtype == torch.float64 else torch.float32
        order, resampled = suggest_memory_format(image), image.to(wide)
        known = {axis: taps(axis, wide) for axis in _in_order(image.shape[2:], sizes)}
        found = {axis: taps for axis, taps in known.items() if taps is not None}
        if order is not torch.contiguous_format and len(found) == len(sizes):
            resampled = sums_at_once(resampled, found)
        else:
            for axis, along in found.items():
                resampled = along.sums(resampled, axis)
        return resampled.to(image.dtype).contiguous(memory_format=order)

    return decomposed


_PLANE = 2


def _in_order(old: Sequence[int], new: Sequence[int]) -> list[int]:
    """Axes, counted from the last, so that little is read element by element, along rows.

    What gets less comes first, rows before their elements, then what gets more, elements first.
    """
    axes = range(-len(new), 0)
    known = [isinstance(old[axis], int) and isinstance(new[axis], int) for axis in axes]
    less = [
        axis
        for axis, is_known in zip(axes, known, strict=True)
        if is_known and new[axis] < old[axis]
    ]
    return [*less, *(axis for axis in reversed(axes) if axis not in less)]


# -- gradients of sizes changed --------------------------------------------------------------------


_Forward = Callable[..., torch.Tensor]
"""Gives images [1, batch, height, 1] a new height: of those, the height, how often it holds the old
one, if that is told, and whether corners are aligned, if that is asked."""


def _by_overload(op: Any) -> _Forward:
    """By the one of the overloads that PyTorch takes apart."""

    def forward(rows: torch.Tensor, new: int, scale: float | None, *corners: bool) -> torch.Tensor:
        told = (None, *corners, [scale, 1.0]) if scale else ([new, 1], *corners, None)
        result: torch.Tensor = op(rows, *told)
        return result

    return forward


def _by_rule(rule: Rule) -> _Forward:
    """By a rule, as PyTorch's op takes the elements of images of width 1 for ones of channels."""

    def forward(rows: torch.Tensor, new: int, scale: float | None, *corners: bool) -> torch.Tensor:
        result: torch.Tensor = rule(rows, [new, 1], *corners, scale)
        return result

    return forward


def _backward(
    forward: _Forward, *, reach: int, has_corners: bool = True, widens: bool = False
) -> Rule:
    """The rule of the gradient of resampling, which does to each dimension what it does to one.

    Each new element is a sum of old ones, with weights for each dimension, which tells what
    `forward` makes of images that are 0 but for some elements.

    Args:
      forward: resamples images.
      reach: the distance from a new element beyond which old ones do not count for it.
      has_corners: whether it is told if corners are aligned.
      widens: whether that is a distance of new elements, where these are fewer.
    """

    def decomposed(
        grad: torch.Tensor, output_size: list[int], input_size: list[int], *options: Any
    ) -> torch.Tensor:
        corners, scales = (options[:1], options[1:]) if has_corners else ((), options)
        # Half precision is added up in float32.
        wide = torch.promote_types(grad.dtype, torch.float32)
        found = grad.to(wide)
        for place, (old, new) in enumerate(zip(input_size[2:], output_size, strict=True)):
            scale = scales[place] if place < len(scales) else None

            def resampled(
                rows: torch.Tensor, new: int = new, scale: float | None = scale
            ) -> torch.Tensor:
                result: torch.Tensor = forward(rows[None, :, :, None], new, scale, *corners)
                return result[0, :, :, 0]

            axis = place - len(output_size)
            step = step_between(old, new, scale, torch.float64, align_corners=any(corners))
            taps = None
            if isinstance(step, float) and step > 0:
                far = reach * (max(step, 1.0) if widens else 1.0)
                taps = taps_in_band(resampled, old, new, step, far, wide)
            if taps is None:
                weights = resampled(torch.eye(old, dtype=wide))
                found = (found.movedim(axis, -1) @ weights.mT).movedim(-1, axis)
            else:
                found = taps.sums(found, axis)
        return found.to(grad.dtype)

    return decomposed


_LINEAR = _backward(_by_overload(aten.upsample_bilinear2d.vec), reach=1)
_NEAREST_OF_ALL = _backward(_by_overload(aten.upsample_nearest2d.vec), reach=1, has_corners=False)
_NEAREST_EXACT = _backward(
    _by_overload(aten._upsample_nearest_exact2d.vec), reach=1, has_corners=False
)
_LANCZOS_FILTER = _with_filter(lanczos, 3)
_CUBIC_FILTER = _with_filter(cubic, 2)
_TRIANGLE_FILTER = _with_filter(triangle, 1)

RULES: Rules = {
    **{
        op.vec: nearest(op.vec, middle)
        for name, middle in (("upsample_nearest", 0.0), ("_upsample_nearest_exact", 0.5))
        for op in (getattr(aten, f"{name}{rank}d") for rank in (1, 2, 3))
    },
    aten._upsample_nearest_exact1d_backward.default: _NEAREST_EXACT,
    aten._upsample_nearest_exact2d_backward.default: _NEAREST_EXACT,
    aten._upsample_nearest_exact3d_backward.default: _NEAREST_EXACT,
    aten.upsample_bicubic2d_backward.default: _backward(
        _by_overload(aten.upsample_bicubic2d.vec), reach=2
    ),
    aten.upsample_bilinear2d_backward.default: _LINEAR,
    aten.upsample_linear1d_backward.default: _LINEAR,
    aten.upsample_nearest1d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_nearest2d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_nearest3d_backward.default: _NEAREST_OF_ALL,
    aten.upsample_trilinear3d_backward.default: _LINEAR,
    aten.upsample_bicubic2d.vec: _between_neighbours(2),
    **{
        op.vec: _between_neighbours(1)
        for op in (aten.upsample_linear1d, aten.upsample_bilinear2d, aten.upsample_trilinear3d)
    },
    aten._upsample_bicubic2d_aa.default: _CUBIC_FILTER,
    aten._upsample_bilinear2d_aa.default: _TRIANGLE_FILTER,
    aten._upsample_lanczos2d_aa.default: _LANCZOS_FILTER,
    aten._upsample_bicubic2d_aa_backward.default: _backward(
        _by_rule(_CUBIC_FILTER), reach=2, widens=True
    ),
    aten._upsample_bilinear2d_aa_backward.default: _backward(
        _by_rule(_TRIANGLE_FILTER), reach=1, widens=True
    ),
    aten._upsample_lanczos2d_aa_backward.default: _backward(
        _by_rule(_LANCZOS_FILTER), reach=3, widens=True
    ),
}
