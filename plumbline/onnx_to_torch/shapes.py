"""The ops by which ONNX computes shapes, evaluated on numbers that are known, or are sizes.

Elements are Python's and PyTorch's symbolic numbers in arrays of NumPy's, whose own operators then
compute with them: an index, a slice or a sum of arrays is one of their elements.
"""

import functools
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from plumbline.onnx_to_torch.node import Node
from plumbline.onnx_to_torch.values import (
    Numbers,
    Value,
    integers,
    numbers,
    shape_of,
    sym_max,
    sym_min,
    torch_dtype,
)

MOST_ELEMENTS = 256
"""What is larger is no shape, and stays a tensor."""


def _shape(node: Node, data: Value) -> Numbers:
    shape = list(shape_of(data))
    start, end = node.attribute("start", 0), node.optional("end")
    return numbers(shape[start:end], torch.int64)


def _size(node: Node, data: Value) -> Numbers:
    return numbers(math.prod(shape_of(data)), torch.int64)


OF_SHAPES: Mapping[str, Callable[..., Numbers]] = {"Shape": _shape, "Size": _size}
"""Ops of which the values of inputs do not matter."""


def _map(function: Callable[..., Any], *operands: Numbers, dtype: torch.dtype) -> Numbers:
    arrays = np.broadcast_arrays(*(operand.elements for operand in operands))
    made = np.empty(arrays[0].shape, object)
    made.ravel()[:] = [
        _rounded(function(*elements), dtype)
        for elements in zip(*(array.flat for array in arrays), strict=True)
    ]
    return numbers(made, dtype)


def _rounded(element: Any, dtype: torch.dtype) -> Any:
    """A number as a tensor of `dtype` holds it."""
    if isinstance(element, torch.SymInt | torch.SymFloat):
        return element
    if dtype == torch.bool:
        return bool(element)
    return torch.tensor(element, dtype=dtype).item()


def _elementwise(function: Callable[..., Any]) -> Callable[..., Numbers]:
    return lambda node, *operands: _map(function, *operands, dtype=operands[0].dtype)


def _comparison(function: Callable[..., Any]) -> Callable[..., Numbers]:
    # A size that may be either is found to be one, which PyTorch then asserts.
    return lambda node, *operands: _map(
        lambda *elements: bool(function(*elements)), *operands, dtype=torch.bool
    )


def _divide(node: Node, one: Numbers, other: Numbers) -> Numbers:
    def divide(a: Any, b: Any) -> Any:
        if one.dtype.is_floating_point:
            return a / b
        if isinstance(a, int) and isinstance(b, int):
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return a // b

    return _map(divide, one, other, dtype=one.dtype)


def _modulo(node: Node, one: Numbers, other: Numbers) -> Numbers:
    if node.attribute("fmod", 0):
        raise NotNumbers
    return _map(operator.mod, one, other, dtype=one.dtype)


def _cast(node: Node, data: Numbers) -> Numbers:
    dtype = torch_dtype(node.required("to"))
    if dtype.is_complex or (dtype.itemsize == 1 and dtype.is_floating_point):
        raise NotNumbers
    if dtype == torch.bool:
        return _map(bool, data, dtype=dtype)
    if not dtype.is_floating_point and data.dtype.is_floating_point:
        return _map(math.trunc, data, dtype=dtype)
    if dtype.is_floating_point and not data.dtype.is_floating_point:
        return _map(torch.sym_float, data, dtype=dtype)
    return _map(lambda element: element, data, dtype=dtype)


def _identity(node: Node, data: Numbers) -> Numbers:
    return data


def _gather(node: Node, data: Numbers, indices: Numbers) -> Numbers:
    axis = node.attribute("axis", 0)
    return numbers(np.take(data.elements, _known(indices), axis), data.dtype)


def _known(indices: Numbers) -> np.ndarray[Any, np.dtype[np.int64]]:
    if not indices.is_known:
        raise NotNumbers
    return indices.elements.astype(np.int64)


