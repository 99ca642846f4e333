"""Computes contractions in the shape that their results are given next, and these in theirs.

A matrix product knows three axes, or four with a batch; what stands around it often has more, as
heads of attention or rows of an image. A convolution in groups, in turn, has an axis more than what
stands around it. With a loop for each of these axes there is no reshape left between a contraction
and its neighbours that would keep them from becoming one kernel.
"""

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import all_operations, operations_of
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    computation,
    computation_of,
    is_copy,
    number_everywhere,
    reassociation,
    viewed,
)
from plumbline.linalg_to_kernels.constants import is_constant
from plumbline.linalg_to_kernels.products import sum_of_products
from plumbline.linalg_to_kernels.sizes import told_size

_EXPAND = "tensor.expand_shape"
_COLLAPSE = "tensor.collapse_shape"
_EMPTY = "tensor.empty"
_OF_PLACES = frozenset({"linalg.index", "tensor.extract"})
"""What is something else in loops over other axes."""


def expand_contractions(module: ir.Operation) -> None:
    """Takes the reshapes that follow contractions to their operands, or behind what comes next."""
    with module.context:
        for contraction in _contractions(module):
            found = computation(contraction)
            rounding, reshape = _then_expanded(contraction.results[0])
            if reshape is None or found is None or not has_loop_along_each_axis(found):
                continue
            if _of_result(contraction, reshape).splits_weights():
                continue
            if rounding is not None:
                _expand(rounding, reshape)
                reshape = _only_user(contraction.results[0])
                assert reshape is not None
            _expand(contraction, reshape)
        for contraction in _contractions(module):
            sink_collapses(contraction.results[0])


def _then_expanded(value: ir.Value) -> tuple[ir.Operation | None, ir.Operation | None]:
    """What is computed of each element of a tensor alone, if anything, and what gives it more axes.

    The first is how sums are rounded to narrower floats.
    """
    user = _only_user(value)
    if user is None or user.name == _EXPAND:
        return None, user
    found = computation(user) if user.name == GENERIC else None
    if found is None or len(found.inputs) != 1 or not has_loop_along_each_axis(found):
        return None, None
    reshape = _only_user(user.results[0]) if _is_by_elements(found, value) else None
    return (user, reshape) if reshape is not None and reshape.name == _EXPAND else (None, None)


def sink_collapses(value: ir.Value) -> None:
    """Takes the one reshape that puts axes of a tensor together behind what comes next."""
    reshape = _only_user(value)
    while reshape and reshape.name == _COLLAPSE:
        reshape = _sink(reshape)


def _contractions(module: ir.Operation) -> list[ir.Operation]:
    return [
        op
        for op in operations_of(module, "linalg")
        if op.name == GENERIC and sum_of_products(op) is not None
    ]


def _only_user(value: ir.Value) -> ir.Operation | None:
    users = [use.owner.operation for use in value.uses]
    return users[0] if users and all(user == users[0] for user in users) else None


def has_loop_along_each_axis(found: Computation) -> bool:
    """Whether each axis of each tensor is along one loop, or has one element, for all of them."""
    return all(
        isinstance(at.maybe_downcast(), ir.AffineDimExpr | ir.AffineConstantExpr)
        for map_ in found.maps
        for at in map_.results
    )


def _sink(collapse: ir.Operation) -> ir.Operation | None:
    """Has what is computed of each collapsed element be computed before; gives what follows then.

    None if something else is done with it, or nothing.
    """
    value = collapse.results[0]
    user = _only_user(value)
    found = computation(user) if user is not None and user.name == GENERIC else None
    if found is None or not has_loop_along_each_axis(found) or not _is_by_elements(found, value):
        return None
    source = collapse.operands[0]
    type_ = ir.RankedTensorType(source.type)
    result = found.results[0]
    with ir.InsertionPoint.after(found.op), found.op.location:
        sizes = [told_size(source, axis) for axis in _dynamic(type_)]
        groups = collapse.attributes["reassociation"]
        of_result = ir.RankedTensorType.get(type_.shape, result.type.element_type)
        expand = tensor.ExpandShapeOp(of_result, result, groups, sizes, type_.shape)
        after = tensor.CollapseShapeOp(result.type, expand.result, groups)
    result.replace_all_uses_except(after.result, expand.operation)
    _expand(found.op, expand.operation)
    return after.operation


