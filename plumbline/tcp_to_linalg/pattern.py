"""What patterns from TCP to linalg are made of.

A pattern is a function from an op of TCP to the tensor that replaces its result. The insertion
point and the location are set when it is called.
"""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor
from torch_mlir.rewrite import PatternRewriter

from plumbline.tcp.dialect import TcpOp

Pattern = Callable[[TcpOp], ir.Value]

Patterns = Mapping[type[TcpOp], Pattern]
"""The patterns of a family, by the class of the op that each converts."""

DYNAMIC = ir.ShapedType.get_dynamic_size()


def rewrite_with(pattern: Pattern) -> Callable[[TcpOp, PatternRewriter], bool]:
    """`pattern` as the rewriter of the bindings calls it, where True means "no match"."""

    def rewrite(op: TcpOp, rewriter: PatternRewriter) -> bool:
        with rewriter.ip, op.location:
            replacement = pattern(op)
        rewriter.replace_op(op, [replacement])
        return False

    return rewrite


def index(value: int) -> ir.Value:
    """A constant of type index."""
    return arith.constant(ir.IndexType.get(), value)


def empty(type_: ir.RankedTensorType, sizes: Sequence[ir.Value]) -> ir.Value:
    """A tensor of `type_` to be written, with the given sizes for its dynamic dimensions."""
    return ir.Operation.create("tensor.empty", results=[type_], operands=list(sizes)).result


def dim(value: ir.Value, axis: int) -> ir.Value:
    """The size of `value` along `axis`."""
    return tensor.dim(value, index(axis))


def generic(
    out: ir.Value,
    inputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    payload: Callable[[Sequence[ir.Value]], ir.Value],
) -> ir.Value:
    """A `linalg.generic` that computes every element of `out` from elements of `inputs`.

    `maps` say at which place of each input to read, given the place in `out`; `payload` builds
    the computation of one element.
    """
    rank = out.type.rank
    identity = ir.AffineMap.get_identity(rank)
    op = linalg.GenericOp(
        [out.type],
        list(inputs),
        [out],
        ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in (*maps, identity)]),
        ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank),
    )
    elements = [value.type.element_type for value in (*inputs, out)]
    block = op.regions[0].blocks.append(*elements, arg_locs=[op.location] * len(elements))
    with ir.InsertionPoint(block):
        linalg.YieldOp([payload(list(block.arguments)[: len(inputs)])])
    return op.results[0]
