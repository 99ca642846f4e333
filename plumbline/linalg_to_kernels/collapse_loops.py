"""Makes one loop of two where elements are contiguous across both.

A loop over the 7 elements of a row of a small plane is too short to be one over vectors; one over
the plane's 49 is not. Of sizes that are only known as the program runs, those of a buffer, and what
is noted of these, tell that it has no more elements than the loops take.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from plumbline.bindings.walk import (
    all_operations,
    captured_values,
    constant_integer,
)
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.equal_sizes import EqualSizes, forget_sizes

_FOR = "scf.for"

_INDICES_FROM = {"memref.load": 1, "memref.store": 2}
"""The first operand that is an index."""


def collapse_loops(module: ir.Operation) -> None:
    """Collapses pairs of loops of `module`, each right within another.

    Takes off the notes of which sizes are the same.
    """
    with module.context:
        for function in module.regions[0].blocks[0].operations:
            if function.operation.name == "func.func" and not function.is_external:
                _collapse_in(function.operation)


def _collapse_in(function: ir.Operation) -> None:
    sizes = EqualSizes(function)
    # From within, so that what is collapsed may be so again.
    for op in reversed(all_operations(function)):
        if op.name == _FOR and (nest := _nest(op, sizes)) is not None:
            _collapse(nest, sizes)
    forget_sizes(function)


@dataclass(frozen=True)
class _Access:
    """A load or a store whose indices at `axis` and after it are those of the two loops."""

    op: ir.Operation
    axis: int

    @property
    def buffer(self) -> ir.Value:
        """What is read or written."""
        return self.op.operands[_INDICES_FROM[self.op.name] - 1]


_DYNAMIC = ir.ShapedType.get_dynamic_size()

_MOST = 2**63 - 1
"""How often one loop can run."""


@dataclass(frozen=True)
class _Nest:
    outer: scf.ForOp
    inner: scf.ForOp
    size: int | None
    """How often both run, if that is known."""
    accesses: tuple[_Access, ...]


def _nest(op: ir.Operation, known: EqualSizes) -> _Nest | None:
    """A loop and the only thing it does, another loop, if elements are contiguous across both."""
    outer = op.opview
    body = [each.operation for each in outer.body.operations]
    if len(body) != 2 or body[0].name != _FOR:
        return None
    inner = body[0].opview
    carried = list(outer.inner_iter_args)
    if list(inner.initArgs) != carried or list(body[1].operands) != list(inner.results):
        return None
    sizes = _count(outer), _count(inner)
    if sizes[0] is None or sizes[1] is None:
        return None
    static = [size for size in sizes if isinstance(size, int)]
    size = math.prod(static) if len(static) == len(sizes) else None
    if size is not None and size > _MOST:
        return None
    counts = outer.induction_variable, inner.induction_variable
    accesses = tuple(_accesses(counts, sizes[1], known))
    found = tuple(access for access in accesses if access is not None)
    around = captured_values(body[0])
    if len(found) < len(accesses) or any(access.buffer not in around for access in found):
        return None
    # How often both run is how many elements a buffer has.
    return _Nest(outer, inner, size, found) if found or size is not None else None


def _count(loop: scf.ForOp) -> int | ir.Value | None:
    """How often a loop from 0 in steps of 1 runs."""
    lower, upper, step = (
        constant_integer(bound) for bound in (loop.lowerBound, loop.upperBound, loop.step)
    )
    if (lower, step) != (0, 1):
        return None
    return loop.upperBound if upper is None else upper


def _accesses(
    counts: tuple[ir.Value, ir.Value], inner_size: int | ir.Value, known: EqualSizes
) -> Iterator[_Access | None]:
    """What the counts of both loops are used for; None for what is no such access."""
    outer, inner = counts
    for use in (*outer.uses, *inner.uses):
        op = use.owner.operation
        first = _INDICES_FROM.get(op.name)
        if first is None:
            yield None
            continue
        indices = list(op.operands)[first:]
        if indices.count(outer) != 1 or indices.count(inner) != 1:
            yield None
            continue
        axis = indices.index(outer)
        is_next = indices.index(inner) == axis + 1
        access = _Access(op, axis)
        if not is_next or not _is_contiguous(access, inner_size, known):
            yield None
        elif use.operand_number == first + axis:
            # Once, though both of its indices are uses.
            yield access


def _is_contiguous(access: _Access, inner_size: int | ir.Value, known: EqualSizes) -> bool:
    """Whether an axis and the next one, of that size, are as one in memory."""
    type_, axis = ir.MemRefType(access.buffer.type), access.axis
    if not isinstance(inner_size, int):
        return _is_identity(type_) and known.is_size(inner_size, access.buffer, axis + 1)
    if type_.shape[axis + 1] != inner_size:
        return False
    strides, _ = type_.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if dynamic in (strides[axis], strides[axis + 1]):
        return False
    return bool(strides[axis] == inner_size * strides[axis + 1])


def _collapse(nest: _Nest, known: EqualSizes) -> None:
    """Puts one loop in the place of two."""
    outer, inner = nest.outer, nest.inner
    with outer.location:
        made: dict[tuple[ir.Value, int], ir.Value] = {}
        for access in nest.accesses:
            key = access.buffer, access.axis
            if key not in made:
                made[key] = _collapsed(access)
        buffers = [made[access.buffer, access.axis] for access in nest.accesses]
        size = _product(nest, buffers, known)
    with ir.InsertionPoint(outer), outer.location:
        loop = scf.ForOp(outer.lowerBound, size, outer.step, outer.initArgs)
    for access, buffer in zip(nest.accesses, buffers, strict=True):
        _redirect(access, buffer, loop.induction_variable)
    for old, new in zip(inner.inner_iter_args, loop.inner_iter_args, strict=True):
        old.replace_all_uses_with(new)
    for op in list(inner.body.operations):
        op.operation.detach_from_parent()
        loop.body.append(op)
    for old, new in zip(outer.results, loop.results, strict=True):
        old.replace_all_uses_with(new)
    outer.erase()


def _product(nest: _Nest, buffers: Sequence[ir.Value], known: EqualSizes) -> ir.Value:
    """How often both loops run."""
    outer, inner = nest.outer, nest.inner
    if nest.size is not None:
        with _right_after(outer.lowerBound):
            return index(nest.size)
    first = nest.accesses[0]
    if known.is_size(outer.upperBound, first.buffer, first.axis):
        # As it is told of a buffer, it may be seen that a third loop takes all there is, too.
        with _right_after(buffers[0]):
            return memref.dim(buffers[0], index(first.axis))
    with ir.InsertionPoint(outer):
        return arith.muli(outer.upperBound, inner.upperBound)


def _collapsed(access: _Access) -> ir.Value:
    """The buffer of an access with both axes as one."""
    type_, axis = ir.MemRefType(access.buffer.type), access.axis
    shape, strides = list(type_.shape), list(type_.get_strides_and_offset()[0])
    size = shape.pop(axis + 1)
    shape[axis] = shape[axis] * size if min(shape[axis], size) >= 0 else _DYNAMIC
    strides.pop(axis)
    layout = None
    if not _is_identity(type_):
        layout = ir.StridedLayoutAttr.get(type_.get_strides_and_offset()[1], strides)
    groups = [
        [at, at + 1] if at == axis else [at + (at > axis)] for at in range(len(type_.shape) - 1)
    ]
    result = ir.MemRefType.get(shape, type_.element_type, layout, type_.memory_space)
    with _right_after(access.buffer):
        return memref.CollapseShapeOp(result, access.buffer, groups).result


def _right_after(value: ir.Value) -> ir.InsertionPoint:
    """Where `value` is known, outside of all loops that it is known outside of."""
    if isinstance(value.owner, ir.Block):
        return ir.InsertionPoint.at_block_begin(value.owner)
    return ir.InsertionPoint.after(value.owner)


def _is_identity(type_: ir.MemRefType) -> bool:
    return bool(ir.MemRefType.get(type_.shape, type_.element_type) == type_)


def _redirect(access: _Access, buffer: ir.Value, count: ir.Value) -> None:
    """Has an access read or write the buffer of one axis less."""
    op, first = access.op, _INDICES_FROM[access.op.name]
    indices: list[ir.Value] = list(op.operands)[first:]
    indices[access.axis : access.axis + 2] = [count]
    with ir.InsertionPoint(op), op.location:
        if op.name == "memref.store":
            memref.store(op.operands[0], buffer, indices)
        else:
            op.results[0].replace_all_uses_with(memref.load(buffer, indices))
    op.erase()
