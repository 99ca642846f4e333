"""Complex numbers at the boundary, inside and among the weights, against PyTorch."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import _higher_order_ops as higher_order
from torch.export import Dim

import plumbline
from test.AotCompile.ops.op_case import Sampler

C64, C128 = torch.complex64, torch.complex128


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *arguments: torch.Tensor) -> Any:
        return self._function(*arguments)


def _check(
    function: Callable[..., Any], *arguments: torch.Tensor, dynamic: bool = False
) -> plumbline.CompiledProgram:
    shapes = None
    if dynamic:
        n = Dim("n", max=64)
        shapes = (tuple({0: n} if argument.dim() else {} for argument in arguments),)
    program = plumbline.compile(_Of(function), arguments, shapes)
    expected = function(*arguments)
    expected = expected if isinstance(expected, tuple) else (expected,)
    torch.testing.assert_close(
        program(*arguments), tuple(value.resolve_conj() for value in expected), equal_nan=True
    )
    return program


def _numbers(*sizes: int, dtype: torch.dtype = C64) -> torch.Tensor:
    return torch.randn(*sizes, dtype=dtype, generator=torch.Generator().manual_seed(0))


def test_parts_that_are_constants() -> None:
    numbers = torch.tensor([1.0, -2.0])

    def function(x: torch.Tensor) -> torch.Tensor:
        both = torch.complex(numbers, numbers.flip(0))
        return torch.cat([both.real, x, both.imag])

    _check(function, torch.randn(3))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_abs(dtype: torch.dtype) -> None:
    _check(lambda x: torch.view_as_complex(x).abs(), Sampler(dtype).telling(50, 7, 2))


def _rope(xq: torch.Tensor, xk: torch.Tensor, freqs_cis: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """As the original Llama writes it."""
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    freqs_cis = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


class _Rope(torch.nn.Module):
    freqs_cis: torch.Tensor

    def __init__(self, dim: int, length: int) -> None:
        super().__init__()
        freqs = 1.0 / (10000.0 ** (torch.arange(0, dim, 2).float() / dim))
        angles = torch.outer(torch.arange(length), freqs)
        self.register_buffer("freqs_cis", torch.polar(torch.ones_like(angles), angles))

    def forward(self, xq: torch.Tensor, xk: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return _rope(xq, xk, self.freqs_cis[: xq.shape[1]])


def test_rotary_embedding() -> None:
    model = _Rope(16, 32)
    inputs = torch.randn(2, 6, 4, 16), torch.randn(2, 6, 2, 16)
    time = Dim("time", max=32)
    program = plumbline.compile(model, inputs, {"xq": {1: time}, "xk": {1: time}})
    for length in (6, 2, 32):
        given = torch.randn(2, length, 4, 16), torch.randn(2, length, 2, 16)
        torch.testing.assert_close(program(*given), model(*given))


@pytest.mark.parametrize("dtype", [C64, C128])
def test_elementwise(dtype: torch.dtype) -> None:
    _check(
        lambda x, y: (
            x + y, x - 1j, 2 * x, x * y, x / y, -x, x**2, x**1.5, x.reciprocal(),
            x.exp(), x.log(), x.sqrt(), x.sin(), x.cos(), x.tanh(), x.acos(), x.atanh(),
            x.abs(), x.angle(), x.sgn(), x.conj(), x.real, x.imag, x == y, x != y,
        ),
        _numbers(5, 3, dtype=dtype),
        _numbers(5, 3, dtype=dtype).flip(0),
        dynamic=True,
    )  # fmt: skip


def test_with_real_numbers() -> None:
    _check(
        lambda z, x: (z + x, x * z, torch.where(x > 0, z, x), torch.cat([z, x.to(C64)]), x / z),
        _numbers(4, 3),
        torch.randn(4, 3),
    )


def test_made_of_parts() -> None:
    _check(
        lambda x, y: (
            torch.complex(x, y[0]),
            torch.polar(x.abs(), y),
            torch.view_as_complex(torch.stack([x, y], -1)),
            torch.view_as_real(torch.complex(x, y)),
        ),
        torch.randn(4, 3),
        torch.randn(4, 3),
    )


def test_moved() -> None:
    _check(
        lambda z, at: (
            z.T, z.flatten(), z[:, 1:], z[at], z.flip(0), z.roll(1, 1), z[:, None].expand(4, 2, 3),
            torch.cat([z, z]), torch.stack([z, z], 1), *z.split([1, 3]), *z.unbind(1),
            z.tril(), z.diagonal(), z.gather(0, at[:, None].expand(2, 3)), z.repeat(2, 1),
            torch.nn.functional.pad(z, (1, 2), value=2.0), z.masked_fill(z.real > 0, 1j),
            z.index_put((at,), z[:2]), torch.zeros_like(z), torch.full((2,), 1 + 2j),
            z.as_strided((2, 2), (1, 2), 1), z.to(C128), z.unfold(0, 2, 1), torch.ones_like(z),
            z.index_select(1, at),
        ),
        _numbers(4, 3),
        torch.tensor([2, 0]),
    )  # fmt: skip


def test_reduced_and_multiplied() -> None:
    weight = _numbers(5, 3)
    _check(
        lambda z: (
            z.sum(), z.sum(1), z.mean(0), z.prod(0), z.cumsum(0), z.cumprod(1), z.std(), z.var(1),
            z @ z.mH, torch.einsum("ij,kj->ik", z, weight), torch.linalg.vector_norm(z, dim=1),
            torch.nn.functional.linear(z, weight, weight[:, 0]), torch.vdot(z[0], z[1]),
            z.any(), z.all(1), torch.outer(z[0], z[1]), torch.bmm(z[None], weight.T[None]),
        ),
        _numbers(4, 3),
    )  # fmt: skip


def test_sums_of_what_lies_as_pairs_are_sums_of_pairs() -> None:
    def function(z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        means = z.mean(-2, True), z.mean(), z[0, 0].sum()
        return z.sum(0), z.sum(-1, keepdim=True), z.sum(0, dtype=C128), z.sum([]), *means

    program = _check(function, _numbers(64, 48))
    assert program.stage("tcp").count("tcp.reduce") == 6, "12 if for each part"


def test_boundary() -> None:
    program = _check(lambda z: z * z.conj(), _numbers(4, 3).T)
    assert str(program.signature.inputs[0]) == "c64[3, 4]"
    assert str(program.signature.outputs[0]) == "c64[3, 4]"
    # It lies as the sample input does, and so does the result.
    out = torch.empty(4, 3, dtype=C64).T
    z = _numbers(3, 4)
    program(z, out=out)
    torch.testing.assert_close(out, z * z.conj())
    with pytest.raises(plumbline.errors.UserError, match=r"c64\[3, 5\], .* takes c64\[3, 4\]"):
        program(_numbers(3, 5))


def test_ops_without_a_lowering_are_named_with_their_places() -> None:
    with pytest.raises(plumbline.errors.UserError) as refusal:
        plumbline.compile(
            _Of(lambda z: torch.logcumsumexp(z * 2, 0) * torch.logcumsumexp(z, 1)),
            (_numbers(3, 3),),
        )
    message = str(refusal.value)
    assert "computes with complex numbers what nothing lowers" in message
    assert message.count("complex_test.py") == 2
    assert "logcumsumexp.default(c64[3,3]): 2 places" in message


def test_logarithm_of_a_sum() -> None:
    _check(lambda z: torch.logaddexp(z, z.flip(0) * 2), _numbers(4, 3))


def _checked(z: torch.Tensor) -> torch.Tensor:
    torch._check(z.shape[0] % 2 == 0)  # type: ignore[no-untyped-call]
    torch._assert_async((z.real > 0).all(), "a part is not positive")
    return z * 2


@pytest.mark.parametrize(
    ("z", "message"),
    [
        (torch.ones(3, dtype=torch.complex64), r"sizes where .* % 2\) == 0"),
        (-torch.ones(4, dtype=torch.complex64), "a part is not positive"),
    ],
)
def test_what_a_program_asserts_is_asserted_of_complex_ones_too(
    z: torch.Tensor, message: str
) -> None:
    shapes = (({0: Dim.AUTO},),)
    program = plumbline.compile(_Of(_checked), (torch.ones(4, dtype=torch.complex64),), shapes)
    torch.testing.assert_close(
        program(torch.ones(6, dtype=torch.complex64))[0], torch.full((6,), 2 + 0j)
    )
    with pytest.raises(plumbline.errors.UserError, match=message):
        program(z)


@pytest.mark.parametrize("of_size", [lambda n: n, lambda n: 1 / n, lambda n: n * 0.5])
def test_with_numbers_that_follow_from_sizes(of_size: Callable[[int], Any]) -> None:
    def scaled(z: torch.Tensor) -> Any:
        return z * of_size(z.shape[0]) + of_size(z.shape[0])

    program = plumbline.compile(_Of(scaled), (_numbers(4, 3),), (({0: Dim("n")},),))
    for count in (4, 7):
        z = _numbers(count, 3)
        torch.testing.assert_close(program(z)[0], scaled(z))


def test_abs_of_what_a_loop_computes() -> None:
    window = torch.hann_window(16)
    _check(
        lambda x: torch.stft(x, 16, window=window, return_complex=True).abs(), torch.randn(2, 64)
    )


def _turned_or_conjugate(z: torch.Tensor, p: torch.Tensor) -> Any:
    branches = (lambda z: (z * 2j, z.abs()), lambda z: (z.conj() + 1, z.abs() + p.sum()))
    return torch.cond(p.sum() > 0, *branches, (z,))


def _captured(z: torch.Tensor, p: torch.Tensor) -> Any:
    return torch.cond(p.sum() > 0, lambda: z + 1, lambda: z * p, ())


def _spiral(z: torch.Tensor, p: torch.Tensor) -> Any:
    def turn(i: torch.Tensor, z: torch.Tensor, p: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return i + 1, z * (0.5 + 0.5j) + p, p + z.abs()

    return higher_order.while_loop(  # type: ignore[no-untyped-call]
        lambda i, z, p: i < 5, turn, (torch.tensor(0), z, p)
    )[1:]


def _running(z: torch.Tensor, p: torch.Tensor) -> Any:
    start = torch.ones(4, dtype=C64)
    return tuple(higher_order.scan(lambda state, row: (state * row, state + row), start, z))


def _each_row(z: torch.Tensor, p: torch.Tensor) -> Any:
    return higher_order.map(lambda row: row * row.conj(), z)  # type: ignore


def _products(z: torch.Tensor, p: torch.Tensor) -> Any:
    return higher_order.associative_scan(lambda a, b: a * b, z, 0, combine_mode="generic")


@pytest.mark.parametrize(
    "function", [_turned_or_conjugate, _captured, _spiral, _running, _each_row, _products]
)
def test_branches_and_loops(function: Callable[..., Any]) -> None:
    _check(function, _numbers(3, 4), torch.full((3, 4), 0.25))
    _check(function, _numbers(3, 4), torch.full((3, 4), -0.25))


class _Phasor(torch.nn.Module):
    """Keeps a complex state, which each call turns."""

    state: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", _numbers(3, 4))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        self.state.mul_(z)
        return self.state.abs()


@pytest.mark.parametrize("written", [{"mutable": ["state"]}, {"mutation": "return"}], ids=str)
def test_state(written: dict[str, Any]) -> None:
    model, z = _Phasor(), _numbers(3, 4) * 0.5
    program = plumbline.compile(model, (z,), **written)
    state = program.state["state"].clone()
    for _ in range(2):
        result, *new = program(z, state)
        torch.testing.assert_close(result, model(z))
        state = new[0] if new else state
        torch.testing.assert_close(state, model.state)


def test_an_argument_that_is_written() -> None:
    class Turns(torch.nn.Module):
        def forward(self, cache: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
            cache[1:2].mul_(z[:1])
            return cache.abs()

    z = _numbers(3, 4)
    program = plumbline.compile(Turns(), (z.clone(), z), mutable=["cache"])
    ours, theirs = z.clone(), z.clone()
    torch.testing.assert_close(program(ours, z)[0], Turns()(theirs, z))
    torch.testing.assert_close(ours, theirs)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
