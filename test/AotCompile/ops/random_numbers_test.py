"""What draws random numbers, against PyTorch with the same seed: bit for bit, and the state too."""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch._higher_order_ops import map as map_
from torch._higher_order_ops import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim
from torch.nn import functional as F  # noqa: N812
from torch.utils import _pytree as pytree

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch.generator import PortableDraws

_GENERATOR = "torch.default_generator"

_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self._function(x)


def _check(
    function: Callable[[torch.Tensor], Any],
    *inputs: torch.Tensor,
    dynamic_shapes: Any = None,
    exact: bool = True,
    rtol: float = 1e-14,
) -> None:
    """Compiles for the first input, and runs all, with PyTorch's own generator."""
    module = _Of(function)
    torch.manual_seed(2)
    program = plumbline.compile(
        module, (inputs[0],), dynamic_shapes=dynamic_shapes, mutable=[_GENERATOR]
    )
    for seed, x in enumerate(inputs):
        torch.manual_seed(seed)
        torch.rand(600)
        before = torch.get_rng_state()
        with PortableDraws():
            expected = pytree.tree_leaves(module(x))
        after = torch.get_rng_state()
        torch.set_rng_state(before)
        results = program(x)
        assert torch.equal(torch.get_rng_state(), after)
        tolerance = {"rtol": 0, "atol": 0} if exact else {"rtol": rtol, "atol": rtol / 10}
        torch.testing.assert_close(results, tuple(expected), equal_nan=True, **tolerance)


def _numbers(count: int = 30) -> torch.Tensor:
    return torch.randn(count, generator=torch.Generator().manual_seed(1))


def _of_all_types(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        *(torch.rand(size) + x[0] * 0 for size in (1, 15, 623, 625, 1000)),
        *(torch.rand(size, dtype=dtype) for dtype in _FLOATS for size in (16, 624)),
        *(torch.randn(size) for size in (1, 15, 16, 17, 623, 1000)),
        *(torch.randn(size, dtype=dtype) for dtype in _FLOATS[:2] for size in (15, 17)),
        *(torch.randint(-3, 10, (size,)) for size in (1, 624)),
        torch.empty(1000).bernoulli_(0.3),
    ]


