"""Ops that place the elements of tensors anew."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops.data_movement import ConcatOp, PadOp, SliceOp
from plumbline.tcp.transforms.lower import Pattern

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def _static_or_dynamic(values: Sequence[ir.Value]) -> tuple[list[int], list[ir.Value]]:
    """Numbers, DYNAMIC where one is known at run time only, and the values of those."""
    static, dynamic = [], []
    for value in values:
        number = _known(value)
        static.append(_DYNAMIC if number is None else number)
        if number is None:
            dynamic.append(value)
    return static, dynamic


def _known(value: ir.Value) -> int | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return None
    return int(ir.IntegerAttr(owner.attributes["value"]).value)


def convert_slice(op: SliceOp) -> ir.Value:
    """A `tensor.extract_slice`; that refuses to start at the end, even for no elements."""
    if 0 in op.out.type.shape:
        dynamic = [
            size
            for size, static in zip(op.sizes, op.out.type.shape, strict=True)
            if static == _DYNAMIC
        ]
        return ir.Operation.create("tensor.empty", results=[op.out.type], operands=dynamic).result
    offsets, dynamic_offsets = _static_or_dynamic(op.starts)
    strides, dynamic_strides = _static_or_dynamic(op.strides)
    # The result type says which sizes are static, and extract_slice wants to hear the same.
    sizes = list(op.out.type.shape)
    dynamic_sizes = [value for value, size in zip(op.sizes, sizes, strict=True) if size == _DYNAMIC]
    return tensor.ExtractSliceOp(
        op.out.type,
        op.input,
        dynamic_offsets,
        dynamic_sizes,
        dynamic_strides,
        offsets,
        sizes,
        strides,
    ).result


def convert_concat(op: ConcatOp) -> ir.Value:
    """A `tensor.concat`."""
    return tensor.ConcatOp(op.out.type, op.dim.value, op.inputs).result


def convert_pad(op: PadOp) -> ir.Value:
    """A `tensor.pad`."""
    low, dynamic_low = _static_or_dynamic(op.low)
    high, dynamic_high = _static_or_dynamic(op.high)
    value = tensor.extract(op.value, [])
    pad = tensor.PadOp(op.out.type, op.input, dynamic_low, dynamic_high, low, high)
    index = ir.IndexType.get()
    block = pad.regions[0].blocks.append(
        *[index] * op.out.type.rank, arg_locs=[op.location] * op.out.type.rank
    )
    with ir.InsertionPoint(block):
        tensor.YieldOp(value)
    return pad.result


PATTERNS: Mapping[type[TcpOp], Pattern] = {
    ConcatOp: convert_concat,
    PadOp: convert_pad,
    SliceOp: convert_slice,
}
