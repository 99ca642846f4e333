"""Finding operations in a module."""

from torch_mlir import ir


def all_operations(root: ir.Module | ir.Operation) -> list[ir.Operation]:
    """`root` and all operations in it, nested ones included, in the order of the text."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def operations_of(root: ir.Module | ir.Operation, dialect: str) -> list[ir.Operation]:
    """All operations of `dialect` in `root`, nested ones included, in the order of the text."""
    return [op for op in all_operations(root) if op.name.startswith(f"{dialect}.")]
