"""Fourier transforms of sizes that are only known as the program runs.

Where a size is no product of small primes, the transform is a convolution with a chirp, by
transforms of a power of 2 (Bluestein, 1970), in float64: its errors are greater.

Numbers are [part, place, lane] on the way: real and imaginary parts, and side by side all that is
transformed alike.
"""

from functools import partial

from torch_mlir import ir

from plumbline.tcp.building import data_movement, sizes
from plumbline.tcp.building.elementwise import apply, compare, like
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast_to, cast, from_size, scalar, unsqueeze
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, built
from plumbline.tcp.ops import elementwise as tcp
from plumbline.tcp.shapes import DYNAMIC
from plumbline.torch_to_tcp.fourier_steps import (
    POWERS_OF_2,
    SMALL_PRIMES,
    has_small_primes,
    in_steps,
)
from plumbline.torch_to_tcp.pattern import Patterns, integer, tensor
from plumbline.torch_to_tcp.run_time_loops import carried, is_equal, is_less, one_of_two, repeated
from plumbline.torch_to_tcp.unit_roots import UnitRoots, stacked, times


def convert_plumbline_fourier_transform(op: ir.OpView) -> ir.Value:
    """The transform of [outer, part, place, inner], as [outer, place, inner, part].

    There may be the real part alone. A number, 1 or -1, says which way it goes.
    """
    numbers, sign = tensor(op.operands[0]), integer(op.operands[1])
    outer, _, size, inner = sizes.all_of(numbers)
    lanes = sizes.multiply(outer, inner)
    whole = data_movement.transpose(_with_both_parts(numbers, sign), (1, 2, 0, 3))
    whole = reshape(whole, [2, size, lanes])
    result = one_of_two(
        has_small_primes(size),
        whole.type,
        partial(in_steps, whole, SMALL_PRIMES, others=True),
        partial(_convolved, whole),
    )
    # Of what a branch gives nobody knows the sizes.
    result = data_movement.slice_(result, [0, 0, 0], [2, size, lanes], [1, 1, 1])
    if sign > 0:
        result = data_movement.reverse(result, (0,))
    apart = reshape(result, [2, size, outer, inner])
    return data_movement.transpose(apart, (2, 1, 3, 0)).value


def _with_both_parts(numbers: Tensor, sign: int) -> Tensor:
    """Numbers with an imaginary part, [outer, part, place, inner].

    Back is forth where the parts change places, of what is transformed and of what that becomes.
    """
    if numbers.type.sizes[1] == 2:
        return data_movement.reverse(numbers, (1,)) if sign > 0 else numbers
    none: list[Size] = [0, 0, 0, 0]
    one: list[Size] = [0, 1, 0, 0]
    low, high = (one, none) if sign > 0 else (none, one)
    return data_movement.pad(numbers, scalar(0, numbers.type.dtype), low, high)


def _convolved(numbers: Tensor) -> Tensor:
    """The transform as a convolution with a chirp, e^(-pi i j^2 / size)."""
    _, size, lanes = sizes.all_of(numbers)
    needed = sizes.subtract(sizes.multiply(2, size), 1)
    (length,) = repeated(
        [1], lambda power: is_less(power, needed), lambda power: [sizes.multiply(power, 2)]
    )
    chirp = _chirp(data_movement.iota([size], 0, "si64"), size, -1).with_axes((1,))
    more: list[Size] = [0, sizes.subtract(length, size), 0]
    padded = data_movement.pad(chirp.times(cast(numbers, "f64")), scalar(0, "f64"), [0, 0, 0], more)
    # The filter is one more lane, so that all is transformed at once, and back.
    count = sizes.static(sizes.add(lanes, 1))
    both = data_movement.concatenate([padded, _filter(size, length)], 2, [2, DYNAMIC, count])

    def turn(number: ir.Value, before: Tensor) -> tuple[Tensor]:
        after = in_steps(before, POWERS_OF_2, others=False)

        def filtered() -> Tensor:
            found = times(after, data_movement.slice_along(after, 2, lanes, 1))
            return data_movement.reverse(found, (0,))

        return (one_of_two(is_equal(number, 0), before.type, filtered, lambda: after),)

    result = carried(2, both, turn)
    result = data_movement.slice_(result, [0, 0, 0], [2, size, lanes], [1, 1, 1])
    return cast(chirp.times(data_movement.reverse(result, (0,))), numbers.type.dtype)


def _filter(size: Size, length: Size) -> Tensor:
    """The conjugates of a chirp to both sides of 0, over what transforms scale by."""
    places = data_movement.iota([length], 0, "si64")
    around = apply(tcp.SubOp, broadcast_to(from_size(length), [length]), places)
    places = apply(tcp.SelectOp, compare("lt", places, around), places, around)
    is_there = compare("lt", places, broadcast_to(from_size(size), [length]))
    scale = broadcast_to(from_size(length, "f64"), [length])
    chirp = _chirp(places, size, 1)
    real, imaginary = (
        apply(tcp.SelectOp, is_there, apply(tcp.DivfOp, part, scale), like(part, 0))
        for part in (chirp.cos, chirp.sin)
    )
    return unsqueeze(stacked(real, imaginary), (2,))


def _chirp(places: Tensor, size: Size, sign: int) -> UnitRoots:
    """e^(+-pi i j^2 / size), for the j in a tensor."""
    twice = sizes.multiply(2, size)
    circle = broadcast_to(from_size(twice), sizes.all_of(places))
    squares = apply(tcp.MulOp, places, places)
    around = built(tcp.RemsiOp(squares.value, circle.value), places.type.dtype)
    return UnitRoots.of(cast(around, "f64"), twice, sign)


PATTERNS: Patterns = {
    "torch.plumbline.fourier_transform": convert_plumbline_fourier_transform,
}
