"""Ops of ONNX that read and write at places that tensors say."""

from collections.abc import Mapping

import torch

from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, integer, tensor


def _within(indices: torch.Tensor, size: int) -> torch.Tensor:
    """Indices of a dimension, those that count from its end counted from its start."""
    at = indices.to(torch.int64)
    return torch.where(at < 0, at + size, at)


def _gather_elements(node: Node, data: Value, indices: Value) -> torch.Tensor:
    x, axis = tensor(data), node.attribute("axis", 0)
    return torch.gather(x, axis, _within(tensor(indices), x.shape[axis]))


def _gather_nd(node: Node, data: Value, indices: Value) -> torch.Tensor:
    x, at = tensor(data), tensor(indices)
    batched = node.attribute("batch_dims", 0)
    places = list(at.unbind(-1))
    leading = [
        torch.arange(x.shape[axis]).reshape([-1] + [1] * (at.ndim - 2 - axis))
        for axis in range(batched)
    ]
    return x[(*leading, *places)]


_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _scatter_elements(node: Node, data: Value, indices: Value, updates: Value) -> torch.Tensor:
    x, axis = tensor(data), node.attribute("axis", 0)
    at = _within(tensor(indices), x.shape[axis])
    reduction = node.attribute("reduction", "none")
    if reduction == "none":
        return torch.scatter(x, axis, at, tensor(updates))
    return torch.scatter_reduce(x, axis, at, tensor(updates), _REDUCTIONS[reduction])


def _scatter_nd(node: Node, data: Value, indices: Value, updates: Value) -> torch.Tensor:
    x, at, new = tensor(data), tensor(indices), tensor(updates)
    reduction = node.attribute("reduction", "none")
    places = tuple(at.unbind(-1))
    if reduction == "none":
        return x.index_put(places, new)
    if reduction == "add":
        return x.index_put(places, new, accumulate=True)
    # Of the tensor with the dimensions that indices are of as one.
    sizes = x.shape[: len(places)]
    flat = torch.zeros((), dtype=torch.int64)
    for place, size in zip(places, sizes, strict=True):
        flat = flat * size + _within(place, size)
    rest = x.shape[len(places) :]
    rows = x.reshape(-1, *rest)
    reduced = rows.index_reduce(0, flat.reshape(-1), new.reshape(-1, *rest), _REDUCTIONS[reduction])
    return reduced.reshape(x.shape)


def _one_hot(node: Node, indices: Value, depth: Value, values: Value) -> torch.Tensor:
    at, size, axis = tensor(indices), integer(depth), node.attribute("axis", -1)
    off, on = tensor(values).unbind()
    axis = axis % (at.ndim + 1)
    places = torch.arange(int(size) if isinstance(size, float) else size)
    places = places.reshape([-1] + [1] * (at.ndim - axis))
    found = _within(at, size).unsqueeze(axis) == places
    return torch.where(found, on, off)


def _top_k(node: Node, data: Value, k: Value = None) -> tuple[torch.Tensor, torch.Tensor]:
    x, axis = tensor(data), node.attribute("axis", -1)
    count = node.required("k") if k is None else integer(k)
    # ONNX has the first of equal elements, as a stable sort does.
    ordered, places = torch.sort(
        x, dim=axis, descending=bool(node.attribute("largest", 1)), stable=True
    )
    return ordered.narrow(axis, 0, count), places.narrow(axis, 0, count)


def _nonzero(node: Node, data: Value) -> torch.Tensor:
    x = tensor(data)
    return (x.reshape(1) if x.ndim == 0 else x).nonzero()[:, : x.ndim].T


def _unique(node: Node, data: Value) -> tuple[torch.Tensor, ...]:
    """Elements, or slices along a dimension, once; where each is first; which each is; counts."""
    x, axis = tensor(data), node.optional("axis")
    x, along = (x.reshape(-1), 0) if axis is None else (x, axis)
    once, which, counts = torch.unique(x, return_inverse=True, return_counts=True, dim=along)
    places = torch.arange(x.shape[along])
    first = torch.zeros_like(counts).scatter_reduce(0, which, places, "amin", include_self=False)
    if node.attribute("sorted", 1):
        return once, first, which, counts
    order = first.argsort()
    return once.index_select(along, order), first[order], order.argsort()[which], counts[order]


PATTERNS: Mapping[str, Pattern] = {
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "NonZero": _nonzero,
    "OneHot": _one_hot,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TopK": _top_k,
    "Unique": _unique,
}
