"""What is told of ops of the Torch dialect by their names."""

from collections.abc import Iterable

from torch_mlir import ir

from plumbline.bindings.walk import operations_of

_PREFIX = "torch."
_SYMBOLIC = ("torch.bind_symbolic_shape", "torch.symbolic_int")
# What ends the bodies of loops and branches, and is converted with them.
_TERMINATORS = ("torch.prim.Loop.condition", "torch.prim.If.yield")


def full_names(names: Iterable[str]) -> set[str]:
    """Names of ops as MLIR has them, of names with or without the dialect's: `aten.tanh`."""
    return {_PREFIX + name.removeprefix(_PREFIX) for name in names}


def full_name(op: ir.Operation) -> str:
    """The name of an op as MLIR has it, also of one that torch-mlir carries in `torch.operator`."""
    return str(
        ir.StringAttr(op.attributes["name"]).value if op.name == "torch.operator" else op.name
    )


def pytorch_name(op: ir.Operation) -> str:
    """What PyTorch calls the op, such as `aten.add.Tensor`."""
    return full_name(op).removeprefix(_PREFIX)


def is_glue(op: ir.Operation) -> bool:
    """Whether an op only carries constants and lists to the ops that compute."""
    return op.name.startswith("torch.constant.") or op.name in (
        "torch.prim.ListConstruct",
        "torch.prim.TupleConstruct",
    )


def computing_ops(root: ir.Module | ir.Operation) -> list[ir.Operation]:
    """The ops of the Torch dialect in `root` that compute something, in order."""
    return [
        op
        for op in operations_of(root, "torch")
        if not is_glue(op) and op.name not in _SYMBOLIC + _TERMINATORS
    ]


def is_constant(value: ir.Value) -> bool:
    """Whether `value` is a constant, or a list of constants."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not is_glue(owner.operation):
        return False
    return all(map(is_constant, owner.operands))
