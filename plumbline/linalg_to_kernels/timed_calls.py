"""How a call of a kernel says that it is to be timed, and what the kernel does for it.

Each timed call has a number of its own, by which its time is kept, and where that is known from the
types of its tensors, {bytes = 96, operations = 48}: what it reads and writes at least, and how much
it computes. So has a loop whose kernels are too small to be timed one by one.
"""

from dataclasses import dataclass

from torch_mlir import ir

from plumbline.bindings.walk import all_operations, callee
from plumbline.errors.location import module_path, nearest_lines
from plumbline.linalg_to_kernels.planned_memory import buffer_bytes

TIMER = "plumbline.timer"

WORK = "plumbline.work"


@dataclass(frozen=True)
class Work:
    """What a call computes, and what it reads and writes for it."""

    operations: int
    """Arithmetic on elements: a product that is added to a sum is two, a function such as exp is
    one. 0 where nothing is computed, or not known what."""
    bytes: int
    """Of the tensors that it takes and gives, each once."""


@dataclass(frozen=True)
class TimedCall:
    """A call, or a loop of calls, that is timed."""

    kernels: tuple[str, ...]
    """The kernels that are called; of a loop several."""
    lines: list[tuple[str, int]]
    """Files and lines of the user's that it comes from (`location.nearest_lines`)."""
    module: str
    """The path of the PyTorch module that it comes from: "encoder.layer.0", or nothing."""
    work: Work | None
    """Of one call; None where it depends on sizes that differ."""


def note_work(call: ir.Operation, work: Work) -> None:
    """Has a call say what it does."""
    word = ir.IntegerType.get_signless(64)
    numbers = {"bytes": work.bytes, "operations": work.operations}
    call.attributes[WORK] = ir.DictAttr.get(
        {name: ir.IntegerAttr.get(word, number) for name, number in numbers.items()}
    )


def timed_operations(module: ir.Module | ir.Operation) -> list[ir.Operation]:
    """The calls, and loops of calls, that are timed in a module, by number."""
    timed = [op for op in all_operations(module) if TIMER in op.attributes]
    return sorted(timed, key=lambda op: int(ir.IntegerAttr(op.attributes[TIMER]).value))


def timed_calls(module: ir.Module | ir.Operation) -> list[TimedCall]:
    """What these are."""
    return [
        TimedCall(_kernels(op), nearest_lines(op.location), module_path(op.location), _work(op))
        for op in timed_operations(module)
    ]


def _kernels(op: ir.Operation) -> tuple[str, ...]:
    calls = [inner for inner in all_operations(op) if inner.name == "func.call"]
    return tuple(dict.fromkeys(map(callee, calls)))


def _work(op: ir.Operation) -> Work | None:
    if WORK not in op.attributes:
        return _moved(op) if op.name == "func.call" else None
    noted = ir.DictAttr(op.attributes[WORK])
    bytes_, operations = (
        int(ir.IntegerAttr(noted[name]).value) for name in ("bytes", "operations")
    )
    return Work(operations, bytes_)


def _moved(call: ir.Operation) -> Work | None:
    """What a call does of which it is not said, such as a copy: it reads or writes its buffers."""
    buffers = [value.type for value in call.operands if isinstance(value.type, ir.MemRefType)]
    if not all(buffer.has_static_shape for buffer in buffers):
        return None
    return Work(0, sum(map(buffer_bytes, buffers)))
