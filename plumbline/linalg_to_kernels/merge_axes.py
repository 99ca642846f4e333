"""Makes one axis of the last two of tensors that are reduced along others, if the last is short.

Of 512x512 points the sum over the first axis is of 512 coordinates each. Vectors hold what lies
side by side, which the 3 coordinates of one point are too few for, while those of a row of points
are as good as any row. A kernel has its loops by axis, so that the two of these have to be one
already in what it is of: in the reduction, in what that is computed of, and in what is computed of
it. With two axes, each sum was added up by itself, in steps from row to row: of points that took 14
times as long as in PyTorch, of pairs in 512x512 19 times (AMD Zen 4).
"""

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import all_operations, defining_operation, operations_of
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    composed,
    computation,
    loops_in,
    number_everywhere,
    reassociation,
)

_SHORT = 64
"""Elements of an axis that is short: a few vectors."""

_MOST = 256
"""Computations that may have both axes: of an unrolled loop each sum would be of all steps."""

_EXPAND, _COLLAPSE = "tensor.expand_shape", "tensor.collapse_shape"

_WHOLE = frozenset({"arith.constant", "tensor.empty"})
"""What makes tensors whose elements are contiguous, also as ones with one axis less."""

_OF_PARTS = frozenset({"tensor.extract", "tensor.extract_slice"})
"""What would have to take two axes apart again to know where an element is."""

_GIVES = frozenset({"func.return", "scf.yield"})
"""What only hands a tensor on."""


def merge_axes(module: ir.Operation) -> None:
    """Merges axes in all functions of `module`, and those that come to be last by that."""
    with module.context:
        ops = [op for op in operations_of(module, "linalg") if op.name == GENERIC]
        numbers = {op: number for number, op in enumerate(ops)}
        for number in range(len(ops)):
            while (axes := _begun(ops[number])) is not None and axes.spread():
                for old, new in axes.merge():
                    at = numbers.pop(old)
                    ops[at], numbers[new] = new, at
                axes.erase()


def _begun(op: ir.Operation) -> "_MergedAxes | None":
    """The two last axes of what a reduction reads, if these are such."""
    found = computation(op)
    if found is None or not found.is_reduction:
        return None
    for outer, inner in itertools.pairwise(range(len(found.reduces))):
        is_short = 1 < found.sizes[inner] < _SHORT and found.sizes[outer] not in (1, DYNAMIC)
        if is_short and any(_axis(map_, outer) == len(map_.results) - 2 for map_ in found.maps):
            return _MergedAxes(found, outer)
    return None


@dataclass(frozen=True)
class _Reshape:
    """A reshape of which both sides have the two axes."""

    op: ir.Operation
    small: int
    """The first of the two in the smaller shape."""
    large: int


