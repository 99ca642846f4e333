"""Reductions whose parts can be combined: each thread of a block reduces some elements."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, gpu, memref

from plumbline.linalg_to_gpu.launches import WARP, Thread
from plumbline.linalg_to_kernels.building import if_else, index
from plumbline.linalg_to_kernels.computations import Computation

_SHUFFLED_BITS = (32, 64)

_FULL = {
    "arith.addf": -0.0,
    "arith.mulf": 1.0,
    "arith.maximumf": -math.inf,
    "arith.minimumf": math.inf,
    "arith.addi": 0,
    "arith.muli": 1,
    "arith.andi": -1,
    "arith.ori": 0,
    "arith.xori": 0,
    "arith.maxui": 0,
    "arith.minui": -1,
}
"""What changes nothing, for each operation. Of -0.0 and what is added the sum is that, also 0.0."""


@dataclass(frozen=True)
class Combination:
    """How what several threads have reduced becomes one."""

    op: ir.Operation
    """It takes the result so far and what an iteration adds to it."""
    type: ir.Type

    def neutral(self) -> ir.Value:
        """What a thread without elements has."""
        if self.op.name in _FULL:
            value = _FULL[self.op.name]
        else:
            least = -(1 << (self.type.width - 1))
            value = least if self.op.name == "arith.maxsi" else -1 - least
        if isinstance(self.type, ir.FloatType):
            return arith.ConstantOp(self.type, ir.FloatAttr.get(self.type, value)).result
        mask = -1 if self.type.width == 1 and value else value
        return arith.ConstantOp(self.type, ir.IntegerAttr.get(self.type, mask)).result

    def combined(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Both parts as one."""
        clone = self.op.clone(ip=ir.InsertionPoint.current).operation
        clone.operands[0], clone.operands[1] = left, right
        return clone.results[0]


def combinations(step: Computation) -> list[Combination] | None:
    """For each result of a reduction how its parts are combined; None if that is not known."""
    found = []
    arguments = list(step.body.arguments)[len(step.inputs) :]
    for argument, value, result in zip(arguments, step.yielded, step.results, strict=True):
        if isinstance(value.owner, ir.Block):
            return None
        op = value.owner.operation
        if op.name not in _FULL and op.name not in ("arith.maxsi", "arith.minsi"):
            return None
        # What there is so far is used there alone, and nobody else looks at what comes out.
        if len([*argument.uses]) != 1 or argument not in op.operands or len([*value.uses]) != 1:
            return None
        found.append(Combination(op, ir.RankedTensorType(result.type).element_type))
    return found


def combined_by_block(
    thread: Thread, parts: Sequence[ir.Value], how: Sequence[Combination]
) -> list[ir.Value]:
    """Combines what each thread of a block has; all of them get the result.

    First within each warp, by exchanging registers; then all warps combine what the warps have.
    The order is the same each time, and so are the bits of the result.
    """
    parts = [combined_by_warp(part, one.combined) for part, one in zip(parts, how, strict=True)]
    warps = thread.threads // WARP
    if warps == 1:
        return parts
    buffers = [thread.shared([warps], one.type) for one in how]
    warp = arith.divui(thread.number, index(WARP))
    # All lanes have the same, so that it does not matter which one of them is the last to write.
    for part, buffer in zip(parts, buffers, strict=True):
        memref.store(part, buffer, [warp])
    thread.wait()
    results = []
    for buffer, one in zip(buffers, how, strict=True):
        result = memref.load(buffer, [index(0)])
        for number in range(1, warps):
            result = one.combined(result, memref.load(buffer, [index(number)]))
        results.append(result)
    # Before any of them writes there again.
    thread.wait()
    return results


def combined_by_warp(
    value: ir.Value, combine: Callable[[ir.Value, ir.Value], ir.Value], lanes: int = WARP
) -> ir.Value:
    """Combines the values of a warp: first of neighbours, then of pairs, and so on.

    With fewer `lanes` each group of so many combines its own.
    """
    distance = 1
    while distance < lanes:
        value = combine(value, _exchanged(value, distance))
        distance *= 2
    return value


def scanned_by_block(
    thread: Thread,
    value: ir.Value,
    combine: Callable[[ir.Value, ir.Value], ir.Value],
    carried: ir.Value | None,
) -> tuple[ir.Value, ir.Value]:
    """What the values of all threads before one come to, after what is carried, and what all do.

    The order is the same each time. Where nothing is carried, what comes before the first thread is
    of no account, and not to be read.
    """
    lane = arith.remui(thread.number, index(WARP))
    warp = arith.divui(thread.number, index(WARP))
    distance = 1
    while distance < WARP:
        below = _of_lane_below(value, distance)
        has_one = arith.cmpi(arith.CmpIPredicate.uge, lane, index(distance))
        value = arith.select(has_one, combine(below, value), value)
        distance *= 2
    in_warp = _of_lane_below(value, 1)
    warps = thread.threads // WARP
    shared = thread.shared([warps], value.type)
    is_last_lane = arith.cmpi(arith.CmpIPredicate.eq, lane, index(WARP - 1))
    if_else(is_last_lane, lambda: memref.store(value, shared, [warp]))
    thread.wait()
    before = carried
    for number in range(warps):
        of_warp = memref.load(shared, [index(number)])
        carried = of_warp if carried is None else combine(carried, of_warp)
        if before is None:
            before = carried
        comes_later = arith.cmpi(arith.CmpIPredicate.ugt, warp, index(number))
        before = arith.select(comes_later, carried, before)
    # Before any of them writes there again.
    thread.wait()
    assert before is not None
    assert carried is not None
    is_first = arith.cmpi(arith.CmpIPredicate.eq, lane, index(0))
    return arith.select(is_first, before, combine(before, in_warp)), carried


def _exchanged(value: ir.Value, distance: int) -> ir.Value:
    """The value of the lane whose number differs in one bit."""
    return _shuffled(value, distance, gpu.ShuffleMode.XOR)


def _of_lane_below(value: ir.Value, distance: int) -> ir.Value:
    """The value of the lane that comes so many before; the first lanes have their own."""
    return _shuffled(value, distance, gpu.ShuffleMode.UP)


def _shuffled(value: ir.Value, distance: int, mode: gpu.ShuffleMode) -> ir.Value:
    type_ = value.type
    i32 = ir.IntegerType.get_signless(32)
    if isinstance(type_, ir.IndexType):
        wide = arith.index_cast(ir.IntegerType.get_signless(64), value)
        return arith.index_cast(type_, _shuffled(wide, distance, mode))
    if type_.width in _SHUFFLED_BITS:
        offset, width = (arith.constant(i32, number) for number in (distance, WARP))
        return gpu.ShuffleOp(value, offset, width, mode).results[0]
    narrow = ir.IntegerType.get_signless(type_.width)
    bits = arith.bitcast(narrow, value) if isinstance(type_, ir.FloatType) else value
    there = arith.trunci(narrow, _shuffled(arith.extui(i32, bits), distance, mode))
    return arith.bitcast(type_, there) if isinstance(type_, ir.FloatType) else there
