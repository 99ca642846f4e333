"""Takes a block of elements of a scan at once.

Element by element, each is combined with all before it only when these are. In a block, elements
are combined with those before them in the block, which waits for nothing, and then all of them with
what came before the block. (Blelloch, "Prefix sums and their applications", 1990.)
"""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.bindings.views import is_apart, root
from plumbline.bindings.walk import all_operations, clone_operations
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.reassociation import is_reassociable

_BLOCK = 8
"""Elements: some vectors, and as many additions as a CPU does while it waits for one or two."""

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


def block_scans(module: ir.Operation) -> None:
    """Splits the loops of `module` that are scans into one over blocks and one over the rest."""
    with module.context:
        for op in all_operations(module):
            if op.name == "scf.for" and (scan := _scan(op.opview)) is not None:
                _split(scan)


@dataclass(frozen=True)
class _Scan:
    """A loop that combines one value more in each iteration, and uses what that gives."""

    loop: scf.ForOp
    before: list[ir.Operation]
    """What an iteration does that does not wait for earlier ones."""
    combine: ir.Operation
    after: list[ir.Operation]
    """What it does with what was combined."""


def _scan(loop: scf.ForOp) -> _Scan | None:
    ops = [op.operation for op in loop.body.operations]
    if len(loop.inner_iter_args) != 1 or any(op.regions for op in ops):
        return None
    *ops, end = ops
    so_far, combined = loop.inner_iter_args[0], end.operands[0]
    if isinstance(combined.owner, ir.Block) or combined.owner.operation.block != loop.body:
        return None
    combine = combined.owner.operation
    if not _is_associative(combine) or [use.owner.operation for use in so_far.uses] != [combine]:
        return None
    waiting = {combined}
    after = []
    for op in ops:
        if waiting.intersection(op.operands):
            waiting |= set(op.results)
            after.append(op)
    before = [op for op in ops if op not in after and op != combine]
    # If it is used by nothing, this is a reduction, which LLVM makes vectors of.
    if not after or not _commute(before, after):
        return None
    return _Scan(loop, before, combine, after)


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


def _split(scan: _Scan) -> None:
    """Puts a loop over blocks before the loop, which is left with the rest."""
    loop = scan.loop
    with ir.InsertionPoint(loop), loop.location:
        count = arith.subi(loop.upperBound, loop.lowerBound)
        rest = arith.remui(arith.maxsi(count, index(0)), index(_BLOCK))
        end = arith.subi(arith.addi(loop.lowerBound, arith.maxsi(count, index(0))), rest)
        blocks = scf.ForOp(loop.lowerBound, end, index(_BLOCK), list(loop.initArgs))
        with ir.InsertionPoint(blocks.body):
            scf.YieldOp([_block(scan, blocks)])
    loop.operation.operands[0] = end
    loop.operation.operands[3] = blocks.results[0]


def _block(scan: _Scan, blocks: scf.ForOp) -> ir.Value:
    """Does what the loop does for a block of elements, and gives what the last combined to."""
    loop, combine = scan.loop, scan.combine
    so_far = loop.inner_iter_args[0]
    known: list[dict[ir.Value, ir.Value]] = []
    for number in range(_BLOCK):
        at = arith.addi(blocks.induction_variable, index(number))
        known.append({loop.induction_variable: at})
        clone_operations(scan.before, known[-1])
    within: list[ir.Value] = []
    for values in known:
        (element,) = (operand for operand in combine.operands if operand != so_far)
        element = values.get(element, element)
        if within:
            element = _combined(combine, so_far, within[-1], element)
        within.append(element)
    before_block = blocks.inner_iter_args[0]
    for values, element in zip(known, within, strict=True):
        values[combine.results[0]] = _combined(combine, so_far, before_block, element)
        clone_operations(scan.after, values)
    return known[-1][combine.results[0]]


def _combined(
    combine: ir.Operation, so_far: ir.Value, left: ir.Value, element: ir.Value
) -> ir.Value:
    """What the scan combines of these two."""
    clone = combine.clone(ip=ir.InsertionPoint.current).operation
    for number, operand in enumerate(combine.operands):
        clone.operands[number] = left if operand == so_far else element
    return clone.results[0]
