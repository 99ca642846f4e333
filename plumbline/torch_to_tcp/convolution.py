"""Convolutions."""

from torch_mlir import ir

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building.dtypes import computed_in
from plumbline.tcp.building.shapes import broadcast, cast, unsqueeze
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.tcp.ops.convolution import ConvOp, ConvTransposeOp
from plumbline.tcp.ops.elementwise import AddOp
from plumbline.tcp.shapes import DYNAMIC
from plumbline.torch_to_tcp.pattern import Patterns, integer, one_each, tensor, tensor_type


def convert_aten_convolution(op: ir.OpView) -> ir.Value:
    """A convolution or a transposed one, and a bias for each channel.

    With a bias, half precision is rounded after that is added, once.
    """
    result = tensor_type(op.result)
    source, weight = tensor(op.operands[0]), tensor(op.operands[1])
    biased = str(op.operands[2].type) != "!torch.none"
    spatial = source.type.rank - 2
    strides, padding, dilations = (one_each(entries, spatial) for entries in op.operands[3:6])
    transposed, groups = bool(integer(op.operands[6])), integer(op.operands[8])
    if not 1 <= spatial <= 3:
        raise Unsupported("a convolution over more than three dimensions")
    if transposed and groups > 1 and DYNAMIC in weight.type.sizes[:2]:
        raise Unsupported("groups of channels, transposed, whose number is known at run time only")
    dtype = computed_in(result.dtype) if biased else result.dtype
    type_ = TensorType(result.sizes, dtype)
    operands = cast(source, dtype).value, cast(weight, dtype).value
    attributes = {
        "strides": strides,
        "dilations": dilations,
        "padding_low": padding,
        "padding_high": padding,
        "groups": groups,
        "results": type_.builtin(),
    }
    if transposed:
        extra = one_each(op.operands[7], spatial)
        out = ConvTransposeOp(*operands, output_padding=extra, **attributes).out
    else:
        out = ConvOp(*operands, **attributes).out
    products = Tensor(out, type_)
    if biased:
        bias = unsqueeze(cast(tensor(op.operands[2]), dtype), range(1, spatial + 1))
        stretched = broadcast(bias, (products,), type_.sizes)
        products = Tensor(AddOp(products.value, stretched.value).out, type_)
    return cast(products, result.dtype).value


PATTERNS: Patterns = {
    "torch.aten.convolution": convert_aten_convolution,
}
