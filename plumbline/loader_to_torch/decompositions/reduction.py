"""Reductions, and what is found by sorting or counting."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch._refs.linalg

from plumbline.loader_to_torch.decompositions.rule import Rule, Rules
from plumbline.loader_to_torch.decompositions.selection import of_rank

aten = torch.ops.aten


def _along_each(along_one: Any) -> Rule:
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


def _sorted(operand: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """In rising order, NaN last, as if it were infinite; and the places that all come from."""
    if operand.is_floating_point():
        operand = torch.where(operand.isnan(), math.inf, operand)
    values, places = torch.sort(operand, dim)
    return values, places


def _median_along(
    operand: torch.Tensor, dim: int, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The lower one of those in the middle; NaN if there is one."""
    if operand.dim() == 0:
        return operand.clone(), torch.zeros((), dtype=torch.int64)
    value, place = of_rank(operand, (operand.shape[dim] - 1) // 2, dim)
    if operand.is_floating_point():
        nan = operand.isnan()
        any_nan = nan.any(dim, keepdim=True)
        value = torch.where(any_nan, math.nan, value)
        place = torch.where(any_nan, nan.to(torch.int32).argmax(dim, keepdim=True), place)
    return _dropped(value, place, dim, keepdim)


def _kthvalue(
    operand: torch.Tensor, k: int, dim: int = -1, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The one that has k - 1 before it in rising order."""
    if operand.dim() == 0:
        return operand.clone(), torch.zeros((), dtype=torch.int64)
    value, place = of_rank(operand, k - 1, dim)
    return _dropped(value, place, dim, keepdim)


def _nanmedian_along(
    operand: torch.Tensor, dim: int, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same of those that are no NaN, or NaN if all are."""
    if not operand.is_floating_point():
        return _median_along(operand, dim, keepdim)
    if operand.dim() == 0:
        return operand.clone(), torch.zeros((), dtype=torch.int64)
    count = operand.isnan().logical_not().to(torch.int64).sum(dim, keepdim=True)
    value, place = of_rank(operand, torch.clamp((count - 1) // 2, min=0), dim)
    value = torch.where(count == 0, math.nan, value)
    return _dropped(value, place, dim, keepdim)


def _dropped(
    value: torch.Tensor, place: torch.Tensor, dim: int, keepdim: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    # By `select`, for a size that PyTorch does not know to be 1 is one that `squeeze` leaves.
    return (value, place) if keepdim else (value.select(dim, 0), place.select(dim, 0))


def _sort_stable(
    operand: torch.Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    # The lowering of the Torch dialect's only sort is stable.
    values, places = aten.sort.default(operand, dim, descending)
    return values, places


def _in_signed_order(op: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> Rule:
    """An op that sorts, on a signed type, since torch-mlir sorts all integers as signed ones."""

    def decomposed(operand: torch.Tensor, *arguments: Any) -> Any:
        if operand.dtype not in (torch.bool, torch.uint8):
            return NotImplemented
        values, places = op(operand.to(torch.int16), *arguments)
        return values.to(operand.dtype), places

    return decomposed


def _topk(
    operand: torch.Tensor,
    k: int | torch.SymInt,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: A002
) -> Any:
    """In order also where none is asked for, of which torch-mlir has no lowering."""
    if sorted:
        return _in_signed_order(aten.topk.default)(operand, k, dim, largest)
    values, places = aten.topk.default(operand, k, dim, largest)
    return values, places


def _median_of_all(*, skip_nan: bool) -> Rule:
    """`median` and `nanmedian` over all elements, of which there may be none."""

    def decomposed(operand: torch.Tensor) -> torch.Tensor:
        flat = operand.reshape(-1)
        counted = torch.ones_like(flat, dtype=torch.int64)
        greatest: float = math.inf
        nothing: float = math.nan
        if not operand.is_floating_point():
            numbers = torch.iinfo(operand.dtype)
            # What x86 makes of a NaN, narrow integers of the 32 bits of one.
            greatest, nothing = numbers.max, numbers.min if numbers.bits >= 32 else 0
        elif skip_nan:
            counted = flat.isnan().logical_not().to(torch.int64)
        # With one element more, there is one to pick in any case.
        more = torch.cat([flat, torch.full((1,), greatest, dtype=operand.dtype)])
        count = counted.sum(0, keepdim=True)
        value, _ = of_rank(more, torch.clamp(count - 1, min=0) // 2, 0)
        undefined = count == 0
        if operand.is_floating_point() and not skip_nan:
            undefined = undefined | flat.isnan().any()
        return torch.where(undefined, nothing, value).reshape(())

    return decomposed


def _quantile(
    operand: torch.Tensor,
    q: float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Any:
    """Between the elements of two ranks; NaN if there is one."""
    flat, axis = (operand.reshape(-1), 0) if dim is None else (operand, dim)
    if flat.dim() == 0:
        flat = flat.reshape(1)
    ranks, weight = _ranks_of_quantile(q, flat.shape[axis], operand.dtype, interpolation)
    values = [of_rank(flat, rank, axis)[0] for rank in dict.fromkeys(ranks)]
    # Of one value it is still NaN if that is infinite.
    value = torch.lerp(values[0], values[-1], weight) if len(ranks) > 1 else values[0]
    value = torch.where(flat.isnan().any(axis, keepdim=True), math.nan, value)
    if dim is None or operand.dim() == 0:
        return value.reshape([1] * operand.dim() if keepdim else ())
    return value if keepdim else value.squeeze(axis)


def _ranks_of_quantile(
    q: float, size: int, dtype: torch.dtype, interpolation: str
) -> tuple[Sequence[int | torch.Tensor], Any]:
    """One rank, or two, and how far the quantile is from the first to the second."""
    if not isinstance(size, int):
        rank = q * torch.full((), size - 1, dtype=dtype)
        below, above, nearest = (
            whole.to(torch.int64) for whole in (rank.floor(), rank.ceil(), rank.round())
        )
        weight = rank.frac()
    else:
        number = np.float32 if dtype == torch.float32 else np.float64
        rank = number(q) * number(size - 1)
        below, above, nearest = math.floor(rank), math.ceil(rank), int(np.rint(rank))
        weight = float(rank - below)
    match interpolation:
        case "lower":
            return [below], weight
        case "higher":
            return [above], weight
        case "nearest":
            return [nearest], weight
    return [below, above], 0.5 if interpolation == "midpoint" else weight


def _mode(
    operand: torch.Tensor, dim: int = -1, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The least of those that are there most often, and the last place that has it."""
    if operand.dim() == 0:
        return operand.clone(), torch.zeros((), dtype=torch.int64)
    values, places = torch.sort(operand.movedim(dim, -1), -1)
    numbers = torch.arange(values.shape[-1])
    is_first = (numbers == 0) | (values != values.roll(1, -1))
    first, _ = torch.cummax(torch.where(is_first, numbers, 0), -1)
    # In rising order the first of those is the least; of equal ones the last is where it is found.
    found = (numbers - first).argmax(-1, keepdim=True)
    value, place = values.gather(-1, found), places.gather(-1, found)
    value, place = value.movedim(-1, dim), place.movedim(-1, dim)
    return _dropped(value, place, dim, keepdim)


def cov(
    operand: torch.Tensor,
    *,
    correction: int = 1,
    fweights: torch.Tensor | None = None,
    aweights: torch.Tensor | None = None,
) -> torch.Tensor:
    """The covariance of rows, of which each column is an observation.

    Args:
      operand: [variables, observations], or one variable.
      correction: what is taken off the number of observations.
      fweights: how often each was made.
      aweights: how much each counts.
    """
    rows = operand.reshape(1, -1) if operand.dim() < 2 else operand
    given = [weights for weights in (fweights, aweights) if weights is not None]
    if not given:
        count = rows.shape[1]
        rows = rows - rows.sum(1, keepdim=True) / count
        product = rows @ rows.mH
        return (product / max(count - correction, 0)).squeeze()
    weights = functools.reduce(torch.mul, given)
    total = weights.sum()
    rows = rows - (rows * weights).sum(1, keepdim=True) / total
    off = correction if aweights is None else correction * (weights * aweights).sum() / total
    freedom = total - off
    product = rows @ (rows * weights).mH
    return (product / torch.where(freedom <= 0, 0, freedom)).squeeze()


def _histc(
    operand: torch.Tensor,
    bins: int = 100,
    min: float = 0,  # noqa: A002 - PyTorch's own names
    max: float = 0,  # noqa: A002
) -> torch.Tensor:
    """How many elements are in each of `bins` equal parts of a range."""
    low, high = _range_of(operand, min, max, widened_by=1.0)
    return _counts(operand, torch.ones_like(operand), bins, low, high)


def _histogram(
    operand: torch.Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,  # noqa: A002
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same with weights, and the borders of the parts; a density has the integral 1."""
    low, high = _range_of(operand, *(range or (0.0, 0.0)), widened_by=0.5)
    weight = torch.ones_like(operand) if weight is None else weight
    counts = _counts(operand, weight, bins, low, high)
    # From the nearer end, as PyTorch's linspace does it.
    step = (high - low) / bins
    numbers = torch.arange(bins + 1, dtype=operand.dtype)
    borders = torch.where(
        numbers < (bins + 1) // 2, low + numbers * step, high - (bins - numbers) * step
    )
    if density:
        counts = counts / counts.sum() / (borders[1:] - borders[:-1])
    return counts, borders


def _histogram_between(
    operand: torch.Tensor,
    bins: torch.Tensor,
    *,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same of parts between given borders."""
    flat = operand.reshape(-1)
    weight = torch.ones_like(operand) if weight is None else weight
    counts = _summed_at(_part_of(flat, bins), weight, bins.shape[0] - 1)
    if density:
        counts = counts / counts.sum() / (bins[1:] - bins[:-1])
    return counts, bins.clone()


def _borders_in_all(
    operand: torch.Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,  # noqa: A002
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> list[torch.Tensor]:
    """The borders of equal parts of each dimension, that the last of `operand` numbers."""
    columns = operand.reshape(-1, len(bins)).unbind(-1)
    given = range or [0.0] * (2 * len(bins))
    ranges = zip(given[::2], given[1::2], strict=True)
    return [
        _histogram(column, count, range=between)[1]
        for column, count, between in zip(columns, bins, ranges, strict=True)
    ]


def _histogram_in_all(
    operand: torch.Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,  # noqa: A002
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> torch.Tensor:
    """How many points are in each of the boxes between such borders."""
    borders = _borders_in_all(operand, bins, range=range)
    return _histogram_between_all(operand, borders, weight=weight, density=density)


def _histogram_between_all(
    operand: torch.Tensor,
    bins: Sequence[torch.Tensor],
    *,
    weight: torch.Tensor | None = None,
    density: bool = False,
) -> torch.Tensor:
    """The same of boxes between given borders."""
    points = operand.reshape(-1, len(bins))
    weight = torch.ones_like(points[:, 0]) if weight is None else weight
    counts = [borders.shape[0] - 1 for borders in bins]
    place = torch.zeros(points.shape[0], dtype=torch.int64)
    inside = torch.ones(points.shape[0], dtype=torch.bool)
    for column, borders, count in zip(points.unbind(-1), bins, counts, strict=True):
        part = _part_of(column, borders)
        inside = inside & (part >= 0) & (part < count)
        place = place * count + part
    total = _summed_at(torch.where(inside, place, -1), weight, math.prod(counts)).reshape(counts)
    if density:
        total = total / total.sum()
        for axis, borders in enumerate(bins):
            widths = borders[1:] - borders[:-1]
            total = total / widths.reshape([-1, *[1] * (len(bins) - axis - 1)])
    return total


def _part_of(flat: torch.Tensor, borders: torch.Tensor) -> torch.Tensor:
    """Between which borders each number is, counted from 0; outside, below 0 or beyond the last."""
    part = (borders <= flat.unsqueeze(-1)).to(torch.int64).sum(-1) - 1
    # The last part has both its borders.
    return torch.where(flat == borders[-1], borders.shape[0] - 2, part)


def _range_of(
    operand: torch.Tensor, low: float, high: float, *, widened_by: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """A range; that of the elements themselves, if it is empty; widened, if that is too."""
    if low == high and operand.numel() > 0:
        least, greatest = operand.amin(), operand.amax()
    else:
        least, greatest = (torch.full((), end, dtype=operand.dtype) for end in (low, high))
    same = least == greatest
    least = torch.where(same, least - widened_by, least)
    return least, torch.where(same, greatest + widened_by, greatest)


def _counts(
    operand: torch.Tensor, weight: torch.Tensor, bins: int, low: torch.Tensor, high: torch.Tensor
) -> torch.Tensor:
    flat = operand.reshape(-1)
    place = ((flat - low) / (high - low) * bins).floor().to(torch.int64)
    inside = (flat >= low) & (flat <= high)
    place = torch.where(inside, torch.clamp(place, max=bins - 1), -1)
    return _summed_at(place, weight, bins)


def _summed_at(place: torch.Tensor, weight: torch.Tensor, count: int) -> torch.Tensor:
    """The weights summed at their places, of which there are `count`; what has none is left out."""
    inside = (place >= 0) & (place < count)
    weights = torch.where(inside, weight.reshape(-1), 0)
    total = torch.zeros(count, dtype=weight.dtype)
    return total.scatter_add(0, torch.where(inside, place, 0), weights)


def _covariances(
    observations: torch.Tensor,
    *,
    correction: int = 1,
    fweights: torch.Tensor | None = None,
    aweights: torch.Tensor | None = None,
) -> torch.Tensor:
    """Of variables that are rows, or of one, with how often each column counts, and for how much.

    As `torch.cov` says it. What PyTorch itself makes of it looks at numbers.
    """
    rows = observations if observations.dim() == 2 else observations.reshape(1, -1)
    if not (rows.is_floating_point() or rows.is_complex()):
        rows = rows.to(torch.get_default_dtype())
    count = rows.shape[1]
    weights = [weight for weight in (fweights, aweights) if weight is not None]
    if not weights:
        centered = rows - rows.sum(1, keepdim=True) / count
        covariances = (
            centered
            @ centered.mH
            / torch.clamp(torch.full((), count - correction, dtype=rows.real.dtype), min=0)
        )
    else:
        weight = functools.reduce(torch.mul, weights)
        total = weight.sum()
        centered = rows - (rows * weight).sum(1, keepdim=True) / total
        correction_of_one = total if aweights is None else (weight * aweights).sum()
        norm = total - correction * correction_of_one / total
        covariances = centered @ (centered * weight).mH / torch.clamp(norm, min=0)
    return covariances.reshape(()) if rows.shape[0] == 1 else covariances


def _correlations(observations: torch.Tensor) -> torch.Tensor:
    """Covariances of variables, over what each one deviates by."""
    covariances = _covariances(observations)
    if covariances.dim() == 0:
        return covariances / covariances
    deviations = covariances.diagonal().real.sqrt()
    correlations = covariances / deviations.unsqueeze(1) / deviations
    if correlations.is_complex():
        parts = torch.view_as_real(correlations).clamp(-1, 1)
        return torch.view_as_complex(parts)
    return correlations.clamp(-1, 1)


def _std(
    operand: torch.Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> torch.Tensor:
    """The root of a variance that is of a wider type: one of 1e-50 is too small for f32."""
    wide = operand.to(torch.float32 if operand.dtype == torch.float16 else torch.float64)
    dims = tuple(dim) if dim else None
    return wide.var(dims, correction=correction, keepdim=keepdim).sqrt().to(operand.dtype)


def _std_mean(
    operand: torch.Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    std = _std(operand, dim, correction=correction, keepdim=keepdim)
    return std, operand.mean(tuple(dim) if dim else None, keepdim)


def _norm(
    operand: torch.Tensor,
    p: float | None = 2,
    dim: Sequence[int] = (),
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """As it is spelled in C++; `torch.norm` calls the newer op itself."""
    result: torch.Tensor = torch.linalg.vector_norm(
        operand, 2 if p is None else p, dim or None, keepdim, dtype=dtype
    )
    return result


RULES: Rules = {
    aten._is_all_true.default: lambda operand: operand.all(),
    aten._is_any_true.default: lambda operand: operand.any(),
    aten.corrcoef.default: _correlations,
    aten.cov.default: _covariances,
    aten._histogramdd_bin_edges.default: _borders_in_all,
    aten._histogramdd_from_bin_cts.default: _histogram_in_all,
    aten._histogramdd_from_bin_tensors.default: _histogram_between_all,
    aten.histc.default: _histc,
    aten.histogram.bin_ct: _histogram,
    aten.histogram.bins_tensor: _histogram_between,
    aten.kthvalue.default: _kthvalue,
    aten.median.default: _median_of_all(skip_nan=False),
    aten.median.dim: _median_along,
    aten.mode.default: _mode,
    aten.quantile.scalar: _quantile,
    aten.nanmedian.default: _median_of_all(skip_nan=True),
    aten.nanmedian.dim: _nanmedian_along,
    aten.linalg_norm.default: torch._refs.linalg.norm,
    aten.linalg_norm.ord_str: torch._refs.linalg.norm,
    aten.norm.Scalar: _norm,
    aten.norm.ScalarOpt_dim: _norm,
    aten.norm.ScalarOpt_dim_dtype: _norm,
    aten.norm.ScalarOpt_dtype: _norm,
    aten.std.correction: _std,
    aten.std_mean.correction: _std_mean,
    aten.sort.default: _in_signed_order(aten.sort.default),
    aten.sort.stable: _sort_stable,
    aten.topk.default: _topk,
    aten.all.dims: _along_each(aten.all.dim),
    aten.any.dims: _along_each(aten.any.dim),
}
