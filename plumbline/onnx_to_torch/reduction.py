"""Reductions and scans of ONNX."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional

from plumbline.onnx_to_torch.elementwise import computed
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, integer, tensor

Reduction = Callable[[torch.Tensor, list[int], bool], torch.Tensor]


def _reduction(function: Reduction) -> Pattern:
    def pattern(node: Node, data: Value, axes: Value = None) -> torch.Tensor:
        x, keepdims = tensor(data), bool(node.attribute("keepdims", 1))
        along = node.integers("axes", axes)
        if not along:
            if node.attribute("noop_with_empty_axes", 0):
                # No dimension is reduced, and each element is one of its own.
                return function(x.unsqueeze(-1), [x.ndim], False)
            along = list(range(x.ndim))
        if not along:
            return function(x.unsqueeze(-1), [0], False)
        return function(x, along, keepdims)

    return pattern


def _sum(x: torch.Tensor, axes: list[int], keepdims: bool) -> torch.Tensor:
    return torch.sum(x, axes, keepdims, dtype=x.dtype)


def _mean(x: torch.Tensor, axes: list[int], keepdims: bool) -> torch.Tensor:
    if x.dtype.is_floating_point:
        return torch.mean(x, axes, keepdims)
    total = _sum(x, axes, keepdims)
    count = torch.sum(torch.ones_like(x), axes, keepdims, dtype=x.dtype)
    return torch.div(total, count, rounding_mode="trunc")


def _product(x: torch.Tensor, axes: list[int], keepdims: bool) -> torch.Tensor:
    for axis in sorted((axis % x.ndim for axis in axes), reverse=True):
        x = torch.prod(x, axis, keepdims, dtype=x.dtype)
    return x


def _extreme(function: Callable[..., torch.Tensor], initial: Callable[[torch.dtype], Any]) -> Any:
    """The largest or the smallest element; of none, `initial`."""

    def reduce(x: torch.Tensor, axes: list[int], keepdims: bool) -> torch.Tensor:
        if any(size == 0 for size in x.shape if isinstance(size, int)):
            reduced = _sum(x, axes, keepdims)
            return torch.full_like(reduced, initial(x.dtype))
        return function(x, axes, keepdims)

    return reduce


def _least(dtype: torch.dtype) -> Any:
    if dtype.is_floating_point:
        return float("-inf")
    return False if dtype == torch.bool else torch.iinfo(dtype).min


def _most(dtype: torch.dtype) -> Any:
    if dtype.is_floating_point:
        return float("inf")
    return True if dtype == torch.bool else torch.iinfo(dtype).max


def _log_sum(x: torch.Tensor, axes: list[int], keepdims: bool) -> torch.Tensor:
    return torch.log(_sum(x, axes, keepdims))


def _argument(function: Callable[..., torch.Tensor]) -> Pattern:
    """The place of an extreme; the last of equal ones is the first of those in reverse."""

    def pattern(node: Node, data: Value) -> torch.Tensor:
        x, axis = tensor(data), node.attribute("axis", 0)
        keepdims = bool(node.attribute("keepdims", 1))
        if not node.attribute("select_last_index", 0):
            return function(x, axis, keepdims)
        return torch.rsub(function(x.flip(axis), axis, keepdims), x.shape[axis] - 1)

    return pattern


def _scan(function: Callable[..., torch.Tensor], first: int) -> Pattern:
    """A sum or product of all elements up to each, that one left out where it is exclusive."""

    def pattern(node: Node, data: Value, axis: Value) -> torch.Tensor:
        x, along = tensor(data), integer(axis)
        if node.attribute("reverse", 0):
            x = x.flip(along)
        if node.attribute("exclusive", 0):
            start = torch.full_like(x.narrow(along, 0, 1), first)
            x = torch.cat([start, x.narrow(along, 0, x.shape[along] - 1)], along)
        scanned: torch.Tensor = computed(lambda each: function(each, along, dtype=each.dtype), x)
        return scanned.flip(along) if node.attribute("reverse", 0) else scanned

    return pattern


def _softmax(function: Callable[..., torch.Tensor]) -> Pattern:
    def pattern(node: Node, data: Value) -> torch.Tensor:
        x = tensor(data)
        if node.opset >= 13:
            return function(x, node.attribute("axis", -1))
        # Formerly, of a matrix that all dimensions from this one on are the rows of.
        axis = node.attribute("axis", 1) % x.ndim
        return function(x.flatten(axis), -1).reshape(x.shape)

    return pattern


def _hardmax(node: Node, data: Value) -> torch.Tensor:
    def hardmax(x: torch.Tensor, axis: int) -> torch.Tensor:
        largest = x.argmax(axis, keepdim=True)
        places = torch.arange(x.shape[axis]).reshape([-1] + [1] * (x.ndim - 1 - axis % x.ndim))
        return (places == largest).to(x.dtype)

    return _softmax(hardmax)(node, data)  # type: ignore[no-any-return]


PATTERNS: Mapping[str, Pattern] = {
    "ArgMax": _argument(torch.argmax),
    "ArgMin": _argument(torch.argmin),
    "CumProd": _scan(torch.cumprod, 1),
    "CumSum": _scan(torch.cumsum, 0),
    "Hardmax": _hardmax,
    "LogSoftmax": _softmax(functional.log_softmax),
    "ReduceL1": _reduction(lambda x, axes, keepdims: _sum(x.abs(), axes, keepdims)),
    "ReduceL2": _reduction(lambda x, axes, keepdims: _sum(x * x, axes, keepdims).sqrt()),
    "ReduceLogSum": _reduction(_log_sum),
    "ReduceLogSumExp": _reduction(torch.logsumexp),
    "ReduceMax": _reduction(_extreme(torch.amax, _least)),
    "ReduceMean": _reduction(_mean),
    "ReduceMin": _reduction(_extreme(torch.amin, _most)),
    "ReduceProd": _reduction(_product),
    "ReduceSum": _reduction(_sum),
    "ReduceSumSquare": _reduction(lambda x, axes, keepdims: _sum(x * x, axes, keepdims)),
    "Softmax": _softmax(functional.softmax),
}
