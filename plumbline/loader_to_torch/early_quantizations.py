"""Has graphs quantize numbers before they are padded, pooled or clamped, rather than after.

A model that PyTorch 2 Export (PT2E) quantizes rounds numbers anew wherever a layer ends, and has
floats between. Of integers a pool or a pad has a quarter of the bytes, and what rounds them is left
to the product that they come of. All of it is exact: to quantize keeps the order of numbers, and
gives the integers back that numbers are dequantized from.

Integers without a sign become such with one, that are 128 less: products take those.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from plumbline.loader_to_torch.decompositions.integer_products import SIGN
from plumbline.loader_to_torch.quantized_nodes import arguments_of, name_of

aten = torch.ops.aten

_PADS = (aten.pad.default, aten.constant_pad_nd.default)

_POOLS = (aten.max_pool1d.default, aten.max_pool2d.default, aten.max_pool3d.default)

_LEAST_SCALE, _LARGEST_SCALE = 2.0**-100, 2.0**100
"""Of scales between these floats hold the inverse, and what it is multiplied with."""


@dataclass(frozen=True)
class _Rounding:
    """By what numbers are quantized, or dequantized."""

    scale: float
    zero_point: int
    least: int
    largest: int
    dtype: torch.dtype

    def inverts(self, other: "_Rounding") -> bool:
        """Whether the other one's integers come back, but for the bounds."""
        return (self.scale, self.zero_point, self.dtype) == (
            other.scale,
            other.zero_point,
            other.dtype,
        ) and _LEAST_SCALE < self.scale < _LARGEST_SCALE

    def holds(self, integers: Node) -> bool:
        """Whether what a node gives is within the bounds."""
        limits = torch.iinfo(self.dtype)
        if self.least <= limits.min and self.largest >= limits.max:
            return True
        made = _quantization(integers)
        return made is not None and self.least <= made.least and made.largest <= self.largest


def quantize_early(exported: torch.export.ExportedProgram) -> None:
    """Moves quantizations of `exported` before what does not round, and takes them off there.

    Those whose scales are tensors stay: which they are is known as the program runs.
    """
    graph = exported.graph
    found = [node for node in graph.nodes if _quantization(node) is not None]
    changed = False
    for node in found:
        at: Node | None = node
        while at is not None:
            at = _moved(at)
            changed |= at is not None
    for node in graph.nodes:
        by = _quantization(node)
        if by is not None and by.dtype == torch.uint8 and _is_all_dequantized(node, by):
            _give_sign(node, by)
            changed = True
    if changed:
        graph.lint()
        exported.graph_module.recompile()


def _quantization(node: object) -> _Rounding | None:
    return _rounding(node, "quantized_decomposed::quantize_per_tensor")


def _dequantization(node: object) -> _Rounding | None:
    return _rounding(node, "quantized_decomposed::dequantize_per_tensor")


def _rounding(node: object, name: str) -> _Rounding | None:
    if not isinstance(node, Node) or name_of(node) != name:
        return None
    given = arguments_of(node)
    scale, zero_point = given["scale"], given["zero_point"]
    numbers = given["input"] if name.endswith("::quantize_per_tensor") else node
    if isinstance(scale, Node) or isinstance(zero_point, Node):
        return None
    if numbers.meta["val"].dtype != torch.float32:
        return None
    return _Rounding(scale, zero_point, given["quant_min"], given["quant_max"], given["dtype"])


def _moved(node: Node) -> Node | None:
    """The quantization that there is in the place of one, earlier in the graph, if there is."""
    by = _quantization(node)
    assert by is not None
    source = arguments_of(node)["input"]
    before = _dequantization(source)
    if before is not None:
        integers = arguments_of(source)["input"]
        if by.inverts(before) and by.holds(integers):
            _replace(node, integers)
        return None
    if len(source.users) != 1 or source.op != "call_function":
        return None
    if (value := _padded_with(source)) is not None:
        integer = _quantized(node, value)
        return _before(node, source, (arguments_of(source)["pad"],), {"value": integer})
    # Only of what was dequantized it is known that no number is NaN, which is the largest in pools.
    numbers = source.args[0] if source.args else None
    if not isinstance(numbers, Node) or _dequantization(numbers) is None:
        return None
    if source.target in _POOLS:
        return _before(node, source, source.args[1:], source.kwargs)
    bounds = _clamped_to(source)
    return None if bounds is None else _as_bounds(node, by, numbers, bounds)


def _before(node: Node, move: Node, rest: Sequence[Any], keywords: Any) -> Node:
    """Has `move` be done to what is quantized; with what else it is given then."""
    numbers = move.args[0]
    assert isinstance(numbers, Node)
    with node.graph.inserting_before(move):
        first = _called(node, (numbers, *node.args[1:]), node.kwargs, numbers)
        moved = _called(move, (first, *rest), keywords, node)
    _replace(node, moved)
    node.graph.erase_node(move)
    return first


