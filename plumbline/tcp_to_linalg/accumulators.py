"""Elements that many others are combined into, and the wider types that this is done in."""

import math
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.tcp.constraints import is_float
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp_to_linalg.building import DYNAMIC, dim, empty, generic
from plumbline.tcp_to_linalg.combiners import Combination, is_unsigned
from plumbline.tcp_to_linalg.scalars import cast, is_half_precision


def with_elements(type_: ir.RankedTensorType, element_type: ir.Type) -> ir.RankedTensorType:
    """A tensor type with elements of another type."""
    return ir.RankedTensorType.get(type_.shape, element_type)


def accumulator_type(element_type: ir.Type) -> ir.Type:
    """The type that products of elements are summed in, and extremes of elements taken.

    That is f32 for half precision, of which each step would round, else their own.
    """
    return ir.F32Type.get() if is_half_precision(element_type) else element_type


def place_type(sizes: Sequence[int], otherwise: ir.Type) -> ir.Type:
    """The type that places among the elements of such dimensions are carried in.

    It is as wide as most elements are, so that vectors of both have as many, if it is known to hold
    all places.
    """
    is_small = DYNAMIC not in sizes and math.prod(sizes) < 1 << 31
    return ir.IntegerType.get_signless(32) if is_small else otherwise


def combination(op: TcpOp) -> Combination:
    """How an op with a `combiner` combines elements, in the type that it does so in."""
    stated = op.accumulation_type
    if stated is None:
        type_ = accumulator_type(op.input.type.element_type)
    else:
        type_ = ir.TypeAttr(stated).value
    return Combination(op.combiner, op.int_signedness, type_)


def widened(op: TcpOp, element: ir.Value, to: ir.Type) -> ir.Value:
    """An element of an op with `int_signedness`, in the type that elements are combined in."""
    unsigned = is_unsigned(op.int_signedness, element.type)
    return cast(element, to, from_unsigned=unsigned, to_unsigned=unsigned)


_FLAGS_IN_ANY_ORDER = {
    "arith.addf": "reassoc",
    "arith.mulf": "reassoc",
    "arith.maximumf": "nsz",
    "arith.minimumf": "nsz",
}


def in_any_order(combined: ir.Value) -> ir.Value:
    """What two elements were combined into, where several may be combined in another order.

    Then there is no telling which of several zeros is the extreme, either.
    """
    flags = _FLAGS_IN_ANY_ORDER.get(combined.owner.name)
    if flags is not None:
        combined.owner.attributes["fastmath"] = ir.Attribute.parse(f"#arith.fastmath<{flags}>")
    return combined


def narrowed(element: ir.Value, to: ir.Type) -> ir.Value:
    """What elements were combined into, in the type that a result has."""
    # Wrapping around, an integer loses the same bits whatever its sign.
    return cast(element, to, from_unsigned=False, to_unsigned=False)


def all_narrowed(value: ir.Value, element_type: ir.Type) -> ir.Value:
    """A tensor of such elements, in the type that a result has."""
    type_ = value.type
    if type_.element_type == element_type:
        return value
    sizes = [dim(value, axis) for axis, size in enumerate(type_.shape) if size == DYNAMIC]
    return generic(
        empty(with_elements(type_, element_type), sizes),
        [value],
        [ir.AffineMap.get_identity(type_.rank)],
        lambda elements: narrowed(elements[0], element_type),
    )


def add_product(so_far: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
    """The sum of `so_far` and a product of elements, in the type of the former."""
    left, right = (
        cast(element, so_far.type, from_unsigned=False, to_unsigned=False)
        for element in (left, right)
    )
    if is_float(so_far.type):
        return arith.addf(so_far, arith.mulf(left, right))
    return arith.addi(so_far, arith.muli(left, right))