def _is_by_elements(found: Computation, value: ir.Value) -> bool:
    """Whether an element of the one result is computed for each element of a tensor, in order."""
    identity = ir.AffineMap.get_identity(len(found.reduces))
    maps = [map_ for read, map_ in zip(found.op.operands, found.maps, strict=True) if read == value]
    return (
        not found.is_reduction
        and len(found.results) == 1
        and not any(op.name in _OF_PLACES for op in all_operations(found.op))
        and all(map_ == identity for map_ in (*maps, found.maps[-1]))
    )


def _dynamic(type_: ir.RankedTensorType) -> list[int]:
    return [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]


def split_loop(op: ir.Operation, loop: int, sizes: Sequence[int]) -> ir.Operation:
    """Has a computation run loops of such sizes in place of a summed one; gives what it is then."""
    found = computation(op)
    assert found is not None
    with ir.InsertionPoint(op):
        result = _Expansion(found, {loop: [(size, None) for size in sizes]}).build()
    op.results[0].replace_all_uses_with(result)
    _erase(op)
    return result.owner.operation


def _expand(op: ir.Operation, reshape: ir.Operation) -> None:
    """Has a computation have the axes that its result is given next."""
    expansion = _of_result(op, reshape)
    with ir.InsertionPoint(reshape):
        result = expansion.build()
    reshape.results[0].replace_all_uses_with(result)
    reshape.erase()
    _erase(op)


def _of_result(op: ir.Operation, reshape: ir.Operation) -> "_Expansion":
    found = computation(op)
    assert found is not None
    loops = found.result_loops(0)
    assert loops is not None
    type_ = ir.RankedTensorType(reshape.results[0].type)
    sizes = list(reshape.operands)[1:]
    dynamic = [type_.is_dynamic_dim(axis) for axis in range(type_.rank)]
    return _Expansion(
        found,
        {
            loop: [
                (type_.shape[axis], sizes[sum(dynamic[:axis])] if dynamic[axis] else None)
                for axis in group
            ]
            for loop, group in zip(loops, reassociation(reshape), strict=True)
        },
    )


def _erase(op: ir.Operation) -> None:
    """Erases a computation, with what collapsed or filled operands for it alone."""
    made = {
        value
        for value in op.operands
        if _is_made_by(value, _COLLAPSE)
        or (_is_made_by(value, GENERIC) and number_everywhere(value) is not None)
    }
    op.erase()
    for value in made:
        if not any(True for _ in value.uses):
            value.owner.erase()


