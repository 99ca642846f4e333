"""Lowers a module from the Torch dialect to TCP."""

from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.rewrite import RewritePatternSet, apply_patterns_and_fold_greedily

from plumbline.errors import UserError
from plumbline.location import describe
from plumbline.pipeline import LoweringError, Pipeline
from plumbline.torch_to_tcp import data_movement, elementwise
from plumbline.torch_to_tcp.pattern import Patterns, refusal_key, rewrite_with
from plumbline.walk import operations_of

PATTERNS: Patterns = {**data_movement.PATTERNS, **elementwise.PATTERNS}

_OPEN_FUNCTIONS = Pipeline("torch-func-to-builtin", ("torch-func-backend-type-conversion",))

# What TCP has no op for goes straight to linalg, by torch-mlir's own conversions. A TCP module
# therefore holds linalg, tensor, arith, math and scf beside TCP.
_BESIDE_TCP = Pipeline(
    "torch-to-linalg",
    tuple(
        f"func.func({conversion})"
        for conversion in (
            "convert-torch-to-tmtensor",
            "canonicalize",
            "convert-torch-to-linalg",
            "canonicalize",
            "convert-torch-to-scf",
            "convert-torch-to-arith",
            "convert-torch-to-tensor",
        )
    ),
)

_CLOSE_FUNCTIONS = Pipeline(
    "torch-finalize",
    (
        "canonicalize",
        "cse",
        "func.func(torch-finalizing-backend-type-conversion)",
        "canonicalize",
    ),
)


def convert_torch_to_tcp(module: ir.Module) -> None:
    """Lowers `module` in place, from the backend contract of the Torch dialect.

    Raises:
      UserError: it holds operations that can be lowered neither to TCP nor to linalg; the
        message lists all of them, with their places in the user's source.
    """
    _OPEN_FUNCTIONS.run(module)
    refusals: dict[str, str] = {}
    with module.context:
        patterns = RewritePatternSet()
        for name, pattern in PATTERNS.items():
            patterns.add(name, rewrite_with(pattern, refusals))
        _erase_symbolic_shapes(module)
        apply_patterns_and_fold_greedily(module, patterns.freeze())
    try:
        if _torch_ops(module):
            _BESIDE_TCP.run(module)
        _CLOSE_FUNCTIONS.run(module)
    except LoweringError as error:
        message = str(error)
    else:
        message = ""
    if message or _torch_ops(module):
        raise UserError(
            "these operations can be lowered neither to TCP nor to linalg:\n"
            + (_report(module, refusals) or message)
        )


def _erase_symbolic_shapes(module: ir.Module) -> None:
    """Drops the ops that give dynamic sizes a name; nothing is computed by them."""
    # In reverse, since the uses of a symbol come after it.
    for operation in reversed(operations_of(module, "torch")):
        if operation.name in ("torch.bind_symbolic_shape", "torch.symbolic_int"):
            operation.erase()


def _torch_ops(module: ir.Module) -> list[ir.Operation]:
    """The ops of the Torch dialect in `module` that compute something, in order."""
    return [op for op in operations_of(module, "torch") if not _is_glue(op)]


def _is_glue(operation: ir.Operation) -> bool:
    """Whether an op only carries constants and lists to the ops that compute."""
    return operation.name.startswith("torch.constant.") or operation.name in (
        "torch.prim.ListConstruct",
        "torch.prim.TupleConstruct",
    )


def _report(module: ir.Module, refusals: dict[str, str]) -> str:
    illegal = [op for op in _torch_ops(module) if not _lowers_alone(op)]
    lines = []
    for op in illegal:
        types = ", ".join(str(operand.type) for operand in op.operands)
        reason = refusals.get(refusal_key(op))
        lines.append(
            f"  {describe(op.location)}: {_aten_name(op)}({types})" + (f": {reason}" if reason else "")
        )
    return "\n".join(lines)


def _aten_name(op: ir.Operation) -> str:
    """What PyTorch calls the op."""
    name = ir.StringAttr(op.attributes["name"]).value if op.name == "torch.operator" else op.name
    return name.removeprefix("torch.")


def _lowers_alone(op: ir.Operation) -> bool:
    """Whether `op`, in a function of its own, reaches linalg.

    A conversion that fails reports one op and rolls the others back: only by trying each op alone
    can all of those be told that stand in the way.
    """
    probe = ir.Module.create(op.location)
    with op.location:
        types = [operand.type for operand in op.operands if not _is_constant(operand)]
        signature = ir.FunctionType.get(types, [result.type for result in op.results])
        function = func.FuncOp("probe", signature, ip=ir.InsertionPoint(probe.body))
        block = function.add_entry_block()
        arguments = iter(block.arguments)
        with ir.InsertionPoint(block):
            operands = [
                _clone_constant(operand) if _is_constant(operand) else next(arguments)
                for operand in op.operands
            ]
            clone = op.clone()
            for index, operand in enumerate(operands):
                clone.operands[index] = operand
            func.ReturnOp(list(clone.results))
    try:
        for pipeline in (_OPEN_FUNCTIONS, _BESIDE_TCP, _CLOSE_FUNCTIONS):
            pipeline.run(probe)
    except LoweringError:
        return False
    return not _torch_ops(probe)


def _is_constant(value: ir.Value) -> bool:
    """Whether `value` is a constant, or a list of constants."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not _is_glue(owner.operation):
        return False
    return all(map(_is_constant, owner.operands))


def _clone_constant(value: ir.Value) -> ir.Value:
    operands = [_clone_constant(operand) for operand in value.owner.operands]
    clone = value.owner.operation.clone()
    for index, operand in enumerate(operands):
        clone.operands[index] = operand
    return clone.results[0]
