"""Random numbers that are drawn until they are accepted, one after another.

What PyTorch's kernels for the CPU do (aten/src/ATen/native/Distributions.h, Distributions.cpp):

    poisson    products of uniform numbers until they fall below exp(-rate) (D. Knuth), and from a
               rate of 10 on the transformed rejection PTRS (W. Hoermann, "The transformed
               rejection method for generating Poisson random variables", 1993)
    binomial   sums of geometric numbers, and where 10 hits or more are expected the transformed
               rejection BTRS (W. Hoermann, "The generation of binomial random variates", 1993)
    gamma      G. Marsaglia and W. Tsang, "A simple method for generating gamma variables", 2000

Each element takes as many numbers from the generator as it needs: a turn of the loop is one
attempt at one element.
"""

import math
from collections.abc import Callable, Sequence

import torch

from plumbline.loader_to_torch.decompositions.mersenne_twister import MersenneTwister
from plumbline.loader_to_torch.decompositions.normal_numbers import uniform_double

_F64 = torch.float64

_Attempt = Callable[..., tuple[torch.Tensor, torch.Tensor, torch.Tensor, list[torch.Tensor]]]
"""Makes of words, the place of the next one, the parameters of an element, and what is carried
between its attempts whether one is accepted, the number, the place after the words that it took,
and what is carried to the next."""


