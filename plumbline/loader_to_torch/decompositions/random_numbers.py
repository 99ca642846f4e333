"""Ops that draw random numbers, of a generator whose state the program hands from one to the next.

The numbers are those of PyTorch's kernels for the CPU, which take them from the generator one after
another, in the order in which the elements lie in memory.
"""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from torch._higher_order_ops.scan import scan_op
from torch._prims_common import is_contiguous_or_false
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.fx.experimental.symbolic_shapes import statically_known_true

from plumbline.loader_to_torch.decompositions import rejection_sampling
from plumbline.loader_to_torch.decompositions.linear_algebra import assert_none
from plumbline.loader_to_torch.decompositions.mersenne_twister import (
    STATE_BYTES,
    Count,
    MersenneTwister,
)
from plumbline.loader_to_torch.decompositions.normal_numbers import (
    LEAST_OF_ROWS,
    fma,
    normal_in_rows,
    normal_of_any_count,
    normal_one_by_one,
    uniform_double,
    uniform_single,
)
from plumbline.loader_to_torch.decompositions.rule import Rule, Rules, broadcast

__all__ = ["DRAWING_OPS", "RULES", "draw_from", "drawn_from"]

aten = torch.ops.aten

_F64 = torch.float64

_current: ContextVar[tuple[MersenneTwister, object] | None] = ContextVar("_current", default=None)
"""The generator of the program that is traced, and what traces it; None: it has none."""


class _NothingToDrawFromError(Exception):
    """A rule is to draw where there is no generator."""


class _Nothing(MersenneTwister):
    """Stands for a generator where there is none."""

    def __init__(self) -> None:
        super().__init__(torch.zeros(STATE_BYTES, dtype=torch.uint8))

    def words(self, count: Count, given: torch.Tensor | None = None) -> torch.Tensor:
        if not isinstance(count, int) or count > 0:
            raise _NothingToDrawFromError
        return super().words(count, given)

    def words_in_turn(self, *_: Any, **__: Any) -> list[torch.Tensor]:
        raise _NothingToDrawFromError


def _drawn(rule: Callable[..., Any]) -> Rule:
    """The rule of an op that draws; none where the program does not have the state as an argument.

    A branch or a loop is handed a state of its own (`nested_draws.py`). What has no elements draws
    nothing.
    """

    def decomposed(*arguments: Any, generator: Any = None, **options: Any) -> Any:
        current = _current.get()
        if current is None or generator is not None or current[1] is not _tracer():
            current = _Nothing(), None
        try:
            return rule(current[0], *arguments, **options)
        except _NothingToDrawFromError:
            return NotImplemented

    return decomposed


def _tracer() -> object:
    mode = get_proxy_mode()
    return None if mode is None else mode.tracer


@torch.library.custom_op("plumbline::draw_from", mutates_args=())
def draw_from(state: torch.Tensor) -> torch.Tensor:
    """Has what follows draw from a generator of this state, which it returns."""
    torch.set_rng_state(state)
    return state.clone()


@torch.library.custom_op("plumbline::drawn_from", mutates_args=())
def drawn_from(state: torch.Tensor) -> torch.Tensor:
    """The state of the generator, after all that was drawn since `draw_from` returned `state`."""
    return torch.get_rng_state()


