"""Ensembles of decision trees of ai.onnx.ml."""

from collections.abc import Mapping

import numpy as np
import torch

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.scores import TRANSFORMS, labels_of, transformed
from plumbline.onnx_to_torch.tree_tables import (
    COMPARISONS,
    TreeTables,
    tables_of_lists,
    tables_of_tensors,
)
from plumbline.onnx_to_torch.values import Value, tensor

_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
"""In the order in which newer ops number them."""


class _Trees(torch.nn.Module):
    """Trees of a node, which have their tables as buffers."""

    roots: torch.Tensor
    features: torch.Tensor
    values: torch.Tensor
    comparisons: torch.Tensor
    nan_is_true: torch.Tensor | None
    following: torch.Tensor
    weights: torch.Tensor
    targets: torch.Tensor | None

    def __init__(self, tables: TreeTables) -> None:
        super().__init__()
        self._depth = tables.depth
        is_branch = np.arange(len(tables.features)) >= len(tables.weights)
        self._comparisons = np.unique(tables.comparisons[is_branch]).tolist()
        for name, table in (
            ("roots", tables.roots),
            # Half as large as PyTorch's indices are.
            ("features", tables.features.astype(np.int32)),
            ("following", tables.children.astype(np.int32).reshape(-1)),
            ("values", tables.values),
            ("comparisons", tables.comparisons.astype(np.int32)),
            ("nan_is_true", tables.nan_is_true if tables.nan_is_true[is_branch].any() else None),
            ("weights", tables.weights),
            ("targets", tables.targets_of_trees),
        ):
            self.register_buffer(name, None if table is None else torch.from_numpy(table))

    def _leaves(self, x: torch.Tensor) -> torch.Tensor:
        """The leaf [rows, trees] of each tree that each row comes to."""
        at = self.roots.expand(x.shape[0], -1)
        for _ in range(self._depth):
            feature = torch.gather(x, 1, self.features[at].to(torch.int64))
            holds = self._holds(at, feature, self.values[at].to(x.dtype))
            if self.nan_is_true is not None:
                holds = holds | (feature.isnan() & self.nan_is_true[at])
            at = self.following[2 * at + (~holds).to(torch.int64)].to(torch.int64)
        return at

    def _holds(self, at: torch.Tensor, feature: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Whether what nodes compare holds."""
        first, *others = self._comparisons
        holds = COMPARISONS[first](feature, value)
        for each in others:
            is_so = self.comparisons[at] == each
            holds = torch.where(is_so, COMPARISONS[each](feature, value), holds)
        return holds

    def aggregated(self, x: torch.Tensor, aggregate: str) -> torch.Tensor:
        """What the leaves of all trees that rows come to add up to, [rows, targets].

        Raises:
          Unsupported: there is no such aggregate.
        """
        if aggregate not in _AGGREGATES:
            raise Unsupported(f"there is no aggregate_function {aggregate}")
        at, weights = self._leaves(x), self.weights.to(x.dtype)
        if aggregate in ("MIN", "MAX"):
            return _extreme(at, weights, is_least=aggregate == "MIN")
        weights = weights.nan_to_num()
        if weights.shape[1] == 1:
            total = weights.reshape(-1)[at].sum(1, keepdim=True)
        elif self.targets is None:
            total = weights[at].sum(1)
        else:
            # Most ensembles of many classes have trees for one class each.
            of_target = self.targets[:, None] == torch.arange(weights.shape[1])
            total = weights.sum(1)[at] @ of_target.to(x.dtype)
        return total / self.roots.shape[0] if aggregate == "AVERAGE" else total


def _features(data: Value) -> torch.Tensor:
    """Rows of features; whole numbers are compared as floats."""
    x = tensor(data)
    x = x if x.dtype == torch.float64 else x.to(torch.float32)
    return x.unsqueeze(0) if x.ndim == 1 else x


def _extreme(at: torch.Tensor, weights: torch.Tensor, *, is_least: bool) -> torch.Tensor:
    """The least or the largest of what there is; 0 where there is nothing."""
    nothing = torch.inf if is_least else -torch.inf
    found = torch.where(weights.isnan(), nothing, weights)[at]
    extreme = found.amin(1) if is_least else found.amax(1)
    return torch.where(extreme == nothing, 0, extreme)


def _with_base(node: Node, scores: torch.Tensor) -> torch.Tensor:
    held = node.optional("base_values_as_tensor")
    given = torch.tensor(node.attribute("base_values", [])) if held is None else held
    return scores + given.to(scores.dtype) if given.numel() else scores


class _Regressor(_Trees):
    def __init__(self, node: Node) -> None:
        super().__init__(tables_of_lists(node, "target", node.attribute("n_targets", 1)))

    def forward(self, node: Node, data: Value) -> torch.Tensor:
        aggregate = node.attribute("aggregate_function", "SUM")
        scores = self.aggregated(_features(data), aggregate)
        return transformed(node, _with_base(node, scores)).to(torch.float32)


class _Classifier(_Trees):
    def __init__(self, node: Node) -> None:
        count = len(labels_of(node, "classlabels_int64s"))
        super().__init__(tables_of_lists(node, "class", count))

    def forward(self, node: Node, data: Value) -> tuple[torch.Tensor, torch.Tensor]:
        scores = _with_base(node, self.aggregated(_features(data), "SUM"))
        labels = labels_of(node, "classlabels_int64s")
        classes = set(node.required("class_ids"))
        if len(classes) == 1 and len(labels) <= 2:
            # There are scores of one of two classes only.
            (only,) = classes
            score = scores[:, only : only + 1]
            adds_up = node.attribute("post_transform", "NONE") in ("NONE", "PROBIT")
            scores = torch.cat([1 - score if adds_up else -score, score], 1)
        scores = transformed(node, scores)
        if len(labels) == 1:
            labels = torch.cat([torch.zeros_like(labels), labels])
        return labels[scores.argmax(1)], scores.to(torch.float32)


class _Ensemble(_Trees):
    def __init__(self, node: Node) -> None:
        super().__init__(tables_of_tensors(node))

    def forward(self, node: Node, data: Value) -> torch.Tensor:
        scores = self.aggregated(
            _features(data), _AGGREGATES[node.attribute("aggregate_function", 1)]
        )
        transform = [*TRANSFORMS.values()][node.attribute("post_transform", 0)]
        return transform(scores).to(tensor(data).dtype)


PATTERNS: Mapping[str, Pattern] = {
    "TreeEnsemble": _Ensemble,
    "TreeEnsembleClassifier": _Classifier,
    "TreeEnsembleRegressor": _Regressor,
}
