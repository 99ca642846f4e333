"""Ops that make tensors, or place the elements of tensors anew."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.attributes import Combiner, Signedness, verify_combiner, verify_signedness
from plumbline.tcp.constraints import (
    AnyTensor,
    Dimension,
    Elements,
    FloatOrIntTensor,
    I64Array,
    Index,
    IntTensor,
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


def _verify_indices_within(
    indices: ir.RankedTensorType, source: ir.RankedTensorType, dim: int
) -> None:
    """Indices for each element are no more than the operand has elements, but along `dim`."""
    verify_rank("indices", indices, source.rank)
    verify_axis("dim", dim, source.rank)
    for axis, (count, size) in enumerate(zip(indices.shape, source.shape, strict=True)):
        if axis != dim and DYNAMIC not in (count, size) and count > size:
            raise VerificationError(
                f"requires indices no larger than the input, but got {count} for {size} "
                f"elements along axis {axis}"
            )


class GatherOp(TcpOp, name="gather", traits=[ext.Pure]):
    """The elements of `input` that `indices` name along `dim`.

    In three dimensions with `dim` 1: out[i][j][k] = input[i][indices[i][j][k]][k]. Indices are
    signed, and lie within the operand.
    """

    input: Operand[AnyTensor]
    indices: Operand[IntTensor]
    dim: Dimension
    out: Result[AnyTensor]
    assembly_format = (
        "$input `,` $indices attr-dict `:` type($input) `,` type($indices) `->` type($out)"
    )

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The shape of the indices, the element type of the input."""
        source, indices = operands[0].type, operands[1].type
        return [ir.RankedTensorType.get(indices.shape, source.element_type)]

    def verify_operation(self) -> None:
        """The indices fit the input, and the result the indices."""
        source, indices, result = self.input.type, self.indices.type, self.out.type
        verify_same_element_type(source, result)
        _verify_indices_within(indices, source, self.dim.value)
        verify_shape("a result", result, indices.shape)


class ScatterOp(TcpOp, name="scatter", traits=[ext.Pure]):
    """`input` with `updates` put where `indices` name places along `dim`.

    In three dimensions with `dim` 1: out[i][indices[i][j][k]][k] = updates[i][j][k]. With a
    `combiner`, an update is combined with what is there; without one it replaces that, and which
    of several updates of one place stays is undefined. Indices are signed, and lie within the
    operand.
    """

    input: Operand[AnyTensor]
    indices: Operand[IntTensor]
    updates: Operand[AnyTensor]
    dim: Dimension
    combiner: Combiner | None
    int_signedness: Signedness | None
    out: Result[AnyTensor]
    assembly_format = (
        "$input `,` $indices `,` $updates attr-dict `:` "
        "type($input) `,` type($indices) `,` type($updates) `->` type($out)"
    )

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The type of the input."""
        return [operands[0].type]

    def verify_operation(self) -> None:
        """The indices fit the input, the updates the indices, and the combiner the elements."""
        source, indices, updates = self.input.type, self.indices.type, self.updates.type
        verify_same_element_type(source, updates, self.out.type)
        _verify_indices_within(indices, source, self.dim.value)
        verify_shape("updates", updates, indices.shape)
        verify_shape("a result", self.out.type, source.shape)
        _verify_update(self.combiner, self.int_signedness, source.element_type)


def _verify_update(
    combiner: ir.Attribute | None, int_signedness: ir.Attribute | None, element_type: ir.Type
) -> None:
    """A combiner fits the elements, and a signedness stands with one only."""
    if combiner is not None:
        verify_combiner(combiner, element_type)
    elif int_signedness is not None:
        raise VerificationError("attribute 'int_signedness' must not be set without a 'combiner'")
    verify_signedness("int_signedness", int_signedness, element_type)


def _depth(indices: ir.RankedTensorType, source: ir.RankedTensorType) -> int:
    """The number of leading dimensions of `source` that each row of `indices` names a place in."""
    if indices.rank == 0:
        raise VerificationError("requires indices of rank 1 or more, but got rank 0")
    depth = int(indices.shape[-1])
    if depth == DYNAMIC:
        raise VerificationError("requires indices of a static size along their last axis")
    if depth > source.rank:
        raise VerificationError(
            f"requires indices for at most {source.rank} dimensions, but got {depth}"
        )
    return depth


class GatherNdOp(TcpOp, name="gather_nd", traits=[ext.Pure]):
    """The slices of `input` at the places that the rows of `indices` name.

    With rows of n indices: out[i.., j..] = input[indices[i..][0], .., indices[i..][n - 1], j..].
    Indices are signed, and lie within the operand.
    """

    input: Operand[AnyTensor]
    indices: Operand[IntTensor]
    out: Result[AnyTensor]
    assembly_format = (
        "$input `,` $indices attr-dict `:` type($input) `,` type($indices) `->` type($out)"
    )

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The shape of the indices without their last axis, then that of a slice."""
        source, indices = operands[0].type, operands[1].type
        shape = [*indices.shape[:-1], *source.shape[_depth(indices, source) :]]
        return [ir.RankedTensorType.get(shape, source.element_type)]

    def verify_operation(self) -> None:
        """A row names no more dimensions than there are, and the result has a slice for each."""
        source, indices = self.input.type, self.indices.type
        verify_same_element_type(source, self.out.type)
        depth = _depth(indices, source)
        verify_shape("a result", self.out.type, [*indices.shape[:-1], *source.shape[depth:]])


class ScatterNdOp(TcpOp, name="scatter_nd", traits=[ext.Pure]):
    """`input` with the slices of `updates` put at the places that the rows of `indices` name.

    With rows of n indices: out[indices[i..][0], .., indices[i..][n - 1], j..] = updates[i.., j..].
    A `combiner` acts as in `tcp.scatter`. Indices are signed, and lie within the operand.
    """

    input: Operand[AnyTensor]
    indices: Operand[IntTensor]
    updates: Operand[AnyTensor]
    combiner: Combiner | None
    int_signedness: Signedness | None
    out: Result[AnyTensor]
    assembly_format = (
        "$input `,` $indices `,` $updates attr-dict `:` "
        "type($input) `,` type($indices) `,` type($updates) `->` type($out)"
    )

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """The type of the input."""
        return [operands[0].type]

    def verify_operation(self) -> None:
        """There is a slice of updates for each row of indices, and the combiner fits them."""
        source, indices, updates = self.input.type, self.indices.type, self.updates.type
        verify_same_element_type(source, updates, self.out.type)
        depth = _depth(indices, source)
        verify_shape("updates", updates, [*indices.shape[:-1], *source.shape[depth:]])
        verify_shape("a result", self.out.type, source.shape)
        _verify_update(self.combiner, self.int_signedness, source.element_type)
