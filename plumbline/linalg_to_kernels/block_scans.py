"""Takes a block of elements of a scan at once.

Element by element, each is combined with all before it only when these are. A block is a vector, of
which lanes are combined with those before them, and then all of them with what came before the
block, which is all that waits for earlier ones.

There are two ways to combine lanes, of as many steps. Of each pair the upper lane takes what the
lower one has, then the upper pair of four what the lower pair comes to, and so on (Sklansky,
"Conditional-sum addition logic", 1960): of large registers it takes fewer moves between halves. Or
each lane takes what the one before it has, then what the one two before it has, and so on (Hillis
and Steele, "Data parallel algorithms", 1986): of registers that hold two lanes or four, most steps
add whole ones. Of the time of the latter sums of rows of float32 take 0.62 with AVX2 by the former,
of int64 0.5, with AVX-512 0.88 and 0.93, but with SSE2 1.02 and 1.3 (AMD Zen 5).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf, vector

from plumbline.bindings.views import is_apart, root
from plumbline.bindings.walk import clone_operations, is_inside, needed_for, operations_named
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.reassociation import is_reassociable
from plumbline.linalg_to_kernels.vectors import of_lanes, on_lanes
from plumbline.linalg_to_kernels.work import known_trips
from plumbline.target.vector_unit import VectorUnit
from plumbline.tcp_to_linalg.loop_nest import SCAN

_BLOCK = 8
"""Elements: with three steps within a block, a CPU does as much as while it waits for the last."""

_LARGE_BLOCK = 16
"""The same where a register holds as many: of the time by 8 of them, maxima of rows of float32 take
0.77, sums of int32 0.75 (AMD Zen 5)."""

_SMALL_BYTES = 16
"""Of a register of which most steps of Hillis and Steele's are additions of whole ones."""

_ASSOCIATIVE = frozenset(
    {
        "arith.addi",
        "arith.andi",
        "arith.maximumf",
        "arith.maxsi",
        "arith.maxui",
        "arith.minimumf",
        "arith.minsi",
        "arith.minui",
        "arith.muli",
        "arith.ori",
    }
)

_ASSOCIATIVE_IF_MARKED = frozenset({"arith.addf", "arith.mulf"})


def block_scans(module: ir.Operation, unit: VectorUnit) -> None:
    """Splits the loops of `module` that are scans into one over blocks and one over the rest."""
    with module.context:
        for op in operations_named(module, "scf.for"):
            if (scan := _scan(op.opview)) is not None:
                _split(scan, _steps(unit, scan))


@dataclass(frozen=True)
class _Steps:
    """How lanes of a block are combined."""

    block: int
    """Elements."""
    taken: Sequence[Mapping[int, int]]
    """For each step the lanes that take what another one has."""


@dataclass(frozen=True)
class _Scan:
    """A loop that combines one value more in each iteration, and uses what that gives."""

    loop: scf.ForOp
    before: list[ir.Operation]
    """What an iteration does that does not wait for earlier ones."""
    element: ir.Value
    """What it combines with what was combined so far."""
    combine: list[ir.Operation]
    combined: ir.Value
    after: list[ir.Operation]
    """What it does with what was combined."""


def _scan(loop: scf.ForOp) -> _Scan | None:
    ops = [op.operation for op in loop.body.operations]
    if len(loop.inner_iter_args) != 1 or any(op.regions for op in ops):
        return None
    *ops, end = ops
    so_far, combined = loop.inner_iter_args[0], end.operands[0]
    waiting = _depending_on(so_far, ops)
    needed = needed_for([combined], ops)
    combine = [op for op in waiting if op in needed]
    after = [op for op in waiting if op not in needed]
    before = [op for op in ops if op not in waiting]
    element = _element(loop, combine)
    # If it is used by nothing, this is a reduction, which LLVM makes vectors of.
    if element is None or not after or not _commute(before, after):
        return None
    is_associative = SCAN in loop.attributes or (len(combine) == 1 and _is_associative(combine[0]))
    return _Scan(loop, before, element, combine, combined, after) if is_associative else None


