"""Spells scans of slices as scans of elements.

On a CPU a scan goes from slice to slice where elements are contiguous across, as loops over these
are loops over vectors. On a GPU each slice would be a launch.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import scf, tensor

from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.scans import SliceScan, replace_scans
from plumbline.tcp_to_linalg.loop_nest import SCAN


def scan_elements(module: ir.Operation) -> None:
    """Replaces the loops of `module` over slices that are scans by nests over elements."""
    replace_scans(module, _built)


def _built(scan: SliceScan) -> ir.Value:
    """Builds the nest; gives its result."""
    loop = scan.loop
    sizes = scan.sizes()
    del sizes[scan.axis]
    start = scan.start_value()

    def row(out: ir.Value, places: Sequence[ir.Value]) -> ir.Value:
        along = scf.ForOp(loop.lowerBound, loop.upperBound, loop.step, [out, start])
        along.operation.attributes[SCAN] = ir.UnitAttr.get()
        with ir.InsertionPoint(along.body):
            place = [*places[: scan.axis], along.induction_variable, *places[scan.axis :]]
            element = tensor.extract(scan.source, place)
            stored, so_far = scan.combined(element, along.inner_iter_args[1])
            scf.YieldOp([tensor.insert(stored, along.inner_iter_args[0], place), so_far])
        return along.results[0]

    return _nest(loop.initArgs[0], sizes, row)


def _nest(
    out: ir.Value,
    sizes: Sequence[ir.Value],
    body: Callable[[ir.Value, Sequence[ir.Value]], ir.Value],
    places: tuple[ir.Value, ...] = (),
) -> ir.Value:
    """Loops of such sizes, of which each iteration of the innermost does the body to a tensor."""
    if len(places) == len(sizes):
        return body(out, places)
    loop = scf.ForOp(index(0), sizes[len(places)], index(1), [out])
    with ir.InsertionPoint(loop.body):
        place = (*places, loop.induction_variable)
        scf.YieldOp([_nest(loop.inner_iter_args[0], sizes, body, place)])
    return loop.results[0]
