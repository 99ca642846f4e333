"""Layers of recurrent networks that drop out between one another, in training mode.

PyTorch's own rules for `lstm`, `gru` and `rnn` forget to. All else is left to them.
"""

from collections.abc import Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rule, Rules

aten = torch.ops.aten


def _by_layers(op: Any) -> Rule:
    """The op as one of a layer each, and dropout between them."""

    def decomposed(
        operand: torch.Tensor,
        before: torch.Tensor | Sequence[torch.Tensor],
        weights: Sequence[torch.Tensor],
        has_biases: bool,
        layers: int,
        chance: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Any:
        if not train or chance == 0 or layers == 1:
            return NotImplemented
        directions = 2 if bidirectional else 1
        of_layer = len(weights) // layers
        parts: list[Any] = []
        result = operand.transpose(0, 1) if batch_first else operand
        for layer in range(layers):
            rows = slice(layer * directions, (layer + 1) * directions)
            state = (
                before[rows]
                if isinstance(before, torch.Tensor)
                else [each[rows] for each in before]
            )
            own = weights[layer * of_layer : (layer + 1) * of_layer]
            result, *after = op(result, state, own, has_biases, 1, 0.0, train, bidirectional, False)
            parts.append(after)
            if layer < layers - 1:
                result = torch.dropout(result.contiguous(), chance, train)
        states = (torch.cat(list(of_layers)) for of_layers in zip(*parts, strict=True))
        return result.transpose(0, 1) if batch_first else result, *states

    return decomposed


RULES: Rules = {
    op: _by_layers(op)
    for op in (aten.gru.input, aten.lstm.input, aten.rnn_relu.input, aten.rnn_tanh.input)
}
