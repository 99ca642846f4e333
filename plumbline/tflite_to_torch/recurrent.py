"""Recurrent layers as one op, which keep their states from one call to the next.

Each function here takes a node and its operands, of which those of variables have the state before,
and gives the output as it is stored, or a tuple of all, and what the states are then, in the order
of the operands. A layer that PyTorch has is PyTorch's, which later stages know; others are a scan.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import tflite
import torch
from torch._higher_order_ops.scan import scan_op
from torch.nn import functional as F  # noqa: N812

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.node import Node
from plumbline.tflite_to_torch.tensors import Operand

StatePattern: TypeAlias = Callable[..., tuple[Any, list[torch.Tensor]]]

_GATES = 4
"""Of an LSTM: input, forget, cell and output, in the order that PyTorch has, too."""

_LSTM_WEIGHTS = 17
"""Of these gates for the input, for the state, and from the cell (no cell's); biases; weights and
bias of a projection."""

_STATES = 2
"""Of an LSTM: its output and its cell."""

_NORM_EPSILON = 1e-8

_ACTIVATIONS: Mapping[int, Callable[[torch.Tensor], torch.Tensor]] = {
    tflite.ActivationFunctionType.NONE: lambda x: x,
    tflite.ActivationFunctionType.RELU: torch.relu,
    tflite.ActivationFunctionType.RELU_N1_TO_1: lambda x: x.clamp(-1, 1),
    tflite.ActivationFunctionType.RELU6: lambda x: x.clamp(0, 6),
    tflite.ActivationFunctionType.TANH: torch.tanh,
}

_Parameters = Mapping[str, torch.Tensor]
_Step = Callable[[torch.Tensor, _Parameters, Sequence[torch.Tensor]], list[torch.Tensor]]
"""From the products of one input, what else is read, and the state before it to the state after it,
of which the first tensor is the result."""


@dataclass(frozen=True)
class _Layer:
    """A recurrent layer of one direction."""

    of_input: torch.Tensor
    """[gates * size, inputs]."""
    bias: torch.Tensor | None
    """[gates * size]; None: it comes after a norm."""
    read: _Parameters
    """What each step reads; by name, `of_state` [gates * size, results] among them."""
    step: _Step
    of_torch: Callable[..., tuple[torch.Tensor, ...]] | None
    """What PyTorch has for the same."""

    def over_time(
        self, x: torch.Tensor, state: Sequence[torch.Tensor], *, backwards: bool
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """The results [steps, batch, size] for inputs like it, and the state after the last."""
        inputs = x.flip(0) if backwards else x
        compute = self._with_scan if self.of_torch is None else self._with_torch
        results, after = compute(inputs, state)
        return results.flip(0) if backwards else results, after

    def _with_torch(
        self, inputs: torch.Tensor, state: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        assert self.of_torch is not None
        assert self.bias is not None
        parameters = [self.of_input, self.read["of_state"], self.bias, torch.zeros_like(self.bias)]
        before = [each[None] for each in state]
        results, *after = self.of_torch(
            inputs,
            before if len(before) > 1 else before[0],
            parameters,
            has_biases=True,
            num_layers=1,
            dropout=0.0,
            train=False,
            bidirectional=False,
            batch_first=False,
        )
        return results, [each[0] for each in after]

    def _with_scan(
        self, inputs: torch.Tensor, state: Sequence[torch.Tensor]
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        products = F.linear(inputs, self.of_input, self.bias)

        def turn(*operands: torch.Tensor) -> list[torch.Tensor]:
            before, (products, *own) = operands[: len(state)], operands[len(state) :]
            after = self.step(products, dict(zip(self.read, own, strict=True)), before)
            return [*after, after[0].clone()]

        # What is carried lies alike after each turn.
        start = [each.clone(memory_format=torch.contiguous_format) for each in state]
        *after, results = scan_op(turn, start, [products], (*self.read.values(),))
        return results, after


def _lstm_layer(
    node: Node, weights: Sequence[Operand | None], norms: Sequence[Operand | None]
) -> _Layer:
    """An LSTM of such weights, and of norms of the sums of its gates."""
    of_input, of_state, peepholes = weights[:4], weights[4:8], weights[8:11]
    biases, (projection, projection_bias) = weights[11:15], weights[15:]
    activation = _activation(node)
    clip, projection_clip = node.option("CellClip", 0.0), node.option("ProjClip", 0.0)
    first = 0 if of_input[0] is not None else 1
    of_gates = [*of_input[first:], *of_state[first:], *biases[first:]]
    has_peepholes, has_norms = (any(each is not None for each in of) for of in (peepholes, norms))
    if has_peepholes:
        of_gates += peepholes[first:]
    if has_norms:
        of_gates += norms[first:]
    if any(each is None for each in of_gates):
        raise Unsupported("it has no weights of its own for a gate")

    def joined(parts: Sequence[Operand | None]) -> torch.Tensor:
        return torch.cat([each.real for each in parts if each is not None])

    bias = joined(biases[first:])
    read = {"of_state": joined(of_state[first:])}
    if has_peepholes:
        read["of_cell"] = joined(peepholes[first:])
    if has_norms:
        read |= {"norm": joined(norms[first:]), "bias": bias}
    if projection is not None:
        read["projection"] = projection.real
        if projection_bias is not None:
            read["projection_bias"] = projection_bias.real

    def step(
        products: torch.Tensor, own: _Parameters, state: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        hidden, cell = state
        gates = F.linear(hidden, own["of_state"]) + products
        of_gates = {
            name: own[name].chunk(_GATES - first) for name in ("norm", "bias") if name in own
        }
        of_cell = [*own["of_cell"].chunk(3 - first)] if has_peepholes else []

        def gate(place: int, of_cell: Sequence[torch.Tensor] = ()) -> torch.Tensor:
            sums = gates.chunk(_GATES - first, -1)[place]
            for each in of_cell:
                sums = sums + each * cell
            if has_norms:
                norm, bias = (of_gates[name][place] for name in ("norm", "bias"))
                sums = F.layer_norm(sums, sums.shape[-1:], norm, bias, _NORM_EPSILON)
            return sums

        kept = gate(-3, of_cell[-2:-1]).sigmoid()
        taken = 1 - kept if first else gate(-4, of_cell[-3:-2]).sigmoid()
        cell = _clipped(kept * cell + taken * activation(gate(-2)), clip)
        hidden = gate(-1, of_cell[-1:]).sigmoid() * activation(cell)
        if projection is not None:
            hidden = F.linear(hidden, own["projection"], own.get("projection_bias"))
            hidden = _clipped(hidden, projection_clip)
        return [hidden, cell]

    is_plain = read.keys() == {"of_state"} and not (first or clip) and activation is torch.tanh
    layer = torch.lstm if is_plain else None
    return _Layer(joined(of_input[first:]), None if has_norms else bias, read, step, layer)


def _clipped(x: torch.Tensor, bound: float) -> torch.Tensor:
    return x.clamp(-bound, bound) if bound > 0 else x


def _activation(node: Node) -> Callable[[torch.Tensor], torch.Tensor]:
    kind = node.option("FusedActivationFunction")
    if kind not in _ACTIVATIONS:
        raise Unsupported(f"activation {kind} has no meaning here")
    return _ACTIVATIONS[kind]


def _rnn_layer(node: Node, of_input: Operand, of_state: Operand, bias: Operand) -> _Layer:
    activation = _activation(node)

    def step(
        products: torch.Tensor, own: _Parameters, state: Sequence[torch.Tensor]
    ) -> list[torch.Tensor]:
        (hidden,) = state
        return [activation(F.linear(hidden, own["of_state"]) + products)]

    of_torch: Mapping[Any, Callable[..., tuple[torch.Tensor, ...]]]
    of_torch = {torch.tanh: torch.rnn_tanh, torch.relu: torch.rnn_relu}
    read = {"of_state": of_state.real}
    return _Layer(of_input.real, bias.real, read, step, of_torch.get(activation))


def _over_time(
    node: Node, x: Operand, layers: Sequence[_Layer], states: Sequence[Sequence[Operand | None]]
) -> tuple[Any, list[torch.Tensor]]:
    """What layers make of an input, of which the second one begins with its last step."""
    is_first = not node.option("TimeMajor", False)
    inputs = x.real.transpose(0, 1) if is_first else x.real
    outputs, after = [], []
    for number, (layer, before) in enumerate(zip(layers, states, strict=True)):
        reals = [each.real for each in before if each is not None]
        if len(reals) != len(before):
            raise Unsupported("it keeps no state")
        output, last = layer.over_time(inputs, reals, backwards=number == 1)
        outputs.append(output.transpose(0, 1) if is_first else output)
        after += last
    if len(layers) == 1 or node.option("MergeOutputs", False):
        outputs = [torch.cat(outputs, -1) if len(outputs) > 1 else outputs[0]]
    # The activation is part of each step.
    stored = [tensor.stored(each) for tensor, each in zip(node.outputs, outputs, strict=True)]
    return stored[0] if len(stored) == 1 else tuple(stored), after


def _lstm(node: Node, x: Operand, *operands: Operand | None) -> tuple[Any, list[torch.Tensor]]:
    given = [*operands, *[None] * (_LSTM_WEIGHTS + _STATES + _GATES - len(operands))]
    weights, states = given[:_LSTM_WEIGHTS], given[_LSTM_WEIGHTS:][:_STATES]
    layer = _lstm_layer(node, weights, given[_LSTM_WEIGHTS + _STATES :])
    return _over_time(node, x, [layer], [states])


def _lstms(node: Node, x: Operand, *operands: Operand | None) -> tuple[Any, list[torch.Tensor]]:
    """One in each direction, the weights of both before their states."""
    given = [*operands, *[None] * (2 * (_LSTM_WEIGHTS + _STATES) - len(operands))]
    weights, rest = given[: 2 * _LSTM_WEIGHTS], given[2 * _LSTM_WEIGHTS :]
    _refuse_more(rest[2 * _STATES :])
    layers = [
        _lstm_layer(node, each, []) for each in (weights[:_LSTM_WEIGHTS], weights[_LSTM_WEIGHTS:])
    ]
    return _over_time(node, x, layers, [rest[:_STATES], rest[_STATES : 2 * _STATES]])


def _rnn(
    node: Node, x: Operand, weight: Operand, of_state: Operand, bias: Operand, state: Operand
) -> tuple[Any, list[torch.Tensor]]:
    return _over_time(node, x, [_rnn_layer(node, weight, of_state, bias)], [[state]])


def _rnns(node: Node, x: Operand, *operands: Any) -> tuple[Any, list[torch.Tensor]]:
    """One in each direction, each with its state behind its weights."""
    both, more = [operands[:4], operands[4:8]], operands[8:]
    _refuse_more(more)
    layers = [_rnn_layer(node, *of_layer) for *of_layer, _ in both]
    return _over_time(node, x, layers, [[state] for *_, state in both])


def _refuse_more(operands: Sequence[Operand | None]) -> None:
    if any(each is not None for each in operands):
        raise Unsupported("it has another input beside its first, which no pattern knows")


def _filters_over_time(
    node: Node,
    x: Operand,
    weight: Operand,
    over_time: Operand,
    bias: Operand | None,
    state: Operand,
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Each unit adds up some filters of what the input has been so far (SVDF)."""
    rank = node.option("Rank")
    filters, steps = over_time.stored.shape
    if rank < 1 or filters % rank:
        raise Unsupported(f"{filters} filters are not of rank {rank}")
    now = F.linear(x.real, weight.real)
    before = state.real.reshape(-1, filters, steps)
    after = torch.cat([before[..., 1:], now[..., None]], -1)
    sums = (after * over_time.real).sum(-1).reshape(-1, filters // rank, rank).sum(-1)
    return node.store(sums if bias is None else sums + bias.real), [after.flatten(1)]


PATTERNS: Mapping[str, StatePattern] = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": _lstms,
    "BIDIRECTIONAL_SEQUENCE_RNN": _rnns,
    "SVDF": _filters_over_time,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _rnn,
}
