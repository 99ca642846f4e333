"""Builds vectors of elements of a tensor, from the computations of a group: an epilogue.

Lanes run along some loops of a step, contiguously. What does not depend on these is computed once,
as a scalar, and broadcast where it meets a vector.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import FIRST_CACHE, FlatView, total
from plumbline.linalg_to_kernels.computations import (
    Computation,
    Indices,
    composed,
    is_in_memory,
    is_tensor,
    reshaped_from,
    seen_through,
)
from plumbline.linalg_to_kernels.evaluation import captured_value, index_value
from plumbline.linalg_to_kernels.group import Group
from plumbline.linalg_to_kernels.layouts import is_contiguous, layout_of
from plumbline.linalg_to_kernels.loop_order import Access
from plumbline.linalg_to_kernels.vectors import masked_load, of_lanes, on_lanes

_LEAST_BITS = 8
"""Of elements that lie in memory as they do in a vector: an i1 takes a byte in the one alone."""


@dataclass(frozen=True)
class Lanes:
    """What the lanes of a vector are, in the loops of a step."""

    loops: tuple[int, ...]
    """Along which they run, the last one fastest."""
    sizes: tuple[int, ...]
    """How often these run, or DYNAMIC."""

    def is_contiguous(self, access: Access) -> bool:
        """Whether the next lane's element is the next one in memory."""
        step: int | None = 1
        for number in reversed(range(len(self.loops))):
            loop, size = self.loops[number], self.sizes[number]
            if step is not None:
                is_next = access.stride(loop) == step
            else:
                is_next = access.are_along_next_axes(loop, self.loops[number + 1])
            if not is_next:
                return False
            step = step * size if step is not None and size >= 0 else None
        return True

    def matter_to(self, indices: Indices) -> bool:
        """Whether elements at such places differ from lane to lane."""
        return _are_moved(indices, self.loops)


def _are_moved(indices: Indices, by: Iterable[int]) -> bool:
    """Whether a step of one of some loops leads to other elements."""
    access = Access((1,) * len(indices), indices)
    return any(access.stride(loop) != 0 for loop in by)


def can_read_vectors(
    group: Group, step: Computation, lanes: Lanes, source: ir.Value, number: int
) -> bool:
    """Whether vectors of what a step reads as an input can be computed, given those of `source`."""
    places = tuple(step.maps[number].results)
    return _Check(group, step, lanes, source).tensor(step.inputs[number], places)


def can_be_vectors(group: Group, step: Computation, lanes: Lanes, source: ir.Value) -> bool:
    """Whether the elements of a step can be computed by vectors, given those of `source`."""
    return _Check(group, step, lanes, source).member(step, step.loops)


class _Check:
    def __init__(self, group: Group, step: Computation, lanes: Lanes, source: ir.Value) -> None:
        self._group, self._step, self._lanes, self._source = group, step, lanes, source
        self._found: dict[tuple[Computation, Indices], bool] = {}

    def member(self, member: Computation, loops: Indices) -> bool:
        """Whether a member's body is of operations on elements, and its operands can be read."""
        if (member, loops) not in self._found:
            self._found[member, loops] = self._member(member, loops)
        return self._found[member, loops]

    def _member(self, member: Computation, loops: Indices) -> bool:
        if any(
            op.regions
            or (op.name.partition(".")[0] not in ("arith", "math") and op.name != "linalg.index")
            for op in member.body_ops
        ):
            return False
        # What lanes count is no number that all of them have.
        counted = tuple(loops[_dim(op)] for op in member.body_ops if op.name == "linalg.index")
        if self._lanes.matter_to(counted):
            return False
        return all(
            self.tensor(value, composed(map_, loops, len(self._step.reduces)))
            for value, map_ in zip(member.inputs, member.maps[: len(member.inputs)], strict=True)
            if is_tensor(value)
        ) and not any(member.reads_inits)

    def tensor(self, value: ir.Value, indices: Indices) -> bool:
        """Whether vectors of a tensor's elements can be read, or computed."""
        whole, _ = reshaped_from(value, indices)
        source, indices = seen_through(value, indices)
        producer = self._group.producer(source)
        if source == self._source:
            return True
        if producer is not None:
            return self._group.is_inlined(producer) and self.member(
                producer, producer.loops_for(indices)
            )
        type_ = ir.RankedTensorType(source.type)
        element = type_.element_type
        if not self._lanes.matter_to(indices) or not is_in_memory(source):
            return True
        width = element.width if isinstance(element, ir.FloatType | ir.IntegerType) else 0
        layout = layout_of(source)
        strides, _ = layout.get_strides_and_offset()
        # Of a part, axes have more elements than loops take.
        known = None if source == whole and is_contiguous(layout) else tuple(strides)
        return width >= _LEAST_BITS and self._lanes.is_contiguous(
            Access(tuple(type_.shape), indices, known)
        )


def _dim(index: ir.Operation) -> int:
    """Which loop a `linalg.index` gives the count of."""
    return int(ir.IntegerAttr(index.attributes["dim"]).value)


