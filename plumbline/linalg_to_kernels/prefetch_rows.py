"""Has long rows brought from memory while the ones before them are computed.

A kernel that goes over each row several times, as softmax does, waits for memory in the first pass
and in the one that writes, and computes in between from a cache: a CPU looks ahead by some hundred
instructions, and its own prefetchers stop at the end of a page. So a pass that computes much, block
by block, asks for what the others will wait for: the next row of what is read, and this row of what
is written, unless that goes past the caches (`stream_results.py`). Softmax of 4096 rows of 4096
takes 0.68 of the time that it takes without (AMD Zen 3), and a layer norm, which computes little of
each element, 0.85 (AVX2 on AMD Zen 5).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from plumbline.bindings.walk import (
    constant_integer,
    defining_operation,
    is_inside,
    operations_named,
)
from plumbline.linalg_to_kernels.building import FIRST_CACHE, LINE, index, least
from plumbline.linalg_to_kernels.planned_memory import element_bytes
from plumbline.linalg_to_kernels.strides import has_contiguous_rows

_SHORTEST, _LONGEST = 1 << 12, 1 << 16
"""Bytes of a row: what is shorter than a page is there soon; of longer ones the next one, this one
and its result do not stay in a second cache."""

_LOAD, _STORE = "memref.load", "memref.store"


def prefetch_rows(module: ir.Operation) -> None:
    """Puts prefetches into the loops over long rows of `module` that have such a pass."""
    with module.context:
        for op in operations_named(module, "scf.for"):
            if (rows := _rows(op.opview)) is not None:
                rows.prefetch()


@dataclass(frozen=True)
class _Access:
    buffer: ir.Value
    indices: tuple[ir.Value, ...]


@dataclass(frozen=True)
class _Pass:
    """A loop over the elements of a row."""

    loop: scf.ForOp
    inner: scf.ForOp
    """The loop itself, or the one in it over a block of elements."""
    length: int

    @property
    def is_blocked(self) -> bool:
        return bool(self.inner != self.loop)

    def is_element(self, last: tuple[ir.Value, ...]) -> bool:
        """Whether a last index, if there is one, is that of an element of the row.

        Elements of a block are counted from the row's first, or from the block's or that of a part
        of it (`block_sums.py`).
        """
        place = self.inner.induction_variable
        counted = defining_operation(last[0]) if last and self.is_blocked else None
        return last == (place,) or (
            counted is not None and counted.name == "arith.addi" and place in counted.operands
        )

    def accesses(self, name: str) -> list[_Access]:
        """Its loads or stores."""
        first = {_LOAD: 0, _STORE: 1}[name]
        ops = [view.operation for view in self.inner.body.operations]
        return [
            _Access(op.operands[first], tuple(op.operands)[first + 1 :])
            for op in ops
            if op.name == name
        ]


@dataclass(frozen=True)
class _Rows:
    loop: scf.ForOp
    passes: list[_Pass]

    def prefetch(self) -> None:
        """Puts the prefetches into the first pass by blocks that writes no row itself."""
        where = next(
            (each for each in self.passes if each.is_blocked and not self._accessed(each, _STORE)),
            None,
        )
        if where is None:
            return
        after = self.passes[self.passes.index(where) :]
        next_ones = _distinct(row for each in self.passes for row in self._accessed(each, _LOAD))
        this_one = _distinct(row for each in after for row in self._accessed(each, _STORE))
        count = constant_integer(where.loop.step)
        assert count is not None
        with ir.InsertionPoint.at_block_begin(where.loop.body), self.loop.location:
            row, first = self.loop.induction_variable, where.loop.induction_variable
            last = arith.subi(self.loop.upperBound, index(1))
            next_row = least(arith.addi(row, index(1)), last)
            for access in next_ones:
                self._ask(access, next_row, first, count, is_write=False)
            for access in this_one:
                self._ask(access, row, first, count, is_write=True)

    def _accessed(self, each: _Pass, name: str) -> list[_Access]:
        """What a pass reads or writes that is a row of a buffer."""
        row = self.loop.induction_variable
        return [
            access
            for access in each.accesses(name)
            if each.is_element(access.indices[-1:])
            and access.indices[:-1].count(row) == 1
            and all(map(self._is_known, (access.buffer, *access.indices[:-1])))
            and has_contiguous_rows(access.buffer)
            and _SHORTEST <= each.length * _bytes(access.buffer) <= _LONGEST
        ]

    def _is_known(self, value: ir.Value) -> bool:
        """Whether a value is the number of the row, or one from outside of the loop over rows."""
        loop = self.loop
        return bool(value == loop.induction_variable) or not is_inside(value, loop.operation)

    def _ask(
        self, access: _Access, row: ir.Value, first: ir.Value, count: int, *, is_write: bool
    ) -> None:
        """Asks for the lines of some elements of a row."""
        *outer, _ = (row if at == self.loop.induction_variable else at for at in access.indices)
        for element in range(0, count, LINE // _bytes(access.buffer)):
            at = arith.addi(first, index(element))
            memref.prefetch(access.buffer, [*outer, at], is_write, FIRST_CACHE, True)


def _rows(loop: scf.ForOp) -> _Rows | None:
    """A loop over rows that passes over each several times, as often as is known."""
    passes = [_pass(view) for view in loop.body.operations if view.operation.name == "scf.for"]
    found = [each for each in passes if each is not None]
    if len(found) < 2 or len(found) < len(passes) or len({each.length for each in found}) > 1:
        return None
    return _Rows(loop, found)


def _pass(loop: scf.ForOp) -> _Pass | None:
    lower, length, step = map(constant_integer, (loop.lowerBound, loop.upperBound, loop.step))
    if lower != 0 or length is None:
        return None
    inner = [view for view in loop.body.operations if view.operation.regions]
    if step == 1 and not inner:
        return _Pass(loop, loop, length)
    if step != 1 and len(inner) == 1 and inner[0].operation.name == "scf.for":
        (block,) = inner
        if constant_integer(block.step) == 1 and (
            block.lowerBound == loop.induction_variable or constant_integer(block.lowerBound) == 0
        ):
            return _Pass(loop, block, length)
    return None


def _distinct(accesses: Iterable[_Access]) -> list[_Access]:
    return list({access.buffer: access for access in accesses}.values())


def _bytes(buffer: ir.Value) -> int:
    return element_bytes(ir.MemRefType(buffer.type).element_type)
