"""Writes what no cache will hold past the caches.

A store into a line that is in no cache brings the line from memory first. Of a result that is
larger than the caches each line is gone again before somebody reads it, so loops store vectors of
it that go to memory as they are (non-temporal stores). On AMD Zen 3 a layer norm of 4096 rows of
4096 elements takes 0.73 of the time, an RMS norm 0.72; of as many elements relu 0.68, silu 0.79; on
AMD Zen 4 a softmax that has its lines asked for while it computes exponentials 0.78.

The vectors are made here, as LLVM makes none of loops with such stores: it would have to know where
in a line each of them begins. Where a buffer begins is asked when the kernel runs; if that is not
the start of a line, as it is of those that a library allocates, the loop runs as it was. Other
threads may see such stores late, so a kernel ends with a fence.
"""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, memref, scf, vector

from plumbline.bindings.walk import (
    all_operations,
    clone_operations,
    constant_integer,
    users_through,
)
from plumbline.linalg_to_kernels.building import LINE, for_each, if_else, index
from plumbline.linalg_to_kernels.element_loops import ElementLoop
from plumbline.linalg_to_kernels.planned_memory import buffer_bytes, element_bytes
from plumbline.linalg_to_kernels.vector_widths import INTERLEAVED, is_chain
from plumbline.linalg_to_kernels.vectors import of_lanes
from plumbline.target.vector_unit import VectorUnit

_LARGE = 1 << 24
"""Bytes: more than a core's part of a last cache."""

_ALL_LARGE = 2 * _LARGE
"""Bytes of what a kernel reads and writes. A result that is computed of little, such as an outer
product, stays in a last cache all the same: one of 16 MB takes 0.65 of the time so (AMD Zen 5)."""

_COLLAPSE = "memref.collapse_shape"

_ELEMENT_BYTES = 4
"""Of what the loops load, store and compute: other types would need several vectors for one."""

_SEQ_CST = 7
"""LLVM's number for the ordering of a fence that has all stores done before it."""


def stream_results(module: ir.Operation, unit: VectorUnit) -> None:
    """Has the innermost loops of `module` that write large results of their kernel store so."""
    with module.context:
        for view in module.regions[0].blocks[0].operations:
            if view.operation.name == "func.func" and view.operation.regions[0].blocks:
                _stream_in(view.operation, unit)


def _stream_in(function: ir.Operation, unit: VectorUnit) -> None:
    block = function.regions[0].blocks[0]
    if _bytes_of(block.arguments) < _ALL_LARGE:
        return
    results: dict[ir.Value, _Result] = {}
    for argument in block.arguments:
        if views := _views_to_write(argument):
            results |= {view: _Result(argument, _alignment_of_rows(view)) for view in views}
    if not results:
        return
    loops = [_Loop(op.opview, unit) for op in all_operations(function) if op.name == "scf.for"]
    streamed = [loop for loop in loops if loop.can_be_vectors(results)]
    if not streamed:
        return
    written = dict.fromkeys(results[view].argument for loop in streamed for view in loop.written)
    with ir.InsertionPoint.at_block_begin(block), function.location:
        are_aligned = {argument: _is_aligned(argument) for argument in written}
    for loop in streamed:
        loop.stream(results, are_aligned)
    with ir.InsertionPoint(block.operations[len(block.operations) - 1]), function.location:
        llvm.FenceOp(_SEQ_CST)


def _bytes_of(arguments: Iterable[ir.Value]) -> int:
    types = [argument.type for argument in arguments]
    return sum(buffer_bytes(type_) for type_ in types if isinstance(type_, ir.MemRefType))


@dataclass(frozen=True)
class _Result:
    """A way to write to a large result."""

    argument: ir.Value
    """The buffer."""
    alignment: int
    """To how many bytes rows are aligned, if the buffer begins at a line."""


