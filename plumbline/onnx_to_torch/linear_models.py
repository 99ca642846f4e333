"""Linear models and support vector machines of ai.onnx.ml."""

from collections.abc import Mapping
from typing import Any

import torch
from torch._higher_order_ops.while_loop import while_loop_op
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.scores import labels_of, transformed
from plumbline.onnx_to_torch.values import Value, tensor


def _rows(data: Value) -> torch.Tensor:
    """Rows of features, as floats."""
    x = tensor(data)
    x = x if x.dtype.is_floating_point else x.to(torch.float32)
    return x.unsqueeze(0) if x.ndim == 1 else x


def _floats(node: Node, name: str, like: torch.Tensor) -> torch.Tensor:
    return torch.tensor(node.attribute(name, []), dtype=like.dtype)


def _products(node: Node, x: torch.Tensor, targets: int) -> torch.Tensor:
    weights = _floats(node, "coefficients", x).reshape(targets, -1)
    intercepts = _floats(node, "intercepts", x)
    return functional.linear(x, weights, intercepts if intercepts.numel() else None)


def _linear_regressor(node: Node, data: Value) -> torch.Tensor:
    scores = _products(node, _rows(data), node.attribute("targets", 1))
    return transformed(node, scores)


def _linear_classifier(node: Node, data: Value) -> tuple[torch.Tensor, torch.Tensor]:
    x, labels = _rows(data), labels_of(node, "classlabels_ints")
    count = len(node.required("coefficients")) // x.shape[1]
    scores = _products(node, x, count)
    if count == 1 and len(labels) == 2:
        scores = torch.cat([-scores, scores], 1)
    scores = transformed(node, scores)
    if scores.shape[1] > 1:
        return labels[scores.argmax(1)], scores.to(torch.float32)
    # The score of the only class there is.
    least = 0 if node.attribute("post_transform", "NONE") == "NONE" else 0.5
    holds = scores.reshape(-1) >= least
    return torch.where(holds, labels[0], 0), scores.to(torch.float32)


