"""Products of groups of rows or columns with matrices of their own, as mixtures of experts do it.

How large a group is, only a run tells: a loop over the groups takes slices between the first and
the last place of each, and multiplies what they hold.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch_mlir import ir

from plumbline.loader_to_torch.decompositions.contraction import GROUPED_MATMUL
from plumbline.loader_to_torch.kept_ops import KEPT
from plumbline.loader_to_torch.torch_builder import Builder


def _import(build: Builder, node: torch.fx.Node) -> None:
    nodes = node.all_input_nodes
    left, right, starts, _ = (operand.meta["val"] for operand in nodes)
    left_value, right_value, *bounds = build.values(nodes)
    # What is one matrix for all groups is taken apart along the dimension that is not the other's.
    left_axis = _grouped_axis(left, 0 if right.dim() == 3 else 1)
    right_axis = _grouped_axis(right, 1 if left.dim() == 3 else 0)
    out = node.meta["val"]
    out_axis = _grouped_axis(out, 0 if left.dim() == 2 else 1)
    rows = None if left_axis == 0 else _known(left.shape[-2])
    columns = None if right_axis == 1 else _known(right.shape[-1])
    inner = None if left_axis == 1 else _known(left.shape[-1])

    def turn(place: ir.Value, carried: list[ir.Value]) -> tuple[ir.Value, list[ir.Value]]:
        after = build.next(place)

        def part(value: ir.Value, axis: int | None, dtype: torch.dtype, *sizes: int | None) -> Any:
            type_ = build.tensor_type(sizes, dtype)
            if axis is not None:
                return build.slice(value, axis, begin, end, type_)
            among_one = build.tensor_type((1, *sizes), dtype)
            return build.first_of(build.slice(value, 0, place, after, among_one), type_)

        begin, end = (
            build.op(
                "torch.aten.Int.Tensor", [part(bound, None, starts.dtype)], [build.type("int")]
            ).result
            for bound in bounds
        )
        factors = [
            part(left_value, left_axis, left.dtype, rows, inner),
            part(right_value, right_axis, right.dtype, inner, columns),
        ]
        product_type = build.tensor_type((rows, columns), out.dtype)
        product = build.op("torch.aten.mm", factors, [product_type]).result
        if out_axis is None:
            among_one = build.tensor_type((1, rows, columns), out.dtype)
            filled = build.with_slice(
                carried[0], build.as_only(product, among_one), 0, place, after
            )
        else:
            filled = build.with_slice(carried[0], product, out_axis, begin, end)
        return build.constant(True), [filled]

    zeros = build.zeros(out, nodes)
    count = build.size(starts.shape[0], nodes)
    (result,) = build.loop(count, build.constant(True), [zeros], [zeros.type], turn)
    build.importer.bind_node_value(node, result)


def _grouped_axis(tensor: torch.Tensor, axis: int) -> int | None:
    """Where a matrix is taken apart into groups; None: it is a matrix for each group."""
    return axis if tensor.dim() == 2 else None


def _known(size: int | torch.SymInt) -> int | None:
    return size if isinstance(size, int) else None


IMPORTS: Mapping[str, Callable[[Builder, torch.fx.Node], None]] = {
    KEPT[GROUPED_MATMUL].__name__: _import
}
"""How the op is imported, by its name."""
