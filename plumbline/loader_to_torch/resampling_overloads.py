"""Has resampling be called by the overloads that PyTorch takes apart.

Those are what torch.export makes of `F.interpolate`. A graph that has been traced before, by
`make_fx` as for a step of training, has the overloads below them, which PyTorch leaves whole
whatever the table of decompositions says; what torch-mlir makes of the nearest elements is wrong.
"""

from collections.abc import Sequence
from typing import Any

import torch

aten = torch.ops.aten

_NEAREST = [
    getattr(aten, f"{name}{rank}d")
    for name in ("upsample_nearest", "_upsample_nearest_exact")
    for rank in (1, 2, 3)
]
_WITH_CORNERS = [
    aten.upsample_linear1d,
    aten.upsample_bilinear2d,
    aten.upsample_trilinear3d,
    aten.upsample_bicubic2d,
]
_OVERLOADS = {packet.default: packet.vec for packet in (*_NEAREST, *_WITH_CORNERS)}
_HAVE_CORNERS = {packet.default for packet in _WITH_CORNERS}


def call_overloads_of_export(exported: torch.export.ExportedProgram) -> None:
    """Replaces calls of resampling by such of overloads that PyTorch takes apart."""
    for module in exported.graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        found = [node for node in module.graph.nodes if node.target in _OVERLOADS]
        for node in found:
            _replace(node)
        if found:
            module.recompile()


def _replace(node: torch.fx.Node) -> None:
    op: Any = node.target
    names = [argument.name for argument in op._schema.arguments]
    given = {**dict.fromkeys(names), **dict(zip(names, node.args, strict=False)), **node.kwargs}
    image, size = given.pop("self"), given.pop("output_size")
    corners = (given.pop("align_corners"),) if op in _HAVE_CORNERS else ()
    # One is told by how much sizes change, or else the sizes.
    factors = [given[name] for name in names if name.startswith("scales")]
    told = None not in factors
    if told and not _are_of(image.meta["val"].shape[2:], size, factors):
        return
    node.args = (image, None if told else size, *corners, factors if told else None)
    node.kwargs = {}
    node.target = _OVERLOADS[op]


def _are_of(old: Sequence[Any], new: Sequence[Any], factors: Sequence[float]) -> bool:
    """Whether the overload that is told factors comes to the same sizes, where they are known."""
    return all(
        int(before * factor) == after
        for before, after, factor in zip(old, new, factors, strict=True)
        if isinstance(before, int) and isinstance(after, int)
    )
