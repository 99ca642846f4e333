"""Finding operations in a module."""

from torch_mlir import ir


def operations_of(module: ir.Module, dialect: str) -> list[ir.Operation]:
    """All operations of `dialect` in `module`, nested ones included, in the order of the text."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name.startswith(f"{dialect}."):
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
