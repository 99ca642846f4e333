"""Finding operations in a module, and the values that they use."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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
    prefix = f"{dialect}."
    found: list[ir.Operation] = []

    # Others are let go at once: to choose from a list of all of them takes twice as long.
    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name.startswith(prefix):
            found.append(operation)
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def operations_named(root: ir.Module | ir.Operation, *names: str) -> list[ir.Operation]:
    """All operations called one of `names` in `root`, itself included, in the order of the text."""
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name in names:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def defining_operation(value: ir.Value) -> ir.Operation | None:
    """The operation that gives a value, or None for an argument of a block."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def callee(call: ir.Operation) -> str:
    """The function that a `func.call` calls."""
    return str(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)


def constant_integer(value: ir.Value) -> int | None:
    """The number that an integer is, if it is a constant."""
    owner = defining_operation(value)
    if owner is None or owner.name != "arith.constant":
        return None
    attribute = owner.attributes["value"]
    return int(attribute.value) if isinstance(attribute, ir.IntegerAttr) else None


def constant_float(value: ir.Value) -> float | None:
    """The number that an `arith.constant` gives, in all lanes of a vector; else None."""
    constant = defining_operation(value)
    if constant is not None and constant.name == "vector.broadcast":
        constant = defining_operation(constant.operands[0])
    if constant is None or constant.name != "arith.constant":
        return None
    number = constant.attributes["value"]
    if isinstance(number, ir.DenseElementsAttr) and number.is_splat:
        number = number.get_splat_value()
    return float(number.value) if isinstance(number, ir.FloatAttr) else None


def is_inside(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value is given by an operation or a block within `op`, or by `op` itself."""
    owner = value.owner
    around = owner.owner if isinstance(owner, ir.Block) else owner
    while around is not None and around.operation != op:
        around = around.operation.parent
    return around is not None


def captured_values(root: ir.Operation) -> list[ir.Value]:
    """The values from around `root` that it and the operations in it use, by their first use."""
    inside = all_operations(root)
    defined = {result for op in inside for result in op.results}
    defined |= {
        argument
        for op in inside
        for region in op.regions
        for block in region.blocks
        for argument in block.arguments
    }
    # A dict, as a set has no order.
    return list(
        dict.fromkeys(operand for op in inside for operand in op.operands if operand not in defined)
    )


def replace_operands(root: ir.Operation, values: Mapping[ir.Value, ir.Value]) -> None:
    """Has `root` and the operations in it use `values` in place of their keys."""
    for op in all_operations(root):
        for number, operand in enumerate(op.operands):
            if operand in values:
                op.operands[number] = values[operand]


def clone_operations(ops: Iterable[ir.Operation], values: dict[ir.Value, ir.Value]) -> None:
    """Copies operations to where ops are built, in their order, and adds their results to `values`.

    They use `values` in place of its keys, so results of the operations before them among others.
    """
    for op in ops:
        clone = op.clone(ip=ir.InsertionPoint.current).operation
        replace_operands(clone, values)
        values |= zip(op.results, clone.results, strict=True)


def needed_for(
    values: Iterable[ir.Value], operations: Sequence[ir.Operation]
) -> list[ir.Operation]:
    """Those of `operations`, in their order, that give `values`, or what others that do so need."""
    needed, found = set(values), []
    for op in reversed(operations):
        if needed.intersection(op.results):
            needed.update(op.operands)
            found.append(op)
    return found[::-1]


def enclosing_in(block: ir.Block, op: ir.Operation) -> ir.Operation:
    """The operation of `block` that `op` is, or is in."""
    while op.block != block:
        op = op.parent.operation
    return op


def module_around(op: ir.Operation) -> ir.Operation:
    """The outermost operation that `op` is in."""
    while op.parent is not None:
        op = op.parent.operation
    return op


def users_through(value: ir.Value, views: Collection[str]) -> Iterator[ir.Operation]:
    """What uses a value, and what uses the first result of each user that is one of `views`."""
    for use in value.uses:
        user = use.owner.operation
        yield user
        if user.name in views:
            yield from users_through(user.results[0], views)