def _is_all_dequantized(node: Node, by: _Rounding) -> bool:
    """Whether a node's integers are dequantized by what they are quantized by, moved or not."""
    for user in node.users:
        if user.op == "call_function" and (user.target in _POOLS or _padded_with(user) is not None):
            if not _is_all_dequantized(user, by):
                return False
            continue
        read = _dequantization(user)
        if read is None or read.dtype != by.dtype:
            return False
        if (read.scale, read.zero_point) != (by.scale, by.zero_point):
            return False
    return True


def _padded_with(node: Node) -> float | None:
    """The number that a node pads with, if that is one."""
    if node.target not in _PADS:
        return None
    given = arguments_of(node)
    value = given.get("value")
    if given.get("mode", "constant") != "constant" or isinstance(value, Node):
        return None
    return 0.0 if value is None else value


def _give_sign(node: Node, by: _Rounding) -> None:
    """Has a node quantize to integers with a sign."""
    less = by.scale, by.zero_point - SIGN, by.least - SIGN, by.largest - SIGN, torch.int8
    with node.graph.inserting_before(node):
        integers = _called(node, (arguments_of(node)["input"], *less), {}, node)
    _read_with_sign(node, integers, less)


def _read_with_sign(node: Node, integers: Node, less: tuple[Any, ...]) -> None:
    """Has whoever reads a node read integers with a sign in its place."""
    for user in list(node.users):
        rest, keywords = user.args[1:], user.kwargs
        with node.graph.inserting_before(user):
            if (value := _padded_with(user)) is not None:
                keywords = {"value": value - SIGN}
                padded = _called(user, (integers, arguments_of(user)["pad"]), keywords, user)
                _read_with_sign(user, padded, less)
            elif user.target in _POOLS:
                _read_with_sign(user, _called(user, (integers, *rest), keywords, user), less)
            else:
                user.args, user.kwargs = (integers, *less), {}
    node.graph.erase_node(node)


def _clamped_to(node: Node) -> tuple[float | None, float | None] | None:
    """Between what a node clamps numbers, if it does no more."""
    given = arguments_of(node)
    bounds: tuple[Any, Any]
    match node.target:
        case aten.relu.default:
            bounds = 0.0, None
        case aten.hardtanh.default:
            bounds = given.get("min_val", -1.0), given.get("max_val", 1.0)
        case aten.relu6.default:
            bounds = 0.0, 6.0
        case aten.clamp.default:
            bounds = given.get("min"), given.get("max")
        case _:
            return None
    lower, upper = bounds
    if isinstance(lower, Node) or isinstance(upper, Node):
        return None
    if lower is not None and upper is not None and lower > upper:
        return None
    return bounds


def _as_bounds(
    node: Node, by: _Rounding, numbers: Node, bounds: tuple[float | None, float | None]
) -> Node | None:
    """Has a quantization clamp, if its numbers come of one like it and are clamped between."""
    integers = arguments_of(numbers)["input"]
    before = _quantization(integers)
    if before is None or not by.inverts(before) or not by.holds(integers):
        return None
    if len(numbers.users) != 1 or len(integers.users) != 1:
        return None
    least, largest = (
        without if bound is None else _quantized(node, bound)
        for bound, without in zip(bounds, (before.least, before.largest), strict=True)
    )
    least, largest = max(least, before.least), min(largest, before.largest)
    if least > largest:
        return None
    source = arguments_of(integers)["input"]
    with node.graph.inserting_before(node):
        arguments = source, by.scale, by.zero_point, least, largest, by.dtype
        made = _called(node, arguments, {}, node)
    clamp = arguments_of(node)["input"]
    _replace(node, made)
    for dead in (clamp, numbers, integers):
        node.graph.erase_node(dead)
    return made


def _called(node: Node, arguments: tuple[Any, ...], keywords: Any, shaped: Node) -> Node:
    """A node that calls what another does; its result is quantized, and as large as a third's.

    To find that by the op, as `quantized_nodes.called` does, would fix dynamic sizes at a pad.
    """
    made = node.graph.create_node("call_function", node.target, arguments, dict(keywords))
    dtype = arguments_of(made).get("dtype") or arguments[0].meta["val"].dtype
    made.meta = {**node.meta, "val": shaped.meta["val"].to(dtype)}
    return made


def _quantized(node: Node, number: float) -> int:
    """As which integer a node quantizes a number."""
    op: Any = node.target
    return int(op(torch.tensor(float(number)), *node.args[1:], **node.kwargs))


def _replace(node: Node, by: Node) -> None:
    node.replace_all_uses_with(by)
    node.graph.erase_node(node)
