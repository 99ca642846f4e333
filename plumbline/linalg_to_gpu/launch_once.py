"""Launches loops whole that launch nothing but kernels of few blocks: such a loop becomes a kernel.

The steps of recurrent networks, and those of factorizations of small matrices, are loops of a few
kernels or a few dozen, each of which has some hundred elements: it is their launches that take
time. One block does what they do, one after the other, as kernels go round in strides of as many
blocks as there are. It waits in between for all of its threads, so that each reads what the others
wrote.
"""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, gpu, scf

from plumbline.bindings.walk import all_operations, clone_operations, constant_integer
from plumbline.linalg_to_gpu.launch_loops import LAUNCH
from plumbline.linalg_to_gpu.launches import Thread, buffer_bytes, launch
from plumbline.linalg_to_gpu.outline_kernels import MODULE, attribute_buffers, shared_types
from plumbline.linalg_to_kernels.building import if_else, index
from plumbline.target.gpu_chip import DECLARED_BYTES

_MOST_BLOCKS = 4
"""That one may do in turn: a launch takes as long as some of them."""

_LAUNCH_KERNEL, _KERNEL = "gpu.launch_func", "gpu.func"

_ADDRESSES = frozenset(
    f"memref.{name}"
    for name in ("cast", "collapse_shape", "dim", "expand_shape", "subview", "view")
)
"""What a kernel does as well as the host: it says where something is."""


def launch_once(module: ir.Operation) -> None:
    """Replaces loops of `module` that launch kernels of few blocks by launches of the loops."""
    with module.context:
        kernels = _kernels(module)
        for op in reversed(all_operations(module)):
            if op.name == "scf.for" and _is_of_host(op) and (steps := _steps(op, kernels)):
                with ir.InsertionPoint(op), op.location:
                    _launch(op.opview, steps, kernels)
        launched = {_name(op) for op in all_operations(module) if op.name == _LAUNCH_KERNEL}
        for name, kernel in kernels.items():
            if name not in launched:
                kernel.erase()


def _kernels(module: ir.Operation) -> dict[str, ir.Operation]:
    return {
        ir.StringAttr(op.attributes["sym_name"]).value: op
        for op in all_operations(module)
        if op.name == _KERNEL
    }


def _name(launched: ir.Operation) -> str:
    """That of the kernel that a launch is of."""
    return str(ir.SymbolRefAttr(launched.opview.kernel).value[-1])


def _is_of_host(op: ir.Operation) -> bool:
    around = op.parent
    while around is not None and around.name not in ("func.func", _KERNEL, LAUNCH):
        around = around.operation.parent
    return around is not None and around.name == "func.func"


def _steps(loop: ir.Operation, kernels: Mapping[str, ir.Operation]) -> list[ir.Operation]:
    """What an iteration does, if a block of threads can do it; else nothing."""
    *steps, _ = [view.operation for view in loop.regions[0].blocks[0].operations]
    launches = [op for op in steps if not _is_address(op)]
    if loop.results or not launches or not all(map(_is_small, launches)):
        return []
    most = max(map(_threads, launches))
    # Those that are not of use to a kernel cannot wait with the others in it.
    can_be = all(_threads(op) == most or not _waits(op, kernels) for op in launches)
    shared = sum(buffer_bytes(type_) for op in launches for type_ in _shared(op, kernels))
    return steps if can_be and shared <= DECLARED_BYTES else []


def _is_address(op: ir.Operation) -> bool:
    return op.name in _ADDRESSES or op.name.startswith("arith.")


def _is_small(op: ir.Operation) -> bool:
    """Whether it is a launch of few blocks."""
    if op.name == LAUNCH:
        return True
    if op.name != _LAUNCH_KERNEL:
        return False
    view = op.opview
    assert isinstance(view, gpu.LaunchFuncOp)
    blocks = constant_integer(view.gridSizeX)
    others = [view.gridSizeY, view.gridSizeZ, view.blockSizeY, view.blockSizeZ]
    return (
        blocks is not None
        and blocks <= _MOST_BLOCKS
        and all(constant_integer(size) == 1 for size in others)
        and constant_integer(view.blockSizeX) is not None
        and view.dynamicSharedMemorySize is None
    )


