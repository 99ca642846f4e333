"""Ops that make one element of the many along some dimensions, or of those so far."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.attributes import (
    Combiner,
    Signedness,
    verify_accumulation_type,
    verify_combiner,
    verify_signedness,
)
from plumbline.tcp.constraints import (
    Dimension,
    FloatOrIntTensor,
    I64Array,
    IntTensor,
    NumberType,
)
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.shapes import (
    verify_axes,
    verify_axis,
    verify_same_element_type,
    verify_shape,
)

_FORMAT = "$input attr-dict `:` type($input) `->` type($out)"


class ReduceOp(TcpOp, name="reduce", traits=[ext.Pure]):
    """The elements along `axes` combined into one; the result lacks those dimensions.

    Sums and products are computed in `accumulation_type` and rounded once at the end. Integers are
    signed unless `int_signedness` says otherwise. Nothing at all combines into what changes
    nothing: 0, 1, the least or the greatest value, true or false.
    """

    input: Operand[FloatOrIntTensor]
    axes: I64Array
    combiner: Combiner
    accumulation_type: NumberType | None
    int_signedness: Signedness | None
    out: Result[FloatOrIntTensor]
    assembly_format = _FORMAT

    def verify_operation(self) -> None:
        """The axes increase within the rank, and the result has the other dimensions."""
        source = self.input.type
        axes = [axis.value for axis in self.axes]
        verify_same_element_type(source, self.out.type)
        verify_axes("axes", axes, source.rank)
        kept = [size for axis, size in enumerate(source.shape) if axis not in axes]
        verify_shape("a result", self.out.type, kept)
        verify_combiner(self.combiner, source.element_type)
        verify_accumulation_type(self.combiner, self.accumulation_type, source.element_type)
        verify_signedness("int_signedness", self.int_signedness, source.element_type)


class ScanOp(TcpOp, name="scan", traits=[ext.Pure]):
    """Each element combined with all those before it along `dim`.

    Sums and products are computed in `accumulation_type`, and rounded where they are stored.
    Integers are signed unless `int_signedness` says otherwise.
    """

    input: Operand[FloatOrIntTensor]
    dim: Dimension
    combiner: Combiner
    accumulation_type: NumberType | None
    int_signedness: Signedness | None
    out: Result[FloatOrIntTensor]
    assembly_format = _FORMAT

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The operand's type."""
        return [operands[0].type]

    def verify_operation(self) -> None:
        """There is such a dimension, and the result is like the operand."""
        source = self.input.type
        verify_same_element_type(source, self.out.type)
        verify_axis("dim", self.dim.value, source.rank)
        verify_shape("a result", self.out.type, source.shape)
        verify_combiner(self.combiner, source.element_type)
        verify_accumulation_type(self.combiner, self.accumulation_type, source.element_type)
        verify_signedness("int_signedness", self.int_signedness, source.element_type)


class ArgReductionOp(TcpOp, traits=[ext.Pure]):
    """Base class: the place of an element along `dim`; the result lacks that dimension.

    Of several equal ones it is the first; the first NaN, if there is one. Integers are signed
    unless `int_signedness` says otherwise.
    """

    input: Operand[FloatOrIntTensor]
    dim: Dimension
    int_signedness: Signedness | None
    out: Result[IntTensor]
    assembly_format = _FORMAT

    def verify_operation(self) -> None:
        """There is such a dimension, and the result has the others."""
        source, dim = self.input.type, self.dim.value
        verify_axis("dim", dim, source.rank)
        kept = [size for axis, size in enumerate(source.shape) if axis != dim]
        verify_shape("a result", self.out.type, kept)
        verify_signedness("int_signedness", self.int_signedness, source.element_type)


class ArgmaxOp(ArgReductionOp, name="argmax"):
    """The place of the greatest element along `dim`."""


class ArgminOp(ArgReductionOp, name="argmin"):
    """The place of the least element along `dim`."""
