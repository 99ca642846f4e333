"""Normal random numbers, from uniform ones by the transform of Box and Muller.

PyTorch has two forms of it. From 16 contiguous elements on it makes them in rows of 16, of the
dtype's own digits, or of float32 where those are fewer; all others it makes one by one, in float64,
two at a time, of which the second waits for the next call.

In float32 the logarithm, sine and cosine are Cephes' (S. Moshier), with the constants, the order
and the roundings of PyTorch's code for AVX2, so that the numbers are the same to the last bit.
"""

import math
from collections.abc import Sequence

import torch

from plumbline.loader_to_torch.decompositions.mersenne_twister import Count, MersenneTwister

_ROW = 16
LEAST_OF_ROWS = 16
"""From so many contiguous elements on, PyTorch makes them in rows."""

_HALF = 8

_LOGARITHM = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_LN2 = (-2.12194440e-4, 0.693359375)
_PI_4 = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
_SINE = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COSINE = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)


def fma(
    left: torch.Tensor, right: torch.Tensor | float, addend: torch.Tensor | float
) -> torch.Tensor:
    """Left * right + addend, rounded once; numbers are rounded to the dtype of `left` first.

    Of float32 the product is exact in float64. Of float64, product and sum are each made of two
    numbers (T. Dekker, "A floating-point technique for extending the available precision", 1971).
    """
    dtype = left.dtype
    right, addend = (
        value if isinstance(value, torch.Tensor) else torch.full((), value, dtype=dtype)
        for value in (right, addend)
    )
    if dtype == torch.float32:
        wide = left.to(torch.float64) * right.to(torch.float64) + addend.to(torch.float64)
        return wide.to(dtype)
    product = left * right
    (high, low), (other_high, other_low) = _halves(left), _halves(right)
    lost = high * other_high - product
    lost = ((lost + high * other_low) + low * other_high) + low * other_low
    total = product + addend
    part = total - product
    rest = (product - (total - part)) + (addend - part)
    return total + (rest + lost)


