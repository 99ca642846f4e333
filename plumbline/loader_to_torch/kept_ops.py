"""Ops of our own that PyTorch leaves in a graph, for the importer to make loops and slices of."""

from collections.abc import Mapping
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.contraction import GROUPED_MATMUL
from plumbline.loader_to_torch.decompositions.matrix_parts import LESS_PRODUCT, PART, WITH_PART
from plumbline.loader_to_torch.node_locations import all_nodes


class _KeptOp(torch._ops.HigherOrderOperator):
    """Stands for an op in a graph, as the importer asks nothing but ours about these."""

    def __init__(self, op: torch._ops.OpOverload) -> None:
        super().__init__(op._opname)  # type: ignore[no-untyped-call]
        self._op = op

    def __call__(self, *operands: Any) -> Any:
        return self._op(*operands)


KEPT: Mapping[Any, torch._ops.HigherOrderOperator] = {
    op: _KeptOp(op) for op in (GROUPED_MATMUL, PART, WITH_PART, LESS_PRODUCT)
}
"""What stands for each of them."""


def keep_ops(exported: torch.export.ExportedProgram) -> None:
    """Has the importer take such ops of a program as loops and slices."""
    for node in all_nodes(exported):
        if node.target in KEPT:
            node.target = KEPT[node.target]