def _views_to_write(argument: ir.Value) -> list[ir.Value]:
    """A large buffer and what it is seen as, if nothing else is done to it than to store to it."""
    if not isinstance(argument.type, ir.MemRefType):
        return []
    type_ = ir.MemRefType(argument.type)
    if not type_.has_static_shape or buffer_bytes(type_) < _LARGE:
        return []
    users = [*users_through(argument, (_COLLAPSE,))]
    if any(user.name not in ("memref.store", _COLLAPSE) for user in users):
        return []
    views = [argument, *(user.results[0] for user in users if user.name == _COLLAPSE)]
    return [view for view in views if _is_of_rows(ir.MemRefType(view.type))]


def _is_of_rows(type_: ir.MemRefType) -> bool:
    """Whether a buffer's elements follow one another, each as large as they have to be."""
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(type_.rank))
    width = element_bytes(type_.element_type)
    return type_.rank > 0 and bool(type_.layout == identity) and width == _ELEMENT_BYTES


def _alignment_of_rows(view: ir.Value) -> int:
    row = int(ir.MemRefType(view.type).shape[-1]) * _ELEMENT_BYTES
    return min(row & -row, LINE)


def _is_aligned(buffer: ir.Value) -> ir.Value:
    """Whether a buffer begins at a line."""
    address = memref.extract_aligned_pointer_as_index(buffer)
    within = arith.remui(address, index(LINE))
    return arith.cmpi(arith.CmpIPredicate.eq, within, index(0))


class _Loop:
    """An innermost loop over elements."""

    def __init__(self, loop: scf.ForOp, unit: VectorUnit) -> None:
        self._loop, self._elements = loop, ElementLoop(loop)
        bounds = map(constant_integer, (loop.lowerBound, loop.upperBound, loop.step))
        lower, upper, step = bounds
        # How many elements there are, or 0 if that is not known, or they are not one by one.
        self._count = upper or 0 if lower == 0 and step == 1 else 0
        self._vector_bytes = unit.bytes
        lanes = unit.lanes(8 * _ELEMENT_BYTES)
        self._lanes = lanes * INTERLEAVED if is_chain(loop.operation) else lanes
        self.written = list(dict.fromkeys(op.operands[1] for op in self._elements.stores))
        """The buffers that it stores to."""

    def can_be_vectors(self, results: Mapping[ir.Value, _Result]) -> bool:
        """Whether all that it does can be done to vectors, and it stores to nothing else."""
        return (
            not self._loop.results
            and self._count >= self._lanes
            and len(self.written) > 0
            and all(
                view in results and results[view].alignment >= self._vector_bytes
                for view in self.written
            )
            and self._elements.can_be_vectors([8 * _ELEMENT_BYTES])
        )

    def stream(
        self, results: Mapping[ir.Value, _Result], are_aligned: Mapping[ir.Value, ir.Value]
    ) -> None:
        """Has the loop take vectors, if buffers begin where they have to."""
        whole = self._count // self._lanes * self._lanes
        arguments = dict.fromkeys(results[view].argument for view in self.written)
        conditions = [are_aligned[argument] for argument in arguments]

        def vectors() -> None:
            for_each(index(0), index(whole), self._lanes, lambda at: self._of_vectors(at, results))
            if whole < self._count:
                for_each(index(whole), index(self._count), 1, self._as_it_was)

        def elements() -> None:
            for_each(index(0), index(self._count), 1, self._as_it_was)

        with ir.InsertionPoint(self._loop), self._loop.location:
            if_else(functools.reduce(arith.andi, conditions), vectors, elements)
        self._loop.operation.erase()

    def _as_it_was(self, at: ir.Value) -> list[ir.Value]:
        clone_operations(self._elements.ops, {self._elements.at: at})
        return []

    def _of_vectors(self, at: ir.Value, results: Mapping[ir.Value, _Result]) -> list[ir.Value]:
        def store(value: ir.Value, buffer: ir.Value, places: list[ir.Value]) -> None:
            alignment = min(results[buffer].alignment, self._lanes * _ELEMENT_BYTES)
            value = of_lanes(value, [self._lanes])
            vector.StoreOp(value, buffer, places, nontemporal=True, alignment=alignment)

        self._elements.in_vectors({self._elements.at: at}, self._lanes, vector.load, store)
        return []
