"""Ensembles of decision trees of ai.onnx.ml, as tables.

The nodes of all trees are in one table, leaves first. A leaf is its own child, so that as many
steps as the deepest tree has lead each row of features to a leaf of each tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.node import Node

Array = np.ndarray[Any, np.dtype[Any]]

_MODES = (
    "BRANCH_LEQ",
    "BRANCH_LT",
    "BRANCH_GTE",
    "BRANCH_GT",
    "BRANCH_EQ",
    "BRANCH_NEQ",
    "BRANCH_MEMBER",
    "LEAF",
)
"""How a node compares a feature with its value, in the order in which newer ops number them."""

_LEQ, _LT, _GTE, _GT, _EQ, _NEQ, _MEMBER, _LEAF = range(len(_MODES))

COMPARISONS = (torch.le, torch.lt, torch.eq)
"""Those that all others are, with children in the place of each other."""

_COMPARISON_OF = np.array([0, 1, 1, 0, 2, 2, 2, 0])
"""For each mode."""


@dataclass
class _Nodes:
    """The nodes of trees as a model has them."""

    features: Array
    modes: Array
    """Places in `_MODES`."""
    values: Array
    children: Array
    """[nodes, 2]: which nodes come next, where the comparison holds and where it does not."""
    nan_is_true: Array
    """Whether what is not a number goes where the comparison holds."""
    roots: Array
    """The first node of each tree."""


@dataclass(frozen=True)
class TreeTables:
    """Trees as they are walked through."""

    features: Array
    """Which feature each node looks at."""
    values: Array
    """What it compares that with."""
    comparisons: Array
    """How, as a place in `COMPARISONS`: where this holds, a row goes to a node's first child."""
    nan_is_true: Array
    """Whether it goes there too where the feature is not a number."""
    children: Array
    """[nodes, 2]."""
    roots: Array
    """The first node of each tree."""
    depth: int
    """How many steps lead to leaves."""
    weights: Array
    """[leaves, targets]: what a leaf adds to each target; NaN where it adds nothing."""
    trees: Array
    """Which tree each leaf is of."""

    @property
    def targets_of_trees(self) -> Array | None:
        """The only target of each tree, if no tree has two."""
        found = np.full(len(self.roots), -1)
        leaves, targets = np.nonzero(~np.isnan(self.weights))
        found[self.trees[leaves]] = targets
        return found if (found[self.trees[leaves]] == targets).all() else None


def tables_of_lists(node: Node, of_leaves: str, targets: int) -> TreeTables:
    """The trees of a node whose attributes say of each item which tree and node it is of.

    Args:
      node: it.
      of_leaves: what the names of attributes of weights begin with.
      targets: how many there are.

    Raises:
      Unsupported: they are no trees.
    """
    ids = _pairs(node, "nodes", "node")
    places = {pair: place for place, pair in enumerate(ids)}
    tree_ids = np.array(node.required("nodes_treeids"))
    modes = np.array([_mode(name) for name in node.required("nodes_modes")])
    is_leaf = modes == _LEAF
    children = [
        [
            place if is_leaf[place] else _place(places, tree, child)
            for place, (tree, child) in enumerate(zip(tree_ids, node.required(name), strict=True))
        ]
        for name in ("nodes_truenodeids", "nodes_falsenodeids")
    ]
    nodes = _Nodes(
        np.array(node.required("nodes_featureids")),
        modes,
        _floats(node, "nodes_values"),
        np.array(children).T,
        _flags(node, len(ids)),
        # A tree begins with its first node.
        np.unique(tree_ids, return_index=True)[1],
    )
    at = [places[pair] for pair in _pairs(node, of_leaves, "node")]
    added = _floats(node, f"{of_leaves}_weights")
    weights = _weights(len(ids), targets, at, node.required(f"{of_leaves}_ids"), added)
    return _tables(nodes, weights)


def tables_of_tensors(node: Node) -> TreeTables:
    """The trees of a node whose attributes have branches and leaves each in their own order.

    Raises:
      Unsupported: they are no trees.
    """
    features = np.array(node.required("nodes_featureids"))
    count = len(features)
    weights = node.required("leaf_weights").numpy()
    of_leaves = np.zeros(len(weights), np.int64)
    branches = [
        [child + count * is_leaf for child, is_leaf in zip(*map(node.required, names), strict=True)]
        for names in (
            ("nodes_truenodeids", "nodes_trueleafs"),
            ("nodes_falsenodeids", "nodes_falseleafs"),
        )
    ]
    own = count + np.arange(len(weights))
    nodes = _Nodes(
        np.concatenate([features, of_leaves]),
        np.concatenate([node.required("nodes_modes").numpy(), of_leaves + _LEAF]),
        np.concatenate([node.required("nodes_splits").numpy(), of_leaves]),
        np.concatenate([np.array(branches).T.reshape(-1, 2), np.stack([own, own], 1)]),
        np.concatenate([_flags(node, count), of_leaves > 0]),
        np.array(node.required("tree_roots")),
    )
    targets = node.attribute("n_targets", 1)
    table = _weights(len(nodes.modes), targets, own, node.required("leaf_targetids"), weights)
    members = node.optional("membership_values")
    if members is not None:
        nodes, table = _without_sets(nodes, table, members.numpy())
    return _tables(nodes, table)


