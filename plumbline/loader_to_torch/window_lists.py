"""Sizes of windows in full: one for each dimension, where PyTorch takes one for all, or none.

torch-mlir stretches lists of one element too, but all of an op as far as the first of them, and so
reads what lies behind a `stride` that is empty, as which PyTorch takes the windows' own sizes.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch

from plumbline.loader_to_torch.node_locations import all_nodes

aten = torch.ops.aten

_RANKS: dict[Any, int] = {
    aten.avg_pool1d.default: 1,
    aten.avg_pool2d.default: 2,
    aten.avg_pool3d.default: 3,
    aten.max_pool2d_with_indices.default: 2,
    aten.max_pool3d_with_indices.default: 3,
}

_LISTS = ("kernel_size", "stride", "padding", "dilation")


def spell_windows(exported: torch.export.ExportedProgram) -> None:
    """Spells in place what the poolings of `exported` say of their windows."""
    for node in all_nodes(exported):
        rank = _RANKS.get(node.target)
        if rank is None:
            continue
        schema = cast("torch._ops.OpOverload", node.target)._schema
        kernel: Any = node.args[1]
        for place, (argument, given) in enumerate(zip(schema.arguments, node.args, strict=False)):
            if argument.name in _LISTS:
                numbers = list(cast("Sequence[int]", given) or kernel)
                node.update_arg(place, numbers * (rank // len(numbers)))
