"""How loops move through buffers, as far as their types tell."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.linalg_to_kernels.products import DYNAMIC, Access

Groups = tuple[tuple[int, ...], ...]
"""Loops, outermost first, in groups that count through a buffer by one stride each."""


def has_contiguous_rows(buffer: ir.Value) -> bool:
    """Whether the elements of a row follow one another."""
    strides, _ = ir.MemRefType(buffer.type).get_strides_and_offset()
    return bool(strides[-1] == 1)


def static_stride(access: Access, type_: ir.MemRefType, loop: int) -> int | None:
    """How far a step of a loop leads in a buffer; None if its type does not tell."""
    strides, _ = type_.get_strides_and_offset()
    steps = [
        factor * strides[axis] if strides[axis] != DYNAMIC else None
        for axis, terms in enumerate(access.axes)
        for other, factor in terms
        if other == loop
    ]
    known = [step for step in steps if step is not None]
    return sum(known) if len(known) == len(steps) else None


def groups_of(
    loops: Sequence[int],
    access: Access,
    type_: ir.MemRefType,
    sizes: Sequence[int],
) -> Groups:
    """Groups of neighbouring loops that are as one loop for a buffer: the last one's stride."""
    groups: list[tuple[int, ...]] = []
    for loop in loops:
        if groups and _continues(groups[-1][-1], loop, access, type_, sizes):
            groups[-1] = (*groups[-1], loop)
        else:
            groups.append((loop,))
    return tuple(groups)


def _continues(
    outer: int, inner: int, access: Access, type_: ir.MemRefType, sizes: Sequence[int]
) -> bool:
    """Whether a step of `outer` leads just as far as all steps of `inner` and one more."""
    step = static_stride(access, type_, outer)
    inner_step = static_stride(access, type_, inner)
    if step is not None and inner_step is not None and sizes[inner] != DYNAMIC:
        return step == inner_step * sizes[inner]
    # Sizes not known: axes one after the other, but for ones of size 1, of a buffer that is
    # contiguous as a whole.
    axes = [
        [axis for axis, terms in enumerate(access.axes) if terms == ((loop, 1),)]
        for loop in (outer, inner)
    ]
    is_contiguous = type_.layout == ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
    return (
        is_contiguous
        and all(
            len(found) == 1 and sum(loop in dict(terms) for terms in access.axes) == 1
            for found, loop in zip(axes, (outer, inner), strict=True)
        )
        and axes[0][0] < axes[1][0]
        and all(size == 1 for size in type_.shape[axes[0][0] + 1 : axes[1][0]])
    )
