"""What kernels are built of: arithmetic on indices, counted loops, flat views of buffers."""

import math
from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

LINE = 64
"""Bytes of a cache line: as many come from memory at once."""

FIRST_CACHE = 3
"""The locality of prefetches into the first cache."""

ALIGNMENT = 64
"""Of buffers, in bytes: a cache line, and the widest vector of AVX-512."""

PARALLEL = "plumbline.parallel"
"""The attribute of a loop whose iterations may run in any order, and several at once, if each has a
copy of its own of the buffers that are used nowhere but in the loop. On a kernel that is to become
one nest of loops it is a number: how many of them are such loops, from the outermost on."""

SCRATCH = "plumbline.scratch"
"""The attribute of a buffer, or of a kernel's argument that is one, of which iterations of marked
loops read nothing but what they have written themselves, and nobody does afterwards: each may have
one of its own, even where several loops use it."""

ARGUMENTS = "arg_attrs"
"""The attribute of a function that has those of its arguments."""

_DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


def index(value: int) -> ir.Value:
    """A constant of type index."""
    return arith.constant(ir.IndexType.get(), value)


def mark_scratch(buffer: ir.Value) -> None:
    """Marks an allocation, or an argument of a kernel, as `SCRATCH`."""
    if not isinstance(buffer.owner, ir.Block):
        buffer.owner.attributes[SCRATCH] = ir.UnitAttr.get()
        return
    kernel = buffer.owner.owner.operation
    marks = [*ir.ArrayAttr(kernel.attributes[ARGUMENTS])]
    number = ir.BlockArgument(buffer).arg_number
    known = {each.name: each.attr for each in ir.DictAttr(marks[number])}
    marks[number] = ir.DictAttr.get({**known, SCRATCH: ir.UnitAttr.get()})
    kernel.attributes[ARGUMENTS] = ir.ArrayAttr.get(marks)


LoopBody = Callable[..., Sequence[ir.Value]]
"""Takes a loop's count and the values that it carries, and gives the next ones."""


def for_each(
    lower: ir.Value,
    upper: ir.Value,
    step: int,
    body: LoopBody,
    carried: Sequence[ir.Value] = (),
    *,
    parallel: bool = False,
) -> list[ir.Value]:
    """A loop.

    `parallel` says that it is one that `PARALLEL` marks.
    """
    loop = scf.ForOp(lower, upper, index(step), list(carried))
    if parallel:
        loop.operation.attributes[PARALLEL] = ir.UnitAttr.get()
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(list(body(loop.induction_variable, *loop.inner_iter_args)))
    return list(loop.results)


def if_else(
    condition: ir.Value,
    then: Callable[[], object],
    otherwise: Callable[[], object] | None = None,
) -> None:
    """One of two branches, for what it does; what the functions return is of no account."""
    op = scf.IfOp(condition, [], has_else=otherwise is not None)
    with ir.InsertionPoint(op.then_block):
        then()
        scf.YieldOp([])
    if otherwise is not None:
        with ir.InsertionPoint(op.else_block):
            otherwise()
            scf.YieldOp([])


def either(
    types: Sequence[ir.Type],
    condition: ir.Value,
    then: Callable[[], Sequence[ir.Value]],
    otherwise: Callable[[], Sequence[ir.Value]],
) -> list[ir.Value]:
    """What one of two branches gives, of such types."""
    op = scf.IfOp(condition, list(types), has_else=True)
    for block, build in ((op.then_block, then), (op.else_block, otherwise)):
        with ir.InsertionPoint(block):
            scf.YieldOp(list(build()))
    return list(op.results)


def total(values: Sequence[ir.Value]) -> ir.Value:
    """The sum of indices."""
    result = index(0) if not values else values[0]
    for value in values[1:]:
        result = arith.addi(result, value)
    return result


def product(values: Sequence[ir.Value]) -> ir.Value:
    """The product of indices."""
    result = index(1) if not values else values[0]
    for value in values[1:]:
        result = arith.muli(result, value)
    return result


def rounded_down(value: ir.Value, to: int) -> ir.Value:
    """The greatest multiple of `to` that is not above `value`."""
    return arith.subi(value, arith.remui(value, index(to)))


def rounded_up(value: ir.Value, to: int) -> ir.Value:
    """The least multiple of `to` that is not below `value`."""
    return arith.muli(arith.ceildivsi(value, index(to)), index(to))


def least(left: ir.Value, right: ir.Value) -> ir.Value:
    """The lesser of two indices."""
    return arith.minsi(left, right)


def in_any_layout(type_: ir.RankedTensorType | ir.MemRefType) -> ir.MemRefType:
    """The type of a buffer of the same sizes and elements that tells neither strides nor offset."""
    layout = ir.StridedLayoutAttr.get_fully_dynamic(type_.rank)
    return ir.MemRefType.get(type_.shape, type_.element_type, layout)


def loosely_typed(type_: ir.MemRefType) -> ir.MemRefType:
    """The type of the same rank and elements that tells neither sizes, strides nor offset."""
    dynamic = [ir.ShapedType.get_dynamic_size()] * type_.rank
    return in_any_layout(ir.MemRefType.get(dynamic, type_.element_type))


class FlatView:
    """The elements of a buffer by their distance from its first element."""

    def __init__(self, buffer: ir.Value) -> None:
        type_ = ir.MemRefType(buffer.type)
        metadata = memref.ExtractStridedMetadataOp(buffer).results
        rank = type_.rank
        offset = metadata[1]
        self.sizes = list(metadata[2 : 2 + rank])
        self.strides = list(metadata[2 + rank : 2 + 2 * rank])
        extents = [
            arith.muli(arith.subi(size, index(1)), stride)
            for size, stride in zip(self.sizes, self.strides, strict=True)
        ]
        layout = ir.StridedLayoutAttr.get(_DYNAMIC_STRIDE, [1])
        dynamic = ir.ShapedType.get_dynamic_size()
        self.elements = memref.ReinterpretCastOp(
            ir.MemRefType.get([dynamic], type_.element_type, layout, type_.memory_space),
            metadata[0],
            [offset],
            [total([*extents, index(1)])],
            [],
            [_DYNAMIC_STRIDE],
            [dynamic],
            [1],
        ).result


def collapsed(buffer: ir.Value, groups: Sequence[Sequence[int]]) -> ir.Value:
    """A contiguous buffer with one axis for each group of axes."""
    type_ = ir.MemRefType(buffer.type)
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = [[type_.shape[axis] for axis in group] for group in groups]
    shape = [dynamic if dynamic in group else math.prod(group) for group in sizes]
    result = ir.MemRefType.get(shape, type_.element_type)
    return memref.collapse_shape(result, buffer, [list(group) for group in groups])
