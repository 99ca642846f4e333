"""Has products of quantized tensors be those of their integers, rather than of what they stand for.

A model that PyTorch 2 Export (PT2E) quantizes says of each tensor by which integers, scale and zero
point it is rounded, dequantizes it, and multiplies floats. Sums of products of the integers are
exact, and differ from those of floats by the rounding of the latter alone. CPUs have instructions
for them, and weights are multiplied as they are, where they would be widened in each call.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.fx import Node

from plumbline.loader_to_torch.decompositions.integer_products import (
    convolution_of_integers,
    linear_of_integers,
)
from plumbline.loader_to_torch.weights import weights_at_placeholders

aten = torch.ops.aten

_MOST_SUMMED = 1 << 15
"""Of so many products of 8 bits each the sum is within int32, whatever is taken off."""

_LANE = 4
"""How many products an instruction adds up: CPUs that have it take sums of a multiple of these."""

_LEAST_SUMMED = 16
"""Of fewer, as of a picture's three colours, sums of floats are as fast."""

_BYTES = (torch.int8, torch.uint8)

_MOVES = (
    aten.flatten.using_ints,
    aten.reshape.default,
    aten.unsqueeze.default,
    aten.view.default,
)
"""What puts the elements of an operand in other shapes, on their way to a product of matrices."""

_TURNS = (aten.permute.default, aten.t.default, aten.transpose.int)

_CONVOLUTIONS = (aten.conv1d.default, aten.conv2d.default, aten.conv3d.default)


@dataclass(frozen=True)
class _Quantized:
    """What a node makes numbers of."""

    integers: Node
    scale: Node | float
    zero_point: Node | int | None
    is_by_channel: bool
    """Whether there is a scale for each place of the first dimension."""


def multiply_integers(exported: torch.export.ExportedProgram, *, embedded: bool) -> None:
    """Puts products of integers in the place of those of what these stand for, in `exported`.

    That is for weights whose first dimension has scales of its own, or that have one scale, and for
    operands that have one. With `embedded`, weights are those that the model has: of zero points
    that are 0 nothing is computed.
    """
    graph = exported.graph
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    if not any(_is_dequantization(node) for node in nodes):
        return
    weights = weights_at_placeholders(exported) if embedded else {}
    changed = False
    for node in nodes:
        replace = _PRODUCTS.get(node.target)
        if replace is None:
            continue
        with graph.inserting_before(node):
            product = replace(node, weights)
        if product is not None:
            product.meta = dict(node.meta)
            node.replace_all_uses_with(product)
            graph.erase_node(node)
            changed = True
    if changed:
        graph.eliminate_dead_code(lambda node: not _is_unread(node))
        exported.graph_module.recompile()


def _is_unread(node: Node) -> bool:
    """Whether a node may go if nothing reads it."""
    return _is_dequantization(node) or node.target in (*_MOVES, *_TURNS)


def _is_dequantization(node: Node) -> bool:
    op = node.target
    return (
        isinstance(op, torch._ops.OpOverload)
        and op.namespace == "quantized_decomposed"
        and op._opname in ("dequantize_per_channel", "dequantize_per_tensor")
    )


def _quantized(node: object) -> _Quantized | None:
    """What a node dequantizes to float32, if it does."""
    if not isinstance(node, Node) or not _is_dequantization(node):
        return None
    given = _arguments(node)
    integers, is_by_channel = given["input"], "axis" in given
    if (
        integers.meta["val"].dtype not in _BYTES
        or node.meta["val"].dtype != torch.float32
        or (is_by_channel and given["axis"] != 0)
    ):
        return None
    scale, zero_point = (
        (given["scales"], given["zero_points"])
        if is_by_channel
        else (given["scale"], given["zero_point"])
    )
    if not all(isinstance(each, Node | int | float | None) for each in (scale, zero_point)):
        return None
    return _Quantized(integers, scale, zero_point, is_by_channel)


def _arguments(node: Node) -> dict[str, Any]:
    """What an op is given, by the names of its schema."""
    op = cast("torch._ops.OpOverload", node.target)
    names = [argument.name for argument in op._schema.arguments]
    return {**dict(zip(names, node.args, strict=False)), **node.kwargs}


# -- operands --------------------------------------------------------------------------------------


def _operand(node: object) -> _Quantized | None:
    """What is multiplied from the left: dequantized, and reshaped or not; its integers reshaped."""
    moves: list[Node] = []
    while isinstance(node, Node) and node.target in _MOVES:
        moves.append(node)
        node = node.args[0]
    found = _quantized(node)
    if found is None or found.is_by_channel:
        return None
    integers = found.integers
    for move in reversed(moves):
        integers = _called(move.target, (integers, *move.args[1:]), move.kwargs, integers.graph)
    return _Quantized(integers, found.scale, found.zero_point, is_by_channel=False)


def _weight(node: object, weights: Mapping[Node, torch.Tensor]) -> _Quantized | None:
    """A dequantized weight; its zero point is None where it is known to be 0 everywhere."""
    found = _quantized(node)
    if found is None:
        return None
    zero_point = found.zero_point
    value = weights.get(zero_point) if isinstance(zero_point, Node) else None
    if zero_point == 0 or (value is not None and not value.any()):
        zero_point = None
    return _Quantized(found.integers, found.scale, zero_point, found.is_by_channel)


