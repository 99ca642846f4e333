"""Shapes, sizes and axes of tensors, and the rules about them that several ops share."""

import itertools
from collections.abc import Iterable, Sequence

from torch_mlir import ir

from plumbline.tcp.dialect import VerificationError

DYNAMIC = ir.ShapedType.get_dynamic_size()


def common_shape(shapes: Iterable[Sequence[int]]) -> list[int] | None:
    """The most static shape that all shapes are compatible with, or None if there is none.

    Two sizes are compatible if they are equal or one of them is dynamic.
    """
    common: list[int] | None = None
    for shape in shapes:
        if common is None:
            common = list(shape)
            continue
        if len(common) != len(shape):
            return None
        for index, size in enumerate(shape):
            if common[index] == DYNAMIC:
                common[index] = size
            elif size not in (DYNAMIC, common[index]):
                return None
    return common


def spell(shape: Sequence[int]) -> str:
    """A shape as it stands in a type: `2x?`; that of a scalar is `[]`."""
    return "x".join("?" if size == DYNAMIC else str(size) for size in shape) or "[]"


def verify_shape(what: str, type_: ir.RankedTensorType, expected: Sequence[int]) -> None:
    """Holds a tensor's shape against the one it must be compatible with.

    Raises:
      VerificationError: it is not.
    """
    if common_shape([type_.shape, expected]) is None:
        raise VerificationError(
            f"requires {what} of shape {spell(expected)}, but got {spell(type_.shape)}"
        )


def verify_same_element_type(*types: ir.RankedTensorType) -> None:
    """Holds the element types of tensors against the first one's.

    Raises:
      VerificationError: one differs.
    """
    first, *others = (type_.element_type for type_ in types)
    for other in others:
        if other != first:
            raise VerificationError(
                f"requires the same element type throughout, but got '{first}' and '{other}'"
            )


def verify_rank(what: str, type_: ir.RankedTensorType, rank: int) -> None:
    """Holds a tensor's rank against the one it must have.

    Raises:
      VerificationError: it has another one.
    """
    if type_.rank != rank:
        raise VerificationError(f"requires {what} of rank {rank}, but got rank {type_.rank}")


def verify_axis(name: str, axis: int, rank: int) -> None:
    """Holds one axis, an attribute's value, against the rank.

    Raises:
      VerificationError: there is no such axis.
    """
    if not 0 <= axis < rank:
        raise VerificationError(f"requires '{name}' within the rank {rank}, but got {axis}")


def verify_axes(name: str, axes: Sequence[int], rank: int) -> None:
    """Holds a set of axes, an attribute's value, against the rank.

    Raises:
      VerificationError: one is out of bounds, or they do not strictly increase.
    """
    for axis in axes:
        verify_axis(name, axis, rank)
    if any(axis >= following for axis, following in itertools.pairwise(axes)):
        raise VerificationError(f"requires '{name}' to strictly increase, but got {list(axes)}")


def verify_count(what: str, count: int, expected: int) -> None:
    """Holds a number of operands or of entries of an attribute against the one there must be.

    Raises:
      VerificationError: they differ.
    """
    if count != expected:
        raise VerificationError(f"requires {expected} {what}, but got {count}")
