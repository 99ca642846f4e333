"""Has products of quantized tensors be those of their integers, rather than of what they stand for.

A model that PyTorch 2 Export (PT2E) quantizes says of each tensor by which integers, scale and zero
point it is rounded, dequantizes it, and multiplies floats. Sums of products of the integers are
exact, and differ from those of floats by the rounding of the latter alone. CPUs have instructions
for them, and weights are multiplied as they are, where they would be widened in each call. So it is
with rows that have a scale each by weights of 4 bits that have one for some elements, a block.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch.fx import Node

from plumbline.loader_to_torch.decompositions.block_products import (
    linear_of_blocks,
    packed_in_blocks,
)
from plumbline.loader_to_torch.decompositions.constant_tables import add_constant
from plumbline.loader_to_torch.decompositions.integer_products import (
    adds_up_bytes,
    convolution_of_integers,
    convolves_bytes,
    linear_of_integers,
    sums_of_windows,
    with_missing_channels,
)
from plumbline.loader_to_torch.quantized_nodes import arguments_of, called, name_of
from plumbline.loader_to_torch.weights import weights_at_placeholders

aten = torch.ops.aten

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


_OF_INTEGERS = (convolution_of_integers._opoverload, sums_of_windows._opoverload)
"""Convolutions that are put into graphs, here and where others are read."""


@dataclass(frozen=True)
class _Quantized:
    """What a node makes numbers of."""

    integers: Node
    scale: Node | float
    zero_point: Node | int | None
    is_by_channel: bool
    """Whether there is a scale for each place of the first dimension."""


@dataclass(frozen=True)
class _InBlocks:
    """The same, where some elements along the last dimension have a scale and a zero point."""

    integers: Node
    scale: Node
    zero_point: Node | None
    block: int


@dataclass(frozen=True)
class _Model:
    """What products are put into."""

    exported: torch.export.ExportedProgram
    weights: Mapping[Node, torch.Tensor]
    """Those whose numbers are known."""
    wider: dict[Node, Node] = field(default_factory=dict)
    """What has been made of such that had too few channels."""


def multiply_integers(exported: torch.export.ExportedProgram, *, embedded: bool) -> None:
    """Puts products of integers in the place of those of what these stand for, in `exported`.

    That is for weights whose first dimension has scales of its own, or that have one scale, and for
    operands that have one. With `embedded`, weights are those that the model has: of zero points
    that are 0 nothing is computed, and such as 4 bits hold may have scales for blocks, by which
    rows are multiplied that have each their own.
    """
    graph = exported.graph
    nodes = [node for node in graph.nodes if node.op == "call_function"]
    convolutions = [node for node in nodes if node.target in _OF_INTEGERS]
    if not convolutions and not any(
        _is_dequantization(node) or name_of(node) in _OF_BLOCKS for node in nodes
    ):
        return
    model = _Model(exported, weights_at_placeholders(exported, embedded=embedded))
    changed = False
    for node in convolutions:
        changed |= _widen(node, model)
    for node in nodes:
        multiply = _PRODUCTS.get(node.target)
        if multiply is None:
            continue
        with graph.inserting_before(node):
            product = _of_rows_by_blocks(node, model) or multiply(node, model)
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
    return (
        _is_dequantization(node)
        or node.target in (*_MOVES, *_TURNS)
        or name_of(node) in (*_OF_BLOCKS, *_OF_ROWS)
    )


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
    given = arguments_of(node)
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


_OF_BLOCKS = ("quantized_decomposed::dequantize_per_channel_group", "torchao::dequantize_affine")
_OF_ROWS = ("quantized_decomposed::dequantize_per_token", "torchao::dequantize_affine")
"""What dequantizes by scales of blocks, and of rows. That of torchao says how large a block is."""


def _in_blocks(node: object, names: Sequence[str]) -> _InBlocks | None:
    """What one of such ops dequantizes to float32, if it does."""
    if not isinstance(node, Node) or name_of(node) not in names:
        return None
    given = arguments_of(node)
    integers, zero_point = given["input"], given.get("zero_point", given.get("zero_points"))
    scale, size = given.get("scale") or given["scales"], integers.meta["val"].shape[-1]
    block = given.get("group_size", size)
    if "block_size" in given:
        *others, block = given["block_size"]
        if any(other != 1 for other in others):
            return None
    if not isinstance(size, int) or not isinstance(block, int) or block < 1 or size % block:
        return None
    if integers.meta["val"].dtype != torch.int8 or node.meta["val"].dtype != torch.float32:
        return None
    return _InBlocks(integers, scale, zero_point, block)


def _value(node: Node, weights: Mapping[Node, torch.Tensor]) -> torch.Tensor | None:
    """The weight that a node gives, or the tensor that it takes out of one of another class."""
    if name_of(node) == "export::access_subclass_inner_tensor":
        whole, name = node.args
        outer = _value(cast("Node", whole), weights)
        return None if outer is None else getattr(outer, cast("str", name))
    return weights.get(node)


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
        integers = called(move.target, (integers, *move.args[1:]), move.kwargs, integers.graph)
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
    return called(aten.full.default, ([], number), {"dtype": dtype}, graph)


# -- products --------------------------------------------------------------------------------------


def _linear(node: Node, model: _Model) -> Node | None:
    given = arguments_of(node)
    return _of_matrices(given["input"], given["weight"], given.get("bias"), model.weights)


def _mm(node: Node, model: _Model) -> Node | None:
    given = arguments_of(node)
    return _of_matrices(given["self"], _turned(given["mat2"]), None, model.weights)


def _addmm(node: Node, model: _Model) -> Node | None:
    given = arguments_of(node)
    bias = given["self"]
    if given.get("beta", 1) != 1 or given.get("alpha", 1) != 1 or bias.meta["val"].ndim != 1:
        return None
    return _of_matrices(given["mat1"], _turned(given["mat2"]), bias, model.weights)


def _of_rows_by_blocks(node: Node, model: _Model) -> Node | None:
    """The product of rows with weights that 4 bits hold; an even number of them, of no zero point.

    A byte has a weight of two of the columns that there are for them.
    """
    if node.target is not aten.linear.default:
        return None
    weights = model.weights
    given = arguments_of(node)
    x, weight = _in_blocks(given["input"], _OF_ROWS), _in_blocks(given["weight"], _OF_BLOCKS)
    if x is None or weight is None or x.zero_point is None:
        return None
    integers, size = _value(weight.integers, weights), x.integers.meta["val"].shape[-1]
    if integers is None or integers.ndim != 2 or integers.shape[0] % 2 or x.block != size:
        return None
    if weight.zero_point is not None:
        zeros = _value(weight.zero_point, weights)
        if zeros is None or zeros.any():
            return None
    if not adds_up_bytes(weight.block) or integers.min() < -8 or integers.max() > 7:
        return None
    scale = _value(weight.scale, weights)
    if scale is None or scale.shape != (integers.shape[0], size // weight.block):
        return None
    with torch.no_grad():
        packed = packed_in_blocks(integers, scale)
    constants = [
        _constant(model, f"{node.name}_in_blocks_{number}", value, weight.integers)
        for number, value in enumerate(packed)
    ]
    return node.graph.call_function(
        linear_of_blocks._opoverload,
        (x.integers, x.scale, x.zero_point, *constants, given.get("bias")),
    )


def _constant(model: _Model, name: str, value: torch.Tensor, beside: Node) -> Node:
    """A weight that the program has besides, where another one is."""
    constant = add_constant(model.exported, name, value, beside)
    mode = beside.meta["val"].fake_mode
    constant.meta["val"] = mode.from_tensor(value, static_shapes=True)
    return constant


def _of_matrices(
    left: object, right: object, bias: Node | None, weights: Mapping[Node, torch.Tensor]
) -> Node | None:
    weight = _weight(right, weights)
    if weight is None or not adds_up_bytes(weight.integers.meta["val"].shape[1]):
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


def _convolution(node: Node, model: _Model) -> Node | None:
    given = arguments_of(node)
    x, weight = _quantized(given["input"]), _weight(given["weight"], model.weights)
    if x is None or weight is None or x.is_by_channel or isinstance(x.zero_point, Node):
        return None
    shape = weight.integers.meta["val"].shape
    rank, groups = len(shape) - 2, given.get("groups", 1)
    is_known = weight.integers in model.weights
    multiplied = with_missing_channels(shape, groups) if is_known else shape
    if (
        given.get("transposed")
        or x.integers.meta["val"].ndim != len(shape)
        or not convolves_bytes(multiplied, groups)
    ):
        return None
    graph = node.graph
    convolution = graph.call_function(
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
            groups,
        ),
    )
    _widen(convolution, model)
    return convolution


def _widen(convolution: Node, model: _Model) -> bool:
    """Gives a convolution of integers weights of as many channels as are added up at once."""
    given = arguments_of(convolution)
    weight = given["weight"]
    known = model.weights.get(weight)
    if known is None or weight.meta["val"].shape != known.shape:
        return False
    missing = with_missing_channels(known.shape, given["groups"])[1] - known.shape[1]
    if not missing:
        return False
    if weight not in model.wider:
        value = torch.nn.functional.pad(known, [*[0] * (2 * known.ndim - 4), 0, missing])
        name = f"{weight.name}_of_more_channels"
        model.wider[weight] = _constant(model, name, value, weight)
    convolution.replace_input_with(weight, model.wider[weight])
    return True


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


_PRODUCTS: Mapping[Any, Callable[[Node, _Model], Node | None]] = {
    **dict.fromkeys((*_CONVOLUTIONS, aten.convolution.default), _convolution),
    aten.addmm.default: _addmm,
    aten.linear.default: _linear,
    aten.mm.default: _mm,
}
"""What multiplies, and what is put in its place if its operands are quantized."""
