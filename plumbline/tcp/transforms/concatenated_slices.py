"""Has slices of a concatenation be a concatenation of slices.

`torch.roll` along several dimensions is slices of slices put together. Where they are put together
of slices of the operand alone, each element is copied once, to where it belongs in the result.
"""

import functools
import operator

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.bindings.walk import constant_integer, defining_operation
from plumbline.tcp.building.size_polynomials import Polynomial, SizePolynomials
from plumbline.tcp.ops.data_movement import ConcatOp, SliceOp


def concatenate_slices(op: SliceOp) -> ir.Value | None:
    """What a slice of a concatenation is of slices of its operands.

    None if it is no such slice, or a part along the concatenation's dimension; or if something else
    takes the concatenation, or a loop does, or slices of it have more elements than it has: they
    are read where they lie, without a copy.
    """
    owner = defining_operation(op.input)
    if owner is None or owner.name != ConcatOp.OPERATION_NAME:
        return None
    dim = owner.opview.dim.value
    users = [use.owner.operation for use in op.input.uses]
    slices = [user.opview for user in users if user.name == SliceOp.OPERATION_NAME]
    others = {user.name for user in users} - {SliceOp.OPERATION_NAME, "tensor.dim"}
    if others or any(slice_.operation.block != owner.block for slice_ in slices):
        return None
    sizes = SizePolynomials()
    if not all(_is_whole(slice_, dim, sizes) for slice_ in slices):
        return None
    whole = _count([sizes.of_dimension(op.input, axis) for axis in range(op.input.type.rank)])
    taken = (_count([sizes.of(size) for size in slice_.sizes]) for slice_ in slices)
    if len(slices) > 1 and not sizes.is_natural(functools.reduce(operator.sub, taken, whole)):
        return None
    parts = [_slice_of(operand, op, dim) for operand in owner.opview.inputs]
    return ConcatOp(parts, dim=dim, results=op.out.type).out


def _is_whole(op: SliceOp, axis: int, sizes: SizePolynomials) -> bool:
    """Whether a slice has all there is along an axis, as far as is known."""
    whole = sizes.of(op.sizes[axis]) == sizes.of_dimension(op.input, axis)
    return whole and constant_integer(op.strides[axis]) == 1


def _count(sizes: list[Polynomial]) -> Polynomial:
    """How many elements a tensor of these sizes has."""
    return functools.reduce(operator.mul, sizes, Polynomial.number(1))


def _slice_of(operand: ir.Value, op: SliceOp, dim: int) -> ir.Value:
    """The same slice of another operand, of which it takes all along `dim`."""
    shape = [*op.out.type.shape]
    shape[dim] = operand.type.shape[dim]
    sizes = [*op.sizes]
    axis = arith.constant(ir.IndexType.get(), dim)
    sizes[dim] = tensor.dim(operand, axis)
    type_ = ir.RankedTensorType.get(shape, op.out.type.element_type)
    return SliceOp(operand, op.starts, sizes, op.strides, results=type_).out