def _halves(value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two numbers of 26 digits whose sum is the value."""
    scaled = value * (2.0**27 + 1)
    high = scaled - (scaled - value)
    return high, value - high


def _polynomial(x: torch.Tensor, coefficients: Sequence[float]) -> torch.Tensor:
    """In float32, the coefficient of the highest power first."""
    value = torch.full((), coefficients[0], dtype=torch.float32).expand(x.shape)
    for coefficient in coefficients[1:]:
        value = fma(value, x, coefficient)
    return value


def normal_of_any_count(
    generator: MersenneTwister, count: Count, mean: float, spread: float, dtype: torch.dtype
) -> torch.Tensor:
    """`count` numbers, which may be few in one call and many in another: of both forms, one's."""
    number = torch.full((), count, dtype=torch.int64)
    many = number >= LEAST_OF_ROWS
    one_by_one = generator.copy()
    of_rows = _normal_in_any_rows(generator, count, mean, spread, dtype)
    most = LEAST_OF_ROWS - 1
    few = normal_one_by_one(one_by_one, most, torch.clamp(number, max=most))
    few = (few * spread + mean).to(dtype)
    few = few.index_select(0, torch.clamp(torch.arange(count), max=most - 1))
    generator.become_one_of(many, generator, one_by_one)
    return torch.where(many, of_rows, few)


def normal_in_rows(
    generator: MersenneTwister, count: Count, mean: float, spread: float, dtype: torch.dtype
) -> torch.Tensor:
    """`count` numbers, 16 or more."""
    rows, rest = count // _ROW, count % _ROW
    # Where the last row is not full, the last 16 numbers are made anew.
    again = (rest + _ROW - 1) // _ROW
    # There PyTorch drew for all elements first, if it draws to where the result lies.
    skipped = 0 if dtype in (torch.float16, torch.bfloat16) else rest
    wide = dtype == torch.float64
    drawn = _ROW * rows + skipped + _ROW * again
    # In float32 the transform begins with the words themselves.
    numbers = generator.words(2 * drawn if wide else drawn)
    numbers = uniform_double(numbers.reshape(-1, 2)) if wide else numbers
    first = numbers[: _ROW * rows].reshape(-1, 2, _HALF)
    last = numbers[_ROW * rows + skipped :].reshape(-1, 2, _HALF)
    both = torch.cat([first, last])
    cosine, sine = (_turned_double if wide else _turned_single)(both[:, 1])
    length = (_radius_double if wide else _radius_single)(both[:, 0])
    unit = torch.stack([length * cosine, length * sine], 1)
    numbers = fma(unit, spread, mean).to(dtype).reshape(-1)
    return torch.cat([numbers[: count - _ROW * again], numbers[_ROW * rows :]])


def _normal_in_any_rows(
    generator: MersenneTwister, count: Count, mean: float, spread: float, dtype: torch.dtype
) -> torch.Tensor:
    """What `normal_in_rows` gives, by sizes none of which is 0 or 1; of too few, any numbers."""
    rows, rest = (torch.full((), n, dtype=torch.int64) for n in (count // _ROW, count % _ROW))
    again = (rest > 0).to(torch.int64)
    skipped = torch.zeros_like(rest) if dtype in (torch.float16, torch.bfloat16) else rest
    wide = dtype == torch.float64
    # One more than there are, and one for the last numbers made anew.
    most = count // _ROW + 2
    drawn = _ROW * rows + (skipped + _ROW) * again
    if wide:
        numbers = uniform_double(generator.words(2 * _ROW * most, 2 * drawn).reshape(-1, 2))
    else:
        numbers = generator.words(_ROW * most, drawn)
    row = torch.arange(most).unsqueeze(1)
    first = torch.minimum(_ROW * row, _ROW * rows) + torch.where(row < rows, 0, skipped)
    places = (first + torch.arange(_ROW)).reshape(-1)
    both = numbers.index_select(0, places).reshape(-1, 2, _HALF)
    cosine, sine = (_turned_double if wide else _turned_single)(both[:, 1])
    length = (_radius_double if wide else _radius_single)(both[:, 0])
    unit = torch.stack([length * cosine, length * sine], 1)
    numbers = fma(unit, spread, mean).to(dtype).reshape(-1)
    # The last 16 elements have the last row, where that is made anew.
    places = torch.arange(count)
    is_before = places < torch.full((), count, dtype=torch.int64) - _ROW * again
    return numbers.index_select(0, torch.where(is_before, places, places + (_ROW - rest)))


def _radius_double(uniform: torch.Tensor) -> torch.Tensor:
    return torch.sqrt(-2 * torch.log(1 - uniform))


def _turned_double(uniform: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    angle = 2 * math.pi * uniform
    return torch.cos(angle), torch.sin(angle)


def _radius_single(words: torch.Tensor) -> torch.Tensor:
    """Of 24 bits u of each word, sqrt(-2 log(1 - u / 2^24))."""
    bits = ((2**24 - (words & 0xFFFFFF)).to(torch.float32) * 2.0**-24).view(torch.int32)
    # A mantissa from 1/2 to 1, times 2^exponent.
    mantissa = ((bits & 0x7FFFFF) | 0x3F000000).view(torch.float32)
    below = mantissa < torch.full((), math.sqrt(0.5), dtype=torch.float32)
    exponent = ((bits >> 23) - 126 - below.to(torch.int32)).to(torch.float32)
    x = torch.where(below, mantissa + mantissa, mantissa) - 1
    square = x * x
    value = _polynomial(x, _LOGARITHM) * x
    value = fma(value, square, exponent * torch.full((), _LN2[0], dtype=torch.float32))
    value = x + fma(-square, 0.5, value)
    return torch.sqrt(-2 * fma(exponent, _LN2[1], value))


def _turned_single(words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosine and sine of 2 pi u / 2^24, of 24 bits u of each word."""
    uniform = uniform_single(words)
    angle = uniform * torch.full((), 2 * math.pi, dtype=torch.float32)
    eighth = (angle * torch.full((), 4 / math.pi, dtype=torch.float32)).to(torch.int32)
    eighth = (eighth + 1) & ~1
    turns = eighth.to(torch.float32)
    x = angle
    for part in _PI_4:
        x = fma(turns, part, x)
    square = x * x
    cosine = _polynomial(square, _COSINE) * square
    cosine = fma(cosine, square, -(square * 0.5)) + 1
    sine = fma(_polynomial(square, _SINE) * square, x, x)
    straight = (eighth & 2) == 0
    first, second = torch.where(straight, cosine, sine), torch.where(straight, sine, cosine)
    return (
        torch.where(((eighth - 2) & 4) == 0, -first, first),
        torch.where((eighth & 4) == 0, second, -second),
    )


def normal_one_by_one(
    generator: MersenneTwister, count: Count, given: torch.Tensor | None = None
) -> torch.Tensor:
    """`count` numbers around 0 with a spread of 1, in float64.

    Of these, only the first `given` are drawn, where that is not None; others are any.
    """
    if isinstance(count, int) and count == 0:
        return torch.zeros(0, dtype=torch.float64)
    waiting, is_there = generator.normal
    drawn = count if given is None else given
    most = (count + 1) // 2
    pairs = torch.div(drawn - is_there + 1, 2, rounding_mode="floor")
    uniform = uniform_double(generator.words(4 * most, 4 * pairs).reshape(-1, 2)).reshape(-1, 2)
    length = torch.sqrt(-2 * torch.log1p(-uniform[:, 1]))
    angle = 2 * math.pi * uniform[:, 0]
    made = torch.stack([length * torch.cos(angle), length * torch.sin(angle)], 1)
    # One of its own for what waits after the last pair, of which there may be none.
    numbers = torch.cat([waiting.reshape(1), made.reshape(-1), torch.zeros(1, dtype=torch.float64)])
    places = (1 - is_there) + torch.arange(count + 1)
    numbers = numbers.index_select(0, places)
    remains = torch.remainder(drawn - is_there, 2)
    # PyTorch takes no size that depends on values for an index.
    last = torch.full((1,), count) if given is None else given.reshape(1)
    waits = numbers.index_select(0, last)[0]
    generator.normal = torch.where(remains == 1, waits, 0.0), remains
    return numbers[:count]


def uniform_single(words: torch.Tensor) -> torch.Tensor:
    """float32 numbers from 0 to 1, of as many words."""
    return (words & 0xFFFFFF).to(torch.float32) * 2.0**-24


def uniform_double(words: torch.Tensor) -> torch.Tensor:
    """float64 numbers [...] from 0 to 1, of words [..., 2]."""
    high = (words[..., 0] & 0x1FFFFF).to(torch.int64)
    low = words[..., 1].to(torch.int64) & 0xFFFFFFFF
    return ((high << 32) | low).to(torch.float64) * 2.0**-53
