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


def _mkldnn_rnn_layer_backward(
    operand: torch.Tensor,
    of_input: torch.Tensor,
    of_state: torch.Tensor,
    input_bias: torch.Tensor,
    state_bias: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    results: torch.Tensor,
    hidden_after: torch.Tensor,
    cell_after: torch.Tensor,
    grad: torch.Tensor | None,
    grad_of_hidden: torch.Tensor | None,
    grad_of_cell: torch.Tensor | None,
    reverse: bool,
    mode: int,
    hidden_size: int,
    layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    *options: Any,
) -> Any:
    """The gradients of its seven tensors: of all steps at once, but for what hands on the state."""
    if mode != _LSTM or len(batch_sizes) > 0:
        return NotImplemented

    def of_step(state: torch.Tensor) -> torch.Tensor:
        return state.reshape(state.shape[-2:])

    def in_turn(values: torch.Tensor) -> torch.Tensor:
        return values.flip(0) if reverse else values

    biases = [input_bias, state_bias] if has_biases else []
    weights, inputs = _Weights(of_input, of_state, *biases), in_turn(operand)
    hidden_before = torch.cat([of_step(hidden).unsqueeze(0), in_turn(results)[:-1]])
    gates = weights.products_of_input(inputs) + weights.products_of_state(hidden_before)
    taken, kept, candidate, shown = gates.chunk(4, -1)
    taken, kept, candidate, shown = (
        taken.sigmoid(),
        kept.sigmoid(),
        candidate.tanh(),
        shown.sigmoid(),
    )

    def next_cell(*operands: torch.Tensor) -> list[torch.Tensor]:
        before, kept, added = operands
        after = kept * before + added
        return [after, after.clone()]

    _, cells = scan_op(next_cell, [contiguous(of_step(cell))], [kept, taken * candidate], ())
    cells_before = torch.cat([of_step(cell).unsqueeze(0), cells[:-1]])
    squashed = cells.tanh()
    # What gradients of the cell are multiplied with for those of the gates but the last.
    by_cell = torch.cat(
        [
            candidate * taken * (1 - taken),
            cells_before * kept * (1 - kept),
            taken * (1 - candidate * candidate),
        ],
        -1,
    )
    by_hidden = squashed * shown * (1 - shown)
    from_hidden = shown * (1 - squashed * squashed)

    def step_before(*operands: torch.Tensor) -> list[torch.Tensor]:
        of_hidden, of_cell, grad, by_cell, by_hidden, from_hidden, kept, of_state = operands
        of_hidden = of_hidden + grad
        of_cell = of_cell + of_hidden * from_hidden
        of_gates = torch.cat([of_cell.repeat(1, 3) * by_cell, of_hidden * by_hidden], -1)
        return [of_gates @ of_state, of_cell * kept, of_gates.clone()]

    given = [torch.zeros_like(results) if grad is None else in_turn(grad)]
    last = [
        torch.zeros_like(of_step(state)) if grad is None else contiguous(of_step(grad))
        for state, grad in ((hidden, grad_of_hidden), (cell, grad_of_cell))
    ]
    slices = [each.flip(0) for each in (*given, by_cell, by_hidden, from_hidden, kept)]
    of_hidden, of_cell, turned = scan_op(step_before, last, slices, (of_state,))
    of_gates: torch.Tensor = turned.flip(0)

    def of_products(factors: torch.Tensor) -> torch.Tensor:
        return of_gates.flatten(0, 1).T @ factors.flatten(0, 1)

    of_bias = of_gates.sum((0, 1)) if has_biases else torch.zeros_like(input_bias)
    return (
        in_turn(of_gates @ of_input),
        of_products(inputs),
        of_products(hidden_before),
        of_bias,
        of_bias.clone(),
        of_hidden.reshape(hidden.shape),
        of_cell.reshape(cell.shape),
    )


OF_SEQUENCES: Rules = {
    aten.gru.input: _all_layers(_gru_step),
    aten.lstm.input: _all_layers(_lstm_step),
    aten.rnn_relu.input: _all_layers(_rnn_step(torch.relu)),
    aten.rnn_tanh.input: _all_layers(_rnn_step(torch.tanh)),
}

RULES: Rules = {
    **OF_SEQUENCES,
    aten.mkldnn_rnn_layer.default: _mkldnn_rnn_layer,
    aten.mkldnn_rnn_layer_backward.default: _mkldnn_rnn_layer_backward,
}
