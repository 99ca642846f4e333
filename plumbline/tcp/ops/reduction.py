"""Ops that make one element of the many along some dimensions."""

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