@draw_from.register_fake
@drawn_from.register_fake
def _(state: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(state)


# Of it comes what is drawn after it, even if nothing reads what it returns.
torch.fx.node.has_side_effect(draw_from._opoverload)


def _draw_from(state: torch.Tensor) -> torch.Tensor:
    _current.set((MersenneTwister(state), _tracer()))
    return state


def _drawn_from(state: torch.Tensor) -> torch.Tensor:
    current = _current.get()
    assert current is not None
    _current.set(None)
    return current[0].state()


# -- where elements lie ----------------------------------------------------------------------------


def _count(size: Sequence[Count]) -> Count:
    return math.prod(size)


def _as_it_lies(numbers: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Numbers in the order in which the elements of `like` lie in memory, in its shape."""
    if is_contiguous_or_false(like):
        return numbers.reshape(like.shape)
    strides = like.stride()
    order = sorted(range(like.dim()), key=lambda axis: strides[axis], reverse=True)
    lying = numbers.reshape([like.shape[axis] for axis in order])
    return lying.permute([order.index(axis) for axis in range(like.dim())])


def _flat(operand: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The elements of `operand` in the order in which those of `like` lie in memory."""
    operand = operand.expand(like.shape)
    if is_contiguous_or_false(like):
        return operand.reshape(-1)
    strides = like.stride()
    order = sorted(range(like.dim()), key=lambda axis: strides[axis], reverse=True)
    return operand.permute(order).reshape(-1)


def _empty(size: Sequence[Count], dtype: torch.dtype | None = None, **_: Any) -> torch.Tensor:
    """What has the shape, dtype and strides of a result."""
    return torch.empty(size, dtype=dtype or torch.get_default_dtype())


def _empty_like(
    like: torch.Tensor,
    dtype: torch.dtype | None = None,
    memory_format: torch.memory_format | None = None,
    **_: Any,
) -> torch.Tensor:
    return torch.empty_like(
        like, dtype=dtype or like.dtype, memory_format=memory_format or torch.preserve_format
    )


_Fill = Callable[..., torch.Tensor]
"""What draws the elements of a tensor, as the method does whose name ends in an underscore."""


def _made(fill: _Fill) -> Rule:
    return _drawn(lambda twister, size, **options: fill(twister, _empty(size, **options)))


def _made_like(fill: _Fill) -> Rule:
    return _drawn(lambda twister, like, **options: fill(twister, _empty_like(like, **options)))


# -- uniform numbers -------------------------------------------------------------------------------


def _doubles(twister: MersenneTwister, count: Count) -> torch.Tensor:
    """From 0 to 1, in float64."""
    return uniform_double(twister.words(2 * count).reshape(-1, 2))


def _uniform(
    twister: MersenneTwister, like: torch.Tensor, low: float = 0.0, high: float = 1.0
) -> torch.Tensor:
    if like.is_complex():
        return torch.view_as_complex(_uniform(twister, torch.view_as_real(like), low, high))
    count = like.numel()
    wide = like.dtype == _F64
    unit = _doubles(twister, count) if wide else uniform_single(twister.words(count))
    first, last = (torch.full((), end, dtype=unit.dtype) for end in (low, high))
    numbers = (unit if (low, high) == (0, 1) else fma(unit, last - first, first)).to(like.dtype)
    # What was rounded up to the end, which is not of the range.
    ends = (torch.full((), end, dtype=like.dtype) for end in (high, low))
    numbers = torch.where(numbers == next(ends), next(ends), numbers)
    return _as_it_lies(numbers, like)


def _of_doubles(transform: Callable[..., torch.Tensor]) -> _Fill:
    """What makes each element of a uniform number in float64, and of the op's numbers."""

    def fill(twister: MersenneTwister, like: torch.Tensor, *numbers: float) -> torch.Tensor:
        drawn = transform(_doubles(twister, like.numel()), *numbers)
        return _as_it_lies(drawn.to(like.dtype), like)

    return fill


def _exponential(uniform: torch.Tensor, rate: float = 1.0) -> torch.Tensor:
    return (-1.0 / rate) * torch.log1p(-uniform)


def _cauchy(uniform: torch.Tensor, median: float = 0.0, spread: float = 1.0) -> torch.Tensor:
    return median + spread * torch.tan(math.pi * (uniform - 0.5))


def _geometric(uniform: torch.Tensor, probability: float) -> torch.Tensor:
    return torch.ceil(torch.log(uniform) / math.log1p(-probability))


# -- normal numbers --------------------------------------------------------------------------------


def _normal(
    twister: MersenneTwister, like: torch.Tensor, mean: float = 0.0, spread: float = 1.0
) -> torch.Tensor:
    if like.is_complex():
        # Half of the variance is that of the real part, and half that of the imaginary one.
        parts = _normal(twister, torch.view_as_real(like), mean, spread / math.sqrt(2))
        return torch.view_as_complex(parts)
    count = like.numel()
    if is_contiguous_or_false(like) and not statically_known_true(count < LEAST_OF_ROWS):
        is_known = statically_known_true(count >= LEAST_OF_ROWS)
        draw = normal_in_rows if is_known else normal_of_any_count
        return draw(twister, count, mean, spread, like.dtype).reshape(like.shape)
    numbers = normal_one_by_one(twister, count) * spread + mean
    return _as_it_lies(numbers.to(like.dtype), like)


def _normal_around(
    twister: MersenneTwister, mean: torch.Tensor, spread: torch.Tensor | float = 1.0
) -> torch.Tensor:
    if not isinstance(spread, torch.Tensor):
        return _normal(twister, torch.empty(mean.shape, dtype=mean.dtype), 0.0, spread) + mean
    dtype = torch.result_type(mean, spread)
    mean, spread = broadcast(mean, spread)
    return _normal(twister, torch.empty(mean.shape, dtype=dtype)) * spread + mean


def _normal_of_spreads(twister: MersenneTwister, mean: float, spread: torch.Tensor) -> torch.Tensor:
    unit = _normal(twister, torch.empty(spread.shape, dtype=spread.dtype))
    return unit * spread + mean


def _normal_of_size(
    twister: MersenneTwister, mean: float, spread: float, size: Sequence[Count], **options: Any
) -> torch.Tensor:
    return _normal(twister, _empty(size, **options), mean, spread)


def _log_normal(
    twister: MersenneTwister, like: torch.Tensor, mean: float = 1.0, spread: float = 2.0
) -> torch.Tensor:
    numbers = torch.exp(normal_one_by_one(twister, like.numel()) * spread + mean)
    return _as_it_lies(numbers.to(like.dtype), like)


# -- whole numbers ---------------------------------------------------------------------------------

# From so many on, PyTorch takes two words for each.
_MANY = 2**28

# How many digits of the words are kept, where no range is given.
_DIGITS = {
    torch.float16: 11,
    torch.bfloat16: 8,
    torch.float32: 24,
    torch.float64: 53,
}


def _from_to(twister: MersenneTwister, like: torch.Tensor, low: int, high: int) -> Any:
    # An end may be a size, which is not known.
    if not isinstance(low, int) or not isinstance(high, int):
        return NotImplemented
    count, many = like.numel(), high - low
    if many < _MANY:
        numbers = torch.remainder(_unsigned(twister.words(count)), many)
    elif many < 2**63:
        numbers = _remainder(_long(twister, count), many)
    else:
        return NotImplemented
    return _as_it_lies((numbers + low).to(like.dtype), like)


def _to(twister: MersenneTwister, like: torch.Tensor, high: int) -> Any:
    return _from_to(twister, like, 0, high)


def _random(twister: MersenneTwister, like: torch.Tensor) -> torch.Tensor:
    """From 0 to the greatest number of an integer type, or that of the digits of a float."""
    dtype, count = like.dtype, like.numel()
    if dtype in (torch.float64, torch.int64):
        numbers = _long(twister, count)
    else:
        numbers = _unsigned(twister.words(count))
    if dtype in _DIGITS:
        numbers = _remainder(numbers, 2 ** _DIGITS[dtype] + 1)
    else:
        numbers = numbers & (1 if dtype == torch.bool else torch.iinfo(dtype).max)
    return _as_it_lies(numbers.to(dtype), like)


def _unsigned(words: torch.Tensor) -> torch.Tensor:
    return words.to(torch.int64) & 0xFFFFFFFF


def _long(twister: MersenneTwister, count: Count) -> torch.Tensor:
    """Numbers of 64 bits."""
    words = twister.words(2 * count).reshape(-1, 2)
    return (words[:, 0].to(torch.int64) << 32) | _unsigned(words[:, 1])


def _remainder(numbers: torch.Tensor, divisor: int) -> torch.Tensor:
    """Of what the bits of int64 are without a sign."""
    half = torch.remainder((numbers >> 1) & (2**63 - 1), divisor)
    last = numbers & 1
    # Twice the half and the last bit, less the divisor where that goes, never beyond int64.
    less = half - (divisor - half - last)
    return torch.where(less >= 0, less, less + divisor)


def _randint(twister: MersenneTwister, *ends_and_size: Any, **options: Any) -> Any:
    *ends, size = ends_and_size
    low, high = ends if len(ends) == 2 else (0, *ends)
    options["dtype"] = options.get("dtype") or torch.int64
    return _from_to(twister, _empty(size, **options), low, high)


def _randint_like(twister: MersenneTwister, like: torch.Tensor, *ends: Any, **options: Any) -> Any:
    low, high = ends if len(ends) == 2 else (0, *ends)
    return _from_to(twister, _empty_like(like, **options), low, high)


def _randperm(
    twister: MersenneTwister, count: Count, dtype: torch.dtype | None = None, **_: Any
) -> torch.Tensor:
    """Each place changes with one from there on (R. Fisher and F. Yates)."""
    numbers = torch.arange(count)
    if isinstance(count, int) and count < 2:
        return numbers.to(dtype or torch.int64)
    first = torch.arange(count - 1)
    other = first + torch.remainder(_unsigned(twister.words(count - 1)), count - first)

    def turn(numbers: torch.Tensor, first: torch.Tensor, other: torch.Tensor) -> list[torch.Tensor]:
        places = torch.stack([first, other])
        return [numbers.index_put((places,), numbers.index_select(0, places.flip(0)))]

    shuffled: torch.Tensor
    (shuffled,) = scan_op(turn, [numbers], [first, other], ())
    return shuffled.to(dtype or torch.int64)


# -- chances ---------------------------------------------------------------------------------------


def _bernoulli(
    twister: MersenneTwister, like: torch.Tensor, chance: torch.Tensor | float
) -> torch.Tensor:
    """1 with a chance, which if it is a tensor has the order of `like`."""
    count = like.numel()
    if isinstance(chance, torch.Tensor):
        flat = _flat(chance, like)
        if chance.dtype == _F64:
            hits = _doubles(twister, count) < flat
        else:
            hits = uniform_single(twister.words(count)) < flat.to(torch.float32)
    else:
        hits = _doubles(twister, count) < chance
    return _as_it_lies(hits, like).to(like.dtype)


def _bernoulli_of(twister: MersenneTwister, chances: torch.Tensor) -> torch.Tensor:
    result = torch.empty(chances.shape, dtype=chances.dtype)
    return _bernoulli(twister, result, chances)


def _native_dropout(
    twister: MersenneTwister, operand: torch.Tensor, chance: float, train: bool | None
) -> Any:
    """What torch.export makes of `F.dropout`, whose numbers these are.

    The op itself, which is for GPUs, multiplies by 1 / (1 - chance) in two steps, and draws even
    where all is dropped.
    """
    if train is False:
        return operand.clone(), torch.ones_like(operand, dtype=torch.bool)
    if chance == 1:
        nothing = torch.zeros_like(operand, dtype=torch.bool)
        return operand * nothing, nothing
    kept = _bernoulli(twister, torch.empty_like(operand, dtype=torch.bool), 1 - chance)
    return operand * kept.to(operand.dtype).div(1 - chance), kept


def _multinomial(
    twister: MersenneTwister, weights: torch.Tensor, count: int, replacement: bool = False
) -> torch.Tensor:
    """Places in the last dimension, with chances by their weights."""
    if not replacement or count == 1:
        exponential = _of_doubles(_exponential)(twister, weights)
        # A race of them all, which the first ones win.
        quotients = weights / exponential
        if count == 1:
            return quotients.argmax(-1, keepdim=True)
        return quotients.topk(count).indices
    sums = weights.cumsum(-1)
    shares = sums / sums[..., -1:]
    uniform = _doubles(twister, _count(weights.shape[:-1]) * count)
    drawn = uniform.reshape(*weights.shape[:-1], count)
    # The last one is taken for 1, whatever it was rounded to.
    passed = shares[..., :-1].to(_F64).unsqueeze(-2) < drawn.unsqueeze(-1)
    return passed.to(torch.int64).sum(-1)


def _rrelu(
    twister: MersenneTwister,
    operand: torch.Tensor,
    noise: torch.Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
) -> Any:
    """Elements that are not above 0 are scaled by numbers, of which the others take none."""
    if not training:
        return NotImplemented
    flat = operand.reshape(-1)
    scaled = flat <= 0
    so_far = scaled.to(torch.int64).cumsum(0)
    count = operand.numel()
    words = twister.words(2 * count, 2 * scaled.to(torch.int64).sum())
    if operand.dtype != _F64:
        lower, upper = float(np.float32(lower)), float(np.float32(upper))
    numbers = fma(uniform_double(words.reshape(-1, 2)), upper - lower, lower)
    scales = numbers.index_select(0, torch.clamp(so_far - 1, min=0)).to(operand.dtype)
    scales = torch.where(scaled, scales, 1.0).to(operand.dtype)
    return (flat * scales).reshape(operand.shape), scales.reshape(operand.shape)


# -- numbers that are drawn until they are accepted ------------------------------------------------


def _poisson(twister: MersenneTwister, rates: torch.Tensor) -> torch.Tensor:
    assert_none(rates < 0, "poisson: expected rate to be non-negative")
    numbers = rejection_sampling.poisson(twister, rates.to(_F64).reshape(-1))
    return numbers.reshape(rates.shape).to(rates.dtype)


def _binomial(
    twister: MersenneTwister, counts: torch.Tensor, chances: torch.Tensor
) -> torch.Tensor:
    shape, dtype = counts.shape, counts.dtype
    counts, chances = counts.reshape(-1), chances.expand(shape).reshape(-1)
    return rejection_sampling.binomial(twister, counts, chances).reshape(shape).to(dtype)


def _standard_gamma(twister: MersenneTwister, shapes: torch.Tensor) -> torch.Tensor:
    numbers = rejection_sampling.gamma(twister, shapes.reshape(-1)).to(shapes.dtype)
    return numbers.clamp(min=torch.finfo(shapes.dtype).tiny).reshape(shapes.shape)


def _sample_dirichlet(twister: MersenneTwister, shapes: torch.Tensor) -> torch.Tensor:
    """Shares of gamma's numbers in their sum, which are above 0 and below 1."""
    numbers = rejection_sampling.gamma(twister, shapes.to(_F64).reshape(-1))
    numbers = numbers.clamp(min=torch.finfo(_F64).tiny).reshape(shapes.shape)
    shares = (numbers / numbers.sum(-1, keepdim=True)).to(shapes.dtype)
    limits = torch.finfo(shapes.dtype)
    # Below 1 numbers are half as far apart as above it, by which `eps` is measured.
    return shares.clamp(min=limits.tiny, max=1 - limits.eps / 2)


_OWN: Rules = {
    aten._sample_dirichlet.default: _drawn(_sample_dirichlet),
    aten._standard_gamma.default: _drawn(_standard_gamma),
    aten.bernoulli.default: _drawn(_bernoulli_of),
    aten.bernoulli.p: _drawn(_bernoulli),
    aten.bernoulli.Tensor: _drawn(_bernoulli),
    aten.binomial.default: _drawn(_binomial),
    aten.cauchy.default: _drawn(_of_doubles(_cauchy)),
    aten.exponential.default: _drawn(_of_doubles(_exponential)),
    aten.geometric.default: _drawn(_of_doubles(_geometric)),
    aten.log_normal.default: _drawn(_log_normal),
    aten.multinomial.default: _drawn(_multinomial),
    aten.native_dropout.default: _drawn(_native_dropout),
    aten.normal.Tensor_Tensor: _drawn(_normal_around),
    aten.normal.Tensor_float: _drawn(_normal_around),
    aten.normal.float_Tensor: _drawn(_normal_of_spreads),
    aten.normal.float_float: _drawn(_normal_of_size),
    aten.normal_functional.default: _drawn(_normal),
    aten.poisson.default: _drawn(_poisson),
    aten.rand.default: _made(_uniform),
    aten.rand_like.default: _made_like(_uniform),
    aten.randint.default: _drawn(_randint),
    aten.randint.low: _drawn(_randint),
    aten.randint_like.default: _drawn(_randint_like),
    aten.randint_like.low_dtype: _drawn(_randint_like),
    aten.randn.default: _made(_normal),
    aten.randn_like.default: _made_like(_normal),
    aten.random.default: _drawn(_random),
    aten.random.to: _drawn(_to),
    aten.randperm.default: _drawn(_randperm),
    aten.rrelu_with_noise_functional.default: _drawn(_rrelu),
    aten.uniform.default: _drawn(_uniform),
}


def _handed_a_generator(rules: Rules) -> Rules:
    """The rules for overloads that differ in being handed a generator, which may be None."""
    return {
        overload: rule
        for op, rule in rules.items()
        for name in op.overloadpacket.overloads()
        if (overload := getattr(op.overloadpacket, name)) not in rules
        and _options(overload) == {*_options(op), "generator"}
    }


def _options(op: torch._ops.OpOverload) -> set[str]:
    return {argument.name for argument in op._schema.arguments}


_DRAWING = {**_OWN, **_handed_a_generator(_OWN)}

RULES: Rules = {
    torch.ops.plumbline.draw_from.default: _draw_from,
    torch.ops.plumbline.drawn_from.default: _drawn_from,
    **_DRAWING,
}

DRAWING_OPS = frozenset(_DRAWING)
"""Ops that draw, of which PyTorch does not mark all as such."""
