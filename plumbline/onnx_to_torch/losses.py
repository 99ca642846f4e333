"""Losses of ONNX."""

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, tensor

_IGNORES_NOTHING = -100
"""What no label is; PyTorch ignores it by default."""


def _nll(node: Node, log_probabilities: Value, target: Value, weight: Value = None) -> torch.Tensor:
    return functional.nll_loss(
        tensor(log_probabilities),
        tensor(target).to(torch.int64),
        None if weight is None else tensor(weight),
        ignore_index=node.attribute("ignore_index", _IGNORES_NOTHING),
        reduction=node.attribute("reduction", "mean"),
    )


def _cross_entropy(node: Node, scores: Value, labels: Value, weights: Value = None) -> Any:
    log_probabilities = functional.log_softmax(tensor(scores), 1)
    loss = _nll(node, log_probabilities, labels, weights)
    return (loss, log_probabilities) if node.has_output(1) else loss


PATTERNS: Mapping[str, Pattern] = {
    "NegativeLogLikelihoodLoss": _nll,
    "SoftmaxCrossEntropyLoss": _cross_entropy,
}