def _pairs(node: Node, prefix: str, of: str) -> list[tuple[int, int]]:
    """Trees, and nodes in each."""
    ids = (node.required(f"{prefix}_{kind}ids") for kind in ("tree", of))
    return list(zip(*ids, strict=True))


def _mode(name: str) -> int:
    if name not in _MODES:
        raise Unsupported(f"a tree has nodes of mode {name}")
    return _MODES.index(name)


def _place(places: dict[tuple[int, int], int], tree: int, node: int) -> int:
    if (tree, node) not in places:
        raise Unsupported(f"tree {tree} has no node {node}, which is to be a child")
    return places[tree, node]


def _floats(node: Node, name: str) -> Array:
    """An attribute of numbers, which is a tensor where they have 64 bits."""
    held = node.optional(f"{name}_as_tensor")
    return np.array(node.required(name), np.float32) if held is None else held.numpy()


def _flags(node: Node, count: int) -> Array:
    given: list[int] = node.attribute("nodes_missing_value_tracks_true", [])
    return np.array(given or [0] * count, bool)


def _weights(nodes: int, targets: int, at: Any, of_targets: Sequence[int], added: Array) -> Array:
    """What each node adds to each target: NaN where it adds nothing."""
    weights = np.full((nodes, targets), np.nan, added.dtype)
    index = (np.array(at, np.int64), np.array(of_targets, np.int64))
    weights[index] = 0
    np.add.at(weights, index, added)
    return weights


def _without_sets(nodes: _Nodes, weights: Array, members: Array) -> tuple[_Nodes, Array]:
    """Nodes that compare with one value each, in the place of such as do with the members of a set.

    Of each such node in turn, `members` has the set, with NaN behind it.
    """
    sets = np.split(members, np.flatnonzero(np.isnan(members)) + 1)
    count = len(nodes.modes)
    # What is added: of which node, with which member it compares, and what is next if that is it.
    origins: list[int] = []
    values: list[float] = []
    children: list[tuple[int, int]] = []
    for origin, own in zip(np.flatnonzero(nodes.modes == _MEMBER).tolist(), sets, strict=False):
        holds, holds_not = nodes.children[origin].tolist()
        first, *others = own[:-1].tolist()
        start = count + len(origins)
        follow = [*range(start + 1, start + len(others)), holds_not]
        nodes.values[origin], nodes.modes[origin] = first, _EQ
        if others:
            nodes.children[origin, 1] = start
            origins += [origin] * len(others)
            values += others
            children += [(holds, next_) for next_ in follow]
    joined = _Nodes(
        np.concatenate([nodes.features, nodes.features[origins]]),
        np.concatenate([nodes.modes, nodes.modes[origins]]),
        np.concatenate([nodes.values, values]).astype(nodes.values.dtype),
        np.concatenate([nodes.children, np.array(children, np.int64).reshape(-1, 2)]),
        # Such a one goes where the first of them says.
        np.concatenate([nodes.nan_is_true, np.zeros(len(origins), bool)]),
        nodes.roots,
    )
    return joined, np.pad(weights, ((0, len(origins)), (0, 0)), constant_values=np.nan)


def _tables(nodes: _Nodes, weights: Array) -> TreeTables:
    """Tables in which leaves come first, and a row goes to the first child of a node that holds."""
    is_leaf = nodes.modes == _LEAF
    # What does not hold of the opposite comparison holds of this one. NaN is neither less nor more
    # than anything, and is not equal to it.
    is_opposite = np.isin(nodes.modes, (_GTE, _GT, _NEQ))
    children = np.where(is_opposite[:, None], nodes.children[:, ::-1], nodes.children)
    order = np.argsort(~is_leaf, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    depth, trees = _depth(children, is_leaf, nodes.roots)
    return TreeTables(
        nodes.features[order],
        nodes.values[order],
        _COMPARISON_OF[nodes.modes][order],
        ((nodes.nan_is_true | (nodes.modes == _NEQ)) ^ is_opposite)[order],
        place[children[order]],
        place[nodes.roots],
        depth,
        weights[order[: is_leaf.sum()]],
        trees[order[: is_leaf.sum()]],
    )


def _depth(children: Array, is_leaf: Array, roots: Array) -> tuple[int, Array]:
    """How many steps lead from roots to leaves, and which tree each node is of.

    Raises:
      Unsupported: some lead nowhere.
    """
    trees = np.zeros(len(is_leaf), np.int64)
    trees[roots] = np.arange(len(roots))
    level, depth = roots, 0
    while (level := np.unique(level[~is_leaf[level]])).size:
        below = children[level]
        trees[below] = trees[level][:, None]
        level, depth = below.reshape(-1), depth + 1
        if depth > len(is_leaf):
            raise Unsupported("a node of a tree comes after itself")
    return depth, trees
