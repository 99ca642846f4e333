"""Elementwise ops of ONNX."""

import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.onnx_to_torch.constants import LESS_THAN_8_BITS
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, dtype_of, only, tensor, tensors, torch_dtype

Function = Callable[..., torch.Tensor]

_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
"""Of these PyTorch stores numbers, and computes with few."""


def _plain(function: Function) -> Pattern:
    """Of ops that are a function of PyTorch's."""

    def pattern(node: Node, *operands: Value) -> torch.Tensor:
        return computed(function, *_aligned(node, *tensors(operands)))

    return pattern


def _aligned(node: Node, first: torch.Tensor, *others: torch.Tensor) -> Iterator[torch.Tensor]:
    """Operands as they are broadcast: before version 7, from a dimension on that the node says."""
    yield first
    for other in others:
        axis = node.attribute("axis", first.ndim - other.ndim)
        behind = first.ndim - axis % max(first.ndim, 1) - other.ndim
        is_old = node.opset < 7 and node.attribute("broadcast", 0) and behind > 0
        yield other.reshape(*other.shape, *[1] * behind) if is_old else other


def computed(function: Function, *operands: torch.Tensor) -> torch.Tensor:
    """What `function` gives for operands of one dtype, of which PyTorch may but store numbers.

    Sums, products and comparisons of the low bits are those of signed numbers for all but division
    of large ones of 64 bits.
    """
    if all(operand.dtype not in _UNSIGNED for operand in operands):
        return function(*operands)
    dtype = next(operand.dtype for operand in operands if operand.dtype in _UNSIGNED)
    result = function(*(operand.to(torch.int64) for operand in operands))
    return result.to(dtype) if result.dtype == torch.int64 else result


def _many(function: Function) -> Pattern:
    """Of ops that take any number of operands."""

    def pattern(node: Node, *operands: Value) -> torch.Tensor:
        return functools.reduce(functools.partial(computed, function), tensors(operands))

    return pattern


def _mean(node: Node, *operands: Value) -> torch.Tensor:
    return functools.reduce(torch.add, tensors(operands)) / len(operands)


def _divide(node: Node, one: Value, other: Value) -> torch.Tensor:
    if dtype_of(one).is_floating_point:
        return torch.div(*_aligned(node, tensor(one), tensor(other)))
    divide = functools.partial(torch.div, rounding_mode="trunc")
    return computed(divide, *_aligned(node, tensor(one), tensor(other)))


def _modulo(node: Node, one: Value, other: Value) -> torch.Tensor:
    function = torch.fmod if node.attribute("fmod", 0) else torch.remainder
    return computed(function, tensor(one), tensor(other))


def _power(node: Node, base: Value, exponent: Value) -> torch.Tensor:
    raised, by = _aligned(node, tensor(base), tensor(exponent))
    power = only(exponent)
    if power is not None and raised.dtype.is_floating_point and by.ndim <= raised.ndim:
        # Products, for squares and the like, where one of a tensor is computed by logarithms.
        return torch.pow(raised, power)
    if raised.dtype.is_floating_point or not by.dtype.is_floating_point:
        return computed(torch.pow, raised, by.to(raised.dtype))
    return torch.pow(raised.to(by.dtype), by).to(raised.dtype)


def _bit_shift(node: Node, data: Value, by: Value) -> torch.Tensor:
    is_left = node.required("direction") == "LEFT"
    function = operator.lshift if is_left else operator.rshift
    return computed(function, tensor(data), tensor(by))


def _cast(node: Node, data: Value) -> torch.Tensor:
    return converted(node, tensor(data), torch_dtype(node.required("to")))


def _cast_like(node: Node, data: Value, like: Value) -> torch.Tensor:
    if node.element_type(1) in LESS_THAN_8_BITS:
        # `like` is a tensor of 8 bits then, and the refusal is that of the type it stands for.
        return converted(node, tensor(data), torch_dtype(node.element_type(1)))
    return converted(node, tensor(data), dtype_of(like))


