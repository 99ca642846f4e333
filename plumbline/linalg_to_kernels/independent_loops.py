"""Finds loops over elements of buffers whose iterations have nothing to do with each other.

It is so where all that is done to a buffer that is written is done at a place with the loop's own
count in it, always along the same axis, as in each row of a scan.
"""

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.walk import all_operations


def independent_loops(loop: ir.Operation) -> int:
    """How many loops of a nest of `scf.for`, from the outermost on, may be run in any order.

    Inside of it memory is only used by `memref.load` and `memref.store`, and all buffers are apart.
    """
    places = _places(loop)
    depth = 0
    inner: ir.Operation | None = loop
    while inner is not None and not inner.results and _tells_apart(inner, places):
        depth += 1
        inner = _only_loop(inner)
    return depth


def _places(loop: ir.Operation) -> list[list[tuple[ir.Value, ...]]]:
    """Of each buffer that is written where all is that is loaded from it and stored to it."""
    places: dict[ir.Value, list[tuple[ir.Value, ...]]] = {}
    written: dict[ir.Value, None] = {}
    for op in all_operations(loop):
        view = op.opview
        if isinstance(view, memref.LoadOp | memref.StoreOp):
            places.setdefault(view.memref, []).append(tuple(view.indices))
            if isinstance(view, memref.StoreOp):
                written[view.memref] = None
    return [places[buffer] for buffer in written]


def _tells_apart(loop: ir.Operation, places: list[list[tuple[ir.Value, ...]]]) -> bool:
    """Whether each buffer has an axis along which a loop's count is all that is ever used."""
    count = loop.regions[0].blocks[0].arguments[0]
    return all(
        any(all(index == count for index in along) for along in zip(*of_buffer, strict=True))
        for of_buffer in places
    )


def _only_loop(loop: ir.Operation) -> ir.Operation | None:
    """The one loop in the body of another; None if there are several, or none."""
    operations = loop.regions[0].blocks[0].operations
    loops = [view.operation for view in operations if view.operation.name == "scf.for"]
    return loops[0] if len(loops) == 1 else None
