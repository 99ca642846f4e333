"""Ops that make tensors, or place the elements of tensors anew."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.constraints import (
    AnyTensor,
    Dimension,
    Elements,
    FloatOrIntTensor,
    I64Array,
    Index,
    ScalarTensor,
)
from plumbline.tcp.dialect import TcpOp, VerificationError
from plumbline.tcp.shapes import (
    DYNAMIC,
    common_shape,
    verify_axes,
    verify_axis,
    verify_count,
    verify_rank,
    verify_same_element_type,
    verify_shape,
)


class ConstOp(TcpOp, name="const", traits=[ext.Pure]):
    """A tensor that is known when the program is compiled."""

    value: Elements
    out: Result[AnyTensor]
    assembly_format = "attr-dict `:` type($out)"

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The type of the value."""
        return [attributes["value"].type]

    def verify_operation(self) -> None:
        """The value and the result have the same type."""
        if self.value.type != self.out.type:
            raise VerificationError(
                f"requires attribute 'value' to have the result's type '{self.out.type}', "
                f"but got '{self.value.type}'"
            )


class IotaOp(TcpOp, name="iota", traits=[ext.Pure]):
    """Each element is its own place along `dim`, counted from 0.

    `sizes` are those of the result's dynamic dimensions, in order.
    """

    sizes: Sequence[Operand[Index]]
    dim: Dimension
    out: Result[FloatOrIntTensor]
    assembly_format = "`(` $sizes `)` attr-dict `:` type($out)"

    def verify_operation(self) -> None:
        """There is such a dimension, and a size for each dynamic one."""
        verify_axis("dim", self.dim.value, self.out.type.rank)
        verify_count("sizes", len(self.sizes), list(self.out.type.shape).count(DYNAMIC))


class BroadcastOp(TcpOp, name="broadcast", traits=[ext.Pure]):
    """The operand repeated along each of `axes`, where its size is 1, to the size given for it.

    `sizes` are in the order of `axes`, which increase.
    """

    input: Operand[AnyTensor]
    sizes: Sequence[Operand[Index]]
    axes: I64Array
    out: Result[AnyTensor]
    assembly_format = (
        "$input (`,` $sizes^)? attr-dict `:` type($input) (`,` type($sizes)^)? `->` type($out)"
    )

    def verify_operation(self) -> None:
        """The axes increase within the rank, have size 1, and a new size each."""
        source, result = self.input.type, self.out.type
        axes = [axis.value for axis in self.axes]
        verify_same_element_type(source, result)
        verify_rank("a result", result, source.rank)
        verify_axes("axes", axes, source.rank)
        verify_count("sizes, one for each of 'axes'", len(self.sizes), len(axes))
        for axis in axes:
            if source.shape[axis] != 1:
                raise VerificationError(
                    f"requires the operand to have the static size 1 along axis {axis}"
                )
        kept = [DYNAMIC if axis in axes else size for axis, size in enumerate(source.shape)]
        verify_shape("a result", result, kept)


class SliceOp(TcpOp, name="slice", traits=[ext.Pure]):
    """`sizes` elements along each dimension, from `starts` on, every `strides`-th.

    All three have an entry for each dimension. Starts are counted from 0, strides are positive,
    and what is asked for lies within the operand.
    """

    input: Operand[AnyTensor]
    starts: Sequence[Operand[Index]]
    sizes: Sequence[Operand[Index]]
    strides: Sequence[Operand[Index]]
    out: Result[AnyTensor]
    assembly_format = (
        "$input `starts` `(` $starts `)` `sizes` `(` $sizes `)` `strides` `(` $strides `)` "
        "attr-dict `:` type($input) `->` type($out)"
    )

    def verify_operation(self) -> None:
        """There is a start, a size and a stride for each dimension."""
        source, result = self.input.type, self.out.type
        verify_same_element_type(source, result)
        verify_rank("a result", result, source.rank)
        for name in ("starts", "sizes", "strides"):
            verify_count(f"{name}, one for each dimension", len(getattr(self, name)), source.rank)
        for axis, (whole, part) in enumerate(zip(source.shape, result.shape, strict=True)):
            if DYNAMIC not in (whole, part) and part > whole:
                raise VerificationError(
                    f"requires a result no larger than the operand, but got {part} of {whole} "
                    f"elements along axis {axis}"
                )


