"""Ops that sum products: of matrices, and of stacks of matrices.

Elements of f16 and bf16 are multiplied and summed in f32, all others in their own type.
"""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.constraints import FloatOrIntTensor
from plumbline.tcp.dialect import TcpOp, VerificationError
from plumbline.tcp.shapes import (
    common_shape,
    spell,
    verify_rank,
    verify_same_element_type,
    verify_shape,
)


class MatrixProductOp(TcpOp, traits=[ext.Pure]):
    """Base class: products of the matrices in the last two dimensions."""

    in1: Operand[FloatOrIntTensor]
    in2: Operand[FloatOrIntTensor]
    out: Result[FloatOrIntTensor]
    assembly_format = "$in1 `,` $in2 attr-dict `:` type($in1) `,` type($in2) `->` type($out)"

    rank = 2

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The batches of the first operand, its rows, and the second's columns."""
        first, second = (operand.type for operand in operands)
        shape = [*first.shape[:-1], second.shape[-1]]
        return [ir.RankedTensorType.get(shape, first.element_type)]

    def verify_operation(self) -> None:
        """Ranks, batches, and the sizes that are summed over agree."""
        first, second, result = self.in1.type, self.in2.type, self.out.type
        verify_same_element_type(first, second, result)
        verify_rank("operand #0", first, self.rank)
        verify_rank("operand #1", second, self.rank)
        batches = self._verified_batches()
        if common_shape([first.shape[-1:], second.shape[-2:-1]]) is None:
            raise VerificationError(
                "requires as many columns in operand #0 as rows in operand #1, but got "
                f"{first.shape[-1]} and {second.shape[-2]}"
            )
        verify_shape("a result", result, [*batches, first.shape[-2], second.shape[-1]])

    def _verified_batches(self) -> Sequence[int]:
        """The sizes before those of a matrix."""
        return []


class MatmulOp(MatrixProductOp, name="matmul"):
    """The product of two matrices, [m, k] and [k, n] to [m, n]."""


class BatchMatmulOp(MatrixProductOp, name="batch_matmul"):
    """The products of pairs of matrices, [b, m, k] and [b, k, n] to [b, m, n]."""

    rank = 3

    def _verified_batches(self) -> Sequence[int]:
        """There are as many matrices in both operands."""
        first, second = self.in1.type.shape[:-2], self.in2.type.shape[:-2]
        batches = common_shape([first, second])
        if batches is None:
            raise VerificationError(
                f"requires as many matrices in both operands, but got {spell(first)} "
                f"and {spell(second)}"
            )
        return batches
