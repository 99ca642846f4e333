"""What patterns from StableHLO to TCP are made of.

A pattern is a function from an op of StableHLO to the tensors that replace its results. The
insertion point and the location are set when it is called. It raises `Unsupported` for an op that
it cannot express; what it has built by then is taken away again.

Integers of TCP have no sign. A tensor of unsigned ones is carried by one of signless integers, and
what stands between the two types while a module is converted is an `unrealized_conversion_cast`.
"""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building.dtypes import DTYPES
from plumbline.tcp.building.tensors import Tensor, TensorType

Pattern = Callable[[ir.OpView], Tensor | Sequence[Tensor]]

Patterns = Mapping[str, Pattern]
"""The patterns of a family, by the full name of the op that each converts."""

CAST = "builtin.unrealized_conversion_cast"


def dtype_of(element_type: ir.Type) -> str:
    """How an element type is spelled with its sign, which signless integers have: "si32", "ui8".

    Raises:
      Unsupported: TCP has none that stands for it.
    """
    if isinstance(element_type, ir.ComplexType):
        raise Unsupported(
            "complex numbers; compute real and imaginary parts as tensors of their own"
        )
    dtype = str(element_type)
    if isinstance(element_type, ir.IntegerType) and element_type.is_signless:
        dtype = dtype if element_type.width == 1 else f"s{dtype}"
    if dtype not in DTYPES:
        raise Unsupported(
            f"elements of type {element_type}; these can be: {', '.join(sorted(DTYPES))}"
        )
    return dtype


def tensor_type(value: ir.Value) -> TensorType:
    """The type of a tensor, with the sign of its integers.

    Raises:
      Unsupported: it is not a ranked tensor of numbers that TCP has.
    """
    return tensor_type_of(value.type)


def tensor_type_of(type_: ir.Type) -> TensorType:
    """The same, of a type.

    Raises:
      Unsupported: as `tensor_type` does.
    """
    if not isinstance(type_, ir.RankedTensorType):
        raise Unsupported(f"a value of type {type_}, which is no ranked tensor")
    if type_.encoding is not None:
        raise Unsupported(f"a tensor whose type says more than its shape: {type_}")
    return TensorType(tuple(type_.shape), dtype_of(type_.element_type))


def is_carried(type_: ir.Type) -> bool:
    """Whether TCP has another type for tensors of that type: they are of unsigned integers."""
    try:
        return bool(tensor_type_of(type_).builtin() != type_)
    except Unsupported:
        return False


def tensor(value: ir.Value) -> Tensor:
    """A tensor as TCP has it.

    Raises:
      Unsupported: as `tensor_type` does.
    """
    type_ = tensor_type(value)
    return Tensor(recast(value, type_.builtin()), type_)


def tensors(op: ir.OpView) -> list[Tensor]:
    """The operands of an op.

    Raises:
      Unsupported: as `tensor_type` does.
    """
    return [tensor(operand) for operand in op.operands]


def recast(value: ir.Value, type_: ir.Type) -> ir.Value:
    """`value` in a type that differs by the sign of integers at most."""
    if value.type == type_:
        return value
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.name == CAST and owner.operands[0].type == type_:
        return owner.operands[0]
    return ir.Operation.create(CAST, results=[type_], operands=[value]).result


def conform(new: Tensor, old: ir.Value) -> ir.Value:
    """What replaces `old`: the new value, with the sizes that are static in the type of `old`."""
    type_ = tensor_type(old)
    if new.type.dtype != type_.dtype:
        raise AssertionError(f"a pattern replaced {type_.dtype} by {new.type.dtype}")
    value, builtin = new.value, type_.builtin()
    if value.type != builtin:
        value = tensor_dialect.cast(builtin, value)
    return recast(value, old.type)


def integers(op: ir.OpView, name: str, default: Sequence[int] = ()) -> list[int]:
    """The numbers of an `array<i64: ...>` attribute, or `default` where there is none."""
    if name not in op.attributes:
        return list(default)
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))


def integer(op: ir.OpView, name: str, default: int = 0) -> int:
    """The number that an attribute is, or `default` where there is none."""
    if name not in op.attributes:
        return default
    return int(ir.IntegerAttr(op.attributes[name]).value)
