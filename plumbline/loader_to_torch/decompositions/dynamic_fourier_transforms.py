"""Fourier transforms of complex numbers, of sizes that are only known as the program runs.

A size of few numbers is a product with a matrix. Others, n = l 4^p, take p steps by 4 in a loop,
after one by l with a matrix (`fourier_transforms.py` says what a step is):

    read     [j, rest, lanes]    of 4 places j
    turn     each by its root of unity
    write    [rest, k, lanes]    the transform by 4

Each step reads and writes alike, so that a loop can take any number of them (Pease, 1968), and a
gather puts the results in order at the end. Where l would be large, the transform is a convolution
with a chirp, of a size for which it is not (Bluestein, 1970), in float64: its errors are greater.

How large 4^p is depends on the size's number, so it is read out of a tensor, as `item()` does.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._higher_order_ops.cond import cond_op
from torch._higher_order_ops.while_loop import while_loop_op
from torch.fx.experimental.symbolic_shapes import statically_known_true

from plumbline.loader_to_torch.decompositions.fourier_transforms import (
    F64,
    FORWARD,
    SIGNS,
    product,
    step,
)
from plumbline.loader_to_torch.decompositions.loops import contiguous

_FEW = 64
"""So many numbers are multiplied by a matrix at once."""

_LANES = 8
"""The fewest numbers that lie side by side and are turned alike, those of a vector of float64."""

_MANY_LANES, _MOST_LANES = 128, 512
"""How many the first step transforms by a matrix before a convolution is cheaper: of a size that
is large beside the matrix, more."""

_POWERS = 14
"""The powers of 4 that are tried, all that are less than what a size can be."""


def transform(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """The transform of [outer, part, j, inner], as [outer, k, inner, part]."""
    outer, _, size, inner = numbers.shape
    if _is_few(size):
        return _multiplied(numbers, way)

    shape = (outer, size, inner, 2)
    # PyTorch has to see that the strides of both are the same. Of sizes that values decide it sees
    # it of a flat axis alone.
    common = (-1,) if _hint(size) is None else shape

    def branch(transform: Callable[[torch.Tensor, int], torch.Tensor]) -> Callable[..., Any]:
        return lambda numbers: (contiguous(transform(numbers, way)).reshape(-1).reshape(common),)

    result: torch.Tensor
    is_stepped = _exact_quarter(size) > 0
    (result,) = cond_op(is_stepped, branch(_stepped), branch(_convolved), (numbers,))
    return result.reshape(shape)


def _is_few(size: int) -> bool:
    """Whether a size is small, or that of the example is, which others are taken to be like.

    To have it either way would take thrice as long to compile, for each transform.
    """
    hint = _hint(size)
    return statically_known_true(size <= _FEW) or (hint is not None and hint <= _FEW)


def _hint(size: int) -> int | None:
    """What a size is in the example, if that is known before it runs."""
    if not isinstance(size, torch.SymInt):
        return size
    return int(size.node.hint) if size.node.has_hint() else None


def _multiplied(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """By a matrix, at once."""
    outer, given, size, inner = numbers.shape
    places = torch.arange(size)
    circle = _circle(size, way).to(numbers.dtype)
    matrix = _gathered(circle, places[:, None] * places % size)[:given].transpose(1, 2)
    matrix = matrix.reshape(given * size, 2 * size)
    result = product(numbers.reshape(outer, given * size, inner), matrix)
    return torch.stack(result.reshape(outer, 2, size, inner).unbind(1), -1)


def _stepped(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """By steps, of a size that is a product as these take it."""
    size = numbers.shape[2]
    quarter = _read(_exact_quarter(size), size)
    lanes = size // (4 * quarter)
    steps = _Steps.of(quarter, (1, lanes), numbers.dtype)
    result = steps.transform(_longer(_complex(numbers), steps.length), way)
    return _shorter(result, size).permute(0, 2, 3, 1)


def _convolved(numbers: torch.Tensor, way: int) -> torch.Tensor:
    """As a convolution with a chirp, e^(+-pi i j^2 / size)."""
    dtype, size = numbers.dtype, numbers.shape[2]
    quarter = _read(_roomy_quarter(size), size)
    count = (2 * size - 1) // (4 * _LANES * quarter) + 1
    steps = _Steps.of(quarter, (count, _LANES), F64)
    places = torch.arange(size)
    chirp = _circle(2 * size, way).index_select(2, places * places % (2 * size)).unsqueeze(-1)
    numbers = numbers.to(F64)
    turned = numbers * chirp[0] if numbers.shape[1] == 1 else _turned(numbers, chirp)
    filtered = _turned(
        steps.transform(_longer(turned, steps.length), FORWARD),
        _factors(steps.transform(_around(chirp, steps.length), FORWARD)),
    )
    result = _shorter(steps.transform(filtered, 1 - FORWARD), size)
    return _turned(result, chirp).to(dtype).permute(0, 2, 3, 1)


def _around(chirp: torch.Tensor, length: int) -> torch.Tensor:
    """The conjugates of a chirp, from the last to the first and on, around a circle."""
    size = chirp.shape[2]
    cos, sin = chirp[0, 0], chirp[1, 0]
    conjugate = torch.stack([cos, sin]) / _number(length)
    after = torch.nn.functional.pad(conjugate, (0, 0, 0, length - 2 * size + 1))
    return torch.cat([after, conjugate.narrow(1, 1, size - 1).flip(1)], 1).unsqueeze(0)


def _factors(numbers: torch.Tensor) -> torch.Tensor:
    """One transform's numbers, [1, part, ...], as what others' are multiplied by."""
    x, y = numbers.squeeze(0).unbind(0)
    return torch.stack([torch.stack([x, y]), torch.stack([-y, x])])


# -- sizes -----------------------------------------------------------------------------------------


def _powers() -> torch.Tensor:
    return 4 << (2 * torch.arange(_POWERS))


def _exact_quarter(size: int) -> torch.Tensor:
    """A quarter of the power of 4 that a size is a multiple of, by few lanes, or 0."""
    number, powers = _number(size, torch.int64), _powers()
    lanes = torch.div(number, powers, rounding_mode="floor")
    is_large = (lanes <= _MOST_LANES) & (lanes * lanes <= 4 * number)
    suits = (number % powers == 0) & (lanes >= _LANES) & ((lanes <= _MANY_LANES) | is_large)
    return torch.where(suits, powers // 4, 0).amax()


def _roomy_quarter(size: int) -> torch.Tensor:
    """The same where there are to be as many places as a convolution takes, or more."""
    powers = _powers()
    return torch.where(_LANES * powers < 2 * _number(size, torch.int64), powers // 4, 1).amax()


def _read(quarter: torch.Tensor, size: int) -> int:
    number: int = quarter.item()  # type: ignore[assignment]
    torch._check(number >= 1)  # type: ignore[no-untyped-call]
    torch._check(number <= size)  # type: ignore[no-untyped-call]
    return number


def _number(size: int, dtype: torch.dtype = F64) -> torch.Tensor:
    return torch.full((), size, dtype=dtype)


# -- steps -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Steps:
    """What transforms a size that is a multiple of a power of 4."""

    quarter: int
    """Of that power."""
    vectors: tuple[int, int]
    """The other factor, how many numbers are turned alike: how many vectors, and how long."""
    matrix: torch.Tensor
    """For the first step, [old part and j, new part and lane]."""
    turns: torch.Tensor
    """The roots of unity after that, [old part, new part, place, lane]."""
    roots: torch.Tensor
    """Those of the power, [old part, new part, place]."""
    order: torch.Tensor
    """Where the results of all steps are, [place]: they have the digits by 4 in reverse."""

    @staticmethod
    def of(quarter: int, vectors: tuple[int, int], dtype: torch.dtype) -> "_Steps":
        power, lanes = 4 * quarter, math.prod(vectors)
        circle = _circle(power * lanes, FORWARD).to(dtype)
        places, lane = torch.arange(power), torch.arange(lanes)
        among_lanes = lane[:, None] * lane % lanes * power
        matrix = _gathered(circle, among_lanes).transpose(1, 2).reshape(2 * lanes, 2 * lanes)
        shifts = 1 << (2 * torch.arange(_POWERS))
        weights = torch.div(_number(quarter, torch.int64), shifts, rounding_mode="floor")
        digits = torch.div(places[:, None], shifts, rounding_mode="floor") % 4
        return _Steps(
            quarter,
            vectors,
            matrix,
            _gathered(circle, places[:, None] * lane),
            _gathered(circle, places * lanes),
            (digits * weights).sum(1),
        )

    @property
    def lanes(self) -> int:
        """How many numbers are turned alike."""
        return math.prod(self.vectors)

    @property
    def length(self) -> int:
        """What is transformed."""
        return 4 * self.quarter * self.lanes

    def transform(self, numbers: torch.Tensor, way: int) -> torch.Tensor:
        """The transform of [outer, part, place, inner], as such."""
        outer, inner = numbers.shape[0], numbers.shape[3]
        if way != FORWARD:
            # Forth is the way back where real and imaginary parts change places.
            numbers = numbers.flip(1)
        rows = numbers.reshape(outer, 2 * self.lanes, 4 * self.quarter * inner)
        first = product(rows, self.matrix)
        first = first.reshape(outer, 2, self.lanes, 4 * self.quarter, inner).transpose(2, 3)
        turned = _turned(first, self.turns.unsqueeze(-1))
        count, beside = self.vectors
        turned = turned.reshape(outer, 2, 4 * self.quarter, count, beside * inner)
        result = self._all_steps(turned).index_select(2, self.order)
        result = result.reshape(outer, 2, self.length, inner)
        return result if way == FORWARD else result.flip(1)

    def _all_steps(self, numbers: torch.Tensor) -> torch.Tensor:
        """All steps by 4, of [outer, part, place, vector, number], as such."""

        def goes_on(
            done: torch.Tensor, _: torch.Tensor, numbers: torch.Tensor, roots: torch.Tensor
        ) -> torch.Tensor:
            return done < roots.shape[2]

        def turn(
            done: torch.Tensor, stride: torch.Tensor, numbers: torch.Tensor, roots: torch.Tensor
        ) -> tuple[torch.Tensor, ...]:
            return done * 4, done.clone(), contiguous(_step(numbers, roots, stride))

        # No place is so far that the first step would turn it.
        one, far = _number(1, torch.int64), _number(4 * self.quarter, torch.int64)
        carried = (one, far, contiguous(numbers))
        result: torch.Tensor
        *_, result = while_loop_op(goes_on, turn, carried, (self.roots,))  # type: ignore[arg-type]
        return result


def _step(numbers: torch.Tensor, roots: torch.Tensor, stride: torch.Tensor) -> torch.Tensor:
    """The transforms by 4, of what lies a quarter apart, as what lies side by side.

    What has become of the step before, whose results were so far apart, is turned first.
    """
    outer, _, power, *shape = numbers.shape
    quarter = power // 4
    places = torch.arange(4 * quarter)
    before = torch.div(places, 4, rounding_mode="floor")
    turns = places % 4 * (torch.div(before, stride, rounding_mode="floor") * stride)
    factors = _gathered(roots, turns).reshape(2, 2, 4, quarter, 1, 1)
    turned = _turned(numbers.reshape(outer, 2, 4, quarter, *shape), factors)
    return step(turned, FORWARD, is_last=False).reshape(outer, 2, 4 * quarter, *shape)


# -- complex numbers -------------------------------------------------------------------------------


def _circle(size: int, way: int) -> torch.Tensor:
    """The roots e^(+-2 pi i j / size), as [old part, new part, j]."""
    angles = torch.arange(size).to(F64) * (SIGNS[way] * 2 * math.pi) / _number(size)
    cos, sin = torch.cos(angles), torch.sin(angles)
    return torch.stack([torch.stack([cos, sin]), torch.stack([-sin, cos])])


def _gathered(circle: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Of [old part, new part, j] those at some places, [old part, new part, ...]."""
    if places.dim() == 1:
        return circle.index_select(2, places)
    return circle[:, :, places]


def _turned(numbers: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
    """Products of [outer, part, ...] with [old part, new part, ...]."""
    real, imaginary = (numbers.narrow(1, part, 1) * factors[part].unsqueeze(0) for part in range(2))
    return real + imaginary


def _complex(numbers: torch.Tensor) -> torch.Tensor:
    """With an imaginary part, if there was the real one alone."""
    missing = 2 - numbers.shape[1]
    return torch.nn.functional.pad(numbers, (0, 0, 0, 0, 0, missing)) if missing else numbers


def _longer(numbers: torch.Tensor, length: int) -> torch.Tensor:
    """[outer, part, place, inner], with zeros behind."""
    return torch.nn.functional.pad(numbers, (0, 0, 0, length - numbers.shape[2]))


def _shorter(numbers: torch.Tensor, size: int) -> torch.Tensor:
    """The first places of [outer, part, place, inner]."""
    first, _ = numbers.split_with_sizes([size, numbers.shape[2] - size], 2)
    return first
