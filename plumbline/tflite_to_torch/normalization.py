"""What divides by a sum, or by a length."""

from collections.abc import Mapping

import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.tflite_to_torch.node import Node, Pattern, of_reals, of_reals_and_options

_LEAST_SQUARE = 1e-6
"""The least length squared that is divided by, as TensorFlow Lite's kernel has it."""


def _softmax(node: Node, x: torch.Tensor) -> torch.Tensor:
    beta = node.option("Beta", 1.0)
    return torch.softmax(x if beta == 1 else x * beta, -1)


def _unit(x: torch.Tensor) -> torch.Tensor:
    squares = x.square().sum(-1, keepdim=True).clamp(min=_LEAST_SQUARE)
    return x / squares.sqrt()


def _local_response(node: Node, x: torch.Tensor) -> torch.Tensor:
    """Of the squares of neighbouring channels, the last dimension."""
    radius = node.option("Radius")
    squares = F.pad(x.square(), [radius, radius])
    sums = squares.unfold(-1, 2 * radius + 1, 1).sum(-1)
    divisor: torch.Tensor = node.option("Bias") + node.option("Alpha") * sums
    return x * divisor.pow(-node.option("Beta"))


PATTERNS: Mapping[str, Pattern] = {
    "L2_NORMALIZATION": of_reals(_unit),
    "LOCAL_RESPONSE_NORMALIZATION": of_reals_and_options(_local_response),
    "LOG_SOFTMAX": of_reals(lambda x: torch.log_softmax(x, -1)),
    "SOFTMAX": of_reals_and_options(_softmax),
}
