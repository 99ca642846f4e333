"""How much each element of an image counts for one of an image of another size."""

import functools
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.constant_tables import constant_table, literal_table

Filter = Callable[[torch.Tensor], torch.Tensor]
"""The weight of what lies at a distance from the middle, in new elements or old ones, whichever are
greater."""

_AT_ONCE = 16
"""How many elements a product with a matrix takes while one is read at a place of its own."""

_FEW_TAPS = 24
"""Up to how many old elements that count for a new one are read one by one.

With more of them than that a product with a matrix, most of which is zeros, is as fast.
"""


def triangle(distance: torch.Tensor) -> torch.Tensor:
    """Linear between neighbours."""
    return torch.clamp(1 - distance, min=0)


def cubic(distance: torch.Tensor, a: float = -0.5) -> torch.Tensor:
    """Keys' convolution kernel, with a of -1/2, which is Pillow's, or PyTorch's own -3/4."""
    near = (((a + 2) * distance - (a + 3)) * distance) * distance + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * a
    return torch.where(distance < 1, near, torch.where(distance < 2, far, 0.0))


_BESIDE: dict[int, Filter] = {1: triangle, 2: functools.partial(cubic, a=-0.75)}
"""Between neighbours, by how many of these count on each side."""


def lanczos(distance: torch.Tensor) -> torch.Tensor:
    """Lanczos' window of the sinc function, of three lobes on each side."""
    return torch.where(distance < 3, torch.sinc(distance) * torch.sinc(distance / 3), 0.0)


def step_between(
    old: int, new: int, scale: float | None, dtype: torch.dtype, *, align_corners: bool
) -> float | torch.Tensor:
    """How many old elements lie between the middles of two new ones.

    A tensor of rank 0 if it is not known before it runs, since a size is not.
    """
    # The middles of the first and of the last elements lie on each other, or else the edges do.
    size, gaps = (old - 1, new - 1) if align_corners else (old, new)
    if scale and not align_corners:
        step = 1 / scale
    elif isinstance(size, torch.SymInt) or isinstance(gaps, torch.SymInt):
        wide, parts = (torch.full((), number, dtype=dtype) for number in (size, gaps))
        return torch.where(parts > 0, wide / parts, 0.0)
    else:
        step = size / gaps if gaps else 0.0
    if dtype == torch.float32:
        [step] = struct.unpack("f", struct.pack("f", step))
    return step