def converted(node: Node, data: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """`data` as `dtype`; with `saturate`, what is out of its range becomes the nearest of it.

    Raises:
      Unsupported: PyTorch rounds in another way.
    """
    if not (dtype.is_floating_point and dtype.itemsize == 1) or data.dtype == dtype:
        return data.to(dtype)
    if dtype == torch.float8_e8m0fnu:
        raise Unsupported("PyTorch rounds to powers of 2 in another way")
    if node.attribute("saturate", 1):
        bounds = torch.finfo(dtype)
        return data.clamp(bounds.min, bounds.max).to(dtype)
    if dtype == torch.float8_e4m3fn:
        # PyTorch has the largest number for what is above it, where this has none. What lies half
        # way to the next, which there would be, is rounded to it.
        data = torch.where(data.abs() > 464, torch.nan, data)
    return data.to(dtype)


def _bit_cast(node: Node, data: Value) -> torch.Tensor:
    return tensor(data).view(torch_dtype(node.required("to")))


def _clip(node: Node, data: Value, low: Value = None, high: Value = None) -> torch.Tensor:
    clipped = tensor(data)
    # Older versions have attributes. Where the least is above the most, it is the most.
    for bound, name, function in ((low, "min", torch.maximum), (high, "max", torch.minimum)):
        if bound is not None:
            clipped = computed(function, clipped, tensor(bound))
        elif name in node.attributes:
            clipped = function(clipped, torch.tensor(node.attributes[name], dtype=clipped.dtype))
    return clipped


def _where(node: Node, condition: Value, one: Value, other: Value) -> torch.Tensor:
    return torch.where(tensor(condition), tensor(one), tensor(other))


def _is_infinite(node: Node, data: Value) -> torch.Tensor:
    value = tensor(data)
    negative = node.attribute("detect_negative", 1)
    positive = node.attribute("detect_positive", 1)
    if negative and positive:
        return value.isinf()
    if not (negative or positive):
        return torch.zeros_like(value, dtype=torch.bool)
    return value.isneginf() if negative else value.isposinf()


def _selu(node: Node, data: Value) -> torch.Tensor:
    alpha = node.attribute("alpha", 1.6732632423543772)
    gamma = node.attribute("gamma", 1.0507009873554805)
    x = tensor(data)
    return gamma * torch.where(x > 0, x, alpha * torch.expm1(x))


def _elu(node: Node, data: Value) -> torch.Tensor:
    return functional.elu(tensor(data), node.attribute("alpha", 1.0))


def _celu(node: Node, data: Value) -> torch.Tensor:
    return functional.celu(tensor(data), node.attribute("alpha", 1.0))


def _gelu(node: Node, data: Value) -> torch.Tensor:
    return functional.gelu(tensor(data), approximate=node.attribute("approximate", "none"))


def _leaky_relu(node: Node, data: Value) -> torch.Tensor:
    return functional.leaky_relu(tensor(data), node.attribute("alpha", 0.01))


def _prelu(node: Node, data: Value, slope: Value) -> torch.Tensor:
    x, by = tensor(data), tensor(slope)
    if node.opset < 7 and by.ndim == 1:
        by = by.reshape(-1, *[1] * (x.ndim - 2))
    return torch.where(x < 0, x * by, x)


def _thresholded_relu(node: Node, data: Value) -> torch.Tensor:
    return functional.threshold(tensor(data), node.attribute("alpha", 1.0), 0.0)


def _hard_sigmoid(node: Node, data: Value) -> torch.Tensor:
    alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    return (tensor(data) * alpha + beta).clamp(0, 1)


def _swish(node: Node, data: Value) -> torch.Tensor:
    alpha, x = node.attribute("alpha", 1.0), tensor(data)
    return functional.silu(x) if alpha == 1 else x * torch.sigmoid(alpha * x)


def _swiglu(node: Node, gate: Value, data: Value) -> torch.Tensor:
    return _swish(node, gate) * tensor(data)


def _shrink(node: Node, data: Value) -> torch.Tensor:
    bias, lambd = node.attribute("bias", 0.0), node.attribute("lambd", 0.5)
    x = tensor(data)
    shrunk = torch.where(x > lambd, x - bias, torch.zeros_like(x))
    return torch.where(x < -lambd, x + bias, shrunk).to(x.dtype)


def _dropout(node: Node, data: Value, ratio: Value = None, training: Value = None) -> Any:
    x = tensor(data)
    if training is not None and tensor(training).item():
        raise Unsupported("it drops out in training mode: export the model for inference")
    return (x, torch.ones_like(x, dtype=torch.bool)) if node.has_output(1) else x


def _identity(node: Node, data: Value) -> Value:
    return data


PATTERNS: Mapping[str, Pattern] = {
    "Abs": _plain(torch.abs),
    "Acos": _plain(torch.acos),
    "Acosh": _plain(torch.acosh),
    "Add": _plain(torch.add),
    "And": _plain(torch.logical_and),
    "Asin": _plain(torch.asin),
    "Asinh": _plain(torch.asinh),
    "Atan": _plain(torch.atan),
    "Atanh": _plain(torch.atanh),
    "BitCast": _bit_cast,
    "BitShift": _bit_shift,
    "BitwiseAnd": _plain(torch.bitwise_and),
    "BitwiseNot": _plain(torch.bitwise_not),
    "BitwiseOr": _plain(torch.bitwise_or),
    "BitwiseXor": _plain(torch.bitwise_xor),
    "Cast": _cast,
    "CastLike": _cast_like,
    "Ceil": _plain(torch.ceil),
    "Celu": _celu,
    "Clip": _clip,
    "Cos": _plain(torch.cos),
    "Cosh": _plain(torch.cosh),
    "Div": _divide,
    "Dropout": _dropout,
    "Elu": _elu,
    "Equal": _plain(torch.eq),
    "Erf": _plain(torch.erf),
    "Exp": _plain(torch.exp),
    "Floor": _plain(torch.floor),
    "Gelu": _gelu,
    "Greater": _plain(torch.gt),
    "GreaterOrEqual": _plain(torch.ge),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _plain(functional.hardswish),
    "Identity": _identity,
    "IsInf": _is_infinite,
    "IsNaN": _plain(torch.isnan),
    "LeakyRelu": _leaky_relu,
    "Less": _plain(torch.lt),
    "LessOrEqual": _plain(torch.le),
    "Log": _plain(torch.log),
    "Max": _many(torch.maximum),
    "Mean": _mean,
    "Min": _many(torch.minimum),
    "Mish": _plain(functional.mish),
    "Mod": _modulo,
    "Mul": _plain(torch.mul),
    "Neg": _plain(torch.neg),
    "Not": _plain(torch.logical_not),
    "Or": _plain(torch.logical_or),
    "PRelu": _prelu,
    "Pow": _power,
    "Reciprocal": _plain(torch.reciprocal),
    "Relu": _plain(torch.relu),
    "Round": _plain(torch.round),
    "Selu": _selu,
    "Shrink": _shrink,
    "Sigmoid": _plain(torch.sigmoid),
    "Sign": _plain(torch.sign),
    "Sin": _plain(torch.sin),
    "Sinh": _plain(torch.sinh),
    "Softplus": _plain(functional.softplus),
    "Softsign": _plain(functional.softsign),
    "Sqrt": _plain(torch.sqrt),
    "Sub": _plain(torch.sub),
    "Sum": _many(torch.add),
    "SwiGLU": _swiglu,
    "Swish": _swish,
    "Tan": _plain(torch.tan),
    "Tanh": _plain(torch.tanh),
    "ThresholdedRelu": _thresholded_relu,
    "Where": _where,
    "Xor": _plain(torch.logical_xor),
}
