"""Has the elements of padded tensors be told by their places, so that nobody need write them.

Pads come as what fills a tensor with a number, and what inserts another there: two launches, of
which both write most elements. As one computation a pad is one launch, or none where windows go
along it: these read what is padded, and take the number where they stand beyond it.
"""

from collections.abc import Iterable

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from plumbline.bindings.walk import operations_of
from plumbline.linalg_to_gpu.fills import Size, sizes_of, unfilled
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    PAD,
    erase_unused,
    number_everywhere,
)

_INSERT = "tensor.insert_slice"


def tell_pads(module: ir.Operation) -> None:
    """Replaces what is inserted into tensors of one number by computations of each element."""
    with module.context:
        for op in operations_of(module, "tensor"):
            if op.name == _INSERT and (number := _number_around(op)) is not None:
                with ir.InsertionPoint(op), op.location:
                    told = _told(op.opview, number)
                if told is None:
                    continue
                filled = op.operands[1]
                op.results[0].replace_all_uses_with(told)
                op.erase()
                erase_unused(filled)


def _number_around(insert: ir.Operation) -> ir.Attribute | None:
    """The number around what is inserted, if all else is one, and elements are side by side."""
    source, target = (ir.RankedTensorType(value.type) for value in list(insert.operands)[:2])
    strides = list(ir.DenseI64ArrayAttr(insert.attributes["static_strides"]))
    if source.rank != target.rank or any(stride != 1 for stride in strides):
        return None
    if not isinstance(target.element_type, ir.IntegerType | ir.FloatType):
        return None
    return number_everywhere(insert.operands[1])


def _told(insert: tensor.InsertSliceOp, number: ir.Attribute) -> ir.Value | None:
    """Builds the computation; None if there may be no element that can be read in place of none."""
    source, type_ = insert.source, ir.RankedTensorType(insert.dest.type)
    out = unfilled(insert.dest)
    offsets, sizes = (
        _mixed(insert.operation, name, given)
        for name, given in (("offsets", insert.offsets), ("sizes", insert.sizes))
    )
    padded = [size != whole for size, whole in zip(sizes, sizes_of(out), strict=True)]
    along = [size for size, is_padded in zip(sizes, padded, strict=True) if is_padded]
    if any(not isinstance(size, int) or size == 0 for size in along):
        return None
    around = arith.ConstantOp(type_.element_type, number).result
    map_ = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    generic = linalg.GenericOp(
        [type_],
        [],
        [out],
        ir.ArrayAttr.get([map_]),
        ir.ArrayAttr.get([parallel] * type_.rank),
    )
    generic.operation.attributes[PAD] = ir.UnitAttr.get()
    block = generic.regions[0].blocks.append(type_.element_type)
    with ir.InsertionPoint(block):
        place, are_inside = [], []
        for axis, (size, is_padded) in enumerate(zip(sizes, padded, strict=True)):
            at = linalg.IndexOp(axis).result
            if is_padded:
                at = arith.subi(at, _value(offsets[axis]))
                # What comes before is a large number, without its sign.
                is_inside = arith.cmpi(arith.CmpIPredicate.ult, at, _value(size))
                are_inside.append(is_inside)
                at = arith.select(is_inside, at, index(0))
            place.append(at)
        element = tensor.extract(source, place)
        for is_inside in are_inside:
            element = arith.select(is_inside, element, around)
        linalg.YieldOp([element])
    return generic.results[0]


def _mixed(insert: ir.Operation, name: str, given: Iterable[ir.Value]) -> list[Size]:
    """Offsets or sizes; numbers where these are known."""
    values = iter(given)
    known = ir.DenseI64ArrayAttr(insert.attributes[f"static_{name}"])
    return [next(values) if number == DYNAMIC else number for number in known]


def _value(number: Size) -> ir.Value:
    return index(number) if isinstance(number, int) else number
