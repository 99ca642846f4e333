"""What a module at the TCP stage may hold."""

from collections.abc import Iterator

from torch_mlir import ir

from plumbline.pipeline import Pass, PassFailure
from plumbline.walk import all_operations

_LEGAL_DIALECTS = frozenset(
    (
        "arith",
        "builtin",
        "cf",
        "complex",
        "func",
        "linalg",
        "math",
        "ml_program",
        "scf",
        "tcp",
        "tensor",
        "tm_tensor",
    )
)


def _verify(operation: ir.Operation) -> None:
    legal = True
    for op in all_operations(operation):
        for violation in violations(op):
            op.location.emit_error(f"'{op.name}' op {violation}")
            legal = False
    if not legal:
        raise PassFailure


def violations(op: ir.Operation) -> Iterator[str]:
    """What is illegal about an op, as it goes on after the op's name."""
    dialect = op.name.partition(".")[0]
    if dialect not in _LEGAL_DIALECTS:
        yield f"is not legal at the TCP stage, as '{dialect}' is not"
        return
    for type_ in _types(op):
        if "!torch." in str(type_):
            yield f"is not legal at the TCP stage, as its type '{type_}' is not"
            return


def _types(op: ir.Operation) -> Iterator[ir.Type]:
    if op.name == "func.func":
        yield ir.TypeAttr(op.attributes["function_type"]).value
    for result in op.results:
        yield result.type
    for region in op.regions:
        for block in region.blocks:
            for argument in block.arguments:
                yield argument.type


TORCH_VERIFY_TCP_BACKEND_CONTRACT = Pass(
    "torch-verify-tcp-backend-contract",
    "Check that a module holds only TCP and what may stand beside it; lists all that may not",
    _verify,
)
