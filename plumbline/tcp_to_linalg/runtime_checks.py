"""Assertions: their places, and those that the sizes of an op's operands agree.

The latter are for debugging: where sizes disagree, the program fails with a message that names the
op and its place in the source, instead of reading past the end of a tensor.
"""

import re

from torch_mlir import ir
from torch_mlir.dialects import arith, cf, tensor

from plumbline.bindings.pipeline import Pass, Pipeline
from plumbline.bindings.walk import all_operations, operations_of
from plumbline.errors.location import located

_OP_IN_LOCATION = re.compile(r'loc\("(tcp\.\w+)"\(')

# What MLIR's verification has to say, among its own way of saying where.
_FINDING = re.compile(
    r"^ERROR: Runtime op verification failed\n.*?\^ (.*)\nLocation: .*$", re.DOTALL
)

_DISAGREEMENT = re.compile(
    r"dimension #(\d+) of input/output operand #(\d+) is incompatible with inferred dimension size"
)


def _name_ops(operation: ir.Operation) -> None:
    for op in operations_of(operation, "tcp"):
        op.location = ir.Location.name(op.name, op.location, context=op.context)


def _locate(operation: ir.Operation) -> None:
    for op in all_operations(operation):
        if op.name != "cf.assert":
            continue
        message = ir.StringAttr(op.attributes["msg"]).value
        if finding := _FINDING.match(message):
            message = _DISAGREEMENT.sub(
                r"operand \2 disagrees with the others about the size of dimension \1", finding[1]
            )
        name = _OP_IN_LOCATION.match(str(op.location))
        beginning = located(op.location, f"'{name[1]}' op " if name else "")
        # It begins so already if this pass has seen it before.
        if not message.startswith(beginning):
            message = beginning + message
        op.attributes["msg"] = ir.StringAttr.get(message, context=op.context)


def drop_assertions(operation: ir.Operation) -> None:
    """Removes all `cf.assert`."""
    for op in all_operations(operation):
        if op.name == "cf.assert":
            op.erase()


def _check_shapes(operation: ir.Operation) -> None:
    with operation.context:
        for op in operations_of(operation, "tensor"):
            if op.name not in ("tensor.concat", "tensor.expand_shape"):
                continue
            with ir.InsertionPoint(op), op.location:
                if op.name == "tensor.concat":
                    _check_concat(op)
                else:
                    _check_expand_shape(op)


def _check_concat(op: ir.Operation) -> None:
    along = ir.IntegerAttr(op.attributes["dim"]).value
    first, *others = op.operands
    for number, other in enumerate(others, 1):
        for axis in range(other.type.rank):
            if axis != along:
                _require_equal(
                    _dim(first, axis),
                    _dim(other, axis),
                    f"operand {number} disagrees with the first about the size of dimension {axis}",
                )


def _check_expand_shape(op: ir.Operation) -> None:
    source, *dynamic = op.operands
    sizes = [
        dynamic.pop(0) if size == ir.ShapedType.get_dynamic_size() else _constant(size)
        for size in ir.DenseI64ArrayAttr(op.attributes["static_output_shape"])
    ]
    for axis, group in enumerate(op.attributes["reassociation"]):
        product = _constant(1)
        for entry in group:
            product = arith.MulIOp(product, sizes[ir.IntegerAttr(entry).value]).result
        _require_equal(
            _dim(source, axis), product, f"the size of dimension {axis} does not split into those"
        )


def _require_equal(left: ir.Value, right: ir.Value, message: str) -> None:
    equal = arith.CmpIOp(arith.CmpIPredicate.eq, left, right).result
    cf.AssertOp(equal, message)


def _dim(tensor_: ir.Value, axis: int) -> ir.Value:
    return tensor.DimOp(tensor_, _constant(axis)).result


def _constant(number: int) -> ir.Value:
    return arith.ConstantOp(ir.IndexType.get(), number).result


CHECK_TENSOR_SHAPES = Pass(
    "check-tensor-shapes",
    "Assert what generate-runtime-verification does not: sizes of tensor.concat and expand_shape",
    _check_shapes,
)

NAME_TCP_OPS = Pass(
    "name-tcp-ops",
    "Give ops of TCP locations with their names, for what they are lowered to",
    _name_ops,
)

LOCATE_ASSERTIONS = Pass(
    "locate-assertions",
    "Begin the message of each assertion with its place in the source",
    _locate,
)

GENERATE_RUNTIME_CHECKS = Pipeline(
    "generate-runtime-checks",
    (
        CHECK_TENSOR_SHAPES,
        "generate-runtime-verification{verbose-level=0}",
        "canonicalize",
        "cse",
    ),
    summary="Check the sizes of operands when the program runs",
)