class _Expansion:
    """A computation with several loops in place of some."""

    def __init__(
        self, contraction: Computation, axes: dict[int, list[tuple[int, ir.Value | None]]]
    ) -> None:
        """`axes` are the sizes of the loops in place of one; of those not known as values."""
        self._contraction, self._axes = contraction, axes
        counts = [len(self._axes.get(loop, [0])) for loop in range(len(contraction.reduces))]
        self._first = [sum(counts[:loop]) for loop in range(len(counts) + 1)]
        self._counts = counts

    def splits_weights(self) -> bool:
        """Whether a weight had more axes then: these are packed along one axis."""
        return any(
            is_weight(value)
            and any(loop is not None and self._counts[loop] > 1 for loop in self._loops(map_))
            for value, map_ in zip(self._contraction.inputs, self._contraction.maps, strict=False)
        )

    def build(self) -> ir.Value:
        """Builds it, with the body of the other, and gives its result."""
        contraction, old = self._contraction, self._contraction.op
        with old.location:
            operands = [
                self._expanded(value, map_)
                for value, map_ in zip(old.operands, contraction.maps, strict=True)
            ]
            kinds = [
                kind
                for kind, count in zip(old.attributes["iterator_types"], self._counts, strict=True)
                for _ in range(count)
            ]
            attributes = {name: old.attributes[name] for name in old.attributes}
            attributes["iterator_types"] = ir.ArrayAttr.get(kinds)
            attributes["indexing_maps"] = ir.ArrayAttr.get(
                [ir.AffineMapAttr.get(self._map(map_)) for map_ in contraction.maps]
            )
            new = ir.Operation.create(
                GENERIC,
                results=[operands[-1].type],
                operands=operands,
                attributes=attributes,
                regions=1,
            )
        contraction.body.append_to(new.regions[0])
        return new.results[0]

    def _loops(self, map_: ir.AffineMap) -> list[int | None]:
        """The loop along which each axis is; None of one that has one element for all."""
        found = [at.maybe_downcast() for at in map_.results]
        return [at.position if isinstance(at, ir.AffineDimExpr) else None for at in found]

    def _map(self, map_: ir.AffineMap) -> ir.AffineMap:
        at: list[ir.AffineExpr] = []
        for loop in self._loops(map_):
            if loop is None:
                at.append(ir.AffineConstantExpr.get(0))
            else:
                at += [
                    ir.AffineDimExpr.get(self._first[loop] + number)
                    for number in range(self._counts[loop])
                ]
        return ir.AffineMap.get(self._first[-1], 0, at)

    def _expanded(self, value: ir.Value, map_: ir.AffineMap) -> ir.Value:
        """An operand with an axis for each loop; where it was collapsed, what it was before."""
        old = ir.RankedTensorType(value.type)
        parts: list[list[tuple[int, ir.Value | None]]] = [
            (loop is not None and self._axes.get(loop)) or [(old.shape[axis], None)]
            for axis, loop in enumerate(self._loops(map_))
        ]
        shape = [size for group in parts for size, _ in group]
        if len(shape) == old.rank:
            return value
        counts = [len(group) for group in parts]
        groups = [[*range(sum(counts[:at]), sum(counts[: at + 1]))] for at in range(len(counts))]
        type_ = ir.RankedTensorType.get(shape, old.element_type)
        if _is_made_by(value, _COLLAPSE):
            collapse = value.owner.operation
            if collapse.operands[0].type == type_ and reassociation(collapse) == groups:
                return collapse.operands[0]
        sizes = [
            dynamic or told_size(value, axis)
            for axis, group in enumerate(parts)
            for size, dynamic in group
            if size == DYNAMIC
        ]
        if _is_made_by(value, _EMPTY):
            return tensor.EmptyOp([*_sizes(shape, sizes)], old.element_type).result
        if number_everywhere(value) is not None and (fill := computation_of(value)) is not None:
            return _expanded_fill(fill, parts, sizes)
        return tensor.ExpandShapeOp(type_, value, groups, sizes, shape).result


def _expanded_fill(
    fill: Computation, parts: Sequence[Sequence[tuple[int, object]]], dynamic: Sequence[ir.Value]
) -> ir.Value:
    """A tensor of one number with several axes in place of each.

    A reshape of it would have to be made, and read, where its sizes are not known.
    """
    others = iter(dynamic)
    axes = {
        axis: [(size, next(others) if size == DYNAMIC else None) for size, _ in group]
        for axis, group in enumerate(parts)
    }
    copy = computation(fill.op.clone())
    assert copy is not None
    result = _Expansion(copy, axes).build()
    copy.op.erase()
    return result


def _sizes(shape: Sequence[int], dynamic: Sequence[ir.Value]) -> Iterator[int | ir.Value]:
    others = iter(dynamic)
    return (next(others) if size == DYNAMIC else size for size in shape)


def _is_made_by(value: ir.Value, name: str) -> bool:
    return not isinstance(value.owner, ir.Block) and bool(value.owner.name == name)


def is_weight(value: ir.Value) -> bool:
    """Whether a tensor is a weight, or a copy of one."""
    source = viewed(value)
    if isinstance(source.owner, ir.Block):
        return is_constant(source)
    copy = computation_of(source)
    return copy is not None and is_copy(copy) and any(map(is_weight, copy.inputs))