def _until_accepted(
    twister: MersenneTwister,
    attempt: _Attempt,
    parameters: Sequence[torch.Tensor],
    start: Sequence[float],
    kept: Sequence[torch.Tensor] = (),
    *,
    most: int,
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """One number for each element, in float64.

    Args:
      twister: what is drawn from.
      attempt: what is done until it is accepted; takes `most` words at most.
      parameters: of the elements, float64, each of rank 1.
      start: what each element carries into its first attempt.
      kept: what is carried from element to element, after that.
      most: see above.

    Returns:
      The numbers, and what is kept at last.
    """
    rows = torch.stack(list(parameters), 1)
    count, own = rows.shape[0], len(start)
    if isinstance(count, int) and count == 0:
        return torch.zeros(0, dtype=_F64), list(kept)

    def turn(
        words: torch.Tensor,
        place: torch.Tensor,
        element: torch.Tensor,
        numbers: torch.Tensor,
        *rest: torch.Tensor,
    ) -> list[torch.Tensor]:
        *carried, rows = rest
        where = element.reshape(1)
        row = rows.index_select(0, where).reshape(-1).unbind()
        accepted, number, place, carried = attempt(words, place, row, carried)
        anew = [
            torch.where(accepted, first, value)
            for first, value in zip(start, carried, strict=False)
        ]
        numbers = numbers.index_put((where,), number.reshape(1))
        return [place, element + accepted, numbers, *anew, *carried[own:]]

    first = [torch.full((), value, dtype=_F64) for value in start]
    _, numbers, *last = twister.words_in_turn(
        most,
        lambda element, numbers, *_: element < numbers.shape[0],
        turn,
        [torch.zeros((), dtype=torch.int64), torch.zeros(count, dtype=_F64), *first, *kept],
        [rows],
    )
    return numbers, last[own:]


def _uniform(words: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """The number from 0 to 1 of the two words there."""
    return uniform_double(words.index_select(0, place + torch.arange(2)))


# -- Poisson's numbers -----------------------------------------------------------------------------


def poisson(twister: MersenneTwister, rates: torch.Tensor) -> torch.Tensor:
    """How often what happens at these rates, float64 [count], happens."""
    many = rates >= 10
    # A rate of another method, so that nothing is computed of a number beyond its range.
    rate = torch.where(many, rates, 10.0)
    b = 0.931 + 2.53 * torch.sqrt(rate)
    a = -0.059 + 0.02483 * b
    parameters = [
        rates,
        torch.exp(-rates),
        rate,
        torch.log(rate),
        a,
        b,
        torch.log(1.1239 + 1.1328 / (b - 3.4)),
        0.9277 - 3.6224 / (b - 2),
    ]
    numbers, _ = _until_accepted(twister, _poisson, parameters, [0.0, 1.0], most=4)
    return numbers


def _poisson(
    words: torch.Tensor,
    place: torch.Tensor,
    row: Sequence[torch.Tensor],
    carried: Sequence[torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    own_rate, least, rate, log_rate, a, b, log_inverse, limit = row
    passed, product = carried
    never, many = own_rate == 0, own_rate >= 10
    first, second = _uniform(words, place), _uniform(words, place + 2)
    product = product * first
    few = product <= least
    left = first - 0.5
    distance = 0.5 - left.abs()
    number = torch.floor((2 * a / distance + b) * left + rate + 0.43)
    inside = (distance >= 0.07) & (second <= limit)
    outside = (number < 0) | ((distance < 0.013) & (second > distance))
    ratio = torch.log(second) + log_inverse - torch.log(a / (distance * distance) + b)
    density = -rate + number * log_rate - torch.lgamma(number + 1)
    accepted = never | torch.where(many, inside | (~outside & (ratio <= density)), few)
    taken = torch.where(never, 0, torch.where(many, 4, 2))
    result = torch.where(never, 0.0, torch.where(many, number, passed))
    return accepted, result, place + taken, [passed + 1, product]


# -- binomial numbers ------------------------------------------------------------------------------

_TAILS = tuple(
    math.lgamma(k + 1) - (k + 0.5) * math.log(k + 1) + (k + 1) - 0.5 * math.log(2 * math.pi)
    for k in range(10)
)
"""What Stirling's approximation of log(k!) lacks, for small k."""


def _tail(k: torch.Tensor) -> torch.Tensor:
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    exact = torch.full_like(k, _TAILS[0])
    for number, value in enumerate(_TAILS[1:], 1):
        exact = torch.where(k >= number, value, exact)
    return torch.where(k < len(_TAILS), exact, series)


def binomial(twister: MersenneTwister, counts: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """How many of so many [count] hit, with these chances, float32 or float64 [count].

    Some of the parameters are PyTorch's in the dtype of these, and are rounded to it.
    """
    # The fewer of hits and misses are drawn.
    turned = chances > 0.5
    chance = torch.where(turned, 1.0 - chances.to(_F64), chances.to(_F64)).to(chances.dtype)
    drawn = (counts > 0) & (chances > 0) & (chances < 1)
    many = drawn & (counts * chance >= 10)
    # Numbers of the other methods, of which all here is finite.
    chance = torch.where(drawn, chance, 0.5)
    count = torch.where(many, counts, 40.0)
    likely = torch.where(many, chance, 0.5)
    spread = torch.sqrt(count * likely * (1 - likely)).to(_F64)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * likely.to(_F64)
    mode = torch.floor((count + 1) * likely).to(_F64)
    odds = (likely / (1 - likely)).to(_F64)
    wide = count.to(_F64)
    parameters = [
        drawn.to(_F64),
        many.to(_F64),
        counts.to(_F64),
        torch.log1p(-chance).to(_F64),
        a,
        b,
        (count * likely).to(_F64) + 0.5,
        0.92 - 4.2 / b,
        odds,
        (2.83 + 5.1 / b) * spread,
        (mode + 0.5) * torch.log((mode + 1) / (odds * (wide - mode + 1)))
        + _tail(mode)
        + _tail(wide - mode),
        wide - mode + 1,
    ]
    numbers, _ = _until_accepted(twister, _binomial, parameters, [0.0, 0.0], most=4)
    hits = torch.where(drawn & turned, counts.to(_F64) - numbers, numbers)
    certain = torch.where(chances >= 1, counts.to(_F64), 0.0)
    certain = torch.where((counts > 0) & chances.isnan(), math.nan, certain)
    return torch.where(drawn, hits, torch.where(counts > 0, certain, 0.0))


def _binomial(
    words: torch.Tensor,
    place: torch.Tensor,
    row: Sequence[torch.Tensor],
    carried: Sequence[torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    drawn, many, count, log_miss, a, b, centre, limit, odds, alpha, bound, rest = row
    drawn, many = drawn != 0, many != 0
    hits, passed = carried
    first, second = _uniform(words, place), _uniform(words, place + 2)
    passed = passed + torch.ceil(torch.log(first) / log_miss)
    left = first - 0.5
    distance = 0.5 - left.abs()
    number = torch.floor((2 * a / distance + b) * left + centre)
    in_range = (number >= 0) & (number <= count)
    number = torch.clamp(number, min=torch.zeros((), dtype=_F64), max=count)
    inside = (distance >= 0.07) & (second <= limit)
    ratio = torch.log(second * alpha / (a / (distance * distance) + b))
    misses = count - number + 1
    bound = (
        bound
        + (count + 1) * torch.log(rest / misses)
        + (number + 0.5) * torch.log(odds * misses / (number + 1))
        - _tail(number)
        - _tail(count - number)
    )
    accepted = ~drawn | torch.where(many, in_range & (inside | (ratio <= bound)), passed > count)
    taken = torch.where(drawn, torch.where(many, 4, 2), 0)
    return accepted, torch.where(many, number, hits), place + taken, [hits + 1, passed]


# -- gamma's numbers -------------------------------------------------------------------------------


def gamma(twister: MersenneTwister, shapes: torch.Tensor) -> torch.Tensor:
    """Numbers of Gamma distributions of these shapes, float32 or float64 [count], in float64."""
    boosted = shapes < 1
    drawn = shapes != 0
    shape = torch.where(boosted, shapes + 1, shapes)
    # In the dtype of the shapes, but for the third, which is a number of float32 always.
    third = torch.full((), 1 / 3, dtype=torch.float32)
    d = (shape - third.to(shape.dtype)).to(_F64)
    exponent = torch.where(drawn, 1 / torch.where(drawn, shapes, 1.0), 1.0)
    parameters = [
        drawn.to(_F64),
        (boosted & drawn).to(_F64),
        exponent.to(_F64),
        d,
        1 / torch.sqrt(9 * d),
    ]
    # The scale, which is below 0 before the first attempt.
    numbers, kept = _until_accepted(twister, _gamma, parameters, [-1.0], twister.normal, most=8)
    twister.normal = kept[0], kept[1]
    return torch.where(drawn, numbers, 0.0)


_SQUEEZE = 0.03310000151395798
"""0.0331 in float32."""


def _gamma(
    words: torch.Tensor,
    place: torch.Tensor,
    row: Sequence[torch.Tensor],
    carried: Sequence[torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    drawn, boosted, exponent, d, c = row
    scale, waiting, is_there = carried
    drawn = drawn != 0
    boosts = (scale < 0) & (boosted != 0)
    boost = torch.pow(1 - _uniform(words, place), exponent)
    scale = torch.where(scale < 0, torch.where(boosts, boost, 1.0), scale)
    place = place + torch.where(boosts, 2, 0)
    # A normal number, of which two are made at a time.
    angle = 2 * math.pi * _uniform(words, place)
    length = torch.sqrt(-2 * torch.log1p(-_uniform(words, place + 2)))
    has = is_there != 0
    normal = torch.where(has, waiting, length * torch.cos(angle))
    after = place + torch.where(has, 0, 4)
    base = 1 + c * normal
    positive = base > 0
    cube = base * base * base
    uniform = 1 - _uniform(words, after)
    square = normal * normal
    inside = uniform < 1 - _SQUEEZE * square * square
    log_cube = torch.log(torch.where(positive, cube, 1.0))
    below = torch.log(uniform) < 0.5 * square + d * (1 - cube + log_cube)
    accepted = ~drawn | (positive & (inside | below))
    end = torch.where(drawn, after + torch.where(positive, 2, 0), place)
    waiting = torch.where(drawn & ~has, length * torch.sin(angle), waiting)
    is_there = torch.where(drawn, 1 - is_there, is_there)
    return accepted, scale * d * cube, end, [scale, waiting, is_there]