def _slice(
    node: Node,
    data: Numbers,
    starts: Value = None,
    ends: Value = None,
    axes: Value = None,
    steps: Value = None,
) -> Numbers:
    given = [node.integers(*each) for each in (("starts", starts), ("ends", ends))]
    first, last = (each or [] for each in given)
    along = node.integers("axes", axes) or range(len(first))
    by = node.integers("steps", steps) or [1] * len(first)
    index: list[Any] = [slice(None)] * data.elements.ndim
    for axis, start, end, step in zip(along, first, last, by, strict=True):
        if not all(isinstance(each, int) for each in (start, end, step)):
            raise NotNumbers
        size = data.elements.shape[axis]
        # Backwards, what lies before the first element is named by less than -size.
        stop = None if step < 0 and end < -size else end
        index[axis] = slice(start, stop, step)
    return numbers(data.elements[tuple(index)], data.dtype)


def _transpose(node: Node, data: Numbers) -> Numbers:
    return numbers(np.transpose(data.elements, node.optional("perm")), data.dtype)


def _concat(node: Node, *parts: Numbers) -> Numbers:
    joined = np.concatenate([part.elements for part in parts], node.required("axis"))
    return numbers(joined, parts[0].dtype)


def _unsqueeze(node: Node, data: Numbers, axes: Value = None) -> Numbers:
    along = node.integers("axes", axes) or []
    return numbers(np.expand_dims(data.elements, tuple(along)), data.dtype)


def _squeeze(node: Node, data: Numbers, axes: Value = None) -> Numbers:
    along = node.integers("axes", axes)
    squeezed = np.squeeze(data.elements, None if along is None else tuple(along))
    return numbers(squeezed, data.dtype)


def _reshape(node: Node, data: Numbers, shape: Numbers) -> Numbers:
    sizes = _known(shape).tolist()
    if 0 in sizes:
        raise NotNumbers
    return numbers(data.elements.reshape(sizes), data.dtype)


def _expand(node: Node, data: Numbers, shape: Numbers) -> Numbers:
    sizes = np.broadcast_shapes(data.elements.shape, tuple(_known(shape).tolist()))
    if math.prod(sizes) > MOST_ELEMENTS:
        raise NotNumbers
    return numbers(np.broadcast_to(data.elements, sizes).copy(), data.dtype)


def _tile(node: Node, data: Numbers, repeats: Numbers) -> Numbers:
    return numbers(np.tile(data.elements, _known(repeats).tolist()), data.dtype)


def _constant_of_shape(node: Node, shape: Numbers) -> Numbers:
    sizes = _known(shape).tolist()
    if math.prod(sizes) > MOST_ELEMENTS:
        raise NotNumbers
    value = node.attribute("value", torch.zeros(1))
    return numbers(np.full(sizes, value.item(), object), value.dtype)


def _range(node: Node, start: Numbers, limit: Numbers, delta: Numbers) -> Numbers:
    if start.dtype.is_floating_point or not (start.is_known and limit.is_known and delta.is_known):
        raise NotNumbers
    (first,), (last,), (step,) = (integers(each) for each in (start, limit, delta))
    if step == 0 or (last - first) / step > MOST_ELEMENTS:
        raise NotNumbers
    return numbers(list(range(first, last, step)), start.dtype)


def _where(node: Node, condition: Numbers, one: Numbers, other: Numbers) -> Numbers:
    return _map(lambda c, a, b: a if c else b, condition, one, other, dtype=one.dtype)