@dataclass
class _MergedAxes:
    """All that has two axes, of those tensors that a reduction reads and gives."""

    begun: Computation
    loop: int
    """Its loop along the first of the axes; the next one is along the second."""
    axes: dict[ir.Value, int] = field(default_factory=dict)
    """For each tensor that has them the first one."""
    computed: dict[ir.Operation, tuple[Computation, int]] = field(default_factory=dict)
    """Computations with the first loop of two."""
    reshaped: dict[ir.Operation, _Reshape] = field(default_factory=dict)
    _pending: list[ir.Value] = field(default_factory=list)

    def spread(self) -> bool:
        """Finds all tensors; False if something cannot do with one axis less.

        What nothing computes is in memory, or one number everywhere: whoever else reads that has
        both axes.
        """
        if not self._add_computation(self.begun, self.loop):
            return False
        while self._pending:
            value = self._pending.pop()
            if _is_whole(value):
                continue
            if not self._add_maker(value):
                return False
            if not all(self._add_user(use, value) for use in value.uses):
                return False
        return True

    def _add_maker(self, value: ir.Value) -> bool:
        op = defining_operation(value)
        assert op is not None
        found = computation(op)
        if found is not None:
            loops = found.result_loops(list(found.results).index(value))
            assert loops is not None
            return self._add_computation(found, loops[self.axes[value]])
        return op.name in (_EXPAND, _COLLAPSE) and self._add_reshape(op, value)

    def _add_user(self, use: ir.OpOperand, value: ir.Value) -> bool:
        op = use.owner.operation
        found = computation(op)
        if found is not None:
            at = found.maps[use.operand_number].results[self.axes[value]].maybe_downcast()
            is_loop = isinstance(at, ir.AffineDimExpr)
            return is_loop and self._add_computation(found, at.position)
        if op.name in (_EXPAND, _COLLAPSE) and not _is_given(op):
            return self._add_reshape(op, value)
        return op.name not in _OF_PARTS and not op.name.startswith("linalg.")

    def _add_computation(self, found: Computation, loop: int) -> bool:
        if found.op in self.computed:
            return self.computed[found.op][1] == loop
        if found.op.block != self.begun.op.block or not _has_both(found, loop):
            return False
        if len(self.computed) == _MOST:
            return False
        self.computed[found.op] = found, loop
        axes = [_axis(map_, loop) for map_ in found.maps]
        values = [*found.op.operands, *found.results]
        return all(
            self._add_value(value, axis)
            for value, axis in zip(values, [*axes, *axes[len(found.inputs) :]], strict=True)
            if axis is not None
        )

    def _add_value(self, value: ir.Value, axis: int) -> bool:
        if value not in self.axes:
            self.axes[value] = axis
            self._pending.append(value)
        type_ = ir.RankedTensorType(value.type)
        return self.axes[value] == axis and type_.has_static_shape

    def _add_reshape(self, op: ir.Operation, value: ir.Value) -> bool:
        if op in self.reshaped:
            return True
        small, large = op.operands[0], op.results[0]
        if op.name == _COLLAPSE:
            small, large = large, small
        groups = reassociation(op)
        for axis, (group, beside) in enumerate(itertools.pairwise(groups)):
            of_large = group[-1]
            if (axis if value == small else of_large) != self.axes[value]:
                continue
            shapes = [list(ir.RankedTensorType(side.type).shape) for side in (small, large)]
            if shapes[0][axis : axis + 2] != shapes[1][of_large : beside[0] + 1]:
                return False
            self.reshaped[op] = _Reshape(op, axis, of_large)
            return self._add_value(small, axis) and self._add_value(large, of_large)
        return False

    def merge(self) -> list[tuple[ir.Operation, ir.Operation]]:
        """Builds all of that with one axis in the place of two; gives what is in whose place."""
        old = self._in_order()
        made = {result for op in old for result in op.results}
        merged = {
            value: _collapsed(value, axis) for value, axis in self.axes.items() if value not in made
        }
        replaced: list[tuple[ir.Operation, ir.Operation]] = []
        for op in old:
            with ir.InsertionPoint(op), op.location:
                if op in self.computed:
                    new = _recomputed(*self.computed[op], merged)
                    replaced.append((op, new))
                else:
                    new = _reshaped(self.reshaped[op], merged)
            merged.update(zip(op.results, new.results, strict=True))
        for result in made:
            self._give_to_others(result, merged[result])
        return replaced

    def erase(self) -> None:
        """Erases what has been built anew."""
        for op in reversed(self._in_order()):
            op.erase()

    def _in_order(self) -> list[ir.Operation]:
        # A block may have many more operations.
        return sorted([*self.computed, *self.reshaped], key=functools.cmp_to_key(_compare_places))

    def _give_to_others(self, result: ir.Value, merged: ir.Value) -> None:
        """Has those that still know both axes take them apart again."""
        uses = [
            use
            for use in result.uses
            if use.owner.operation not in self.computed and use.owner.operation not in self.reshaped
        ]
        if not uses:
            return
        if result in self.axes:
            groups = _groups(result, self.axes[result])
            shape = ir.RankedTensorType(result.type).shape
            with ir.InsertionPoint.after(merged.owner), merged.owner.location:
                merged = tensor.ExpandShapeOp(result.type, merged, groups, [], shape).result
        for use in uses:
            use.owner.operands[use.operand_number] = merged


def _compare_places(one: ir.Operation, other: ir.Operation) -> int:
    return -1 if one.is_before_in_block(other) else 1


def _is_whole(value: ir.Value) -> bool:
    """Whether nothing computes a tensor, or whoever reads it need not know where."""
    op = defining_operation(value)
    if op is None or op.name in _WHOLE or number_everywhere(value) is not None:
        return True
    return op.name == _COLLAPSE and _is_whole(op.operands[0])


def _is_given(op: ir.Operation) -> bool:
    """Whether what an operation makes is only a result of the function or of a loop."""
    return all(use.owner.name in _GIVES for use in op.results[0].uses)


def _has_both(found: Computation, outer: int) -> bool:
    """Whether a computation has two loops, of which each tensor has both, in order, or none."""
    inner = outer + 1
    if inner >= len(found.reduces) or found.reduces[outer] or found.reduces[inner]:
        return False
    if found.sum_of_products is not None or found.is_pad:
        return False
    counted = {
        ir.IntegerAttr(op.attributes["dim"]).value
        for op in all_operations(found.op)
        if op.name == "linalg.index"
    }
    return counted.isdisjoint((outer, inner)) and all(
        _axis(map_, outer) is not None or not _is_along(map_, (outer, inner)) for map_ in found.maps
    )


