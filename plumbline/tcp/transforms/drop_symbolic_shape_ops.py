"""Drops the ops that give dynamic sizes a name; nothing is computed by them."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_of

_BIND = "bind_symbolic_shape"
_SYMBOLIC_INT = "symbolic_int"


def _drop(operation: ir.Operation) -> None:
    # Both those of TCP and those that the exporter writes.
    for dialect in ("torch", "tcp"):
        # In reverse, since the uses of a symbol come after it.
        for op in reversed(operations_of(operation, dialect)):
            name = op.name.removeprefix(f"{dialect}.")
            if name == _BIND or (name == _SYMBOLIC_INT and not list(op.results[0].uses)):
                op.erase()


DROP_SYMBOLIC_SHAPE_OPS = Pass(
    "drop-symbolic-shape-ops",
    "Drop the ops that name dynamic sizes",
    _drop,
)