def _kernel(node: Node, x: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """How alike each row is to each support vector, [rows, vectors].

    Raises:
      Unsupported: there is no such kernel.
    """
    kind = node.attribute("kernel_type", "LINEAR")
    gamma, offset, degree = node.attribute("kernel_params", [0.0, 0.0, 0.0])
    if kind == "RBF":
        distances = (x[:, None] - vectors).square().sum(-1)
        return torch.exp(-gamma * distances)
    products = x @ vectors.T
    if kind == "LINEAR":
        return products
    if kind == "POLY":
        return (gamma * products + offset) ** int(degree)
    if kind == "SIGMOID":
        return torch.tanh(gamma * products + offset)
    raise Unsupported(f"there is no kernel_type {kind}")


def _svm_regressor(node: Node, data: Value) -> torch.Tensor:
    x, count = _rows(data), node.attribute("n_supports", 0)
    coefficients, rho = _floats(node, "coefficients", x), _floats(node, "rho", x)
    if count:
        x = _kernel(node, x, _floats(node, "support_vectors", x).reshape(count, -1))
    scores = functional.linear(x, coefficients.reshape(1, -1), rho[:1])
    if node.attribute("one_class", 0):
        scores = torch.where(scores > 0, 1.0, -1.0)
    return transformed(node, scores)


def _svm_classifier(node: Node, data: Value) -> tuple[torch.Tensor, torch.Tensor]:
    x, labels = _rows(data), labels_of(node, "classlabels_ints")
    sizes: list[int] = node.attribute("vectors_per_class", [])
    if not sum(sizes):
        weights = _floats(node, "coefficients", x).reshape(len(labels), -1)
        scores = x @ weights.T + _floats(node, "rho", x)[0]
        return labels[scores.argmax(1)], transformed(node, scores)
    scores = _pairwise(node, x, sizes)
    votes = _votes(scores, len(sizes))
    label = labels[votes.argmax(1)]
    if node.optional("prob_a"):
        return label, transformed(node, _probabilities(node, scores, len(sizes)))
    if scores.shape[1] == 1:
        scores = torch.cat([-scores, scores], 1)
    return label, transformed(node, scores)


def _pairs(classes: int) -> list[tuple[int, int]]:
    return [(one, other) for one in range(classes) for other in range(one + 1, classes)]


def _pairwise(node: Node, x: torch.Tensor, sizes: list[int]) -> torch.Tensor:
    """By how much each class is likelier than each after it, [rows, pairs]."""
    vectors = _floats(node, "support_vectors", x).reshape(sum(sizes), -1)
    coefficients = _floats(node, "coefficients", x).reshape(-1, sum(sizes))
    # Of each pair, those of the vectors of the one class, and of the other.
    classes = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    weights = [
        torch.where(classes == one, coefficients[other - 1], 0)
        + torch.where(classes == other, coefficients[one], 0)
        for one, other in _pairs(len(sizes))
    ]
    return functional.linear(
        _kernel(node, x, vectors), torch.stack(weights), _floats(node, "rho", x)
    )


def _votes(scores: torch.Tensor, classes: int) -> torch.Tensor:
    """In how many pairs each class is the likelier one, [rows, classes]."""
    votes = [torch.zeros_like(scores[:, 0], dtype=torch.int64) for _ in range(classes)]
    for (one, other), wins in zip(_pairs(classes), (scores > 0).unbind(1), strict=True):
        votes[one] = votes[one] + wins
        votes[other] = votes[other] + ~wins
    return torch.stack(votes, 1)


def _probabilities(node: Node, scores: torch.Tensor, classes: int) -> torch.Tensor:
    """The probabilities [rows, classes] that go best with those of each pair of classes.

    They are computed in turns, as by libsvm (Wu, Lin and Weng, 2004), as these end before the best
    is found.
    """
    slopes, offsets = _floats(node, "prob_a", scores), _floats(node, "prob_b", scores)
    likelier = torch.sigmoid(-(scores * slopes + offsets)).clamp(1e-7, 1 - 1e-7)
    of_pair = torch.zeros_like(scores[:, :1, None]).expand(-1, classes, classes).unbind(2)
    columns = [list(each.unbind(1)) for each in of_pair]
    for (one, other), value in zip(_pairs(classes), likelier.unbind(1), strict=True):
        columns[other][one], columns[one][other] = value, 1 - value
    # [rows, one, other]: how likely the one is of the two.
    pairwise = torch.stack([torch.stack(each, 1) for each in columns], 2)
    q = -pairwise * pairwise.transpose(1, 2)
    diagonal = pairwise.square().sum(1)
    q = torch.where(torch.eye(classes, dtype=torch.bool), torch.diag_embed(diagonal), q)
    p = torch.full_like(diagonal, 1 / classes)
    is_done = torch.zeros_like(p[:, :1], dtype=torch.bool)
    start: Any = (torch.zeros((), dtype=torch.int64), p, is_done)
    read: Any = (q,)

    def goes_on(
        number: torch.Tensor, p: torch.Tensor, is_done: torch.Tensor, q: torch.Tensor
    ) -> torch.Tensor:
        return (number < _MOST_TURNS) & ~is_done.all()

    def turn(
        number: torch.Tensor, p: torch.Tensor, is_done: torch.Tensor, q: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        after, is_done = _turn(p, q, is_done, 0.005 / classes)
        return number + 1, torch.where(is_done, p, after), is_done

    _, found, _ = while_loop_op(goes_on, turn, start, read)
    result: torch.Tensor = found
    return result


_MOST_TURNS = 100


def _turn(
    p: torch.Tensor, q: torch.Tensor, is_done: torch.Tensor, least: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Probabilities that go better, and for which rows those before are good enough."""
    qp = (q @ p[:, :, None]).squeeze(2)
    pqp = (p * qp).sum(1, keepdim=True)
    is_done = is_done | ((qp - pqp).abs().amax(1, keepdim=True) < least)
    for place in range(q.shape[1]):
        own = q[:, place, place, None]
        step = (pqp - qp[:, place, None]) / own
        moved = torch.arange(q.shape[1]) == place
        p = torch.where(moved, p + step, p) / (1 + step)
        pqp = (pqp + step * (step * own + 2 * qp[:, place, None])) / (1 + step) ** 2
        qp = (qp + step * q[:, place]) / (1 + step)
    return p, is_done


PATTERNS: Mapping[str, Pattern] = {
    "LinearClassifier": _linear_classifier,
    "LinearRegressor": _linear_regressor,
    "SVMClassifier": _svm_classifier,
    "SVMRegressor": _svm_regressor,
}