def _axis(map_: ir.AffineMap, outer: int) -> int | None:
    """The first of two axes that are along two loops, on which nothing else depends."""
    dims = [ir.AffineDimExpr.get(outer), ir.AffineDimExpr.get(outer + 1)]
    places = list(map_.results)
    for axis in range(len(places) - 1):
        others = places[:axis] + places[axis + 2 :]
        if places[axis : axis + 2] == dims:
            is_alone = all(loops_in(at).isdisjoint((outer, outer + 1)) for at in others)
            return axis if is_alone else None
    return None


def _is_along(map_: ir.AffineMap, loops: Sequence[int]) -> bool:
    return any(not loops_in(at).isdisjoint(loops) for at in map_.results)


def _groups(value: ir.Value, first: int) -> list[list[int]]:
    """The axes of a tensor, two of them in one group."""
    rank = ir.RankedTensorType(value.type).rank
    return [
        [axis, axis + 1] if axis == first else [axis] for axis in range(rank) if axis != first + 1
    ]


def _merged_type(value: ir.Value, first: int) -> ir.RankedTensorType:
    type_ = ir.RankedTensorType(value.type)
    shape = [math.prod(type_.shape[axis] for axis in group) for group in _groups(value, first)]
    return ir.RankedTensorType.get(shape, type_.element_type)


def _collapsed(value: ir.Value, first: int) -> ir.Value:
    """A tensor that nothing here computes, with both axes as one."""
    op = defining_operation(value)
    if op is None:
        place = ir.InsertionPoint.at_block_begin(value.owner)
    else:
        place = ir.InsertionPoint.after(op)
    with place, value.location:
        type_ = _merged_type(value, first)
        if op is not None and op.name == "tensor.empty":
            return tensor.EmptyOp(type_.shape, type_.element_type).result
        groups = _groups(value, first)
        if op is not None and op.name == _COLLAPSE:
            inner = reassociation(op)
            groups = [[at for axis in group for at in inner[axis]] for group in groups]
            value = op.operands[0]
        return tensor.CollapseShapeOp(type_, value, groups).result


def _recomputed(
    found: Computation, outer: int, merged: Mapping[ir.Value, ir.Value]
) -> ir.Operation:
    """A computation with one loop in the place of two."""
    count = len(found.reduces) - 1
    loops = [ir.AffineDimExpr.get(loop - (loop > outer)) for loop in range(count + 1)]
    maps = []
    for map_ in found.maps:
        places, axis = list(composed(map_, loops, count)), _axis(map_, outer)
        if axis is not None:
            places.pop(axis + 1)
        maps.append(ir.AffineMapAttr.get(ir.AffineMap.get(count, 0, places)))
    operands = [merged.get(value, value) for value in found.op.operands]
    kinds = list(found.op.attributes["iterator_types"])
    kinds.pop(outer)
    attributes = {name: found.op.attributes[name] for name in found.op.attributes}
    attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
    attributes["iterator_types"] = ir.ArrayAttr.get(kinds)
    new = ir.Operation.create(
        GENERIC,
        results=[init.type for init in operands[len(found.inputs) :]],
        operands=operands,
        attributes=attributes,
        regions=1,
    )
    for op in all_operations(found.op):
        if op.name == "linalg.index":
            loop = ir.IntegerAttr(op.attributes["dim"])
            number = loop.value - (loop.value > outer)
            op.attributes["dim"] = ir.IntegerAttr.get(loop.type, number)
    found.body.append_to(new.regions[0])
    return new


def _reshaped(reshape: _Reshape, merged: Mapping[ir.Value, ir.Value]) -> ir.Operation:
    """A reshape of a tensor that has one axis in the place of two."""
    op, old = reshape.op, reassociation(reshape.op)
    joined = [*old[reshape.small], *old[reshape.small + 1]]
    groups = [*old[: reshape.small], joined, *old[reshape.small + 2 :]]
    inner = reshape.large + 1
    groups = [[axis - (axis >= inner) for axis in group if axis != inner] for group in groups]
    source = merged[op.operands[0]]
    if op.name == _COLLAPSE:
        type_ = _merged_type(op.results[0], reshape.small)
        return tensor.CollapseShapeOp(type_, source, groups).operation
    type_ = _merged_type(op.results[0], reshape.large)
    return tensor.ExpandShapeOp(type_, source, groups, [], type_.shape).operation
