"""Sorts, which stand beside TCP as `tm_tensor.sort`."""

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.stablehlo_to_tcp.pattern import Patterns, integer, tensors
from plumbline.stablehlo_to_tcp.structure import take_over
from plumbline.tcp.building.tensors import Tensor


def convert_sort(op: ir.OpView) -> list[Tensor]:
    """Rows sorted by a comparison, which may look at several operands; equal ones stay in order.

    StableHLO's comparison says whether the first element has to come first, that of `tm_tensor`
    whether it may: it may if the second one has not to.
    """
    operands = tensors(op)
    types = [operand.type.builtin() for operand in operands]
    dimension = integer(op, "dimension", -1) % operands[0].type.rank
    sort = ir.Operation.create(
        "tm_tensor.sort",
        results=types,
        operands=[operand.value for operand in operands],
        attributes={
            "dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, len(operands)]),
        },
        regions=1,
    )
    elements = [type_.element_type for type_ in types for _ in range(2)]
    block = sort.regions[0].blocks.append(*elements, arg_locs=[op.location] * len(elements))
    with ir.InsertionPoint(block):
        singles = [
            tensor_dialect.from_elements(ir.RankedTensorType.get([], element.type), [element])
            for element in block.arguments
        ]
    exchanged = [
        single for pair in zip(singles[1::2], singles[::2], strict=True) for single in pair
    ]
    (second_has_to,) = take_over(op.regions[0].blocks[0], block, exchanged)
    with ir.InsertionPoint(block):
        true = arith.constant(ir.IntegerType.get_signless(1), 1)
        may = arith.xori(tensor_dialect.extract(second_has_to, []), true)
        ir.Operation.create("tm_tensor.yield", operands=[may])
    return [
        Tensor(result, operand.type) for result, operand in zip(sort.results, operands, strict=True)
    ]


PATTERNS: Patterns = {"stablehlo.sort": convert_sort}