def _reduction(function: Callable[[Sequence[Any]], Any]) -> Callable[..., Numbers]:
    """Of all elements of a vector, which is what shapes are reduced by."""

    def reduce(node: Node, data: Numbers, axes: Value = None) -> Numbers:
        along = node.integers("axes", axes)
        if data.elements.ndim != 1 or along not in (None, [], [0], [-1]):
            raise NotNumbers
        if not along and node.attribute("noop_with_empty_axes", 0):
            return data
        reduced = _rounded(function(data.elements.tolist()), data.dtype)
        return numbers([reduced] if node.attribute("keepdims", 1) else reduced, data.dtype)

    return reduce


def _scatter_nd(node: Node, data: Numbers, indices: Numbers, updates: Numbers) -> Numbers:
    if node.attribute("reduction", "none") != "none":
        raise NotNumbers
    scattered = data.elements.copy()
    places = _known(indices)
    for place in itertools.product(*map(range, places.shape[:-1])):
        scattered[tuple(places[place])] = updates.elements[place]
    return numbers(scattered, data.dtype)


def _split(node: Node, data: Numbers, split: Value = None) -> tuple[Numbers, ...]:
    axis, sizes = node.attribute("axis", 0), node.integers("split", split)
    if sizes is None:
        largest = -(-data.elements.shape[axis] // len(node.outputs))
        places = [largest * number for number in range(1, len(node.outputs))]
    else:
        places = list(itertools.accumulate(sizes))[:-1]
    return tuple(numbers(each, data.dtype) for each in np.split(data.elements, places, axis))


class NotNumbers(Exception):
    """An op gives what is not known as the program is exported: it is one on tensors."""


PATTERNS: Mapping[str, Callable[..., Numbers | tuple[Numbers, ...]]] = {
    "Abs": _elementwise(abs),
    "Add": _elementwise(operator.add),
    "And": _comparison(lambda a, b: a and b),
    "Cast": _cast,
    "Ceil": _elementwise(math.ceil),
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Div": _divide,
    "Equal": _comparison(operator.eq),
    "Expand": _expand,
    "Floor": _elementwise(math.floor),
    "Gather": _gather,
    "Greater": _comparison(operator.gt),
    "GreaterOrEqual": _comparison(operator.ge),
    "Identity": _identity,
    "Less": _comparison(operator.lt),
    "LessOrEqual": _comparison(operator.le),
    "Max": _elementwise(lambda *elements: functools.reduce(sym_max, elements)),
    "Min": _elementwise(lambda *elements: functools.reduce(sym_min, elements)),
    "Mod": _modulo,
    "Mul": _elementwise(operator.mul),
    "Neg": _elementwise(operator.neg),
    "Not": _comparison(operator.not_),
    "Or": _comparison(lambda a, b: a or b),
    "Range": _range,
    "ReduceMax": _reduction(lambda elements: functools.reduce(sym_max, elements)),
    "ReduceMin": _reduction(lambda elements: functools.reduce(sym_min, elements)),
    "ReduceProd": _reduction(math.prod),
    "ReduceSum": _reduction(sum),
    "Reshape": _reshape,
    "ScatterND": _scatter_nd,
    "Slice": _slice,
    "Split": _split,
    "Sqrt": _elementwise(torch.sym_sqrt),
    "Squeeze": _squeeze,
    "Sub": _elementwise(operator.sub),
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}


def evaluate(node: Node, values: Sequence[Value]) -> tuple[Numbers, ...] | None:
    """The outputs of `node`, if they are numbers that are known, or sizes; else None.

    Raises:
      Unsupported: one of them cannot be had.
    """
    if node.domain:
        return None
    if of_shape := OF_SHAPES.get(node.op_type):
        return (of_shape(node, *values),)
    pattern = PATTERNS.get(node.op_type)
    given = [value for value in values if value is not None]
    if pattern is None or not all(isinstance(value, Numbers) for value in given):
        return None
    try:
        made = pattern(node, *values)
    except (NotNumbers, ZeroDivisionError):
        return None
    outputs = made if isinstance(made, tuple) else (made,)
    return outputs if all(each.elements.size <= MOST_ELEMENTS for each in outputs) else None
