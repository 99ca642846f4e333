"""Layers of recurrent networks, as loops over the steps of a sequence.

PyTorch's own rules for `lstm`, `gru` and `rnn` have ops of each step, so that a program grows with
its sequence, which must have one length; and they forget to drop out between layers in training
mode. The formulas are those of `torch.nn.LSTM`, `GRU` and `RNN`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._higher_order_ops.scan import scan_op
from torch.nn.functional import linear

from plumbline.loader_to_torch.decompositions.loops import contiguous
from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten

_Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class _Weights:
    """What a layer has for one direction."""

    of_input: torch.Tensor
    of_state: torch.Tensor
    input_bias: torch.Tensor | None = None
    state_bias: torch.Tensor | None = None
    projection: torch.Tensor | None = None
    """What makes the state that an LSTM gives smaller than its cell."""

    @staticmethod
    def of(weights: _Tensors, *, has_biases: bool) -> "_Weights":
        of_input, of_state, *others = weights
        biases = [others.pop(0), others.pop(0)] if has_biases else [None, None]
        return _Weights(of_input, of_state, *biases, *others)

    def products_of_input(self, inputs: torch.Tensor) -> torch.Tensor:
        return linear(inputs, self.of_input, self.input_bias)

    def products_of_state(self, hidden: torch.Tensor) -> torch.Tensor:
        return linear(hidden, self.of_state, self.state_bias)


_Step = Callable[[torch.Tensor, _Weights, _Tensors], _Tensors]
"""From the products of one input, weights, and the state before it to the state after it, of which
the first tensor is the result."""


def _lstm_step(inputs: torch.Tensor, weights: _Weights, state: _Tensors) -> _Tensors:
    hidden, cell = state
    gates = weights.products_of_state(hidden) + inputs
    taken, kept, candidate, shown = gates.chunk(4, -1)
    cell = kept.sigmoid() * cell + taken.sigmoid() * candidate.tanh()
    hidden = shown.sigmoid() * cell.tanh()
    return hidden if weights.projection is None else linear(hidden, weights.projection), cell


def _gru_step(inputs: torch.Tensor, weights: _Weights, state: _Tensors) -> _Tensors:
    (hidden,) = state
    reset, kept, candidate = inputs.chunk(3, -1)
    own_reset, own_kept, own_candidate = weights.products_of_state(hidden).chunk(3, -1)
    candidate = (candidate + own_candidate * (own_reset + reset).sigmoid()).tanh()
    return ((hidden - candidate) * (own_kept + kept).sigmoid() + candidate,)


def _rnn_step(nonlinearity: Callable[[torch.Tensor], torch.Tensor]) -> _Step:
    def step(inputs: torch.Tensor, weights: _Weights, state: _Tensors) -> _Tensors:
        (hidden,) = state
        return (nonlinearity(weights.products_of_state(hidden) + inputs),)

    return step


def _all_steps(
    step: _Step, inputs: torch.Tensor, weights: _Weights, state: _Tensors
) -> tuple[torch.Tensor, _Tensors]:
    """The results [length, batch, size] for inputs [length, batch, size], and the last state."""
    products = weights.products_of_input(inputs)
    # What a loop's body reads has to be handed to it, and no two of its results are one tensor, nor
    # two states before it, as those of lstm(x, (zeros, zeros)).
    read = {
        name: weight
        for name in ("of_state", "state_bias", "projection")
        if (weight := getattr(weights, name)) is not None
    }

    def turn(*operands: torch.Tensor) -> list[torch.Tensor]:
        before, (products, *own) = operands[: len(state)], operands[len(state) :]
        after = step(
            products, _Weights(weights.of_input, **dict(zip(read, own, strict=True))), before
        )
        return [*after, after[0].clone()]

    before = list(map(contiguous, state))
    *after, results = scan_op(turn, before, [products], tuple(read.values()))
    return results, after


def _layer(
    step: _Step, inputs: torch.Tensor, directions: Sequence[_Weights], states: Sequence[_Tensors]
) -> tuple[torch.Tensor, list[_Tensors]]:
    """What a layer makes of inputs in one direction, or in both, side by side."""
    results, after = _all_steps(step, inputs, directions[0], states[0])
    if len(directions) == 1:
        return results, [after]
    backwards, first = _all_steps(step, inputs.flip(0), directions[1], states[1])
    return torch.cat([results, backwards.flip(0)], -1), [after, first]


def _all_layers(step: _Step) -> Rule:
    def decomposed(
        operand: torch.Tensor,
        before: torch.Tensor | _Tensors,
        weights: _Tensors,
        has_biases: bool,
        layers: int,
        chance: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Any:
        count = 2 if bidirectional else 1
        size = len(weights) // (layers * count)
        directions = [
            _Weights.of(weights[start : start + size], has_biases=has_biases)
            for start in range(0, len(weights), size)
        ]
        states = [*zip(*([before] if isinstance(before, torch.Tensor) else before), strict=True)]
        results = operand.transpose(0, 1) if batch_first else operand
        after: list[_Tensors] = []
        for first in range(0, layers * count, count):
            if first > 0 and train and chance > 0:
                results = torch.dropout(results, chance, train)
            here = slice(first, first + count)
            results, last = _layer(step, results, directions[here], states[here])
            after += last
        stacked = map(torch.stack, zip(*after, strict=True))
        return results.transpose(0, 1) if batch_first else results, *stacked

    return decomposed


_LSTM = 2
"""The mode of `mkldnn_rnn_layer` that is an LSTM, the only one that PyTorch makes."""


def _mkldnn_rnn_layer(
    operand: torch.Tensor,
    of_input: torch.Tensor,
    of_state: torch.Tensor,
    input_bias: torch.Tensor,
    state_bias: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    layers: int,
    has_biases: bool,
    *options: bool,
) -> Any:
    """One direction of a layer of an LSTM, as a step of training has it that `make_fx` traced."""
    if mode != _LSTM or len(batch_sizes) > 0:
        return NotImplemented
    # Without biases, something else stands there.
    biases = [input_bias, state_bias] if has_biases else []
    weights = _Weights(of_input, of_state, *biases)
    state = [each.reshape(each.shape[-2:]) for each in (hidden, cell)]
    inputs = operand.flip(0) if reverse else operand
    results, (hidden_after, cell_after) = _all_steps(_lstm_step, inputs, weights, state)
    return (
        results.flip(0) if reverse else results,
        hidden_after.reshape(hidden.shape),
        cell_after.reshape(cell.shape),
        # What PyTorch's own gradient would read.
        torch.empty(0, dtype=torch.uint8),
    )


OF_SEQUENCES: Rules = {
    aten.gru.input: _all_layers(_gru_step),
    aten.lstm.input: _all_layers(_lstm_step),
    aten.rnn_relu.input: _all_layers(_rnn_step(torch.relu)),
    aten.rnn_tanh.input: _all_layers(_rnn_step(torch.tanh)),
}

RULES: Rules = {**OF_SEQUENCES, aten.mkldnn_rnn_layer.default: _mkldnn_rnn_layer}
