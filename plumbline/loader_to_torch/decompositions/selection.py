"""The element of a rank among many, without putting these in order.

Numbers are turned into integers that are in the same order, and the one of the rank is found bit by
bit, the highest first: a bit is 1 if no more elements than the rank are less than what is known
with it. So all elements are compared as often as there are bits, which vectors do quickly, however
many there are. The first few are found sooner by a sort of which no more is read.
"""

import torch

from plumbline.loader_to_torch.decompositions.loops import looped

_FIRST = 8
"""So many ranks are found by a sort: by selection they take longer, and later ones less."""

_KEYS = {1: torch.int16, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""The integers that numbers of so many bytes become; of one byte some have no sign."""


def of_rank(
    operand: torch.Tensor, rank: int | torch.Tensor, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The element that has so many before it in rising order along `dim`, and the place of one.

    The dimension is kept, with size 1. NaN come last, and -0 before 0.

    Args:
      operand: any numbers, of rank 1 or more.
      rank: less than the size; or one for each, [..., 1, ...].
      dim: what is ranked.
    """
    if isinstance(rank, int) and rank < _FIRST:
        values, places = torch.sort(operand, dim)
        return values.narrow(dim, rank, 1), places.narrow(dim, rank, 1)
    keys = _keys(operand)
    found = _found(keys, rank, dim)
    place = (keys == found).to(torch.int32).argmax(dim, keepdim=True)
    return operand.gather(dim, place), place


def _keys(operand: torch.Tensor) -> torch.Tensor:
    """Integers in the order that numbers are in."""
    dtype = _KEYS[operand.dtype.itemsize]
    if not operand.dtype.is_floating_point:
        return operand.to(dtype)
    bits = operand.view(dtype)
    limits = torch.iinfo(dtype)
    # Of what is less than 0 the bits rise as the number falls, but for the sign.
    keys = torch.where(bits < 0, bits ^ limits.max, bits)
    return torch.where(operand.isnan(), limits.max, keys)


def _found(keys: torch.Tensor, rank: int | torch.Tensor, dim: int) -> torch.Tensor:
    """The key of a rank: the greatest that no more keys than that are less than."""
    limits = torch.iinfo(keys.dtype)
    ranks = rank if isinstance(rank, torch.Tensor) else torch.full((), rank)

    def may_be(least: torch.Tensor | int, keys: torch.Tensor, ranks: torch.Tensor) -> torch.Tensor:
        return (keys < least).sum(dim, keepdim=True, dtype=torch.int32) <= ranks

    def turn(
        bit: torch.Tensor, found: torch.Tensor, keys: torch.Tensor, ranks: torch.Tensor
    ) -> list[torch.Tensor]:
        return [torch.where(may_be(found + bit, keys, ranks), found + bit, found)]

    sign = torch.where(may_be(0, keys, ranks), 0, limits.min).to(keys.dtype)
    # A loop that is known to end needs no look at what a device has computed.
    bits = 1 << torch.arange(limits.bits - 2, -1, -1, dtype=keys.dtype)
    (result,) = looped(turn, [bits], [sign], [keys, ranks])
    return result
