"""Finds loops over elements of buffers whose iterations have nothing to do with each other.

It is so where all that is done to a buffer that is written is done at a place with the loop's own
count in it, always along the same axis, as in each row of a scan.
"""

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.bindings.views import NOALIAS
from plumbline.bindings.walk import all_operations
from plumbline.linalg_to_kernels.building import ARGUMENTS, PARALLEL
from plumbline.linalg_to_kernels.outlining import is_over_elements


def mark_independent_loops(kernel: ir.Operation) -> None:
    """Marks such loops of a kernel in which none is marked, if no buffers of it share memory.

    Of each nest those from the outermost on that may be run in any order.
    """
    ops = [view.operation for view in kernel.regions[0].blocks[0].operations]
    if any(PARALLEL in op.attributes for op in ops) or not _are_apart(kernel):
        return
    for op in ops:
        if op.name == "scf.for" and is_over_elements(op) and _uses_arguments_alone(op):
            _mark(op)


def _are_apart(kernel: ir.Operation) -> bool:
    """Whether it is said of each buffer that a kernel is given that it shares memory with none."""
    arguments = kernel.regions[0].blocks[0].arguments
    return ARGUMENTS in kernel.attributes and all(
        NOALIAS in ir.DictAttr(marks) or not isinstance(argument.type, ir.MemRefType)
        for argument, marks in zip(
            arguments, ir.ArrayAttr(kernel.attributes[ARGUMENTS]), strict=True
        )
    )


def _uses_arguments_alone(loop: ir.Operation) -> bool:
    """Whether all buffers of a loop are those that its kernel is given."""
    return all(
        isinstance(operand.owner, ir.Block)
        for op in all_operations(loop)
        for operand in op.operands
        if isinstance(operand.type, ir.MemRefType)
    )


def _mark(loop: ir.Operation) -> None:
    places = _places(loop)
    inner: ir.Operation | None = loop
    while inner is not None and not inner.results and _tells_apart(inner, places):
        inner.attributes[PARALLEL] = ir.UnitAttr.get()
        inner = _only_loop(inner)


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
