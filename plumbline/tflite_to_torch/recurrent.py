"""Recurrent layers as one op, which keep their states from one call to the next.

Each function here takes a node and its operands, of which those of variables have the state before,
and gives the output as it is stored, and what the states are then, in the order of the operands.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import tflite
import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.node import Node
from plumbline.tflite_to_torch.tensors import Operand

StatePattern: TypeAlias = Callable[..., tuple[torch.Tensor, list[torch.Tensor]]]

_GATES = 4
"""Of an LSTM: input, forget, cell and output, in the order that PyTorch has, too."""

_LSTM_INPUTS = 24
"""The input; weights of these gates for it, for the state, and from the cell (no cell's); biases;
weights and bias of a projection; the states of output and cell; scales of a norm for each gate."""


def _lstm(node: Node, *operands: Operand | None) -> tuple[torch.Tensor, list[torch.Tensor]]:
    given = [*operands, *[None] * (_LSTM_INPUTS - len(operands))]
    x, of_input, of_state = given[0], given[1:5], given[5:9]
    peepholes, biases, projections, states = given[9:12], given[12:16], given[16:18], given[18:20]
    for parts, name in (
        (peepholes, "weights from the cell"),
        (projections, "a projection"),
        (given[20:24], "norms of its gates"),
    ):
        if any(part is not None for part in parts):
            raise Unsupported(f"it has {name}, which no pattern knows")
    if node.option("CellClip", 0.0) or node.option("ProjClip", 0.0):
        raise Unsupported("it keeps its cell within bounds, which no pattern knows")
    if node.option("FusedActivationFunction") != tflite.ActivationFunctionType.TANH:
        raise Unsupported("its activation is not tanh")
    needed = [x, *of_input, *of_state, *biases, *states]
    if any(part is None for part in needed):
        raise Unsupported("it has no weights of its own for a gate")
    reals = [part.real for part in needed if part is not None]
    weights, rest = reals[1 : 1 + 2 * _GATES], reals[1 + 2 * _GATES :]
    bias, (hidden, cell) = torch.cat(rest[:_GATES]), rest[_GATES:]
    parameters = [
        torch.cat(weights[:_GATES]),
        torch.cat(weights[_GATES:]),
        bias,
        torch.zeros_like(bias),
    ]
    return _one_layer(node, torch.lstm, reals[0], (hidden[None], cell[None]), parameters)


def _one_layer(
    node: Node,
    compute: Callable[..., tuple[torch.Tensor, ...]],
    x: torch.Tensor,
    before: torch.Tensor | tuple[torch.Tensor, ...],
    parameters: list[torch.Tensor],
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """What PyTorch gives for one layer, whose activation is part of each step."""
    output, *after = compute(
        x,
        before,
        parameters,
        has_biases=True,
        num_layers=1,
        dropout=0.0,
        train=False,
        bidirectional=False,
        batch_first=not node.option("TimeMajor", False),
    )
    return node.outputs[0].stored(output), [state[0] for state in after]


def _rnn(
    node: Node, x: Operand, weight: Operand, of_state: Operand, bias: Operand, state: Operand
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    kinds = {
        tflite.ActivationFunctionType.TANH: torch.rnn_tanh,
        tflite.ActivationFunctionType.RELU: torch.rnn_relu,
    }
    compute = kinds.get(node.option("FusedActivationFunction"))
    if compute is None:
        raise Unsupported("its activation is neither tanh nor relu")
    parameters = [weight.real, of_state.real, bias.real, torch.zeros_like(bias.real)]
    return _one_layer(node, compute, x.real, state.real[None], parameters)


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
    "SVDF": _filters_over_time,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _rnn,
}