class VectorEvaluation:
    """Vectors of elements at one place of a step's loops.

    Args:
      group: whose members are inlined where their elements are read.
      step: the step.
      given: where the tensors from outside lie, and scalars that stand for those of the group.
      loops: the values of the step's loops at the first lane.
      lanes: what the other lanes are.
      mask: the lanes that are inside.
      known: what is known of elements of tensors: a vector each.
    """

    def __init__(
        self,
        group: Group,
        step: Computation,
        given: Mapping[ir.Value, ir.Value],
        loops: Mapping[int, ir.Value],
        lanes: Lanes,
        mask: ir.Value,
        known: Mapping[ir.Value, ir.Value],
    ) -> None:
        self._group, self._step, self._given = group, step, given
        self._loops, self._lanes, self._mask = loops, lanes, mask
        self._known = known
        self._done: dict[object, ir.Value] = {}

    def result(self) -> ir.Value:
        """A vector of the step's result."""
        return self.vector(self._member(self._step, self._step.loops))

    def prefetch(self, given_later: ir.Value, rows: Iterable[int]) -> None:
        """Asks for the elements from outside of which the result needs a vector each.

        Those that `given_later` is computed from are none of them, nor those that none of the loops
        `rows` leads to: they are near since the tile before.
        """
        reads: dict[tuple[ir.Value, Indices], None] = {}
        self._note_reads(self._step, self._step.loops, given_later, reads)
        for source, indices in reads:
            is_vector = source in self._given and self._lanes.matter_to(indices)
            if is_vector and _are_moved(indices, rows):
                elements, offset = self._place(source, indices)
                memref.prefetch(elements, [offset], False, FIRST_CACHE, True)

    def _note_reads(
        self,
        member: Computation,
        loops: Indices,
        given_later: ir.Value,
        reads: dict[tuple[ir.Value, Indices], None],
    ) -> None:
        """Notes which tensors a member reads where, it and what is inlined into it."""
        count = len(self._step.reduces)
        for value, map_ in zip(member.inputs, member.maps[: len(member.inputs)], strict=True):
            if not is_tensor(value):
                continue
            read = source, indices = seen_through(value, composed(map_, loops, count))
            if read in reads or source == given_later:
                continue
            reads[read] = None
            producer = self._group.producer(source)
            if producer is not None and self._group.is_inlined(producer):
                self._note_reads(producer, producer.loops_for(indices), given_later, reads)

    def element(self, value: ir.Value, indices: Indices) -> ir.Value:
        """A vector of elements of a tensor, or a scalar if they are all one."""
        if not is_tensor(value):
            return captured_value(value, self._given)
        source, indices = seen_through(value, indices)
        if (source, indices) not in self._done:
            self._done[source, indices] = self._element(source, indices)
        return self._done[source, indices]

    def vector(self, value: ir.Value) -> ir.Value:
        """`value`, or a vector of it if it is a scalar."""
        return of_lanes(value, self._shape)

    @property
    def _shape(self) -> list[int]:
        return list(ir.VectorType(self._mask.type).shape)

    def _element(self, source: ir.Value, indices: Indices) -> ir.Value:
        if source in self._known:
            return self._known[source]
        producer = self._group.producer(source)
        if producer is not None:
            return self._member(producer, producer.loops_for(indices))
        if source not in self._given:
            element = ir.RankedTensorType(source.type).element_type
            value = source.owner.operation.attributes["value"]
            return arith.ConstantOp(element, value.get_splat_value()).result
        buffer = self._given[source]
        places = [index_value(at, self._loops) for at in indices]
        if not self._lanes.matter_to(indices):
            return memref.load(buffer, places)
        elements, offset = self._place(source, indices)
        type_ = ir.VectorType.get(self._shape, ir.MemRefType(buffer.type).element_type)
        return masked_load(type_, elements, offset, self._mask)

    def _place(self, source: ir.Value, indices: Indices) -> tuple[ir.Value, ir.Value]:
        """The elements of a tensor's buffer, and which of them the first lane's is."""
        view = FlatView(self._given[source])
        places = [index_value(at, self._loops) for at in indices]
        steps = zip(places, view.strides, strict=True)
        return view.elements, total([arith.muli(at, step) for at, step in steps])

    def _member(self, member: Computation, loops: Indices) -> ir.Value:
        count = len(self._step.reduces)
        values: dict[ir.Value, ir.Value] = {}
        inputs = zip(member.inputs, member.maps[: len(member.inputs)], strict=True)
        for argument, (value, map_) in zip(member.body.arguments, inputs, strict=False):
            if any(True for _ in argument.uses):
                values[argument] = self.element(value, composed(map_, loops, count))
        for op in member.body_ops:
            if op.name == "linalg.index":
                values[op.results[0]] = index_value(loops[_dim(op)], self._loops)
                continue
            operands = [
                values.get(operand) or captured_value(operand, self._given)
                for operand in op.operands
            ]
            values |= zip(op.results, self._operation(op, operands), strict=True)
        (yielded,) = member.yielded
        return values.get(yielded) or captured_value(yielded, self._given)

    def _operation(self, op: ir.Operation, operands: Sequence[ir.Value]) -> list[ir.Value]:
        if any(isinstance(operand.type, ir.VectorType) for operand in operands):
            return on_lanes(op, operands, self._shape)
        attributes = {name: op.attributes[name] for name in op.attributes}
        types = [result.type for result in op.results]
        return list(ir.Operation.create(op.name, types, operands, attributes).results)
