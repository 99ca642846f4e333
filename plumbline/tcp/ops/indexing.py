"""Ops that read or write places of a tensor which are known at run time only."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.attributes import Combiner, Signedness, verify_combiner, verify_signedness
from plumbline.tcp.constraints import AnyTensor, BoolTensor, Dimension, IntTensor
from plumbline.tcp.dialect import TcpOp, VerificationError
from plumbline.tcp.shapes import (
    DYNAMIC,
    verify_axis,
    verify_rank,
    verify_same_element_type,
    verify_shape,
)


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


class UpdateOp(TcpOp):
    """Base class: an input with some of its elements changed."""

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


class ScatterOp(UpdateOp, name="scatter", traits=[ext.Pure]):
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


class ScatterNdOp(UpdateOp, name="scatter_nd", traits=[ext.Pure]):
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

    def verify_operation(self) -> None:
        """There is a slice of updates for each row of indices, and the combiner fits them."""
        source, indices, updates = self.input.type, self.indices.type, self.updates.type
        verify_same_element_type(source, updates, self.out.type)
        depth = _depth(indices, source)
        verify_shape("updates", updates, [*indices.shape[:-1], *source.shape[depth:]])
        verify_shape("a result", self.out.type, source.shape)
        _verify_update(self.combiner, self.int_signedness, source.element_type)


class NonzeroOp(TcpOp, name="nonzero", traits=[ext.Pure]):
    """The places where `input`, of rank 1, is true, from the first to the last.

    How many there are only a run tells: the result has that size, which is at most the size of the
    input.
    """

    input: Operand[BoolTensor]
    out: Result[IntTensor]
    assembly_format = "$input attr-dict `:` type($input) `->` type($out)"

    @classmethod
    def infer_types(
        cls, operands: Sequence[ir.Value], attributes: Mapping[str, ir.Attribute]
    ) -> Sequence[ir.Type]:
        """As many integers of 64 bits as a run tells."""
        return [ir.RankedTensorType.get([DYNAMIC], ir.IntegerType.get_signless(64))]

    def verify_operation(self) -> None:
        """Both have one dimension, and no size is claimed for the result."""
        verify_rank("an input", self.input.type, 1)
        type_ = self.out.type
        if list(type_.shape) != [DYNAMIC] or type_.element_type.width != 64:
            raise VerificationError(f"requires a result of type 'tensor<?xi64>', but got '{type_}'")
