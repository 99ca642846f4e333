"""Sorts without what nobody reads, and without the places of elements, which they count themselves.

`torch.sort` and what is made of it (`topk`, `argsort`, `median`) sort the places of elements along
with these. Nobody has to write those down first: what is at a place is the place. And where one of
the two is not read afterwards, it need not be moved.
"""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.bindings.walk import clone_operations, defining_operation, operations_named

_COUNTED = "plumbline.counted"
"""The attribute of a `tm_tensor.sort` that has the numbers of operands which hold places."""

_PLACES = ("linalg.index", "arith.index_cast", "linalg.yield")
"""What the body of a `linalg.generic` is that gives the places along an axis."""


def trim_sorts(module: ir.Operation) -> None:
    """Has each `tm_tensor.sort` on tensors take no operand that nobody reads, and no places."""
    with module.context:
        for op in sorts_of(module):
            if len(op.results) > 0:
                _trim(op)


def sorts_of(module: ir.Operation) -> list[ir.Operation]:
    """Each `tm_tensor.sort`, without what is in it, which is gone where a sort is erased."""
    return operations_named(module, "tm_tensor.sort")


def counted_operands(op: ir.Operation) -> frozenset[int]:
    """Which operands of a sort hold the place of each element along its row, whatever is there."""
    numbers = op.attributes.get(_COUNTED)
    return frozenset() if numbers is None else frozenset(ir.DenseI64ArrayAttr(numbers))


def sort_axis(op: ir.Operation) -> int:
    """The one that a `tm_tensor.sort` has rows along."""
    return int(ir.IntegerAttr(op.attributes["dimension"]).value)


def _trim(op: ir.Operation) -> None:
    body = op.regions[0].blocks[0]
    is_read = [
        any(
            True
            for value in (result, *body.arguments[2 * number : 2 * number + 2])
            for _ in value.uses
        )
        for number, result in enumerate(op.results)
    ]
    kept = [number for number, read in enumerate(is_read) if read]
    places = {number: _size_only(op, number) for number in kept}
    counted = [place for place, number in enumerate(kept) if places[number] is not None]
    if not kept or (len(kept) == len(op.results) and not counted):
        return
    operands = [places[number] or op.operands[number] for number in kept]
    with ir.InsertionPoint(op), op.location:
        trimmed = _sort(op, kept, operands)
        if counted:
            trimmed.attributes[_COUNTED] = ir.DenseI64ArrayAttr.get(counted)
    for number, result in zip(kept, trimmed.results, strict=True):
        op.results[number].replace_all_uses_with(result)
    op.erase()


def _sort(op: ir.Operation, kept: Sequence[int], operands: Sequence[ir.Value]) -> ir.Operation:
    """Builds a sort of some of the operands, by the same comparison."""
    trimmed = ir.Operation.create(
        op.name,
        results=[operand.type for operand in operands],
        operands=list(operands),
        attributes={
            **{name: op.attributes[name] for name in op.attributes},
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, len(operands)]),
        },
        regions=1,
    )
    body = op.regions[0].blocks[0]
    taken = [body.arguments[2 * number + side] for number in kept for side in range(2)]
    types = [argument.type for argument in taken]
    block = trimmed.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
    with ir.InsertionPoint(block):
        values = dict(zip(taken, block.arguments, strict=True))
        clone_operations([inner.operation for inner in body.operations], values)
    return trimmed


def _size_only(op: ir.Operation, number: int) -> ir.Value | None:
    """A tensor without content of the same size as an operand, if that has places along rows."""
    made = defining_operation(op.operands[number])
    if made is None or made.name != "linalg.generic" or len(made.operands) != 1:
        return None
    inner = [view.operation for view in made.regions[0].blocks[0].operations]
    empty = defining_operation(made.operands[0])
    (map_,) = ir.ArrayAttr(made.attributes["indexing_maps"])
    is_whole = map_ == ir.AffineMapAttr.get(
        ir.AffineMap.get_identity(ir.RankedTensorType(made.results[0].type).rank)
    )
    if tuple(each.name for each in inner) != _PLACES or empty is None or not is_whole:
        return None
    place, cast, end = inner
    is_along_rows = place.attributes["dim"] == op.attributes["dimension"]
    chained = cast.operands[0] == place.results[0] and end.operands[0] == cast.results[0]
    found = is_along_rows and chained and empty.name == "tensor.empty"
    return made.operands[0] if found else None
