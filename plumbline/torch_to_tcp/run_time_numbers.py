"""Numbers of the Torch dialect that are computed at run time, as sizes and as tensors."""

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.bindings.torch_c import TO_F64, TO_I64
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.shapes import from_element, from_size
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor
from plumbline.torch_to_tcp.pattern import number, tensor, tensor_type

_ARITHMETIC: dict[str, Callable[[Size, Size], Size]] = {
    "torch.aten.add.int": size_arithmetic.add,
    "torch.aten.mul.int": size_arithmetic.multiply,
    "torch.aten.sub.int": size_arithmetic.subtract,
}


def evaluate(torch_int: ir.Value) -> Size:
    """The size that an int of the Torch dialect is."""
    owner = torch_int.owner
    if isinstance(owner, ir.Operation | ir.OpView):
        if owner.name == "torch.constant.int":
            return int(ir.IntegerAttr(owner.attributes["value"]).value)
        if owner.name in _ARITHMETIC:
            left, right = owner.operands
            return _ARITHMETIC[owner.name](evaluate(left), evaluate(right))
        if owner.name == "torch.aten.size.int":
            try:
                operand = tensor(owner.operands[0])
                return size_arithmetic.of(
                    operand, int(number(owner.operands[1]) or 0) % operand.type.rank
                )
            except Unsupported:
                pass
    wide = ir.Operation.create(
        TO_I64, results=[ir.IntegerType.get_signless(64)], operands=[torch_int]
    ).result
    return arith.index_cast(ir.IndexType.get(), wide)


def is_place_of_round(start: ir.Value, end: ir.Value, operand: ir.Value, dim: int) -> bool:
    """Whether [start, end) is one place, that of each round of a loop over a whole dimension."""
    block = start.owner
    if not isinstance(block, ir.Block) or block.owner.name != "torch.prim.Loop":
        return False
    if ir.BlockArgument(start).arg_number != 0 or not _is_next(end, start):
        return False
    count = block.owner.operands[0].owner
    if count.name == "torch.constant.int":
        return tensor_type(operand).sizes[dim] == evaluate(block.owner.operands[0])
    if count.name != "torch.aten.size.int" or count.operands[0] != operand:
        return False
    return evaluate(count.operands[1]) == dim


def _is_next(end: ir.Value, start: ir.Value) -> bool:
    owner = end.owner
    if isinstance(owner, ir.Block) or owner.name != "torch.aten.add.int":
        return False
    return owner.operands[0] == start and evaluate(owner.operands[1]) == 1


def run_time_number(value: ir.Value) -> Tensor:
    """A number of the Torch dialect as a tensor of rank 0, of the dtype that PyTorch gives it.

    Raises:
      Unsupported: it is neither an int nor a float.
    """
    kind = str(value.type)
    if kind == "!torch.int":
        return from_size(evaluate(value))
    if kind != "!torch.float":
        raise Unsupported(f"a value of type {kind} in place of a number")
    element = ir.Operation.create(TO_F64, results=[ir.F64Type.get()], operands=[value])
    return from_element(element.result, "f64")