def _depending_on(value: ir.Value, ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """Those that need a value, or what others that do so give."""
    known = {value}
    found = []
    for op in ops:
        if known.intersection(op.operands):
            known |= set(op.results)
            found.append(op)
    return found


def _element(loop: scf.ForOp, combine: Sequence[ir.Operation]) -> ir.Value | None:
    """The one value that operations combine with the one so far, if they can do so to vectors."""
    (so_far,) = loop.inner_iter_args
    given = {result for op in combine for result in op.results} | {so_far}
    others = {operand for op in combine for operand in op.operands} - given
    # Of a loop that does the same each time, the one operation has one from outside.
    elements = [other for other in others if len(combine) == 1 or is_inside(other, loop.operation)]
    numbers = (ir.FloatType, ir.IntegerType)
    if (
        len(elements) != 1
        or elements[0].type != so_far.type
        or not all(op.name.partition(".")[0] in ("arith", "math") for op in combine)
        or not all(isinstance(value.type, numbers) for value in given)
    ):
        return None
    return elements[0]


def _is_associative(op: ir.Operation) -> bool:
    if op.name in _ASSOCIATIVE_IF_MARKED:
        return is_reassociable(op)
    return op.name in _ASSOCIATIVE


def _commute(before: list[ir.Operation], after: list[ir.Operation]) -> bool:
    """Whether what an iteration does first may be done before the last of earlier ones is."""
    if any(op.name == "memref.store" for op in before):
        return False
    read, written = set(), set()
    for op in (*before, *after):
        if op.name == "memref.load":
            read.add(root(op.operands[0]))
        elif op.name == "memref.store":
            written.add(root(op.operands[1]))
        elif op.name.partition(".")[0] not in ("arith", "math"):
            return False
    return not read & written and all(map(is_apart, written))


def _split(scan: _Scan, steps: _Steps) -> None:
    """Puts a loop over blocks before the loop, which is left with the rest."""
    loop, block = scan.loop, steps.block
    with ir.InsertionPoint(loop), loop.location:
        count = arith.subi(loop.upperBound, loop.lowerBound)
        rest = arith.remui(arith.maxsi(count, index(0)), index(block))
        end = arith.subi(arith.addi(loop.lowerBound, arith.maxsi(count, index(0))), rest)
        first = of_lanes(loop.initArgs[0], [block])
        blocks = scf.ForOp(loop.lowerBound, end, index(block), [first])
        with ir.InsertionPoint(blocks.body):
            scf.YieldOp([_block(scan, blocks, steps)])
        last = vector.extract(blocks.results[0], [], [block - 1])
    loop.operation.operands[0] = end
    loop.operation.operands[3] = last


def _steps(unit: VectorUnit, scan: _Scan) -> _Steps:
    block, count = unit.lanes(scan.element.type.width), known_trips(scan.loop.operation)
    is_long = count is None or count >= _LARGE_BLOCK
    block = _LARGE_BLOCK if block >= _LARGE_BLOCK and is_long else _BLOCK
    distances = [1 << step for step in range(block.bit_length() - 1)]
    if unit.bytes <= _SMALL_BYTES:
        return _Steps(block, [{lane: lane - by for lane in range(by, block)} for by in distances])
    return _Steps(
        block,
        [
            {lane: lane // half * half - 1 for lane in range(block) if lane & half}
            for half in distances
        ],
    )


def _block(scan: _Scan, blocks: scf.ForOp, steps: _Steps) -> ir.Value:
    """Does what the loop does for a block of elements, and gives what the last combined to.

    That is in all lanes of a vector.
    """
    known: list[dict[ir.Value, ir.Value]] = []
    block = steps.block
    for number in range(block):
        at = arith.addi(blocks.induction_variable, index(number))
        known.append({scan.loop.induction_variable: at})
        clone_operations(scan.before, known[-1])
    elements = [values.get(scan.element, scan.element) for values in known]
    type_ = ir.VectorType.get([block], scan.element.type)
    within = vector.from_elements(type_, elements)
    for step in steps.taken:
        taken = vector.shuffle(within, within, [step.get(lane, lane) for lane in range(block)])
        combined = _combined(scan, taken, within)
        within = vector.shuffle(
            within, combined, [lane + block * (lane in step) for lane in range(block)]
        )
    before_block = blocks.inner_iter_args[0]
    of_block = vector.shuffle(within, within, [block - 1] * block)
    results = _combined(scan, before_block, within)
    for number, values in enumerate(known):
        values[scan.combined] = vector.extract(results, [], [number])
        clone_operations(scan.after, values)
    return _combined(scan, before_block, of_block)


def _combined(scan: _Scan, left: ir.Value, elements: ir.Value) -> ir.Value:
    """What the scan combines of two vectors, lane by lane."""
    (lanes,) = ir.VectorType(elements.type).shape
    values = {scan.loop.inner_iter_args[0]: left, scan.element: elements}
    for op in scan.combine:
        operands = [values.get(operand, operand) for operand in op.operands]
        values |= zip(op.results, on_lanes(op, operands, [lanes]), strict=True)
    return values[scan.combined]
