"""What patterns from StableHLO to TCP are made of.

A pattern is a function from an op of StableHLO to the tensor that replaces its result. The
insertion point and the location are set when it is called. It returns None, before it builds
anything, for an op that TCP cannot express: that one stays.
"""

from collections.abc import Callable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.rewrite import PatternRewriter

from plumbline.tcp.constraints import is_bool

Pattern = Callable[[ir.OpView], ir.Value | None]

Patterns = Mapping[str, Pattern]
"""The patterns of a family, by the full name of the op that each converts."""

DYNAMIC = ir.ShapedType.get_dynamic_size()


def rewrite_with(pattern: Pattern) -> Callable[[ir.OpView, PatternRewriter], bool]:
    """`pattern` as the rewriter of the bindings calls it, where True means "no match"."""

    def rewrite(op: ir.OpView, rewriter: PatternRewriter) -> bool:
        if not all(map(_is_tcp_tensor, (*op.operands, *op.results))):
            return True
        with rewriter.ip, op.location:
            replacement = pattern(op)
        if replacement is None:
            return True
        rewriter.replace_op(op, [replacement])
        return False

    return rewrite


def _is_tcp_tensor(value: ir.Value) -> bool:
    """Whether TCP knows the element type; its integers have no sign, and there is no complex."""
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    element = value.type.element_type
    if isinstance(element, ir.IntegerType):
        return bool(element.is_signless)
    return isinstance(element, ir.FloatType)


def is_boolean(value: ir.Value) -> bool:
    """Whether a tensor holds truth values."""
    return is_bool(value.type.element_type)


def integers(attribute: ir.Attribute) -> list[int]:
    """The numbers of a `array<i64: ...>` attribute."""
    return list(ir.DenseI64ArrayAttr(attribute))


def index(value: int) -> ir.Value:
    """A constant of type index."""
    return arith.constant(ir.IndexType.get(), value)
