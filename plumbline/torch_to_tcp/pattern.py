"""What patterns from the Torch dialect to TCP are made of.

A pattern is a function from an op of the Torch dialect to the builtin tensors that replace its
results. The insertion point and the location are set when it is called. It raises `Unsupported`
for an op that it cannot express; what it has built by then is dropped.
"""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import tensor as tensor_dialect
from torch_mlir.rewrite import PatternRewriter

from plumbline.bindings.torch_c import FROM_BUILTIN_TENSOR, TO_BUILTIN_TENSOR
from plumbline.bindings.walk import operations_of
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building.tensors import Tensor, TensorType
from plumbline.torch_to_tcp.torch_types import parse_tensor_type

Pattern = Callable[[ir.OpView], ir.Value | Sequence[ir.Value]]


def tensor_type(value: ir.Value) -> TensorType:
    """The type of a tensor of the Torch dialect.

    Raises:
      Unsupported: it is not a tensor with known rank and a dtype that TCP has.
    """
    type_ = parse_tensor_type(value.type)
    if type_ is None:
        raise Unsupported(f"no tensor type of TCP stands for {value.type}")
    return type_


def tensor(value: ir.Value) -> Tensor:
    """`value`, of the Torch dialect, as a builtin tensor.

    Raises:
      Unsupported: as `tensor_type` does.
    """
    type_ = tensor_type(value)
    owner = value.owner
    if isinstance(owner, ir.Operation | ir.OpView) and owner.name == FROM_BUILTIN_TENSOR:
        return Tensor(owner.operands[0], type_)
    cast = ir.Operation.create(TO_BUILTIN_TENSOR, results=[type_.builtin()], operands=[value])
    return Tensor(cast.result, type_)


def join_casts(root: ir.Operation) -> None:
    """Has ops in `root` use builtin tensors that were cast to the Torch dialect and back.

    A pattern sees what its operands were replaced by only where those were converted before it.
    """
    for op in [op for op in operations_of(root, "torch_c") if op.name == TO_BUILTIN_TENSOR]:
        source = op.operands[0].owner
        if isinstance(source, ir.Block) or source.name != FROM_BUILTIN_TENSOR:
            continue
        if source.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(source.operands[0])
            op.erase()
            if not list(source.results[0].uses):
                source.operation.erase()


def number(value: ir.Value) -> int | float | bool | None:
    """The constant that `value` is: a number, a truth value, or None.

    Raises:
      Unsupported: it is not a constant.
    """
    owner = value.owner
    if isinstance(owner, ir.Operation | ir.OpView):
        if owner.name == "torch.constant.none":
            return None
        if owner.name in ("torch.constant.int", "torch.constant.float", "torch.constant.bool"):
            attribute = owner.attributes["value"]
            if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr):
                constant: int | float | bool = attribute.value
                return constant
    raise Unsupported("a number that is computed at run time")


def string(value: ir.Value) -> str | None:
    """The constant that `value` is: a string, or None.

    Raises:
      Unsupported: it is not a constant.
    """
    owner = value.owner
    if isinstance(owner, ir.Operation | ir.OpView):
        if owner.name == "torch.constant.none":
            return None
        if owner.name == "torch.constant.str":
            return str(ir.StringAttr(owner.attributes["value"]).value)
    raise Unsupported("a string that is computed at run time")


def items(value: ir.Value) -> list[ir.Value]:
    """The values that the list `value` is made of.

    Raises:
      Unsupported: it is not put together right here.
    """
    owner = value.owner
    if isinstance(owner, ir.Operation | ir.OpView) and owner.name == "torch.prim.ListConstruct":
        return list(owner.operands)
    raise Unsupported("a list that is computed at run time")


def integer(value: ir.Value) -> int:
    """The whole number that `value` is.

    Raises:
      Unsupported: it is not a constant, or is None.
    """
    constant = number(value)
    if constant is None:
        raise Unsupported("None in place of a number")
    return int(constant)


def integers(value: ir.Value) -> list[int]:
    """The whole numbers that the list `value` is made of.

    Raises:
      Unsupported: they are not constants.
    """
    return [integer(item) for item in items(value)]


def one_each(value: ir.Value, count: int) -> list[int]:
    """The same, one for each of `count` dimensions, where PyTorch lets one stand for all."""
    entries = integers(value)
    return entries * count if len(entries) == 1 else entries


def axis(value: ir.Value, rank: int) -> int:
    """The dimension that the constant `value` names, counted from the end where negative.

    Raises:
      Unsupported: it is not a constant.
    """
    # PyTorch lets a tensor of rank 0 have a dimension for this purpose.
    return integer(value) % max(rank, 1)


def rewrite_with(pattern: Pattern) -> Callable[[ir.OpView, PatternRewriter], bool]:
    """`pattern` as the rewriter of the bindings calls it, where True means "no match"."""

    def rewrite(op: ir.OpView, rewriter: PatternRewriter) -> bool:
        # What a pattern built before it refused must not stay, or the op is tried again, forever.
        with op.location:
            scratch = ir.Module.create()
        with ir.InsertionPoint(scratch.body), op.location:
            try:
                replacement = pattern(op)
            except Unsupported:
                return True
        for built in list(scratch.body.operations):
            built.move_before(op)
        with rewriter.ip, op.location:
            values = [replacement] if isinstance(replacement, ir.Value) else list(replacement)
            results = [
                ir.Operation.create(
                    FROM_BUILTIN_TENSOR, results=[old.type], operands=[_conform(new, old)]
                ).result
                for old, new in zip(op.results, values, strict=True)
            ]
        rewriter.replace_op(op, results)
        return False

    return rewrite


def convert_carried(pattern: Pattern, op: ir.OpView) -> ir.Value | Sequence[ir.Value]:
    """What `pattern` makes of an op that torch-mlir may carry by its name only.

    Raises:
      Unsupported: as the pattern does, and where the op has other operands than PyTorch gives it,
        which nothing has verified.
    """
    try:
        return pattern(op)
    except (IndexError, ValueError) as error:
        raise Unsupported("operands other than PyTorch gives the op") from error


def _conform(new: ir.Value, old: ir.Value) -> ir.Value:
    """`new` with the sizes that are static in the type of `old`, and no others."""
    type_ = parse_tensor_type(old.type)
    assert type_ is not None, "a pattern replaced a result that is no tensor"
    builtin = type_.builtin()
    return new if new.type == builtin else tensor_dialect.cast(builtin, new)


Patterns = Mapping[str, Pattern]
"""The patterns of a family, by the full name of the op that each converts."""
