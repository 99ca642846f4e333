"""Launches what is done to buffers outside of groups: loops that were moved into kernels.

The outermost loops of which iterations are independent (`building.PARALLEL`) are done by a thread
for each iteration; what has none of these is done by one thread.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.walk import all_operations, constant_integer
from plumbline.linalg_to_gpu.launches import THREADS, Thread, delinearized, launch, strided
from plumbline.linalg_to_gpu.loop_kernels import BEFORE_LOOPS, loop_kernel
from plumbline.linalg_to_gpu.run_copies import run_copy
from plumbline.linalg_to_gpu.scan_kernel import build_scan
from plumbline.linalg_to_gpu.update_kernel import build_updates
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import PARALLEL, index, product
from plumbline.linalg_to_kernels.parallelisation import mark_loops

LAUNCH = "gpu.launch"


def launch_loops(module: ir.Operation) -> None:
    """Puts a launch into each kernel of `module` that has none, around what it does."""
    with module.context:
        for view in module.regions[0].blocks[0].operations:
            kernel = view.operation
            if KERNEL not in kernel.attributes:
                continue
            if not is_launched(kernel):
                with kernel.location:
                    _launch_kernel(kernel)
            for op in all_operations(kernel):
                if PARALLEL in op.attributes:
                    del op.attributes[PARALLEL]


def is_launched(kernel: ir.Operation) -> bool:
    """Whether a kernel has launches already, around what it does."""
    return any(op.name == LAUNCH for op in all_operations(kernel))


def _launch_kernel(kernel: ir.Operation) -> None:
    mark_loops(kernel)
    found = None if PARALLEL in kernel.attributes else loop_kernel(kernel)
    if found is not None:
        end = kernel.regions[0].blocks[0].operations[-1]
        with ir.InsertionPoint(end):
            if any(build(found) for build in _STRATEGIES):
                return
    _launch(kernel)


_STRATEGIES = (build_scan, build_updates)
"""What builds launches of loops whose iterations depend on others, or says that it cannot."""


def _launch(kernel: ir.Operation) -> None:
    block = kernel.regions[0].blocks[0]
    *operations, end = [view.operation for view in block.operations]
    nest = _nest([op for op in operations if op.name not in BEFORE_LOOPS])
    with ir.InsertionPoint(end):
        if not nest:
            inside = [op for op in operations if op.name != "arith.constant"]
            launch(index(1), 1, lambda thread: _move(inside))
            return
        counts = [loop.upperBound for loop in nest]
        copy = run_copy(nest, _body(nest[-1]))
        if copy is not None:
            size = constant_integer(counts[-1])
            assert size is not None
            counts[-1] = index(size // copy.length)
        total = product(counts)

        def build(thread: Thread) -> None:
            def body(number: ir.Value) -> None:
                places = delinearized(number, counts)
                if copy is not None:
                    copy.build([*places[:-1], arith.muli(places[-1], index(copy.length))])
                    return
                for loop, place in zip(nest, places, strict=True):
                    loop.induction_variable.replace_all_uses_with(place)
                _move(_body(nest[-1]))

            first = arith.addi(arith.muli(thread.block, index(THREADS)), thread.number)
            strided(first, total, arith.muli(thread.blocks, index(THREADS)), body)

        launch(arith.ceildivui(total, index(THREADS)), THREADS, build)
    nest[0].operation.erase()


def _move(operations: Sequence[ir.Operation]) -> None:
    """Moves operations here."""
    for op in operations:
        op.detach_from_parent()
        ir.InsertionPoint.current.insert(op)


def _nest(operations: Sequence[ir.Operation]) -> list[scf.ForOp]:
    """The marked loops, from 0 in steps of 1, each the only thing that the one before does."""
    nest: list[scf.ForOp] = []
    while len(operations) == 1 and PARALLEL in operations[0].attributes:
        nest.append(operations[0].opview)
        operations = _body(nest[-1])
    return nest


def _body(loop: scf.ForOp) -> list[ir.Operation]:
    return [view.operation for view in loop.body.operations][:-1]