def _threads(op: ir.Operation) -> int:
    """How many a block of a launch has."""
    threads = constant_integer(op.opview.blockSizeX)
    assert threads is not None
    return threads


def _shared(op: ir.Operation, kernels: Mapping[str, ir.Operation]) -> list[ir.MemRefType]:
    """The buffers that the threads of a block share."""
    return shared_types(_done_by(op, kernels))


def _waits(op: ir.Operation, kernels: Mapping[str, ir.Operation]) -> bool:
    """Whether threads wait for one another in what a launch does."""
    return any(inner.name == "gpu.barrier" for inner in all_operations(_done_by(op, kernels)))


def _launch(
    loop: scf.ForOp, steps: Sequence[ir.Operation], kernels: Mapping[str, ir.Operation]
) -> None:
    """Builds the launch of a loop, and erases that."""
    launches = [op for op in steps if not _is_address(op)]
    threads = max(map(_threads, launches))

    def build(thread: Thread) -> None:
        own = scf.ForOp(loop.lowerBound, loop.upperBound, loop.step)
        values = {loop.induction_variable: own.induction_variable}
        with ir.InsertionPoint(own.body):
            for op in steps:
                if _is_address(op):
                    clone_operations([op], values)
                    continue
                *inside, _ = [view.operation for view in _body(op, kernels).operations]
                _do(inside, values | _given(op, kernels, values, thread), thread, _threads(op))
                # Its successor reads what it wrote.
                gpu.BarrierOp()
            scf.YieldOp([])
        made = thread.launch
        attribute_buffers(made)
        made.attributes["module"] = ir.FlatSymbolRefAttr.get(MODULE)
        made.attributes["function"] = ir.FlatSymbolRefAttr.get(_loop_name(launches))

    launch(index(1), threads, build)
    loop.operation.erase()


def _do(
    inside: Sequence[ir.Operation], values: dict[ir.Value, ir.Value], thread: Thread, threads: int
) -> None:
    """Has the first so many threads of a block do operations."""
    if threads == thread.threads:
        clone_operations(inside, values)
        return
    has_part = arith.cmpi(arith.CmpIPredicate.ult, thread.number, index(threads))
    if_else(has_part, lambda: clone_operations(inside, values))


def _done_by(op: ir.Operation, kernels: Mapping[str, ir.Operation]) -> ir.Operation:
    """What has the body of a launch: its kernel, or the launch of a loop itself."""
    return op if op.name == LAUNCH else kernels[_name(op)]


def _body(op: ir.Operation, kernels: Mapping[str, ir.Operation]) -> ir.Block:
    return _done_by(op, kernels).regions[0].blocks[0]


def _given(
    op: ir.Operation,
    kernels: Mapping[str, ir.Operation],
    values: Mapping[ir.Value, ir.Value],
    thread: Thread,
) -> dict[ir.Value, ir.Value]:
    """What stands for the arguments of a body: operands first, and at last the shared buffers."""
    arguments = list(_body(op, kernels).arguments)
    operands = [] if op.name == LAUNCH else list(op.opview.kernelOperands)
    types = _shared(op, kernels)
    buffers = [thread.shared(type_.shape, type_.element_type) for type_ in types]
    given = dict(zip(arguments, [values.get(value, value) for value in operands], strict=False))
    return given | dict(zip(arguments[len(arguments) - len(types) :], buffers, strict=True))


def _loop_name(launches: Sequence[ir.Operation]) -> str:
    """What a loop is called: as the first kernel in it that does not only copy."""
    names = [
        ir.FlatSymbolRefAttr(op.attributes["function"]).value
        if op.name == LAUNCH
        else f"{_name(op)}_loop"
        for op in launches
    ]
    return next((name for name in names if not name.startswith("copy_")), names[0])
