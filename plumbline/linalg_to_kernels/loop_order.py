"""Chooses which loop of a `linalg.generic` on buffers runs innermost, and in what pieces.

The innermost loop is the one that LLVM makes steps of whole vectors of, which pays where elements
lie one beside the other. Where each buffer has them along another loop (a transposition), both of
these loops run in pieces, so that a cache line is used up before it has to go.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import for_each, index, least
from plumbline.linalg_to_kernels.products import DYNAMIC, Access, access_of, static_sizes
from plumbline.walk import all_operations

_DYNAMIC_OFFSET = ir.ShapedType.get_dynamic_stride_or_offset()

_SHORT = 8
"""A loop of fewer iterations is no gain as the innermost one."""

_STRIDED_COST, _SHORT_COST = 8, 16
"""Next to a cost of 1 for each buffer that an innermost loop walks element by element."""

_PIECE = 16
"""Of both loops of a transposition. Lines whose distance is a power of 2 share few places in the
first cache, commonly 8 to 16."""


def order_loops(module: ir.Operation) -> None:
    """Puts the best loop of each `linalg.generic` of `module` innermost."""
    with module.context:
        for op in all_operations(module):
            if op.name != "linalg.generic" or not (accesses := _accesses(op)):
                continue
            sizes = static_sizes(op, accesses)
            if sizes is None:
                continue
            costs = [
                _cost(op, accesses, loop, size) if _may_be_last(op, loop) else None
                for loop, size in enumerate(sizes)
            ]
            last = len(sizes) - 1
            best = min(
                (loop for loop, cost in enumerate(costs) if cost is not None),
                key=lambda loop: (costs[loop], -loop),
                default=last,
            )
            if best != last and costs[last] != costs[best]:
                _move_innermost(op, best)
            elif pair := _transposed(op, accesses, sizes):
                _cut_into_pieces(op, accesses, pair)


def _accesses(op: ir.Operation) -> list[Access]:
    maps = [ir.AffineMapAttr(attribute).value for attribute in op.attributes["indexing_maps"]]
    accesses = [access_of(map_) for map_ in maps]
    found = [access for access in accesses if access is not None]
    # A rank of 0 has no loops; what a map does not tell cannot be weighed.
    return found if len(found) == len(accesses) and maps[0].n_dims else []


def _kinds(op: ir.Operation) -> list[bool]:
    """For each loop whether it reduces."""
    return ["reduction" in str(attribute) for attribute in op.attributes["iterator_types"]]


def _may_be_last(op: ir.Operation, loop: int) -> bool:
    """Whether a loop may become the innermost one: reductions keep their order among themselves."""
    reduces = _kinds(op)
    return not reduces[loop] or not any(reduces[loop + 1 :])


def _cost(op: ir.Operation, accesses: Sequence[Access], loop: int, size: int) -> int:
    cost = _SHORT_COST if size != DYNAMIC and size < _SHORT else 0
    for operand, access in zip(op.operands, accesses, strict=True):
        if loop in access.loops:
            beside = access.moves_by_one(ir.MemRefType(operand.type), loop)
            cost += 1 if beside else _STRIDED_COST
    return cost


def _move_innermost(op: ir.Operation, loop: int) -> None:
    count = len(_kinds(op))
    order = [other for other in range(count) if other != loop] + [loop]
    # Loop `order[i]` of before is loop i now.
    now = [ir.AffineDimExpr.get(order.index(other)) for other in range(count)]
    moved = ir.AffineMap.get(count, 0, now)
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(
        [
            ir.AffineMapAttr.get(
                ir.AffineMap.get(
                    count,
                    0,
                    [result.compose(moved) for result in ir.AffineMapAttr(attribute).value.results],
                )
            )
            for attribute in op.attributes["indexing_maps"]
        ]
    )
    iterators = list(op.attributes["iterator_types"])
    op.attributes["iterator_types"] = ir.ArrayAttr.get([iterators[other] for other in order])
    for inner in all_operations(op):
        if inner.name == "linalg.index":
            dim = inner.attributes["dim"]
            place = order.index(ir.IntegerAttr(dim).value)
            inner.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerAttr(dim).type, place)


def _transposed(
    op: ir.Operation, accesses: Sequence[Access], sizes: Sequence[int]
) -> tuple[int, int] | None:
    """Two parallel loops along which the result and an operand have their elements."""
    if any(_kinds(op)) or any(inner.name == "linalg.index" for inner in all_operations(op)):
        return None
    types = [ir.MemRefType(operand.type) for operand in op.operands]
    last = len(sizes) - 1
    if not accesses[-1].moves_by_one(types[-1], last):
        return None
    for access, type_ in zip(accesses[:-1], types[:-1], strict=True):
        for loop in range(last):
            if access.moves_by_one(type_, loop) and last in access.loops:
                pair = (loop, last)
                long_enough = all(sizes[at] == DYNAMIC or sizes[at] >= _PIECE for at in pair)
                return pair if long_enough and _plain(accesses, pair) else None
    return None


def _plain(accesses: Sequence[Access], loops: Sequence[int]) -> bool:
    """Whether each of the loops moves along an axis alone, step by step, wherever it matters."""
    return all(
        terms == ((loop, 1),)
        for access in accesses
        for terms in access.axes
        for loop in loops
        if loop in dict(terms)
    )


def _cut_into_pieces(op: ir.Operation, accesses: Sequence[Access], pair: tuple[int, int]) -> None:
    with ir.InsertionPoint(op), op.location:
        sizes = {}
        for operand, access in zip(op.operands, accesses, strict=True):
            for axis, terms in enumerate(access.axes):
                for loop in pair:
                    if loop in dict(terms):
                        sizes[loop] = memref.dim(operand, index(axis))

        def outer(first: ir.Value) -> list[ir.Value]:
            def inner(second: ir.Value) -> list[ir.Value]:
                _run_piece(op, accesses, sizes, dict(zip(pair, (first, second), strict=True)))
                return []

            for_each(index(0), sizes[pair[1]], _PIECE, inner)
            return []

        for_each(index(0), sizes[pair[0]], _PIECE, outer)
    op.erase()


def _run_piece(
    op: ir.Operation,
    accesses: Sequence[Access],
    sizes: dict[int, ir.Value],
    starts: dict[int, ir.Value],
) -> None:
    clone = op.clone(ip=ir.InsertionPoint.current).operation
    with ir.InsertionPoint(clone):
        for number, (operand, access) in enumerate(zip(op.operands, accesses, strict=True)):
            clone.operands[number] = _piece(operand, access, sizes, starts)


def _piece(
    buffer: ir.Value, access: Access, sizes: dict[int, ir.Value], starts: dict[int, ir.Value]
) -> ir.Value:
    type_ = ir.MemRefType(buffer.type)
    static_offsets, static_sizes = [0] * type_.rank, list(type_.shape)
    offsets, extents = [], []
    for axis, terms in enumerate(access.axes):
        loop = next((loop for loop, _ in terms if loop in starts), None)
        if loop is not None:
            left = arith.subi(sizes[loop], starts[loop])
            offsets.append(starts[loop])
            extents.append(least(left, index(_PIECE)))
            static_offsets[axis] = static_sizes[axis] = DYNAMIC
        elif type_.shape[axis] == DYNAMIC:
            extents.append(memref.dim(buffer, index(axis)))
    strides, offset = type_.get_strides_and_offset()
    layout = ir.StridedLayoutAttr.get(_DYNAMIC_OFFSET if offsets else offset, strides)
    return memref.SubViewOp(
        ir.MemRefType.get(static_sizes, type_.element_type, layout),
        buffer,
        offsets,
        extents,
        [],
        static_offsets,
        static_sizes,
        [1] * type_.rank,
    ).result
