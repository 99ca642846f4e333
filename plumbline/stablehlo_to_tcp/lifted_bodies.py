"""Bodies of single elements, done to tensors of them."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.stablehlo_to_tcp import elementwise
from plumbline.stablehlo_to_tcp.bodies import returned
from plumbline.stablehlo_to_tcp.pattern import recast, tensor, tensor_type
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.shapes import broadcast_to
from plumbline.tcp.building.tensors import Tensor

_CONSTANT = "stablehlo.constant"


def is_elementwise(block: ir.Block) -> bool:
    """Whether each op of a body is one that does to elements of a tensor what it does to one."""
    *operations, _ = block.operations
    return all(op.name == _CONSTANT or op.name in elementwise.PATTERNS for op in operations)


def lifted(block: ir.Block, arguments: Sequence[Tensor]) -> list[Tensor]:
    """What an elementwise body returns for tensors of one shape.

    Its ops are still StableHLO's, at the insertion point.

    Raises:
      Unsupported: it makes elements that TCP has none of.
    """
    sizes = size_arithmetic.all_of(arguments[0])
    shape = arguments[0].type.sizes
    known: dict[ir.Value, ir.Value] = {}

    def lifted_type(value: ir.Value) -> ir.RankedTensorType:
        return ir.RankedTensorType.get(shape, value.type.element_type)

    def stretched(value: ir.Value) -> ir.Value:
        return recast(broadcast_to(tensor(value), sizes).value, lifted_type(value))

    for argument, given in zip(block.arguments, arguments, strict=True):
        known[argument] = recast(given.value, lifted_type(argument))
    *operations, _ = block.operations
    for op in operations:
        attributes = {name: op.attributes[name] for name in op.attributes}
        if op.name == _CONSTANT:
            made = ir.Operation.create(_CONSTANT, [op.results[0].type], [], attributes)
            known[op.results[0]] = stretched(made.result)
            continue
        operands = [known.get(operand) or stretched(operand) for operand in op.operands]
        made = ir.Operation.create(op.name, [lifted_type(op.results[0])], operands, attributes)
        known[op.results[0]] = made.result
    results = []
    for value in returned(block):
        type_ = tensor_type(known[value])
        results.append(Tensor(recast(known[value], type_.builtin()), type_))
    return results
