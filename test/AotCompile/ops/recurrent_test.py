"""Recurrent layers, which become loops over the steps of a sequence, against PyTorch."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree

import plumbline

_LAYERS = {
    "lstm": nn.LSTM,
    "gru": nn.GRU,
    "rnn": nn.RNN,
    "rnn of relu": lambda *sizes, **options: nn.RNN(*sizes, nonlinearity="relu", **options),
}

_OPTIONS: dict[str, dict[str, Any]] = {
    "one layer": {},
    "two in both directions": {"num_layers": 2, "bidirectional": True},
    "without biases": {"bias": False, "num_layers": 2},
    "batch first": {"batch_first": True, "bidirectional": True},
}

_T, _B = Dim("t", min=1), Dim("b", min=1)


def _made(layer: Callable[..., nn.Module], **options: Any) -> nn.Module:
    torch.manual_seed(0)
    return layer(5, 6, **options).eval()


def _check(module: nn.Module, *inputs: torch.Tensor, **options: Any) -> plumbline.CompiledProgram:
    """Compiles for the first input, and runs all."""
    program = plumbline.compile(module, (inputs[0],), **options)
    for x in inputs:
        with torch.no_grad():
            expected = pytree.tree_leaves(module(x))
        torch.testing.assert_close(program(x), tuple(expected))
    return program


@pytest.mark.parametrize("options", _OPTIONS.values(), ids=_OPTIONS)
@pytest.mark.parametrize("layer", _LAYERS.values(), ids=_LAYERS)
def test_a_layer(layer: Callable[..., nn.Module], options: dict[str, Any]) -> None:
    program = _check(_made(layer, **options), torch.randn(4, 3, 5))
    assert "scf.for" in program.stage("tcp")


@pytest.mark.parametrize("bias", [True, False])
def test_an_lstm_with_projections(bias: bool) -> None:
    _check(_made(nn.LSTM, proj_size=2, bidirectional=True, bias=bias), torch.randn(4, 3, 5))


@pytest.mark.parametrize("shape", [(4, 5), (1, 3, 5), (4, 1, 5)], ids=str)
def test_a_sequence_without_a_batch_or_of_one(shape: tuple[int, ...]) -> None:
    _check(_made(nn.GRU, num_layers=2), torch.randn(shape))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU], ids=["lstm", "gru"])
def test_a_layer_of_a_dtype(layer: Callable[..., nn.Module], dtype: torch.dtype) -> None:
    # Where a machine has instructions for bfloat16, PyTorch has oneDNN compute an LSTM of it, which
    # keeps what is within a step in float32; its own kernels round as the ops of a step do.
    with torch.backends.mkldnn.flags(enabled=False):
        _check(_made(layer).to(dtype), torch.randn(4, 3, 5, dtype=dtype))


@pytest.mark.parametrize("layer", _LAYERS.values(), ids=_LAYERS)
def test_a_sequence_of_any_length(layer: Callable[..., nn.Module]) -> None:
    module = _made(layer, num_layers=2, bidirectional=True)
    program = _check(
        module,
        *(torch.randn(length, batch, 5) for length, batch in ((4, 3), (1, 3), (2, 1), (9, 4))),
        dynamic_shapes=({0: _T, 1: _B},),
    )
    # Nothing in a round is of a size that is only known there.
    body = program.stage("kernels").partition("scf.for")[2].partition("\n    }\n")[0]
    assert "func.call" in body
    assert "memref.alloc" not in body


def test_states_of_before_may_be_parts_of_one_tensor() -> None:
    """One for each direction."""

    class Continued(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gru = _made(nn.GRU, bidirectional=True)

        def forward(self, x: torch.Tensor) -> Any:
            return self.gru(x, torch.cat([x[:2], x[:2, :, :1]], -1).sin())

    inputs = (torch.randn(4, batch, 5) for batch in (3, 2))
    _check(Continued(), *inputs, dynamic_shapes=({1: _B},))


def test_sizes_that_are_found_out() -> None:
    _check(
        _made(nn.LSTM, batch_first=True),
        *(torch.randn(batch, length, 5) for batch, length in ((3, 4), (1, 1), (5, 7))),
        dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},),
    )


def test_a_program_does_not_grow_with_its_sequence() -> None:
    module = _made(nn.LSTM)
    short, long = (
        plumbline.compile(module, (torch.randn(length, 3, 5),)).stage("tcp") for length in (7, 700)
    )
    assert short.count("tcp.") == long.count("tcp.")


def test_the_state_of_before_is_an_input() -> None:
    class Continued(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = _made(nn.LSTM)

        def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> Any:
            y, (h_after, c_after) = self.lstm(x, (h, c))
            # And of one tensor for both.
            return y, h_after, c_after, self.lstm(y[..., :5], (c, c))[0]

    module = Continued()
    inputs = (torch.randn(4, 3, 5), torch.randn(1, 6, 3).mT, torch.randn(1, 3, 6))
    before = [each.clone() for each in inputs]
    program = plumbline.compile(module, inputs)
    with torch.no_grad():
        torch.testing.assert_close(program(*inputs), module(*inputs))
    # What the loop carries is not the caller's memory.
    assert all(map(torch.equal, inputs, before))


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU], ids=["lstm", "gru"])
@pytest.mark.parametrize("bias", [True, False])
def test_a_step_of_training(layer: Callable[..., nn.Module], bias: bool) -> None:
    module = _made(layer, bidirectional=True, bias=bias)
    weights = {name: weight.detach() for name, weight in module.named_parameters()}

    def step(x: torch.Tensor, *given: torch.Tensor) -> list[torch.Tensor]:
        def loss(weights: dict[str, torch.Tensor]) -> Any:
            results, state = torch.func.functional_call(module, weights, (x,))
            return results.square().mean() + sum(map(torch.sum, pytree.tree_leaves(state)))

        named = dict(zip(weights, given, strict=True))
        gradients, value = torch.func.grad_and_value(loss)(named)
        return [value, *gradients.values()]

    inputs = (torch.randn(4, 3, 5), *weights.values())
    program = plumbline.compile(make_fx(step)(*inputs), inputs)
    torch.testing.assert_close(list(program(*inputs)), step(*inputs))


def test_a_workspace_has_room_for_any_length(tmp_path: Path) -> None:
    module = _made(nn.GRU, num_layers=2)
    library = plumbline.load(
        plumbline.aot(
            module,
            torch.randn(4, 3, 5),
            name="gru",
            out=tmp_path,
            memory="pool",
            dynamic_shapes=({0: _T, 1: _B},),
        )
    )
    for length, batch in ((4, 3), (9, 1)):
        x = torch.randn(length, batch, 5)
        with torch.no_grad():
            torch.testing.assert_close(library(x), module(x))


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
