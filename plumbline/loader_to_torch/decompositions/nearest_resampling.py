"""Images and volumes of other sizes, whose elements are the nearest ones of the old.

Where each old element is repeated as often, or each so-many-th is taken, that is said so: elements
are copied as they lie. PyTorch's own rule computes places of elements and looks them up, which it
does for all other sizes: images of twice the size took 6 times as long by that (AMD Zen 5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch._decomp import decomposition_table
from torch._decomp.decompositions import upsample_compute_output_size
from torch._prims_common import suggest_memory_format

from plumbline.loader_to_torch.decompositions.rule import Rule


@dataclass(frozen=True)
class _Places:
    """The old elements that the new ones of an axis are: every `step`-th, `repeats` times each."""

    start: int
    step: int
    repeats: int


def nearest(op: Any, middle: float) -> Rule:
    """The rule of an op that takes new elements to be the nearest ones of the old.

    Args:
      op: the op, which is told sizes or how much they change.
      middle: where within a new element the place of it is: where it begins, or halfway.
    """
    otherwise = decomposition_table[op]

    def decomposed(
        image: torch.Tensor, output_size: list[int] | None, scale_factors: list[float] | None = None
    ) -> torch.Tensor:
        new: Sequence[int] = upsample_compute_output_size(  # type: ignore[no-untyped-call]
            image.size(), output_size, scale_factors
        )
        if scale_factors and middle == 0 and _has_exact_sizes(image):
            sizes = zip(image.shape[2:], new, scale_factors, strict=True)
            scale_factors = [_factor_of(*each) for each in sizes]
        factors: Sequence[float | None] = scale_factors or [None] * len(new)
        places = [
            _places(*sizes, middle) for sizes in zip(image.shape[2:], new, factors, strict=True)
        ]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            result: torch.Tensor = otherwise(image, output_size, scale_factors)
            return result
        return _read(image, new, known)

    return decomposed


def _has_exact_sizes(image: torch.Tensor) -> bool:
    """Whether PyTorch looks at sizes before factors, as it does with images, of any layout.

    With volumes it does so where their channels are last, and with rows never.
    """
    rank = image.dim() - 2
    return rank == 2 or (rank == 3 and image.is_contiguous(memory_format=torch.channels_last_3d))


def _factor_of(old: int, new: int, factor: float) -> float:
    """The factor by which PyTorch takes elements: that of the sizes, if that is 1 or 2."""
    if not (isinstance(old, int) and isinstance(new, int)):
        return factor
    return {old: 1.0, 2 * old: 2.0}.get(new, factor)


def _places(old: int, new: int, factor: float | None, middle: float) -> _Places | None:
    """Which places those of an axis are, if they are such."""
    if factor is None and not (isinstance(old, int) and isinstance(new, int)):
        return None
    step = 1 / factor if factor else old / new
    found = (
        _Places(0, 1, round(1 / step)) if step < 1 else _Places(int(middle * step), round(step), 1)
    )
    return found if _are_at(found, old, new, step, middle) else None


def _are_at(places: _Places, old: int, new: int, step: float, middle: float) -> bool:
    """Whether the places are those that PyTorch computes, by numbers of either precision.

    With sizes that are not known, they are if these numbers are exact. Of parts of such sizes
    PyTorch would have guards.
    """
    if isinstance(old, int) and isinstance(new, int):
        numbers = np.arange(new)
        taken = places.start + numbers // places.repeats * places.step
        return places.repeats in (1, new / old) and all(
            np.array_equal(
                np.floor((numbers + middle).astype(dtype) * np.asarray(step, dtype)), taken
            )
            for dtype in (np.float32, np.float64)
        )
    is_exact = places.repeats * step == 1 and places.repeats.bit_count() == 1
    return is_exact and places.step == 1


def _takes_part(old: int, new: int, places: _Places) -> bool:
    """Whether elements of an axis are left out; not if sizes are not known (`_are_at`)."""
    are_known = isinstance(old, int) and isinstance(new, int)
    return are_known and places.repeats == 1 and new != old


def _read(image: torch.Tensor, new: Sequence[int], places: Sequence[_Places]) -> torch.Tensor:
    """The new image, in the order in memory that PyTorch gives it."""
    order = suggest_memory_format(image)
    for axis, (size, each) in enumerate(zip(new, places, strict=True), 2):
        if _takes_part(image.shape[axis], size, each):
            end = each.start + (size - 1) * each.step + 1
            image = image[(*[slice(None)] * axis, slice(each.start, end, each.step))]
    batches, old = image.shape[:2], image.shape[2:]
    apart = [part for size in old for part in (size, 1)]
    repeated = [
        part for size, each in zip(old, places, strict=True) for part in (size, each.repeats)
    ]
    image = image.reshape(*batches, *apart).expand(*batches, *repeated)
    sizes = [size * each.repeats for size, each in zip(old, places, strict=True)]
    return image.reshape(*batches, *sizes).contiguous(memory_format=order)
