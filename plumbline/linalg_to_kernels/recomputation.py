"""Keeps fusion from moving a computation to where it would be done over and over.

`linalg-fuse-elementwise-ops` moves what computes an element to the loops that read the element,
if nothing else reads it. Where those loops read an element more than once (a matrix product, the
windows of a convolution, a broadcast), it would be computed as often. A second use of the tensor,
which lasts as long as the pass runs, keeps it apart.
"""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.walk import all_operations

_MARK = "plumbline_keep_apart"

_CHEAP = frozenset({"arith.constant", "arith.extf", "arith.truncf", "linalg.yield"})
"""What may be done over and over: no more than reading a place."""

_RESHAPES = frozenset({"tensor.cast", "tensor.collapse_shape", "tensor.expand_shape"})


def keep_computations_apart(module: ir.Operation) -> None:
    """Gives a second use to each tensor whose elements are costly and read more than once."""
    with module.context:
        found: dict[ir.Value, None] = {}
        for op in all_operations(module):
            if op.name == "linalg.generic":
                found |= dict.fromkeys(_costly(op))
        marks: dict[ir.Type, str] = {}
        start = ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0])
        with ir.Location.unknown():
            for value in found:
                type_ = value.type
                if type_ not in marks:
                    marks[type_] = f"{_MARK}_{len(marks)}"
                    func.FuncOp(marks[type_], ([type_], []), visibility="private", ip=start)
                func.call([], marks[type_], [value], ip=ir.InsertionPoint.after(value.owner))


def let_computations_go(module: ir.Operation) -> None:
    """Takes the second uses away."""
    for op in all_operations(module):
        if op.name == "func.call" and _is_mark(op.attributes["callee"]):
            op.erase()
    for op in list(module.regions[0].blocks[0].operations):
        if op.operation.name == "func.func" and _is_mark(op.attributes["sym_name"]):
            op.operation.erase()


def _is_mark(name: ir.Attribute) -> bool:
    return bool(str(name).strip('@"').startswith(_MARK))


def _costly(op: ir.Operation) -> Iterator[ir.Value]:
    """The tensors that `op` reads, by whatever detour, more than once, and that are computed."""
    for operand, attribute in zip(op.operands, op.attributes["indexing_maps"], strict=True):
        map_ = ir.AffineMapAttr(attribute).value
        value = _computed(operand)
        if value is not None and not _reads_once(map_):
            yield value


def _reads_once(map_: ir.AffineMap) -> bool:
    """Whether no two iterations read the same place."""
    loops = {
        expression.position
        for expression in map(ir.AffineExpr.maybe_downcast, map_.results)
        if isinstance(expression, ir.AffineDimExpr)
    }
    return len(loops) == int(map_.n_dims)


def _computed(value: ir.Value) -> ir.Value | None:
    """The tensor at the end of a chain of mere reshapes, copies and broadcasts, if it is computed.

    What a reduction gives is never moved.
    """
    while not isinstance(value.owner, ir.Block):
        owner = value.owner
        if owner.name in _RESHAPES:
            value = owner.operands[0]
            continue
        if owner.name != "linalg.generic" or _reduces(owner):
            return None
        body = owner.regions[0].blocks[0]
        if any(inner.operation.name not in _CHEAP for inner in body.operations):
            return value
        inputs = len(owner.operands) - len(owner.results)
        if inputs != 1:
            return None
        value = owner.operands[0]
    return None


def _reduces(op: ir.Operation) -> bool:
    return any("reduction" in str(attribute) for attribute in op.attributes["iterator_types"])
