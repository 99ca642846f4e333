"""Computes contractions in the shape that their results are given next.

A matrix product knows three axes, or four with a batch; what stands around it often has more, as
heads of attention or rows of an image. With a loop for each of these axes there is no reshape left
between a contraction and its neighbours that would keep them from becoming one kernel.
"""

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import operations_of
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    GENERIC,
    Computation,
    computation,
    is_copy,
    reassociation,
    viewed,
)
from plumbline.linalg_to_kernels.constants import is_constant
from plumbline.linalg_to_kernels.products import sum_of_products

_EXPAND = "tensor.expand_shape"
_COLLAPSE = "tensor.collapse_shape"


def expand_contractions(module: ir.Operation) -> None:
    """Takes the reshapes that follow contractions before them, to their operands."""
    with module.context:
        for op in operations_of(module, "linalg"):
            if op.name != GENERIC or sum_of_products(op) is None:
                continue
            found = computation(op)
            uses = list(op.results[0].uses)
            reshape = uses[0].owner.operation if len(uses) == 1 else None
            if found and reshape and reshape.name == _EXPAND and _is_possible(found):
                expansion = _Expansion(found, reshape)
                if not expansion.splits_weights():
                    expansion.build()


def _is_possible(contraction: Computation) -> bool:
    """Whether each axis of each tensor is along one loop."""
    return all(
        isinstance(at.maybe_downcast(), ir.AffineDimExpr)
        for map_ in contraction.maps
        for at in map_.results
    )


class _Expansion:
    def __init__(self, contraction: Computation, reshape: ir.Operation) -> None:
        self._contraction, self._reshape = contraction, reshape
        loops = contraction.result_loops(0)
        assert loops is not None
        type_ = ir.RankedTensorType(reshape.results[0].type)
        sizes = list(reshape.operands)[1:]
        dynamic = [type_.is_dynamic_dim(axis) for axis in range(type_.rank)]
        self._axes: dict[int, list[tuple[int, ir.Value | None]]] = {}
        for loop, group in zip(loops, reassociation(reshape), strict=True):
            self._axes[loop] = [
                (type_.shape[axis], sizes[sum(dynamic[:axis])] if dynamic[axis] else None)
                for axis in group
            ]
        counts = [len(self._axes.get(loop, [0])) for loop in range(len(contraction.reduces))]
        self._first = [sum(counts[:loop]) for loop in range(len(counts) + 1)]
        self._counts = counts

    def splits_weights(self) -> bool:
        """Whether a weight had more axes then: these are packed along one axis."""
        return any(
            _is_weight(value) and any(self._counts[loop] > 1 for loop in self._loops(map_))
            for value, map_ in zip(self._contraction.inputs, self._contraction.maps, strict=False)
        )

    def build(self) -> None:
        contraction, old = self._contraction, self._contraction.op
        with ir.InsertionPoint(self._reshape), old.location:
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
                results=[self._reshape.results[0].type],
                operands=operands,
                attributes=attributes,
                regions=1,
            )
        contraction.body.append_to(new.regions[0])
        self._reshape.results[0].replace_all_uses_with(new.results[0])
        self._reshape.erase()
        collapsed = {value for value in old.operands if _is_collapsed(value)}
        old.erase()
        for value in collapsed:
            if not any(True for _ in value.uses):
                value.owner.erase()

    def _loops(self, map_: ir.AffineMap) -> list[int]:
        return [ir.AffineDimExpr(at.maybe_downcast()).position for at in map_.results]

    def _map(self, map_: ir.AffineMap) -> ir.AffineMap:
        at = [
            ir.AffineDimExpr.get(self._first[loop] + number)
            for loop in self._loops(map_)
            for number in range(self._counts[loop])
        ]
        return ir.AffineMap.get(self._first[-1], 0, at)

    def _expanded(self, value: ir.Value, map_: ir.AffineMap) -> ir.Value:
        """An operand with an axis for each loop; where it was collapsed, what it was before."""
        old = ir.RankedTensorType(value.type)
        parts = [
            self._axes.get(loop) or [(old.shape[axis], None)]
            for axis, loop in enumerate(self._loops(map_))
        ]
        shape = [size for group in parts for size, _ in group]
        if len(shape) == old.rank:
            return value
        counts = [len(group) for group in parts]
        groups = [[*range(sum(counts[:at]), sum(counts[: at + 1]))] for at in range(len(counts))]
        type_ = ir.RankedTensorType.get(shape, old.element_type)
        if _is_collapsed(value):
            collapse = value.owner.operation
            if collapse.operands[0].type == type_ and reassociation(collapse) == groups:
                return collapse.operands[0]
        sizes = [
            dynamic or tensor.dim(value, index(axis))
            for axis, group in enumerate(parts)
            for size, dynamic in group
            if size == DYNAMIC
        ]
        return tensor.ExpandShapeOp(type_, value, groups, sizes, shape).result


def _is_collapsed(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == _COLLAPSE


def _is_weight(value: ir.Value) -> bool:
    """Whether a tensor is a weight, or a copy of one."""
    source = viewed(value)
    if isinstance(source.owner, ir.Block):
        return is_constant(source)
    copy = computation(source.owner.operation)
    return copy is not None and is_copy(copy) and any(map(_is_weight, copy.inputs))
