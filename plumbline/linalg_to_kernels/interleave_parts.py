"""Has tensors whose innermost axis tells a few parts apart be computed part beside part.

Such are complex numbers where they lie as pairs, and what `torch.stack` puts together along a new
last axis. With each part copied to its place in a loop of its own, all lines of the result would be
written as often as there are parts, and each part be read from memory where it was computed to; a
product of a million complex numbers took 4.7 times as long as PyTorch's. A computation that chooses
by the part instead takes in what computes them, and its kernel does all parts of an element at
once, of which LLVM makes vectors that it interleaves.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from plumbline.bindings.walk import all_operations, defining_operation
from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import DYNAMIC, MOST_PARTS, takes_part
from plumbline.linalg_to_kernels.expand_contractions import sink_collapses
from plumbline.linalg_to_kernels.transpositions import comes_of_transposed, innermost_axis
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, dims_map, loop_nest


def interleave_parts(module: ir.Operation) -> None:
    """Replaces each `tensor.concat` of `module` of a few parts along the innermost axis."""
    with module.context:
        for op in [op for op in all_operations(module) if _is_of_parts(op)]:
            _take_apart(op)
            if (whole := _parted(op)) is not None:
                op.results[0].replace_all_uses_with(whole)
            if any(True for _ in op.results[0].uses):
                with ir.InsertionPoint(op), op.location:
                    whole = _interleaved(list(op.operands), op.results[0].type)
                op.results[0].replace_all_uses_with(whole)
                sink_collapses(whole)
            op.erase()


def _is_of_parts(op: ir.Operation) -> bool:
    if op.name != "tensor.concat":
        return False
    type_ = ir.RankedTensorType(op.results[0].type)
    is_innermost = ir.IntegerAttr(op.attributes["dim"]).value == type_.rank - 1
    return (
        type_.rank > 1
        and is_innermost
        and 2 <= len(op.operands) <= MOST_PARTS
        and all(ir.RankedTensorType(part.type).shape[-1] == 1 for part in op.operands)
        and not _is_turned_back(op.results[0])
    )


def _is_turned_back(whole: ir.Value) -> bool:
    """Whether what is made of a tensor has an axis innermost that what it is made of had so, too.

    Then it is computed before that is turned (`late_transpositions.py`).
    """
    innermost = innermost_axis(whole)
    last = ir.RankedTensorType(whole.type).rank - 1
    return innermost is not None and innermost != last and comes_of_transposed(whole)


def _take_apart(op: ir.Operation) -> None:
    """Has whoever takes one part of what was just put together have that part."""
    for use in list(op.results[0].uses):
        user = use.owner.operation
        if not takes_part(user):
            continue
        part = op.operands[list(ir.DenseI64ArrayAttr(user.attributes["static_offsets"]))[-1]]
        # Of sizes that are not known, a slice may have fewer.
        if (
            user.results[0].type == part.type
            and DYNAMIC not in ir.RankedTensorType(part.type).shape
        ):
            user.results[0].replace_all_uses_with(part)
            user.erase()


def _parted(op: ir.Operation) -> ir.Value | None:
    """The tensor of which an operation puts together all parts again, if it does just that."""
    slices = [part for part in map(defining_operation, op.operands) if part and takes_part(part)]
    wholes = {part.operands[0] for part in slices}
    taken = [list(ir.DenseI64ArrayAttr(part.attributes["static_offsets"]))[-1] for part in slices]
    if len(wholes) != 1 or taken != list(range(len(op.operands))):
        return None
    (whole,) = wholes
    # Of sizes that are not known, slices may have fewer.
    is_known = DYNAMIC not in ir.RankedTensorType(whole.type).shape
    return whole if is_known and whole.type == op.results[0].type else None


def _interleaved(parts: Sequence[ir.Value], type_: ir.RankedTensorType) -> ir.Value:
    """Builds the tensor of such parts."""
    inner, element = type_.rank - 1, type_.element_type
    sizes = [
        tensor.dim(parts[0], index(axis)) if size == DYNAMIC else size
        for axis, size in enumerate(type_.shape)
    ]
    empty = tensor.EmptyOp(sizes, element).result
    of_part = dims_map(type_.rank, [*range(inner), ir.AffineConstantExpr.get(0)])
    maps = [*[of_part] * len(parts), ir.AffineMap.get_identity(type_.rank)]

    def chosen_part(elements: Sequence[ir.Value], _: Sequence[ir.Value]) -> ir.Value:
        number = linalg.IndexOp(inner).result
        *others, chosen = elements
        for at, other in reversed(list(enumerate(others))):
            is_this = arith.cmpi(arith.CmpIPredicate.eq, number, index(at))
            chosen = arith.select(is_this, other, chosen)
        return chosen

    (whole,) = loop_nest([empty], parts, maps, [PARALLEL] * type_.rank, chosen_part)
    return whole
