"""Products of matrices, as loops over rows, the dimension that is summed over, and columns.

The columns come last: then an element of the first operand meets a row of the second, and both
that row and the row of the result lie one element beside the other.

`linalg.contract` says so by its maps.
"""

from torch_mlir import ir
from torch_mlir.dialects import linalg

from plumbline.tcp.ops.contraction import BatchMatmulOp, MatmulOp, MatrixProductOp
from plumbline.tcp_to_linalg.accumulators import (
    accumulator_type,
    all_narrowed,
    with_elements,
)
from plumbline.tcp_to_linalg.building import dim, dynamic_sizes, fill
from plumbline.tcp_to_linalg.loop_nest import dims_map
from plumbline.tcp_to_linalg.pattern import Patterns
from plumbline.tcp_to_linalg.scalars import constant


def convert_matrix_product(op: MatrixProductOp) -> ir.Value:
    """Loops over the batches, then rows, the summed dimension, and columns."""
    result = op.out.type
    batches = list(range(result.rank - 2))
    row, summed, column = (len(batches) + place for place in range(3))
    sum_type = accumulator_type(result.element_type)
    sizes = [dim(op.in1, axis) for axis in (*batches, row)] + [dim(op.in2, result.rank - 1)]
    out_type = with_elements(result, sum_type)

    def at(*places: int) -> ir.AffineMap:
        return dims_map(result.rank + 1, [*batches, *places])

    value = linalg.contract(
        op.in1,
        op.in2,
        outs=[fill(out_type, dynamic_sizes(out_type, sizes), constant(sum_type, 0))],
        indexing_maps=[at(row, summed), at(summed, column), at(row, column)],
    )
    return all_narrowed(value, result.element_type)


PATTERNS: Patterns = {
    MatmulOp: convert_matrix_product,
    BatchMatmulOp: convert_matrix_product,
}
