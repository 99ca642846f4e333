"""Roots of unity, and products of complex numbers, whose parts are an axis, [part, ...]."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plumbline.tcp.building import data_movement, sizes
from plumbline.tcp.building.elementwise import apply, compare, like
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast_to, cast, from_size, unsqueeze
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.ops import elementwise as tcp


@dataclass(frozen=True)
class UnitRoots:
    """Roots of unity."""

    cos: Tensor
    sin: Tensor

    @staticmethod
    def of(places: Tensor, count: Size, sign: int) -> "UnitRoots":
        """e^(+-2 pi i j / count), for the j in a tensor of float64, from 0 to less than `count`.

        Parts are exact where they are 0, 1 or -1, and alike where they differ in signs alone: they
        are sines of angles between -pi / 2 and pi / 2.
        """
        counts = broadcast_to(from_size(count, "f64"), sizes.all_of(places))
        quarters = apply(tcp.MulOp, places, like(places, 4))

        def to(number: int) -> Tensor:
            return apply(tcp.SubOp, apply(tcp.MulOp, counts, like(counts, number)), quarters)

        def sine(angles: Tensor, factor: float) -> Tensor:
            turns = apply(tcp.DivfOp, angles, counts)
            return apply(tcp.SinOp, apply(tcp.MulOp, turns, like(turns, factor)))

        after_half, after_first, in_last = (
            compare("lt", to(number), like(places, 0)) for number in (2, 1, 3)
        )
        cos = apply(tcp.SelectOp, after_half, apply(tcp.NegOp, to(3)), to(1))
        sin = apply(tcp.SelectOp, after_first, to(2), quarters)
        sin = apply(tcp.SelectOp, in_last, apply(tcp.NegOp, to(4)), sin)
        return UnitRoots(sine(cos, math.pi / 2), sine(sin, sign * math.pi / 2))

    @staticmethod
    def of_products(rows: Size, columns: Size, count: Size, dtype: str) -> "UnitRoots":
        """e^(-2 pi i j k / count), as [j, k]."""
        shape = [rows, columns]
        places = (data_movement.iota(shape, axis, "f64") for axis in range(2))
        products = apply(tcp.MulOp, *places)
        # Angles of many rounds would not be exact.
        counts = broadcast_to(from_size(count, "f64"), shape)
        rounds = apply(tcp.FloorOp, apply(tcp.DivfOp, products, counts))
        products = apply(tcp.SubOp, products, apply(tcp.MulOp, rounds, counts))
        roots = UnitRoots.of(products, count, -1)
        return UnitRoots(cast(roots.cos, dtype), cast(roots.sin, dtype))

    def reshaped(self, shape: Sequence[Size]) -> "UnitRoots":
        """With other dimensions over the same elements."""
        return UnitRoots(reshape(self.cos, shape), reshape(self.sin, shape))

    def with_axes(self, axes: Sequence[int]) -> "UnitRoots":
        """With dimensions of size 1 added, which `axes` of the result are."""
        return UnitRoots(unsqueeze(self.cos, axes), unsqueeze(self.sin, axes))

    def factors(self) -> list[Tensor]:
        """What the real and the imaginary parts are multiplied by, each as [new part, ...]."""
        minus = apply(tcp.NegOp, self.sin)
        return [stacked(self.cos, self.sin), stacked(minus, self.cos)]

    def times(self, numbers: Tensor, shape: Sequence[Size] | None = None) -> Tensor:
        """Products with numbers, [part, ...]; along axes of size 1 one is for all.

        The sizes of these may be said, where others than those of `numbers` are to be known.
        """
        shape = sizes.all_of(numbers) if shape is None else shape
        products = [
            apply(tcp.MulOp, broadcast_to(part, shape), broadcast_to(factor, shape))
            for part, factor in zip(_parts(numbers, shape), self.factors(), strict=True)
        ]
        return apply(tcp.AddOp, *products)


def times(numbers: Tensor, others: Tensor) -> Tensor:
    """Products of complex numbers; along axes of the others of size 1 one is for all."""
    real, imaginary = (
        reshape(part, sizes.all_of(part)[1:]) for part in _parts(others, sizes.all_of(others))
    )
    return UnitRoots(real, imaginary).times(numbers)


def stacked(real: Tensor, imaginary: Tensor) -> Tensor:
    """Both parts as an axis, [part, ...]."""
    parts = [unsqueeze(part, (0,)) for part in (real, imaginary)]
    return data_movement.concatenate(parts, 0, [2, *real.type.sizes])


def _parts(numbers: Tensor, shape: Sequence[Size]) -> list[Tensor]:
    rank = numbers.type.rank
    return [
        data_movement.slice_(numbers, [part] + [0] * (rank - 1), [1, *shape[1:]], [1] * rank)
        for part in range(2)
    ]


def root(place: int, count: int) -> complex:
    """e^(-2 pi i place / count), whose parts are exact where they are 0, 1 or -1.

    Those that are equal but for signs are so to the last bit.
    """
    # Counted in eighths of a circle, and from the nearest multiple of a quarter.
    eighths = 8 * (-place % count)
    quarter = (eighths + count) // (2 * count)
    eighths -= 2 * count * quarter
    cos, sin = (function(math.pi / 4 * eighths / count) for function in (math.cos, math.sin))
    if eighths == -count:
        sin = -cos
    for _ in range(quarter % 4):
        cos, sin = -sin, cos
    return complex(cos, sin)
