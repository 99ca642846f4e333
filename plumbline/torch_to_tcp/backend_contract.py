"""Checks that all of a module of the Torch dialect was lowered to TCP."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass, PassFailure
from plumbline.bindings.walk import all_operations
from plumbline.tcp.backend_contract import dialect_violation, type_violation


def _verify(operation: ir.Operation) -> None:
    legal = True
    for op in all_operations(operation):
        if violation := dialect_violation(op) or type_violation(op):
            op.location.emit_error(f"'{op.name}' op {violation}")
            legal = False
    if not legal:
        raise PassFailure


TORCH_VERIFY_TCP_BACKEND_CONTRACT = Pass(
    "torch-verify-tcp-backend-contract",
    "Check that a module holds only TCP and what may stand beside it; lists all that may not",
    _verify,
)
