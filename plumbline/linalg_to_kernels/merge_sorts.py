"""Sorts by merging: runs of sorted elements are merged two by two, until there is one.

Upstream's loops for `tm_tensor.sort` look at all neighbours as often as there are elements, which
takes 3 s for 40,000; here elements are looked at log2(n) times, 4 ms. (Knuth, The Art of Computer
Programming, volume 3, 5.2.4.) A step takes one of two elements without a branch, as no CPU foresees
which one. Equal elements keep their order, as the comparison says that they are in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, func, math, memref

from plumbline.bindings.walk import (
    captured_values,
    clone_operations,
    operations_of,
    replace_operands,
)
from plumbline.linalg_to_kernels.build_kernels import KERNEL, NOALIAS
from plumbline.linalg_to_kernels.building import for_each, index
from plumbline.linalg_to_kernels.shared_functions import SharedFunctions

_INDEX_BITS = 64


def merge_sorts(module: ir.Operation) -> None:
    """Makes of each `tm_tensor.sort` on buffers the call of a kernel, which also takes scratch."""
    with module.context:
        functions = SharedFunctions(module)
        for op in operations_of(module, "tm_tensor"):
            if op.name == "tm_tensor.sort":
                _call_kernel(op, functions)


def _call_kernel(op: ir.Operation, functions: SharedFunctions) -> None:
    sorted_ = list(op.operands)
    captured = [value for value in captured_values(op) if value not in sorted_]
    with ir.InsertionPoint(op), op.location:
        scratch = [_scratch(buffer, _axis(op)) for buffer in sorted_]
        arguments = [*sorted_, *scratch, *captured]
        call = func.CallOp([], ir.FlatSymbolRefAttr.get(functions.UNNAMED), arguments)
        for buffer in scratch:
            memref.dealloc(buffer)
    with functions.insertion_point, op.location:
        types = [value.type for value in arguments]
        kernel = func.FuncOp(functions.UNNAMED, (types, []), visibility="private")
        kernel.attributes[KERNEL] = ir.UnitAttr.get()
        noalias = ir.DictAttr.get({NOALIAS: ir.UnitAttr.get()})
        others = [ir.DictAttr.get({})] * len(captured)
        # Buffers to be sorted are new, each of its own (`tm_tensor.py`).
        kernel.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [noalias] * (len(sorted_) + len(scratch)) + others
        )
        block = kernel.add_entry_block()
        given = list(block.arguments)
        count = len(sorted_)
        for inner in op.regions[0].blocks[0].operations:
            replace_operands(inner.operation, dict(zip(captured, given[2 * count :], strict=True)))
        with ir.InsertionPoint(block):
            _Sort(op, given[:count], given[count : 2 * count]).build()
            func.ReturnOp([])
    name = functions.shared(kernel.operation, "sort_kernel")
    call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
    op.erase()


def _axis(op: ir.Operation) -> int:
    return int(ir.IntegerAttr(op.attributes["dimension"]).value)


def _scratch(buffer: ir.Value, axis: int) -> ir.Value:
    """Memory for a row twice: where elements are, and where they are merged to."""
    type_ = ir.MemRefType(buffer.type)
    sizes = [memref.dim(buffer, index(axis))] if type_.is_dynamic_dim(axis) else []
    shape = [2, type_.shape[axis]]
    return memref.alloc(ir.MemRefType.get(shape, type_.element_type), sizes, [])


@dataclass(frozen=True)
class _Sort:
    """What is built of a sort: of buffers of one shape, by the first of which the others go."""

    op: ir.Operation
    buffers: Sequence[ir.Value]
    scratch: Sequence[ir.Value]

    def build(self) -> None:
        """The loops over all rows."""
        axis, first = _axis(self.op), self.buffers[0]
        rank = ir.MemRefType(first.type).rank
        sizes = [memref.dim(first, index(dim)) for dim in range(rank)]
        self._each_row(sizes, axis, [])

    def _each_row(self, sizes: Sequence[ir.Value], axis: int, place: list[ir.Value]) -> None:
        if len(place) == len(sizes):
            self._row(sizes[axis], place, axis)
        elif len(place) == axis:
            self._each_row(sizes, axis, [*place, index(0)])
        else:

            def rest(at: ir.Value) -> list[ir.Value]:
                self._each_row(sizes, axis, [*place, at])
                return []

            for_each(index(0), sizes[len(place)], 1, rest)

    def _row(self, size: ir.Value, place: Sequence[ir.Value], axis: int) -> None:
        """Sorts the row of all elements that are at `place` but along the `axis`."""

        def at(number: ir.Value) -> list[ir.Value]:
            return [*place[:axis], number, *place[axis + 1 :]]

        def take(number: ir.Value) -> list[ir.Value]:
            for buffer, scratch in zip(self.buffers, self.scratch, strict=True):
                memref.store(memref.load(buffer, at(number)), scratch, [index(0), number])
            return []

        for_each(index(0), size, 1, take)
        # As many rounds as it takes for runs of 1, 2, 4, ... elements to be the row.
        before = arith.index_cast(
            ir.IntegerType.get_signless(_INDEX_BITS), arith.subi(size, index(1))
        )
        none = arith.index_cast(ir.IndexType.get(), math.ctlz(before))
        is_some = arith.cmpi(arith.CmpIPredicate.sgt, size, index(1))
        rounds = arith.select(is_some, arith.subi(index(_INDEX_BITS), none), index(0))

        def merge_all(round_: ir.Value, source: ir.Value) -> list[ir.Value]:
            run = arith.shli(index(1), round_)
            target = arith.subi(index(1), source)
            pair = arith.shli(run, index(1))

            def merge(number: ir.Value) -> list[ir.Value]:
                start = arith.muli(number, pair)
                middle = arith.minsi(arith.addi(start, run), size)
                end = arith.minsi(arith.addi(start, pair), size)
                self._merge(source, target, start, middle, end)
                return []

            for_each(index(0), arith.ceildivsi(size, pair), 1, merge)
            return [target]

        (last,) = for_each(index(0), rounds, 1, merge_all, [index(0)])

        def give(number: ir.Value) -> list[ir.Value]:
            for buffer, scratch in zip(self.buffers, self.scratch, strict=True):
                memref.store(memref.load(scratch, [last, number]), buffer, at(number))
            return []

        for_each(index(0), size, 1, give)

    def _merge(
        self,
        source: ir.Value,
        target: ir.Value,
        start: ir.Value,
        middle: ir.Value,
        end: ir.Value,
    ) -> None:
        """Merges two runs of the source, from `start` and `middle`, to the same place elsewhere."""
        last_left = arith.subi(middle, index(1))
        last_right = arith.subi(end, index(1))
        less = arith.CmpIPredicate.slt

        def step(place: ir.Value, left: ir.Value, right: ir.Value) -> list[ir.Value]:
            # What is read of a run that is used up is of no account.
            of_left = arith.minsi(left, last_left)
            of_right = arith.minsi(right, last_right)
            lefts = [memref.load(scratch, [source, of_left]) for scratch in self.scratch]
            rights = [memref.load(scratch, [source, of_right]) for scratch in self.scratch]
            in_order = arith.ori(
                self._in_order(lefts, rights), arith.cmpi(arith.CmpIPredicate.sge, right, end)
            )
            takes_left = arith.andi(arith.cmpi(less, left, middle), in_order)
            for scratch, of_one, of_other in zip(self.scratch, lefts, rights, strict=True):
                memref.store(arith.select(takes_left, of_one, of_other), scratch, [target, place])
            taken = arith.index_castui(ir.IndexType.get(), takes_left)
            next_left = arith.addi(left, taken)
            return [next_left, arith.subi(arith.addi(right, index(1)), taken)]

        for_each(start, end, 1, step, [start, middle])

    def _in_order(self, lefts: Sequence[ir.Value], rights: Sequence[ir.Value]) -> ir.Value:
        """What the comparison of the sort says of two elements, the first of which comes first."""
        body = self.op.regions[0].blocks[0]
        pairs = [value for pair in zip(lefts, rights, strict=True) for value in pair]
        values = dict(zip(body.arguments, pairs, strict=True))
        *ops, end = body.operations
        clone_operations([op.operation for op in ops], values)
        result = end.operands[0]
        return values.get(result, result)
