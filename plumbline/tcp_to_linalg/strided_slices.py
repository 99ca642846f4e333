"""Makes slices that leave elements out into loops that schedules of the transform dialect tile.

A schedule fuses the producer of a `tensor.extract_slice` into tiles of its consumer by merging the
slice with those of the tiles, and MLIR computes tiles of contiguous elements only. A loop nest that
picks every n-th element has tiles of its own, whose operands are contiguous again.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, tensor

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import all_operations
from plumbline.tcp_to_linalg.loop_nest import PARALLEL, dims_map, loop_nest

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def _spans(
    sizes: Sequence[int], dynamic_sizes: Sequence[ir.Value], strides: Sequence[int]
) -> tuple[list[int], list[ir.Value]]:
    """From the first to the last element along each dimension, and the values of those not known.

    A dimension that has no elements spans none.
    """
    static: list[int] = []
    dynamic: list[ir.Value] = []
    remaining = iter(dynamic_sizes)
    for size, stride in zip(sizes, strides, strict=True):
        if size != _DYNAMIC:
            static.append(max((size - 1) * stride + 1, 0))
            continue
        value = next(remaining)
        if stride != 1:
            zero, one, step = (arith.constant(value.type, number) for number in (0, 1, stride))
            last = arith.muli(arith.subi(value, one), step)
            value = arith.maxsi(arith.addi(last, one), zero)
        static.append(_DYNAMIC)
        dynamic.append(value)
    return static, dynamic


def _convert(op: tensor.ExtractSliceOp) -> ir.Value:
    """All elements from the first to the last one, and a loop nest that picks of them."""
    sizes, strides = list(op.static_sizes), list(op.static_strides)
    spans, dynamic_spans = _spans(sizes, op.sizes, strides)
    result = op.result.type
    contiguous = ir.RankedTensorType.get(spans, result.element_type, result.encoding)
    whole = tensor.ExtractSliceOp(
        contiguous,
        op.source,
        op.offsets,
        dynamic_spans,
        [],
        list(op.static_offsets),
        spans,
        [1] * len(spans),
    ).result
    rank = result.rank
    picked = [ir.AffineDimExpr.get(axis) * stride for axis, stride in enumerate(strides)]
    return loop_nest(
        [ir.Operation.create("tensor.empty", results=[result], operands=list(op.sizes)).result],
        [whole],
        [dims_map(rank, picked), dims_map(rank, range(rank))],
        [PARALLEL] * rank,
        lambda inputs, _: inputs[0],
    )[0]


def _leaves_out(op: tensor.ExtractSliceOp) -> bool:
    """Whether it has known strides, one above 1 among them, and keeps all dimensions."""
    strides = list(op.static_strides)
    return (
        _DYNAMIC not in strides
        and any(stride > 1 for stride in strides)
        and min(strides) > 0
        and op.source.type.rank == op.result.type.rank
    )


def convert_strided_slices(operation: ir.Operation) -> None:
    """Converts each slice within `operation` whose strides are known and not all 1."""
    for op in all_operations(operation):
        if isinstance(op.opview, tensor.ExtractSliceOp) and _leaves_out(op.opview):
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_convert(op.opview))
            op.erase()


CONVERT_STRIDED_SLICES_TO_LINALG = Pass(
    "convert-strided-slices-to-linalg",
    "Convert slices that leave elements out to linalg, for schedules to tile and fuse through",
    convert_strided_slices,
)