def test_normal_numbers_in_float64_are_within_the_last_digits() -> None:
    def function(x: torch.Tensor) -> list[torch.Tensor]:
        return [
            *(torch.randn(size, dtype=torch.float64) + x[0] * 0 for size in (3, 2, 17, 100)),
            torch.empty(40, dtype=torch.float64).exponential_(1.3),
            torch.empty(7, dtype=torch.float64).log_normal_(),
        ]

    _check(function, _numbers(), exact=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_gamma_s_numbers_are_within_the_last_digits(dtype: torch.dtype) -> None:
    def function(x: torch.Tensor) -> list[torch.Tensor]:
        shapes = torch.cat([x.abs() * 2, _SHAPES]).to(dtype)
        return [
            # One normal number is there when it begins, and one when it ends.
            torch.randn(3, dtype=dtype),
            torch._standard_gamma(shapes),
            torch.randn(2, dtype=dtype),
            torch._sample_dirichlet(shapes[:30].reshape(3, 10) + 0.1),
        ]

    _check(function, _numbers(), _numbers() * 2, exact=False, rtol=4 * torch.finfo(dtype).eps)


def _chances(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        F.dropout(x, 0.3),
        F.dropout(x, 0.15),
        F.dropout(x.half(), 0.45),
        F.dropout(x, 1.0),
        F.dropout(x, 0.3, training=False),
        F.dropout1d(x.reshape(1, 5, 6), 0.5),
        F.alpha_dropout(x, 0.3, training=True),
        F.feature_alpha_dropout(x.reshape(1, 5, 6), 0.3, training=True),
        F.rrelu(x, training=True),
        torch.bernoulli(x.sigmoid()),
        torch.bernoulli(x.double().sigmoid()),
        torch.multinomial(x.abs(), 5),
        torch.multinomial(x.abs().reshape(3, 10), 1),
        torch.multinomial(x.abs().reshape(3, 10), 12, replacement=True),
    ]


def _others(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        torch.empty(20).uniform_(-0.3137, 1.7) + x[0] * 0,
        torch.empty(20, dtype=torch.float64).uniform_(-0.3137, 1.7),
        torch.empty(20).exponential_(1.3),
        torch.empty(20).cauchy_(),
        torch.empty(20).log_normal_(),
        torch.empty(20).geometric_(0.3),
        torch.normal(x, x.abs()),
        torch.normal(x, 2.0),
        torch.normal(0.5, x.abs()),
        torch.normal(1.5, 2.0, (3, 4)),
        torch.randn(3, 4, dtype=torch.complex64).real,
    ]


def _integers(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        x[torch.randperm(30)],
        torch.randperm(1),
        torch.randint(-5, 2**40, (30,)),
        torch.randint(0, 2**62 + 2**61, (30,)),
        torch.randint(0, 2**28 - 1, (30,), dtype=torch.int32),
        torch.randint_like(x, 7),
        torch.empty(9, dtype=torch.int64).random_(),
        torch.empty(9, dtype=torch.int32).random_(),
        torch.empty(9, dtype=torch.float16).random_(),
        torch.empty(9).random_(11),
    ]


_RATES = torch.tensor([0.0, 9.999, 10.0, 1e5])
_CHANCES = torch.tensor([0.0, 1.0, 0.5, 1.2, -0.1, 0.97, 1e-3])
_SHAPES = torch.tensor([0.0, 1.0, 1e-3, 50.0])


def _until_accepted(x: torch.Tensor) -> list[torch.Tensor]:
    rates = torch.cat([x.abs() * 5, x.abs() * 40, _RATES])
    counts, chances = x.abs().mul(80).floor(), torch.cat([x.sigmoid()[7:], _CHANCES])
    return [
        torch.poisson(rates),
        torch.poisson(rates.double().reshape(2, -1).t()),
        torch.binomial(counts, chances),
        torch.binomial(counts.double(), chances.double()),
        torch.poisson(x[:0]),
        torch.rand(3),
    ]


def _in_the_order_of_memory(x: torch.Tensor) -> list[torch.Tensor]:
    picture = x[:24].reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    return [
        F.dropout(picture, 0.5),
        torch.rand_like(x[:6].reshape(2, 3).t()),
        torch.randn_like(x.reshape(5, 6).t()),
    ]


def _handed_no_generator(x: torch.Tensor) -> list[torch.Tensor]:
    return [
        torch.randn((2, 3), generator=None) + x[0],
        torch.rand(5, generator=None),
        torch.randint(9, (4,), generator=None),
        torch.randint(-3, 9, (4,), generator=None),
        torch.randperm(7, generator=None),
    ]


@pytest.mark.parametrize(
    "function",
    [
        _of_all_types,
        _chances,
        _others,
        _integers,
        _until_accepted,
        _in_the_order_of_memory,
        _handed_no_generator,
    ],
)
def test_ops(function: Callable[[torch.Tensor], Any]) -> None:
    _check(function, _numbers(), _numbers() * 2)


def test_numbers_are_drawn_in_order_used_or_not() -> None:
    def function(x: torch.Tensor) -> list[torch.Tensor]:
        one = torch.rand(3)
        torch.rand(5)
        return [torch.randn(3) + x[0], torch.rand(3), torch.rand(0), one]

    _check(function, _numbers())


@pytest.mark.parametrize(
    ("function", "least", "sizes"),
    [
        (lambda x: (F.dropout(x, 0.4), torch.rand_like(x)), 1, (30, 1, 1000)),
        (torch.randn_like, 16, (30, 16, 17, 1000)),
        (lambda x: x[torch.randperm(x.shape[0])], 2, (30, 2, 1000)),
        (lambda x: torch.poisson(x.abs() * 9), 1, (30, 1, 1000)),
    ],
    ids=["dropout", "normal", "permutation", "poisson"],
)
def test_dynamic_sizes(
    function: Callable[[torch.Tensor], Any], least: int, sizes: Sequence[int]
) -> None:
    shapes = {"x": {0: Dim("n", min=least)}}
    _check(function, *map(_numbers, sizes), dynamic_shapes=shapes)


def test_a_size_that_values_decide_on() -> None:
    """Of no numbers, of few and of many."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        chosen = x[x > 0]
        turned = torch.stack([chosen, -chosen], 1).t()
        drawn = torch.rand_like(chosen), torch.randn_like(chosen), torch.randn_like(turned)
        return (*drawn, F.dropout(chosen, 0.4))

    x = _numbers(1000)
    _check(function, x, -x.abs(), x - x.sort().values[-9], x.abs())


def test_a_transformer_in_training_mode() -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 4, 32, dropout=0.2, batch_first=True)
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Dropout(0.5), layer).train()
    x = torch.randn(3, 7, 16)
    program = plumbline.compile(model, (x,), mutable=[_GENERATOR])
    assert list(program.state) == [_GENERATOR]
    results = set()
    for seed in (0, 1):
        torch.manual_seed(seed)
        with torch.no_grad(), PortableDraws():
            expected = model(x)
        after = torch.get_rng_state()
        torch.manual_seed(seed)
        (result,) = program(x)
        torch.testing.assert_close(result, expected)
        assert torch.equal(torch.get_rng_state(), after)
        results.add(result.sum().item())
    assert len(results) == 2


@pytest.mark.parametrize(
    "model",
    [
        torch.nn.LSTM(4, 5, 2, dropout=0.5, batch_first=True),
        torch.nn.GRU(4, 5, 3, dropout=0.3, bidirectional=True),
    ],
    ids=["lstm", "gru"],
)
def test_recurrent_layers_drop_out_between_one_another(model: torch.nn.Module) -> None:
    x = torch.randn(2, 3, 4)
    program = plumbline.compile(model, (x,), mutable=[_GENERATOR])
    torch.manual_seed(3)
    with torch.no_grad(), PortableDraws():
        expected = pytree.tree_leaves(model(x))
    after = torch.get_rng_state()
    torch.manual_seed(3)
    torch.testing.assert_close(program(x), tuple(expected))
    assert torch.equal(torch.get_rng_state(), after)
    with pytest.raises(UserError, match="forward draws random numbers"):
        plumbline.compile(model, (x,))


@pytest.mark.parametrize(
    "function",
    [lambda x: torch.randperm(30) + x, lambda x: torch.poisson(x)],
    ids=["permutation", "poisson"],
)
def test_a_round_of_one_number_allocates_nothing(function: Callable[..., torch.Tensor]) -> None:
    program = plumbline.compile(_Of(function), (torch.ones(30),), mutable=[_GENERATOR])
    lines = program.stage("kernels").splitlines()
    # The innermost loops that index by what was drawn: nothing is deeper than their bodies.
    checked = [number for number, line in enumerate(lines) if "'tcp.scatter_nd' op index" in line]
    assert checked
    for number in checked:
        margin = _margin(lines[number])
        start = next(at for at in range(number, 0, -1) if _margin(lines[at]) < margin)
        end = next(at for at in range(number, len(lines)) if _margin(lines[at]) < margin)
        assert "scf." in lines[start] or "^bb0" in lines[start]
        assert not [line for line in lines[start:end] if "memref.alloc()" in line]


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def test_a_state_of_one_s_own_is_written_in_place() -> None:
    x = torch.ones(50)
    program = plumbline.compile(torch.nn.Dropout(0.5), (x,), mutable=[_GENERATOR])
    own = torch.Generator().manual_seed(4)
    state, untouched = own.get_state(), torch.get_rng_state()
    first, second = program(x, state)[0], program(x, state)[0]
    assert torch.equal(torch.get_rng_state(), untouched)
    torch.manual_seed(4)
    with PortableDraws():
        assert torch.equal(first, F.dropout(x))
        assert torch.equal(second, F.dropout(x))
    own.set_state(state)
    assert torch.rand(1, generator=own) == torch.rand(1)


def test_a_state_may_be_a_result() -> None:
    x = torch.ones(50)
    program = plumbline.compile(torch.nn.Dropout(0.5), (x,), mutation="return")
    torch.manual_seed(4)
    result, after = program(x, torch.get_rng_state())
    with PortableDraws():
        assert torch.equal(result, F.dropout(x))
    assert torch.equal(after, torch.get_rng_state())
    # Its words have 32 bits, in the bytes of 64: these are neither put together nor taken apart.
    assert "constant.int 56" not in program.stage("torch")


def test_draws_that_are_the_same_on_all_processors() -> None:
    picture = torch.empty(2, 3, 4, 5).to(memory_format=torch.channels_last)
    torch.manual_seed(4)
    uniform = torch.rand(120, dtype=torch.float64)
    uniform = uniform.reshape(2, 4, 5, 3).permute(0, 3, 1, 2)
    for chance in (0.5, 0.3):
        torch.manual_seed(4)
        with PortableDraws():
            assert torch.equal(picture.bernoulli_(chance) != 0, uniform < chance)
    torch.manual_seed(4)
    with PortableDraws():
        exponential = picture.exponential_(2.0)
    torch.testing.assert_close(exponential, (torch.log1p(-uniform) / -2).float())
    weights = torch.rand(4, 30)
    race = weights / -torch.log1p(-uniform.permute(0, 2, 3, 1).reshape(4, 30)).float()
    for count, expected in ((1, race.argmax(-1, keepdim=True)), (3, race.topk(3).indices)):
        torch.manual_seed(4)
        with PortableDraws():
            assert torch.equal(weights.multinomial(count), expected)


# -- within branches and loops ---------------------------------------------------------------------


def _less(x: torch.Tensor) -> torch.Tensor:
    return x - torch.rand(30)


def _more(x: torch.Tensor) -> torch.Tensor:
    return x + torch.randn(30)


def _branch(x: torch.Tensor) -> Any:
    one = torch.cond(x.sum() > 0, _less, _more, (x,))
    other = torch.cond(x[0] > 0, lambda x: F.dropout(x, 0.5), torch.clone, (x,))
    return torch.rand(2), one, other, torch.rand(700)


def _loop(x: torch.Tensor) -> Any:
    return while_loop(  # type: ignore[no-untyped-call]
        lambda turn, y: turn < 3,
        lambda turn, y: (turn + 1, torch.cond(y.sum() > 0, _less, _more, (F.dropout(y, 0.5),))),
        (torch.tensor(0), x),
    ), torch.randn(5)


def _loop_whose_condition_draws(x: torch.Tensor) -> Any:
    def goes_on(turn: torch.Tensor, y: torch.Tensor) -> Any:
        return torch.cond(
            y.sum() > 0, lambda y: torch.rand(()) < 0.9, lambda y: torch.randn(()) < 0.8, (y,)
        )

    return while_loop(  # type: ignore[no-untyped-call]
        goes_on,
        lambda turn, y: (turn + 1, torch.cond(y.sum() > 0, _less, _more, (y,))),
        (torch.tensor(0), x),
    )


def _slices(x: torch.Tensor) -> Any:
    rows = x.reshape(5, 6)
    carried, stacked = scan(lambda sum_, row: (sum_ + torch.rand(6), sum_ * row), rows[0], rows)
    factor = torch.tensor(2.0)
    scaled = map_(lambda row, factor: F.dropout(row * factor, 0.3), rows, factor)  # type: ignore[arg-type]
    return carried, stacked, scaled, torch.rand(3)


@pytest.mark.parametrize("function", [_branch, _loop, _loop_whose_condition_draws, _slices])
def test_bodies_draw_in_their_turn(function: Callable[[torch.Tensor], Any]) -> None:
    _check(function, _numbers().abs(), -_numbers().abs())


def test_a_loop_over_what_draws_nothing_is_handed_no_state() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        (result,) = while_loop(lambda y: y.sum() < 3, lambda y: (y + 1,), (x,))  # type: ignore[no-untyped-call]
        return result + torch.rand(30)  # type: ignore[no-any-return]

    program = plumbline.compile(_Of(function), (_numbers(),), mutable=[_GENERATOR])
    (loop,) = [line for line in program.stage("tcp").splitlines() if "scf.while" in line]
    assert "5056" not in loop
    _check(function, _numbers(), _numbers() - 1)


def test_the_default_generator_may_be_named() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(30, generator=torch.default_generator)

    _check(function, _numbers())


class _OfItsOwn(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.rand(30) + torch.rand(30, generator=self._generator) + x


@pytest.mark.parametrize("mutable", [[], [_GENERATOR]], ids=["fixed", "mutable"])
def test_a_generator_of_the_program_s_own_is_refused(mutable: Sequence[str]) -> None:
    with pytest.raises(UserError) as refusal:
        plumbline.compile(_OfItsOwn(), (_numbers(),), mutable=mutable)
    message = str(refusal.value)
    line = inspect.getsourcelines(_OfItsOwn.forward)[1] + 1
    assert "forward draws random numbers from a generator of its own:\n  aten.rand" in message
    assert f"random_numbers_test.py:{line}\n" in message
    assert 'leave out generator=, and say mutable=["torch.default_generator"]' in message


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_normal_numbers_of_few_or_many_elements(dtype: torch.dtype) -> None:
    """From 16 elements on they are made otherwise, and leave another state."""

    def function(x: torch.Tensor) -> list[torch.Tensor]:
        # One normal number waits when it begins; the last one waits for none, as its last bits may
        # differ from those of PyTorch, which the state has.
        return [
            torch.randn(3),
            torch.randn_like(x, dtype=dtype),
            torch.randn(3),
            torch.randn_like(x.reshape(-1, 1)),
            torch.rand(3),
        ]

    sizes = (6, 1, 2, 15, 16, 17, 31, 32, 33, 700)
    _check(function, *map(_numbers, sizes), dynamic_shapes={"x": {0: Dim("n", min=1)}})


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
