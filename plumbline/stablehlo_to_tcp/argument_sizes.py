"""The dynamic sizes of arguments, which JAX names, and says which of are the same.

What it exports for symbolic sizes has a function around it that reads them from its arguments,
hands them on (`jax.global_constant` is their name), and asserts that others are equal to them. So
libraries take a size once, under its name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.bindings.walk import callee, defining_operation
from plumbline.signature.argument_shapes import Place
from plumbline.stablehlo_to_tcp.attributes import direction
from plumbline.tcp.ops.symbolic_shape import BindSymbolicShapeOp, SymbolicIntOp

_NAME = "jax.global_constant"
_MOST = 2**63 - 1


@dataclass
class _Sizes:
    """What a block says of the sizes of its arguments."""

    names: dict[Place, str]
    least: dict[Place, int]
    same: dict[Place, Place]
    """For each size that is asserted to be another one, that one."""


def bind_sizes(function: ir.Operation, symbols: ir.SymbolTable) -> None:
    """Gives the sizes of a function's arguments the names that JAX has for them, where it has."""
    block = function.regions[0].blocks[0]
    sizes = _sizes_of(block, symbols)
    if not sizes.names:
        return
    with ir.InsertionPoint.at_block_begin(block), function.location:
        made = {
            place: SymbolicIntOp(
                symbol_name=name,
                min_val=sizes.least.get(place, 0),
                max_val=_MOST,
                results=ir.IntegerType.get_signless(64),
            ).result
            for place, name in sizes.names.items()
        }
        for number, argument in enumerate(block.arguments):
            _bind(number, argument, sizes.same, made)


def _bind(
    number: int, argument: ir.Value, same: Mapping[Place, Place], symbols: Mapping[Place, ir.Value]
) -> None:
    """Says of an argument which symbols its dynamic sizes are, if that is known of all of them."""
    if not isinstance(argument.type, ir.RankedTensorType):
        return
    places = {
        axis: Place(number, axis)
        for axis in range(argument.type.rank)
        if argument.type.is_dynamic_dim(axis)
    }
    found = [symbols.get(same.get(place, place)) for place in places.values()]
    used = [symbol for symbol in found if symbol is not None]
    if not used or len(used) < len(found):
        return
    distinct = list(dict.fromkeys(used))
    of_axis = dict(zip(places, used, strict=True))
    expressions = [
        ir.AffineExpr.get_symbol(distinct.index(of_axis[axis]))
        if axis in of_axis
        else ir.AffineExpr.get_constant(size)
        for axis, size in enumerate(argument.type.shape)
    ]
    BindSymbolicShapeOp(
        argument, distinct, shape_expressions=ir.AffineMap.get(0, len(distinct), expressions)
    )


def _sizes_of(block: ir.Block, symbols: ir.SymbolTable) -> _Sizes:
    numbers = {argument: number for number, argument in enumerate(block.arguments)}
    places: dict[ir.Value, Place] = {}
    sizes = _Sizes({}, {}, {})
    for op in block.operations:
        operands = list(op.operands)
        match op.operation.name:
            case "stablehlo.get_dimension_size" if operands[0] in numbers:
                axis = ir.IntegerAttr(op.attributes["dimension"]).value
                places[op.results[0]] = Place(numbers[operands[0]], axis)
            case "func.call":
                function = symbols[callee(op)]
                for operand, name in zip(operands, _names(function), strict=False):
                    if name and operand in places:
                        sizes.names[places[operand]] = name
            case "stablehlo.custom_call" if operands and _asserts(op):
                _note_assertion(defining_operation(operands[0]), places, sizes)
    return sizes


def _asserts(op: ir.OpView) -> bool:
    return bool(ir.StringAttr(op.attributes["call_target_name"]).value == "shape_assertion")


def _note_assertion(
    op: ir.Operation | None, places: Mapping[ir.Value, Place], sizes: _Sizes
) -> None:
    """Notes what is asserted, if that is of a size."""
    if op is None or op.name != "stablehlo.compare" or op.operands[0] not in places:
        return
    place, other = places[op.operands[0]], op.operands[1]
    match direction(op.opview):
        case "eq" if other in places:
            sizes.same[place] = places[other]
        case "ge":
            least = _constant(other)
            if least is not None:
                sizes.least[place] = least


def _constant(value: ir.Value) -> int | None:
    op = defining_operation(value)
    if op is None or op.name != "stablehlo.constant":
        return None
    return int(ir.DenseElementsAttr(op.attributes["value"]).get_splat_value().value)


def _names(function: ir.OpView) -> Sequence[str]:
    """What JAX calls the sizes that a function takes as arguments, and nothing for others."""
    if "arg_attrs" not in function.attributes:
        return []
    entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes["arg_attrs"])]
    return [ir.StringAttr(entry[_NAME]).value if _NAME in entry else "" for entry in entries]