class PadOp(TcpOp, name="pad", traits=[ext.Pure]):
    """The operand with `low` elements before and `high` after it along each dimension.

    They are all `value`. Amounts are not negative.
    """

    input: Operand[AnyTensor]
    value: Operand[ScalarTensor]
    low: Sequence[Operand[Index]]
    high: Sequence[Operand[Index]]
    out: Result[AnyTensor]
    assembly_format = (
        "$input `,` $value `low` `(` $low `)` `high` `(` $high `)` "
        "attr-dict `:` type($input) `,` type($value) `->` type($out)"
    )

    def verify_operation(self) -> None:
        """There is a low and a high amount for each dimension."""
        source, result = self.input.type, self.out.type
        verify_same_element_type(source, self.value.type, result)
        verify_rank("a result", result, source.rank)
        for name in ("low", "high"):
            amounts = getattr(self, name)
            verify_count(f"{name} amounts, one for each dimension", len(amounts), source.rank)
        for axis, (part, whole) in enumerate(zip(source.shape, result.shape, strict=True)):
            if DYNAMIC not in (whole, part) and part > whole:
                raise VerificationError(
                    f"requires a result no smaller than the operand, but got {whole} for {part} "
                    f"elements along axis {axis}"
                )


class ConcatOp(TcpOp, name="concat", traits=[ext.Pure]):
    """The operands one after the other along `dim`."""

    inputs: Sequence[Operand[AnyTensor]]
    dim: Dimension
    out: Result[AnyTensor]
    assembly_format = "$inputs attr-dict `:` type($inputs) `->` type($out)"

    def verify_operation(self) -> None:
        """All shapes agree, but for the size along `dim`, and those sizes add up."""
        result = self.out.type
        if not self.inputs:
            raise VerificationError("requires at least one operand")
        types = [value.type for value in self.inputs]
        verify_same_element_type(result, *types)
        dim = self.dim.value
        verify_axis("dim", dim, result.rank)
        for index, type_ in enumerate(types):
            verify_rank(f"operand #{index}", type_, result.rank)
        joined = [type_.shape[dim] for type_ in types]
        others = common_shape(
            [DYNAMIC if axis == dim else size for axis, size in enumerate(type_.shape)]
            for type_ in types
        )
        if others is None:
            raise VerificationError(f"requires operands that differ along axis {dim} only")
        others[dim] = DYNAMIC if DYNAMIC in joined else sum(joined)
        verify_shape("a result", result, others)


class TransposeOp(TcpOp, name="transpose", traits=[ext.Pure]):
    """The operand with its dimensions in another order.

    Dimension i of the result is dimension `permutation[i]` of the operand.
    """

    input: Operand[AnyTensor]
    permutation: I64Array
    out: Result[AnyTensor]
    assembly_format = "$input attr-dict `:` type($input) `->` type($out)"

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The operand's type with its sizes in the other order."""
        source = operands[0].type
        shape = [source.shape[axis.value] for axis in attributes["permutation"]]
        return [ir.RankedTensorType.get(shape, source.element_type)]

    def verify_operation(self) -> None:
        """The permutation has each dimension once."""
        source, result = self.input.type, self.out.type
        permutation = [axis.value for axis in self.permutation]
        verify_same_element_type(source, result)
        if sorted(permutation) != list(range(source.rank)):
            raise VerificationError(
                f"requires a 'permutation' of {source.rank} dimensions, but got {permutation}"
            )
        verify_shape("a result", result, [source.shape[axis] for axis in permutation])


class ReverseOp(TcpOp, name="reverse", traits=[ext.Pure]):
    """The operand with the order of elements turned along each of `axes`."""

    input: Operand[AnyTensor]
    axes: I64Array
    out: Result[AnyTensor]
    assembly_format = "$input attr-dict `:` type($input) `->` type($out)"

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The operand's type."""
        return [operands[0].type]

    def verify_operation(self) -> None:
        """The axes increase within the rank."""
        source, result = self.input.type, self.out.type
        verify_same_element_type(source, result)
        verify_axes("axes", [axis.value for axis in self.axes], source.rank)
        verify_shape("a result", result, source.shape)
