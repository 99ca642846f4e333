"""What is computed element by element."""

import operator
from collections.abc import Callable, Mapping

import torch
from torch.nn import functional as F  # noqa: N812

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.node import Node, Pattern, of_reals, of_reals_and_options
from plumbline.tflite_to_torch.tensors import Operand


def _quotient(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """That of integers is rounded towards 0."""
    return torch.div(one, other, rounding_mode=None if one.is_floating_point() else "trunc")


def _sum(*terms: torch.Tensor) -> torch.Tensor:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _selected_rows(condition: torch.Tensor, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """A condition of fewer dimensions is of the first ones."""
    return torch.where(
        condition.reshape(*condition.shape, *[1] * (one.ndim - condition.ndim)), one, other
    )


def _leaky(node: Node, x: torch.Tensor) -> torch.Tensor:
    return F.leaky_relu(x, node.option("Alpha"))


def _gelu(node: Node, x: torch.Tensor) -> torch.Tensor:
    return F.gelu(x, approximate="tanh" if node.option("Approximate", False) else "none")


def _prelu(x: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
    return torch.where(x < 0, x * slopes, x)


def _dequantize(node: Node, x: Operand) -> torch.Tensor:
    return x.real.to(node.outputs[0].dtype)


def _cast(node: Node, x: torch.Tensor) -> torch.Tensor:
    dtype = node.outputs[0].dtype
    if dtype is None:
        raise Unsupported("what it makes is no number")
    return x.real.to(dtype) if x.is_complex() and not dtype.is_complex else x.to(dtype)


def _bitcast(node: Node, x: Operand) -> torch.Tensor:
    dtype, own = node.outputs[0].dtype, x.stored.dtype
    if dtype is None or dtype.itemsize != own.itemsize:
        raise Unsupported(f"elements of {own} have not the size of those that it makes")
    return x.stored.view(dtype)


def _fake_quant(node: Node, x: torch.Tensor) -> torch.Tensor:
    """To the nearest of the numbers of some bits, of which 0 is one."""
    least, most = node.option("Min"), node.option("Max")
    first, last = int(node.option("NarrowRange", False)), (1 << node.option("NumBits")) - 1
    if not least < most or last <= first:
        raise Unsupported(f"there are no numbers from {least} to {most}")
    scale = (most - least) / (last - first)
    zero_point = min(max(round(first - least / scale), first), last)
    return torch.fake_quantize_per_tensor_affine(x, scale, zero_point, first, last)


_OF_REALS: Mapping[str, Callable[..., torch.Tensor]] = {
    "ABS": torch.abs,
    "ADD": torch.add,
    "ADD_N": _sum,
    "ATAN2": torch.atan2,
    "BITWISE_XOR": torch.bitwise_xor,
    "CEIL": torch.ceil,
    "COMPLEX_ABS": torch.abs,
    "COS": torch.cos,
    "DIV": _quotient,
    "ELU": F.elu,
    "EQUAL": torch.eq,
    "EXP": torch.exp,
    "FLOOR": torch.floor,
    "FLOOR_DIV": torch.floor_divide,
    "FLOOR_MOD": torch.remainder,
    "GREATER": torch.gt,
    "GREATER_EQUAL": torch.ge,
    "HARD_SWISH": F.hardswish,
    "IMAG": torch.imag,
    "LESS": torch.lt,
    "LESS_EQUAL": torch.le,
    "LOG": torch.log,
    "LOGICAL_AND": torch.logical_and,
    "LOGICAL_NOT": torch.logical_not,
    "LOGICAL_OR": torch.logical_or,
    "LOGISTIC": torch.sigmoid,
    "MAXIMUM": torch.maximum,
    "MINIMUM": torch.minimum,
    "MUL": torch.mul,
    "NEG": torch.neg,
    "NOT_EQUAL": torch.ne,
    "POW": torch.pow,
    "PRELU": _prelu,
    "REAL": torch.real,
    "RELU": F.relu,
    "RELU6": F.relu6,
    "RELU_0_TO_1": lambda x: x.clamp(0, 1),
    "RELU_N1_TO_1": lambda x: x.clamp(-1, 1),
    "RIGHT_SHIFT": operator.rshift,
    "ROUND": torch.round,
    "RSQRT": torch.rsqrt,
    "SELECT": _selected_rows,
    "SELECT_V2": torch.where,
    "SIGN": torch.sign,
    "SIN": torch.sin,
    "SQRT": torch.sqrt,
    "SQUARE": torch.square,
    "SQUARED_DIFFERENCE": lambda one, other: torch.square(one - other),
    "SUB": torch.sub,
    "TANH": torch.tanh,
    "ZEROS_LIKE": torch.zeros_like,
}

PATTERNS: Mapping[str, Pattern] = {
    **{name: of_reals(compute) for name, compute in _OF_REALS.items()},
    "BITCAST": _bitcast,
    "CAST": of_reals_and_options(_cast),
    "DEQUANTIZE": _dequantize,
    "FAKE_QUANT": of_reals_and_options(_fake_quant),
    "GELU": of_reals_and_options(_gelu),
    "LEAKY_RELU": of_reals_and_options(_leaky),
    "QUANTIZE": of_reals(lambda x: x),
}
