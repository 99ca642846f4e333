"""Has bufferization look at long rows of updates a few at a time.

A tensor into which parts are put one after another, as the steps of an unrolled loop do it, is one
alias set of `one-shot-bufferize`, whose time grows with the cube of what is in one. A buffer on the
way ends a set, and another begins. All stays in place, as nothing reads later what was before.
"""

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import bufferization

from plumbline.bindings.views import VIEWS
from plumbline.bindings.walk import defining_operation, operations_named, users_through

_FEW = 16
"""How many updates make a set."""

_UPDATE = "tensor.insert_slice"

_RESHAPES = frozenset({"tensor.cast", "tensor.collapse_shape", "tensor.expand_shape"})

_VIEWS = VIEWS | _RESHAPES | {"bufferization.to_buffer", "tensor.extract_slice"}
"""What may share the memory of its first operand, which whoever reads its result reads."""


def divide_long_updates(module: ir.Operation) -> None:
    """Puts a buffer after every so many updates of a tensor, where nobody reads what was before."""
    with module.context:
        for update in operations_named(module, _UPDATE):
            updated = update.operands[1]
            before = defining_operation(updated)
            is_first = before is None or not _is_update(before, update.block)
            if is_first and _is_contiguous(updated):
                _divide([*_row(update)])


def _row(update: ir.Operation | None) -> Iterator[ir.Operation]:
    """An update, the one of what it gives, and so on."""
    while update is not None:
        yield update
        update = _following(update)


def _following(update: ir.Operation) -> ir.Operation | None:
    for use in update.results[0].uses:
        user = use.owner.operation
        if use.operand_number == 1 and _is_update(user, update.block):
            return user
    return None


def _is_update(op: ir.Operation, block: ir.Block) -> bool:
    return bool(op.name == _UPDATE and op.block == block)


def _is_contiguous(value: ir.Value) -> bool:
    """Whether what is updated first is no part of another tensor, and so lies in a buffer whole."""
    made = defining_operation(value)
    while made is not None and made.name in _RESHAPES:
        value = made.operands[0]
        made = defining_operation(value)
    if made is None:
        return bool(value.owner.owner.operation.name == "func.func")
    if made.name == "bufferization.to_tensor":
        return bool(ir.MemRefType(made.operands[0].type).layout == _contiguous(value.type).layout)
    return made.name in ("arith.constant", "tensor.empty")


def _divide(row: Sequence[ir.Operation]) -> None:
    """Divides a row of updates of one tensor, each of what the last one gave."""
    for begin in range(0, len(row) - _FEW, _FEW):
        *before, last = row[begin : begin + _FEW]
        if not all(_is_read_until(last, update) for update in before):
            continue
        uses = list(last.results[0].uses)
        with ir.InsertionPoint.after(last), last.location:
            kind = last.results[0].type
            buffer = bufferization.to_buffer(_contiguous(kind), last.results[0])
            tensor = bufferization.to_tensor(kind, buffer, restrict=True, writable=True)
        for use in uses:
            use.owner.operands[use.operand_number] = tensor


def _contiguous(kind: ir.Type) -> ir.MemRefType:
    """The type of a buffer with a tensor of that type."""
    tensor = ir.RankedTensorType(kind)
    return ir.MemRefType.get(tensor.shape, tensor.element_type)


def _is_read_until(last: ir.Operation, update: ir.Operation) -> bool:
    """Whether what reads what an update gives, or a part of it, is the last one or before it."""
    return all(
        user == last or (user.block == last.block and user.is_before_in_block(last))
        for user in users_through(update.results[0], _VIEWS)
    )
