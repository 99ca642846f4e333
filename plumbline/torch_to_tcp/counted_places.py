"""Has places that follow from the count of a loop be computed, and not read from a tensor.

A loop over panels of a matrix finds in a tensor where each begins:

    %0 = tcp.iota ..., %1 = tcp.slice %0 starts(%count) ..., %2 = tensor.extract %1 ...

which is `%count`. What a tensor holds is in the memory of a GPU, for which its host had to wait.
"""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import constant_integer, defining_operation, operations_of

_Places = Sequence[ir.Value]
"""Of an element, along each axis."""


def compute_counted_places(module: ir.Operation) -> None:
    """Replaces integers of `module` that are extracted of such tensors in loops."""
    with module.context:
        for op in operations_of(module, "tensor"):
            if op.name != "tensor.extract" or op.parent.name != "scf.for":
                continue
            (result,) = op.results
            if result.type != ir.IntegerType.get_signless(64):
                continue
            source, *places = op.operands
            with ir.InsertionPoint(op), op.location:
                number = _element(source, places)
                if number is not None:
                    result.replace_all_uses_with(arith.index_cast(result.type, number))
                    op.erase()


def _element(tensor: ir.Value, places: _Places) -> ir.Value | None:
    """An element as a number, if nothing but counts and constants is needed for it."""
    op = defining_operation(tensor)
    rule = None if op is None else _ELEMENTS.get(op.name)
    return None if op is None or rule is None else rule(op, places)


def _constant(op: ir.Operation, places: _Places) -> ir.Value | None:
    elements, numbers = op.attributes["value"], [constant_integer(place) for place in places]
    if elements.is_splat:
        return _index(elements.get_splat_value().value)
    if len(numbers) != 1 or numbers[0] is None:
        return None
    return _index(elements[numbers[0]])


def _counted(op: ir.Operation, places: _Places) -> ir.Value:
    return places[ir.IntegerAttr(op.attributes["dim"]).value]


def _arithmetic(
    compute: Callable[[ir.Value, ir.Value], ir.Value],
) -> Callable[[ir.Operation, _Places], ir.Value | None]:
    def element(op: ir.Operation, places: _Places) -> ir.Value | None:
        left, right = (_element(operand, places) for operand in op.operands)
        return None if left is None or right is None else compute(left, right)

    return element


def _sliced(op: ir.Operation, places: _Places) -> ir.Value | None:
    rank = len(places)
    starts, strides = op.operands[1 : 1 + rank], op.operands[1 + 2 * rank :]
    return _element(
        op.operands[0],
        [
            _sum(start, _product(place, stride))
            for start, place, stride in zip(starts, places, strides, strict=True)
        ],
    )


def _broadcast(op: ir.Operation, places: _Places) -> ir.Value | None:
    axes = _axes(op)
    return _element(
        op.operands[0],
        [_index(0) if axis in axes else place for axis, place in enumerate(places)],
    )


def _joined(op: ir.Operation, places: _Places) -> ir.Value | None:
    axis = ir.IntegerAttr(op.attributes["dim"]).value
    place = constant_integer(places[axis])
    for part in op.operands:
        type_ = ir.RankedTensorType(part.type)
        if place is None or type_.is_dynamic_dim(axis):
            return None
        size = type_.get_dim_size(axis)
        if place < size:
            own = list(places)
            own[axis] = _index(place)
            return _element(part, own)
        place -= size
    return None


def _reversed(op: ir.Operation, places: _Places) -> ir.Value | None:
    type_, turned = ir.RankedTensorType(op.operands[0].type), list(places)
    for axis in _axes(op):
        if type_.is_dynamic_dim(axis):
            return None
        turned[axis] = arith.subi(_index(type_.get_dim_size(axis) - 1), places[axis])
    return _element(op.operands[0], turned)


def _of_units(op: ir.Operation, places: _Places) -> ir.Value | None:
    """Of a tensor with more or less axes of size 1."""
    source, result = (ir.RankedTensorType(value.type) for value in (op.operands[0], op.results[0]))
    long = [place for place, size in zip(places, result.shape, strict=True) if size != 1]
    axes = [axis for axis, size in enumerate(source.shape) if size != 1]
    if len(axes) != len(long):
        return None
    given = dict(zip(axes, long, strict=True))
    return _element(op.operands[0], [given.get(axis, _index(0)) for axis in range(source.rank)])


def _axes(op: ir.Operation) -> list[int]:
    return [ir.IntegerAttr(axis).value for axis in ir.ArrayAttr(op.attributes["axes"])]


def _index(number: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), number)


def _sum(left: ir.Value, right: ir.Value) -> ir.Value:
    return (
        right
        if constant_integer(left) == 0
        else left
        if constant_integer(right) == 0
        else (arith.addi(left, right))
    )


def _product(left: ir.Value, right: ir.Value) -> ir.Value:
    return left if constant_integer(right) == 1 else arith.muli(left, right)


_ELEMENTS: Mapping[str, Callable[[ir.Operation, _Places], ir.Value | None]] = {
    "tcp.add": _arithmetic(_sum),
    "tcp.broadcast": _broadcast,
    "tcp.concat": _joined,
    "tcp.const": _constant,
    "tcp.iota": _counted,
    "tcp.mul": _arithmetic(_product),
    "tcp.reverse": _reversed,
    "tcp.slice": _sliced,
    "tensor.collapse_shape": _of_units,
    "tensor.expand_shape": _of_units,
}

COMPUTE_COUNTED_PLACES = Pass(
    "compute-counted-places",
    "Compute places that follow from the count of a loop, in place of reading them from tensors",
    compute_counted_places,
)