def _turned(node: object) -> object:
    """What a node turns about, of two dimensions."""
    if not isinstance(node, Node) or node.target not in _TURNS:
        return None
    dims = node.args[1:]
    is_turned = (
        node.target is aten.t.default
        or list(dims) in ([0, 1], [1, 0])
        or (node.target is aten.permute.default and list(cast("Any", dims[0])) == [1, 0])
    )
    return node.args[0] if is_turned and node.meta["val"].ndim == 2 else None


def _tensor(graph: torch.fx.Graph, number: Node | float, dtype: torch.dtype) -> Node:
    """A tensor of a number, unless it is one."""
    if isinstance(number, Node):
        return number
    return _called(aten.full.default, ([], number), {"dtype": dtype}, graph)


def _called(target: Any, args: tuple[Any, ...], kwargs: Any, graph: torch.fx.Graph) -> Node:
    node = graph.call_function(target, args, dict(kwargs))
    values = torch.fx.map_arg((args, dict(kwargs)), lambda operand: operand.meta["val"])
    operands = [value for value in values[0] if isinstance(value, torch.Tensor)]
    mode = getattr(operands[0], "fake_mode", None) if operands else None
    if mode is None:
        node.meta["val"] = target(*values[0], **values[1])
    else:
        with mode:
            node.meta["val"] = target(*values[0], **values[1])
    return node


# -- products --------------------------------------------------------------------------------------


def _linear(node: Node, weights: Mapping[Node, torch.Tensor]) -> Node | None:
    given = _arguments(node)
    return _of_matrices(given["input"], given["weight"], given.get("bias"), weights)


def _mm(node: Node, weights: Mapping[Node, torch.Tensor]) -> Node | None:
    given = _arguments(node)
    return _of_matrices(given["self"], _turned(given["mat2"]), None, weights)


def _addmm(node: Node, weights: Mapping[Node, torch.Tensor]) -> Node | None:
    given = _arguments(node)
    bias = given["self"]
    if given.get("beta", 1) != 1 or given.get("alpha", 1) != 1 or bias.meta["val"].ndim != 1:
        return None
    return _of_matrices(given["mat1"], _turned(given["mat2"]), bias, weights)


def _of_matrices(
    left: object, right: object, bias: Node | None, weights: Mapping[Node, torch.Tensor]
) -> Node | None:
    weight = _weight(right, weights)
    if weight is None or not _may_be_summed(weight.integers.meta["val"].shape[1]):
        return None
    x = _operand(left)
    if x is None:
        return None
    graph, zero_point = weight.integers.graph, x.zero_point
    is_known = not isinstance(zero_point, Node)
    return graph.call_function(
        linear_of_integers._opoverload,
        (
            x.integers,
            _tensor(graph, x.scale, torch.float32),
            None if is_known else zero_point,
            zero_point if is_known else 0,
            *_of_weight(graph, weight),
            bias,
        ),
    )


def _convolution(node: Node, weights: Mapping[Node, torch.Tensor]) -> Node | None:
    given = _arguments(node)
    x, weight = _quantized(given["input"]), _weight(given["weight"], weights)
    if x is None or weight is None or x.is_by_channel or isinstance(x.zero_point, Node):
        return None
    shape = weight.integers.meta["val"].shape
    rank = len(shape) - 2
    if (
        given.get("groups", 1) != 1
        or given.get("transposed")
        or x.integers.meta["val"].ndim != len(shape)
        or not _may_be_summed(math.prod(shape[1:]))
    ):
        return None
    graph = node.graph
    return graph.call_function(
        convolution_of_integers._opoverload,
        (
            x.integers,
            _tensor(graph, x.scale, torch.float32),
            x.zero_point,
            *_of_weight(graph, weight),
            given.get("bias"),
            *(
                _of_axes(given.get(name, default), rank)
                for name, default in (("stride", 1), ("padding", 0), ("dilation", 1))
            ),
        ),
    )


def _may_be_summed(count: object) -> bool:
    return isinstance(count, int) and _LEAST_SUMMED <= count <= _MOST_SUMMED and count % _LANE == 0


def _of_weight(graph: torch.fx.Graph, weight: _Quantized) -> tuple[Node, Node, Node | None]:
    zero_point = weight.zero_point
    return (
        weight.integers,
        _tensor(graph, weight.scale, torch.float32),
        None if zero_point is None else _tensor(graph, zero_point, torch.int32),
    )


def _of_axes(numbers: int | Sequence[int], rank: int) -> list[int]:
    """One number for each axis, of which PyTorch takes one for all as well."""
    each = [numbers] if isinstance(numbers, int) else list(numbers)
    return each * rank if len(each) == 1 else each


_PRODUCTS: Mapping[Any, Callable[[Node, Mapping[Node, torch.Tensor]], Node | None]] = {
    **dict.fromkeys((*_CONVOLUTIONS, aten.convolution.default), _convolution),
    aten.addmm.default: _addmm,
    aten.linear.default: _linear,
    aten.mm.default: _mm,
}
"""What multiplies, and what is put in its place if its operands are quantized."""
