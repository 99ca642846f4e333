"""What models of ai.onnx.ml make of scores: transforms, and the labels of classes."""

import math
from collections.abc import Callable, Mapping

import torch

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node

_SMALLEST = 1e-7
"""A score that is no larger counts as zero."""


def _softmax_zero(scores: torch.Tensor) -> torch.Tensor:
    """A softmax in which scores of zero stay zero."""
    largest = scores.amax(-1, keepdim=True)
    raised = torch.where(
        scores.abs() > _SMALLEST, torch.exp(scores - largest), scores * torch.exp(-largest)
    )
    total = raised.sum(-1, keepdim=True)
    return torch.where(total == 0, 0.5, raised / total)


def _probit(scores: torch.Tensor) -> torch.Tensor:
    return math.sqrt(2) * torch.erfinv(2 * scores - 1)


TRANSFORMS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "NONE": lambda scores: scores,
    "SOFTMAX": lambda scores: torch.softmax(scores, -1),
    "LOGISTIC": torch.sigmoid,
    "SOFTMAX_ZERO": _softmax_zero,
    "PROBIT": _probit,
}
"""By name, in the order in which newer ops number them; of scores [rows, classes]."""


def transformed(node: Node, scores: torch.Tensor) -> torch.Tensor:
    """Scores as a node's `post_transform` makes them.

    Raises:
      Unsupported: there is no such transform.
    """
    name = node.attribute("post_transform", "NONE")
    if name not in TRANSFORMS:
        raise Unsupported(f"there is no post_transform {name}")
    return TRANSFORMS[name](scores)


def labels_of(node: Node, attribute: str) -> torch.Tensor:
    """The labels of classes, which `attribute` has.

    Raises:
      Unsupported: they are strings.
    """
    labels: list[int] = node.attribute(attribute, [])
    if not labels:
        raise Unsupported(
            "it labels classes by strings, which PyTorch has no tensors of: convert the model "
            "with numbers for classes"
        )
    return torch.tensor(labels)
