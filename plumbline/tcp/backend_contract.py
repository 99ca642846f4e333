"""What a module at the TCP stage may hold, whatever it was lowered from."""

import re
from collections.abc import Iterator

from torch_mlir import ir

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
_DIALECT_OF_TYPE = re.compile(r"!(\w+)\.")


def dialect_violation(op: ir.Operation) -> str | None:
    """What is illegal about an op itself, as it goes on after the op's name."""
    dialect = op.name.partition(".")[0]
    if dialect in _LEGAL_DIALECTS:
        return None
    return f"is not legal at the TCP stage, as '{dialect}' is not"


def type_violation(op: ir.Operation) -> str | None:
    """What is illegal about the types of an op's results and blocks, in the same way."""
    for type_ in _types(op):
        if not _LEGAL_DIALECTS.issuperset(_DIALECT_OF_TYPE.findall(str(type_))):
            return f"is not legal at the TCP stage, as its type '{type_}' is not"
    return None


def _types(op: ir.Operation) -> Iterator[ir.Type]:
    if op.name == "func.func":
        yield ir.TypeAttr(op.attributes["function_type"]).value
    for result in op.results:
        yield result.type
    for region in op.regions:
        for block in region.blocks:
            for argument in block.arguments:
                yield argument.type