@dataclass(frozen=True)
class Taps:
    """The old elements along an axis that count for each of the new ones."""

    places: torch.Tensor | None
    """int64 [new, taps]; None: they are all."""
    weights: torch.Tensor
    """[new, taps]"""
    slices: tuple[slice, ...] | None = None
    """The places of each tap, where it is known of them that they are so far apart."""

    def sums(self, image: torch.Tensor, axis: int) -> torch.Tensor:
        """The sums of the elements of an image along an axis, counted from the last, by weights.

        It is one of the last two where all elements count.
        """
        if self.places is None:
            matrix = self.weights
            return matrix @ image if axis == -2 else image @ matrix.transpose(0, 1)
        if self.slices is None:
            read = [image.index_select(axis, place) for place, _ in self.each()]
        else:
            axes_before = (slice(None),) * (image.dim() + axis)
            read = [image[(*axes_before, each)] for each in self.slices]
        weights = (weight[_along(axis)] for _, weight in self.each())
        return functools.reduce(torch.add, map(torch.mul, read, weights))

    def merged(self, size: int) -> "Taps":
        """The same with each place once, of an axis of that size, for weights that are rounded."""
        assert self.places is not None
        places = self.places[:, :1] + torch.arange(self.places.shape[1])
        parts = (
            torch.where(places == place.unsqueeze(-1), weight.unsqueeze(-1), 0.0)
            for place, weight in self.each()
        )
        return Taps(torch.clamp(places, max=size - 1), functools.reduce(torch.add, parts))

    def each(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """The places, [new], and the weights, [new], of one tap after the other."""
        assert self.places is not None
        return zip(self.places.unbind(-1), self.weights.unbind(-1), strict=True)


def _along(axis: int) -> tuple[Any, ...]:
    """What makes of a tensor [n] one that is along an axis, counted from the last."""
    return (..., *[None] * (-axis - 1))


def sums_at_once(image: torch.Tensor, taps: Mapping[int, Taps]) -> torch.Tensor:
    """The sums of the elements of an image by the weights along several axes.

    Each new element is read where it lies, as is best where all channels of it are contiguous.

    Args:
      image: the image.
      taps: those along each of the axes, counted from the last.
    """
    axes_before = [None] * (image.dim() - len(taps))

    def sums(axes: Sequence[int], places: tuple[torch.Tensor, ...]) -> torch.Tensor:
        if not axes:
            read: torch.Tensor = torch.ops.aten.index.Tensor(image, [*axes_before, *places])
            return read
        axis, *others = axes
        parts = (
            sums(others, (*places, place[_along(axis)])) * weight[_along(axis)]
            for place, weight in taps[axis].each()
        )
        return functools.reduce(torch.add, parts)

    return sums(sorted(taps), ())


def taps_below(
    filter_: Filter, reach: int, old: int, new: int, step: float | torch.Tensor, dtype: torch.dtype
) -> Taps:
    """Those that lie below a filter, that widens as the new elements get fewer.

    Args:
      filter_: the weights, before they are divided by their sum.
      reach: the distance beyond which they are 0.
      old: how many elements there are.
      new: how many there will be.
      step: as `step_between` has it.
      dtype: of the weights, and of the places as they are computed.
    """
    unit = max(step, 1.0) if isinstance(step, float) else torch.clamp(step, min=1.0)
    centers = (torch.arange(new, dtype=dtype) + 0.5) * step
    # What counts are whole elements from the one where the filter begins to where it ends.
    radius = reach * unit
    first = torch.clamp((centers - radius + 0.5).to(torch.int64), min=0)
    end = torch.clamp((centers + radius + 0.5).to(torch.int64), max=old)
    taps = math.ceil(2 * radius) + 1 if isinstance(radius, float) else None
    if taps is not None and taps <= _FEW_TAPS:
        places = first.unsqueeze(-1) + torch.arange(taps)
    else:
        taps, places = None, torch.arange(old).expand(new, old)
    inside = (places >= first.unsqueeze(-1)) & (places < end.unsqueeze(-1))
    distances = (places.to(dtype) + 0.5 - centers.unsqueeze(-1)).abs() / unit
    weights = torch.where(inside, filter_(distances), 0.0)
    weights = weights / weights.sum(-1, keepdim=True)
    return Taps(None if taps is None else torch.clamp(places, max=old - 1), weights)


def taps_beside(
    reach: int,
    old: int,
    new: int,
    step: float | torch.Tensor,
    dtype: torch.dtype,
    *,
    align_corners: bool,
) -> Taps:
    """Those on both sides of where a new element lies, however many the new ones are.

    What lies beyond the first or the last element counts for that.

    Args:
      reach: how many count on each side: 1 or 2, by weights that are linear or cubic.
      old: how many elements there are.
      new: how many there will be.
      step: as `step_between` has it.
      dtype: of the weights, and of the places as they are computed.
      align_corners: whether the middles of the first and of the last elements lie on each other.
    """
    if not isinstance(step, float) or isinstance(old, torch.SymInt):
        return _taps_beside(reach, old, new, step, dtype, align_corners)
    numbers = (reach, old, new, _bits(step), dtype == torch.float64, align_corners)
    return Taps(
        _known_places(numbers, torch.int64),
        _known_weights(numbers, dtype),
        None if align_corners else _slices(reach, old, new, step),
    )


def _slices(reach: int, old: int, new: int, step: float) -> tuple[slice, ...] | None:
    """The places of each tap, of an image that gets a whole number of times less.

    They are told so where all of them are inside, and PyTorch does not round middles.
    """
    if step < 2 or not step.is_integer() or not isinstance(new, int) or old > _EXACT_HALVES:
        return None
    apart = int(step)
    first = (apart - 1) // 2 + 1 - reach
    end = first + (new - 1) * apart + 1
    if first < 0 or end + 2 * reach - 1 > old:
        return None
    return tuple(slice(first + tap, end + tap, apart) for tap in range(2 * reach))


_EXACT_HALVES = 2**22
"""Up to here float32 has all numbers and those halfway between them."""


def _bits(number: float) -> int:
    [bits] = struct.unpack("q", struct.pack("d", number))
    return int(bits)


def _known_taps(
    reach: int, old: int, new: int, bits: int, is_double: bool, align_corners: bool
) -> Taps:
    [step] = struct.unpack("d", struct.pack("q", bits))
    dtype = torch.float64 if is_double else torch.float32
    return _taps_beside(reach, old, new, step, dtype, align_corners)


@literal_table
def _known_places(*numbers: Any) -> torch.Tensor:
    """int64 [new, taps], a literal as it is known of its numbers then that they are inside."""
    taps = _known_taps(*numbers)
    assert taps.places is not None
    return taps.places


@constant_table
def _known_weights(*numbers: Any) -> torch.Tensor:
    return _known_taps(*numbers).weights


def _taps_beside(
    reach: int,
    old: int,
    new: int,
    step: float | torch.Tensor,
    dtype: torch.dtype,
    align_corners: bool,
) -> Taps:
    # PyTorch rounds a place once, as a fused operation of its dtype does.
    numbers = torch.arange(new, dtype=torch.float64)
    middles = (numbers * step if align_corners else (numbers + 0.5) * step - 0.5).to(dtype)
    if reach == 1:
        middles = torch.clamp(middles, min=0)
    before = torch.clamp(middles.floor(), max=old - 1)
    beyond = torch.clamp(middles - before, min=0, max=1)
    taps = torch.arange(1 - reach, 1 + reach)
    places = torch.clamp(before.to(torch.int64).unsqueeze(-1) + taps, min=0, max=old - 1)
    return Taps(places, _BESIDE[reach]((taps - beyond.unsqueeze(-1)).abs()))


def taps_in_band(
    resampled: Callable[[torch.Tensor], torch.Tensor],
    old: int,
    new: int,
    step: float,
    reach: float,
    dtype: torch.dtype,
) -> Taps | None:
    """The new elements that each of the old ones counts for.

    Old elements that are far enough apart count for no new one in common. So few rows of 1s so far
    apart tell all weights, where a matrix of them has as many elements as both sizes multiplied.

    Args:
      resampled: gives rows [n, old] the new size, [n, new].
      old: how many elements there were.
      new: how many there are.
      step: as `step_between` has it, above 0.
      reach: the distance from a new element, in old ones, beyond which old ones do not count.
      dtype: of the weights.

    Returns:
      None where a product with a matrix is as fast, though most of it is zeros.
    """
    taps = math.ceil(2 * reach / step) + 1
    if not isinstance(new, int) or new < _AT_ONCE * taps:
        return None
    # A new element is read where its middle lies (half a step and less than half an element from
    # there) or where it begins. One more of them on each side is for what rounding does.
    numbers = torch.arange(old)
    begin = ((numbers - reach) / step - 0.5).floor().to(torch.int64) - 1
    span = math.ceil((2 * reach + 0.5) / step + 0.5) + 4
    apart = math.ceil(span * step + 2 * reach) + 1
    rows = (numbers % apart == torch.arange(apart).unsqueeze(-1)).to(dtype)
    read = begin.unsqueeze(-1) + torch.arange(span)
    near = resampled(rows)[(numbers % apart).unsqueeze(-1), torch.clamp(read, 0, new - 1)]
    near = torch.where((read >= 0) & (read < new), near, 0.0)
    skipped = (near != 0).to(torch.int32).argmax(-1, keepdim=True)
    kept = skipped + torch.arange(taps)
    weights = near.gather(-1, torch.clamp(kept, max=span - 1))
    places = torch.clamp(begin.unsqueeze(-1) + kept, min=0, max=new - 1)
    return Taps(places, torch.where(kept < span, weights, 0.0))
