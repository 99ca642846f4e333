"""Takes what TCP has no op for straight to linalg, by torch-mlir's own conversions.

A TCP module therefore holds linalg, tensor, arith, math and scf beside TCP.
"""

from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.pipeline import MODULE, LoweringError, Nested, Pass, PassFailure, Pipeline
from plumbline.bindings.walk import captured_values, replace_operands
from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.torch_to_tcp.float_comparisons import COMPARE_FLOATS
from plumbline.torch_to_tcp.pattern import convert_carried
from plumbline.torch_to_tcp.patterns import PATTERNS
from plumbline.torch_to_tcp.sort_order import ORDER_NAN_IN_SORTS
from plumbline.torch_to_tcp.torch_ops import computing_ops, full_name, is_constant, pytorch_name

NO_LOWERING = "can be lowered neither to TCP nor to linalg"
"""What the pass says of each op in `ops_without_lowering`."""

_TO_LINALG = Pipeline(
    "torch-to-linalg",
    (
        COMPARE_FLOATS,
        Nested(
            "func.func",
            (
                "convert-torch-to-tmtensor",
                "canonicalize",
                "convert-torch-to-linalg",
                "canonicalize",
                "convert-torch-to-scf",
                "convert-torch-to-arith",
                "convert-torch-to-tensor",
            ),
        ),
        ORDER_NAN_IN_SORTS,
        "canonicalize",
        "cse",
    ),
)

_ONE_OP_TO_LINALG = Pipeline(
    "one-torch-op-to-linalg",
    (
        "torch-func-backend-type-conversion",
        _TO_LINALG,
        Nested("func.func", ("torch-finalizing-backend-type-conversion",)),
        "canonicalize",
    ),
)


def _convert(operation: ir.Operation) -> None:
    if operation.name != MODULE:
        raise UserError(f"convert-torch-to-linalg-beside-tcp runs on '{MODULE}' only")
    if not computing_ops(operation):
        return
    message = ""
    try:
        _TO_LINALG.run(operation)
    except LoweringError as error:
        message = str(error)
    if not message and not computing_ops(operation):
        return
    illegal = ops_without_lowering(operation)
    for op, reason in illegal:
        types = ", ".join(str(operand.type) for operand in op.operands)
        op.location.emit_error(
            f"{pytorch_name(op)}({types}) {NO_LOWERING}" + (f": {reason}" if reason else "")
        )
    if not illegal:
        operation.location.emit_error(message)
    raise PassFailure


CONVERT_TORCH_TO_LINALG_BESIDE_TCP = Pass(
    "convert-torch-to-linalg-beside-tcp",
    "Convert ops of the Torch dialect that TCP has no ops for to linalg and its kin",
    _convert,
)


def ops_without_lowering(root: ir.Module | ir.Operation) -> list[tuple[ir.Operation, str]]:
    """The ops left over in `root` that nothing lowers, each with why its pattern to TCP refuses."""
    found: list[tuple[ir.Operation, str]] = []
    # The inner ones first: what has one of these in its body is in nobody's way itself.
    for op in reversed(computing_ops(root)):
        if not any(_is_within(inner, op) for inner, _ in found) and not _lowers_alone(op):
            found.append((op, _refusal(op)))
    return found[::-1]


def _is_within(op: ir.Operation, outer: ir.Operation) -> bool:
    parent = op.parent
    return parent is not None and (parent == outer or _is_within(parent.operation, outer))


def _refusal(op: ir.Operation) -> str:
    """Why the pattern to TCP refuses an op; empty if there is none."""
    pattern = PATTERNS.get(full_name(op))
    if pattern is None:
        return ""
    _, clone = _alone(op)
    try:
        with ir.InsertionPoint(clone), op.location:
            convert_carried(pattern, clone.opview)
    except Unsupported as reason:
        return str(reason)
    return ""


def _lowers_alone(op: ir.Operation) -> bool:
    """Whether `op`, in a function of its own, reaches linalg.

    A conversion that fails reports one op and rolls the others back: only by trying each op alone
    can all of those be told that stand in the way.
    """
    probe, _ = _alone(op)
    try:
        _ONE_OP_TO_LINALG.run(probe)
    except LoweringError:
        return False
    return not computing_ops(probe)


def _alone(op: ir.Operation) -> tuple[ir.Module, ir.Operation]:
    """A module with a clone of `op` in a function of its own, and the clone."""
    probe = ir.Module.create(op.location)
    used = captured_values(op)
    with op.location:
        given = [value for value in used if not is_constant(value)]
        signature = ir.FunctionType.get(
            [value.type for value in given], [result.type for result in op.results]
        )
        function = func.FuncOp("probe", signature, ip=ir.InsertionPoint(probe.body))
        block = function.add_entry_block()
        with ir.InsertionPoint(block):
            here = dict(zip(given, block.arguments, strict=True))
            here.update((value, _clone_constant(value)) for value in used if is_constant(value))
            clone = op.clone().operation
            replace_operands(clone, here)
            func.ReturnOp(list(clone.results))
    return probe, clone


def _clone_constant(value: ir.Value) -> ir.Value:
    operands = [_clone_constant(operand) for operand in value.owner.operands]
    clone = value.owner.operation.clone()
    for index, operand in enumerate(operands):
        clone.operands[index] = operand
    return clone.results[0]
