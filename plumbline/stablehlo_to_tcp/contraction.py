"""Ops that sum products."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.stablehlo_to_tcp.attributes import dot_dimensions
from plumbline.stablehlo_to_tcp.pattern import Patterns, tensor_type, tensors
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import transpose
from plumbline.tcp.building.dtypes import bit_width, is_bool, is_float
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import cast
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.contraction import BatchMatmulOp, MatmulOp


def product_dtype(left: str, right: str, result: str) -> str:
    """What products are computed in: the widest of the types concerned."""
    if is_bool(result):
        # Whether any product is true: their number is not zero.
        return "si32"
    kind = [dtype for dtype in (left, right, result) if is_float(dtype) == is_float(result)]
    return max(kind, key=lambda dtype: (bit_width(dtype), dtype == result))


def convert_dot_general(op: ir.OpView) -> Tensor:
    """Products summed over several dimensions at once, for each of several others.

    Of each kind of dimension one is made: batches, rows, what is summed over, columns.
    """
    left, right = tensors(op)
    result = tensor_type(op.results[0])
    dims = dot_dimensions(op)
    batch = list(dims.lhs_batching_dimensions), list(dims.rhs_batching_dimensions)
    summed = list(dims.lhs_contracting_dimensions), list(dims.rhs_contracting_dimensions)
    dtype = product_dtype(left.type.dtype, right.type.dtype, result.dtype)
    left, right = cast(left, dtype), cast(right, dtype)
    rows = _others(left, batch[0], summed[0])
    columns = _others(right, batch[1], summed[1])
    left_sizes, right_sizes = size_arithmetic.all_of(left), size_arithmetic.all_of(right)
    batches = [left_sizes[axis] for axis in batch[0]]
    matrices = [size_arithmetic.product(batches)] if batches else []
    left = _merged(left, (batch[0], rows, summed[0]), matrices)
    right = _merged(right, (batch[1], summed[1], columns), matrices)
    product = _product(left, right)
    sizes: list[Size] = [
        *batches,
        *(left_sizes[axis] for axis in rows),
        *(right_sizes[axis] for axis in columns),
    ]
    return cast(reshape(product, sizes), result.dtype)


def _others(operand: Tensor, *taken: Sequence[int]) -> list[int]:
    """The dimensions that are not taken."""
    return [axis for axis in range(operand.type.rank) if all(axis not in axes for axes in taken)]


def _merged(operand: Tensor, groups: Sequence[Sequence[int]], matrices: Sequence[Size]) -> Tensor:
    """The dimensions in the order of three groups, each merged into one, the first if any."""
    sizes = size_arithmetic.all_of(operand)
    ordered = transpose(operand, [axis for group in groups for axis in group])
    inner = [size_arithmetic.product([sizes[axis] for axis in group]) for group in groups[1:]]
    return reshape(ordered, [*matrices, *inner])


def _product(left: Tensor, right: Tensor) -> Tensor:
    op_class = BatchMatmulOp if left.type.rank == 3 else MatmulOp
    op = op_class(left.value, right.value)
    sizes = (*left.type.sizes[:-1], right.type.sizes[-1])
    return Tensor(op.out, TensorType(sizes, left.type.dtype))


PATTERNS: Patterns = {"stablehlo.dot_general": convert_dot_general}
