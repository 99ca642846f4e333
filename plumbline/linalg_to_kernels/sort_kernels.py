"""Kernels for what `tm_tensor.sort` does to buffers: how they are called, and what they are of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, func, math, memref

from plumbline.bindings.views import NOALIAS
from plumbline.bindings.walk import (
    captured_values,
    clone_operations,
    defining_operation,
    replace_operands,
)
from plumbline.linalg_to_kernels.build_kernels import KERNEL
from plumbline.linalg_to_kernels.building import in_any_layout, index
from plumbline.linalg_to_kernels.first_elements import hold_first_elements
from plumbline.linalg_to_kernels.shared_functions import SharedFunctions
from plumbline.linalg_to_kernels.trimmed_sorts import counted_operands, sort_axis, sorts_of

_INDEX_BITS = 64

_HARMLESS = frozenset(("arith.constant", "memref.alloc", "memref.cast", "memref.dim"))
"""What may be between a copy and the sort of it: nothing that writes or releases a buffer."""


@dataclass(frozen=True)
class Sort:
    """A sort within its kernel: of buffers of one shape, by the first of which the others go."""

    op: ir.Operation
    sources: Sequence[ir.Value]
    """What is sorted: buffers which are read alone, or those that it is written to."""
    buffers: Sequence[ir.Value]
    """What sorted elements are written to."""
    scratch: Sequence[ir.Value]
    first: int | None
    """How many of the first elements of each row are to be there after it, if not all."""

    @property
    def axis(self) -> int:
        """The one that rows are along."""
        return sort_axis(self.op)

    def sizes(self) -> list[ir.Value]:
        """Builds the sizes of what is sorted."""
        counted = counted_operands(self.op)
        given = (each for number, each in enumerate(self.sources) if number not in counted)
        source = next(given, self.sources[0])
        return [memref.dim(source, index(axis)) for axis in range(ir.MemRefType(source.type).rank)]

    def load(self, place: Sequence[ir.Value]) -> list[ir.Value]:
        """Builds what there is to be sorted at a place: of each buffer an element."""
        counted = counted_operands(self.op)
        return [
            _counted(place[self.axis], source) if number in counted else memref.load(source, place)
            for number, source in enumerate(self.sources)
        ]

    def in_order(self, lefts: Sequence[ir.Value], rights: Sequence[ir.Value]) -> ir.Value:
        """What the comparison of the sort says of two elements, the first of which comes first.

        Equal ones are in order, and so stay in it.
        """
        body = self.op.regions[0].blocks[0]
        pairs = [value for pair in zip(lefts, rights, strict=True) for value in pair]
        values = dict(zip(body.arguments, pairs, strict=True))
        *ops, end = body.operations
        clone_operations([op.operation for op in ops], values)
        result = end.operands[0]
        return values.get(result, result)


def _counted(place: ir.Value, source: ir.Value) -> ir.Value:
    """Where an element is along its row, as a number of the type that a buffer has."""
    return arith.index_cast(ir.MemRefType(source.type).element_type, place)


def rounds_of_merging(size: ir.Value) -> ir.Value:
    """Builds how many rounds it takes for runs of 1, 2, 4, ... elements to be all of them."""
    before = arith.index_cast(ir.IntegerType.get_signless(_INDEX_BITS), arith.subi(size, index(1)))
    none = arith.index_cast(ir.IndexType.get(), math.ctlz(before))
    is_some = arith.cmpi(arith.CmpIPredicate.sgt, size, index(1))
    return arith.select(is_some, arith.subi(index(_INDEX_BITS), none), index(0))


def call_sort_kernels(
    module: ir.Operation,
    allocate: Callable[[ir.Operation, int | None], Sequence[ir.Value]],
    build: Callable[[Sort], None],
    first: Callable[[ir.Operation], int | None] = lambda op: None,
) -> None:
    """Makes of each `tm_tensor.sort` on buffers the call of a kernel.

    Args:
      module: what it is done to.
      allocate: builds the scratch that the kernel of a sort takes, for as long as it is called, by
        what `first` gives of the sort.
      build: builds what the kernel does.
      first: how many elements of each row a kernel is to give, where these are not all.
    """
    with module.context:
        functions = SharedFunctions(module)
        for op in sorts_of(module):
            _call_kernel(op, functions, allocate, build, first(op))


def _call_kernel(
    op: ir.Operation,
    functions: SharedFunctions,
    allocate: Callable[[ir.Operation, int | None], Sequence[ir.Value]],
    build: Callable[[Sort], None],
    first: int | None,
) -> None:
    sorted_ = list(op.operands)
    sources = _sources(op)
    captured = [value for value in captured_values(op) if value not in sorted_]
    with ir.InsertionPoint(op), op.location:
        scratch = list(allocate(op, first))
        held = None if first is None else hold_first_elements(op, first)
        if held is not None:
            counted = counted_operands(op)
            own = {number: each for number, each in enumerate(sorted_) if number not in counted}
            sources = own | sources
        results = sorted_ if held is None else [*map(_with_any_layout, held)]
        arguments = [*results, *scratch, *sources.values(), *captured]
        call = func.CallOp([], ir.FlatSymbolRefAttr.get(functions.UNNAMED), arguments)
        for buffer in scratch:
            memref.dealloc(buffer)
    with functions.insertion_point, op.location:
        types = [value.type for value in arguments]
        kernel = func.FuncOp(functions.UNNAMED, (types, []), visibility="private")
        kernel.attributes[KERNEL] = ir.UnitAttr.get()
        noalias = ir.DictAttr.get({NOALIAS: ir.UnitAttr.get()})
        own_count = len(results) + len(scratch)
        others = [ir.DictAttr.get({})] * (len(arguments) - own_count)
        # Buffers to be sorted are new, each of its own (`tm_tensor.py`).
        kernel.attributes["arg_attrs"] = ir.ArrayAttr.get([noalias] * own_count + others)
        block = kernel.add_entry_block()
        given = list(block.arguments)
        count, end = len(results), own_count + len(sources)
        for inner in op.regions[0].blocks[0].operations:
            replace_operands(inner.operation, dict(zip(captured, given[end:], strict=True)))
        buffers, read = given[:count], dict(zip(sources, given[own_count:end], strict=True))
        with ir.InsertionPoint(block):
            from_ = [read.get(number, buffer) for number, buffer in enumerate(buffers)]
            build(Sort(op, from_, buffers, given[count:own_count], first))
            func.ReturnOp([])
    # Its comparison uses arguments of the kernel by now, which is erased if there is one like it.
    op.erase()
    name = functions.shared(kernel.operation, "sort_kernel")
    call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
    for buffer in sorted_:
        _erase_unused(buffer)


def _with_any_layout(buffer: ir.Value) -> ir.Value:
    """A view of a buffer that does not say how its elements lie, which is then free to change."""
    return memref.cast(in_any_layout(ir.MemRefType(buffer.type)), buffer)


def _erase_unused(buffer: ir.Value) -> None:
    """Erases a buffer that is nothing but allocated and released."""
    users = [use.owner.operation for use in buffer.uses]
    if all(user.name == "memref.dealloc" for user in users):
        for user in users:
            user.erase()
        made = defining_operation(buffer)
        if made is not None and made.name == "memref.alloc":
            made.erase()


def _sources(op: ir.Operation) -> dict[int, ir.Value]:
    """Takes away the copies just before a sort that only fill its operands: what is copied.

    Its kernel reads that, in place of what it writes, by the number of the operand. Of several
    copies to one the last counts, and what is sorted itself is not read while it is written.
    """
    operands = {operand: number for number, operand in enumerate(op.operands)}
    ops = [view.operation for view in op.block.operations]
    found: dict[int, ir.Value] = {}
    for before in reversed(ops[: ops.index(op)]):
        if before.name in _HARMLESS:
            continue
        if before.name != "memref.copy":
            break
        source, target = before.operands
        number = operands.get(target)
        if number is None or number in found or source in operands:
            break
        found[number] = source
        before.erase()
    return found
