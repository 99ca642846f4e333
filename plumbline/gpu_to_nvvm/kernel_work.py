"""How much the kernels of a program do, by the gpu stage: memory that they move, and operations."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import gpu

from plumbline.bindings.views import VIEWS
from plumbline.bindings.walk import all_operations, constant_integer, defining_operation
from plumbline.kernels_to_llvm.result_sizes import argument_sizes
from plumbline.kernels_to_llvm.size_reader import SizeReader, UnknownSize
from plumbline.linalg_to_gpu.flops import launched_flops
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.signature.c_signature import embedded_weights, functions_with_bodies
from plumbline.signature.shape_attributes import attached
from plumbline.signature.size_expressions import Operation, Size, SymbolUse, operation, text

UNKNOWN = "?"


@dataclass(frozen=True)
class KernelWork:
    """What launches of a kernel do, each."""

    kernel: str
    bytes: str
    """That are read and written at least, as a formula of the program's sizes: each tensor once, as
    a whole. `UNKNOWN` is added for tensors of which only a run tells how much: those of unknown
    size, and those whose elements are read or written at places that are computed."""
    flops: str
    """Operations on numbers (`linalg_to_gpu/flops.py`); `UNKNOWN` where they are not counted."""
    intensity: float | None
    """Operations for each byte, where both are numbers."""
    shared_bytes: int = 0
    """How much shared memory a launch gives each block, beside what the kernel declares."""
    launches: int = 1
    """How many launches there are in the program that do so much."""


def kernel_work(module: ir.Module) -> list[KernelWork]:
    """What the kernels of a module of the gpu stage do, in the order of their first launches.

    Raises:
      PassFailure: what the module says of shapes is malformed; that has been reported.
    """
    with module.context:
        kernels = {
            ir.StringAttr(op.attributes["sym_name"]).value: op.opview
            for op in all_operations(module)
            if op.name == "gpu.func"
        }
        found = Counter(
            _work(launch, kernels[ir.SymbolRefAttr(launch.kernel).value[-1]], reader, names)
            for function, reader, names in _readers(module.operation)
            for launch in (op.opview for op in all_operations(function.operation))
            if isinstance(launch, gpu.LaunchFuncOp)
        )
    return [KernelWork(*numbers, launches=launches) for numbers, launches in found.items()]


def _readers(module: ir.Operation) -> Iterator[tuple[ir.OpView, SizeReader, Sequence[str]]]:
    """The functions that launch kernels, and what is known of sizes in each."""
    for function in functions_with_bodies(module, "func.func", public=True):
        weights = sum(weight is not None for weight in embedded_weights(function))
        shapes = attached(function, skipped=weights).closed()
        reader = SizeReader(function, argument_sizes(function, shapes), shapes)
        yield function, reader, [symbol.name for symbol in shapes.symbols]


_Numbers = tuple[str, str, str, float | None, int]


def _work(
    launch: gpu.LaunchFuncOp, kernel: ir.OpView, reader: SizeReader, names: Sequence[str]
) -> _Numbers:
    """The fields of a `KernelWork`, but for how many there are."""
    moved: Size = 0
    is_all = True
    for buffer, is_whole in _buffers(launch, kernel).items():
        type_ = ir.MemRefType(buffer.type)
        size: Size = element_bytes(type_.element_type)
        try:
            for axis in range(type_.rank):
                size = operation("*", reader.of_dimension(buffer, axis), size)
        except UnknownSize:
            is_whole = False
        if is_whole:
            moved = operation("+", moved, size)
        is_all = is_all and is_whole
    bytes_ = spelled(moved, names) + ("" if is_all else f" + {UNKNOWN}")
    name = ir.SymbolRefAttr(launch.kernel).value[-1]
    given = launch.dynamicSharedMemorySize
    shared = 0 if given is None else constant_integer(given) or 0
    try:
        flops = launched_flops(launch.operation, reader)
    except UnknownSize:
        return name, bytes_, UNKNOWN, None, shared
    intensity = None
    if is_all and isinstance(flops, int) and isinstance(moved, int) and moved > 0:
        intensity = flops / moved
    return name, bytes_, spelled(flops, names), intensity, shared


def _buffers(launch: gpu.LaunchFuncOp, kernel: ir.OpView) -> dict[ir.Value, bool]:
    """The buffers that a kernel is given, and whether it goes over all elements of each.

    Else it reads or writes some, at places that it computes.
    """
    arguments = kernel.regions[0].blocks[0].arguments
    return {
        operand: not any(map(_is_computed, _places(argument)))
        for operand, argument in zip(launch.kernelOperands, arguments, strict=False)
        if isinstance(operand.type, ir.MemRefType)
    }


_LOADS = frozenset({"memref.load", "vector.gather", "vector.load", "vector.maskedload"})
_STORES = frozenset({"memref.store", "vector.maskedstore", "vector.scatter", "vector.store"})


def _places(buffer: ir.Value) -> Iterator[list[ir.Value]]:
    """What says where each access to elements of a buffer is: indices, and offsets of views."""
    rank = ir.MemRefType(buffer.type).rank
    for use in buffer.uses:
        op, next_ = use.owner.operation, use.operand_number + 1
        if op.name in VIEWS:
            offsets = list(op.operands)[next_:]
            yield from ([*offsets, *indices] for indices in _places(op.results[0]))
        elif op.name in _LOADS | _STORES:
            yield list(op.operands)[next_ : next_ + rank]


def _is_computed(indices: Sequence[ir.Value]) -> bool:
    """Whether these depend on what was read from memory."""
    pending = list(indices)
    seen: set[ir.Value] = set()
    while pending:
        value = pending.pop()
        owner = defining_operation(value)
        if value in seen or owner is None:
            continue
        seen.add(value)
        if owner.name in _LOADS:
            return True
        pending += owner.operands
    return False


def spelled(size: Size, names: Sequence[str]) -> str:
    """A size as a sum of products, with such names of symbols: "512*batch*n + 64"."""
    terms = sorted(_terms(size, names).items(), key=lambda term: (-len(term[0]), term[0]))
    parts = [_term(number, factors) for factors, number in terms if number != 0]
    return " + ".join(parts).replace("+ -", "- ") or "0"


def _term(number: int, factors: Iterable[str]) -> str:
    shown = [] if number == 1 and factors else [str(number)]
    return "*".join([*shown, *factors])


def _terms(size: Size, names: Sequence[str]) -> Counter[tuple[str, ...]]:
    """The factors of products, each with its number."""
    match size:
        case int():
            return Counter({(): size})
        case SymbolUse(index):
            return Counter({(names[index],): 1})
        case Operation("+", left, right):
            sum_ = _terms(left, names)
            sum_.update(_terms(right, names))
            return sum_
        case Operation("*", left, right):
            product: Counter[tuple[str, ...]] = Counter()
            for first, one in _terms(left, names).items():
                for second, other in _terms(right, names).items():
                    product[tuple(sorted((*first, *second)))] += one * other
            return product
        case Operation("max", left, 0):
            # No size is below that.
            return _terms(left, names)
        case _:
            return Counter({(f"({text(size, names)})",): 1})
