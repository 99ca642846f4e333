"""Lowers a module from TCP to linalg on tensors."""

from torch_mlir import ir

from plumbline.bindings.pipeline import Nested, Pass, PassFailure, Pipeline
from plumbline.bindings.walk import operations_of
from plumbline.target.choices import RuntimeChecks
from plumbline.tcp.complex_numbers.conversion import TCP_SPLIT_COMPLEX_NUMBERS
from plumbline.tcp.constraints import is_quantized
from plumbline.tcp.ops.convolution import ConvOp, ConvTransposeOp
from plumbline.tcp.ops.structure import CustomOp
from plumbline.tcp.transforms.canonicalize import TCP_CANONICALIZE
from plumbline.tcp.transforms.drop_symbolic_shape_ops import DROP_SYMBOLIC_SHAPE_OPS
from plumbline.tcp.transforms.inline_group_ops import TCP_INLINE_GROUP_OPS
from plumbline.tcp.transforms.lower import lower
from plumbline.tcp.transforms.note_argument_shapes import NOTE_ARGUMENT_SHAPES
from plumbline.tcp_to_arith.conversion import CONVERT_TCP_TO_ARITH
from plumbline.tcp_to_linalg.patterns import PATTERNS
from plumbline.tcp_to_linalg.runtime_checks import (
    GENERATE_RUNTIME_CHECKS,
    LOCATE_ASSERTIONS,
    NAME_TCP_OPS,
    drop_assertions,
)
from plumbline.tcp_to_linalg.value_checks import CHECK_PARTS, CHECK_VALUES
from plumbline.tcp_to_tensor.conversion import CONVERT_TCP_TO_TENSOR

CONVERT_TCP_TO_LINALG = Pass(
    "convert-tcp-to-linalg",
    "Convert ops of TCP to linalg on tensors",
    lambda operation: lower(operation, PATTERNS),
)


def _reason(op: ir.Operation) -> str:
    if op.name == CustomOp.OPERATION_NAME:
        return f": TCP knows nothing of {op.attributes['op_name']} but its name"
    if op.name in (ConvOp.OPERATION_NAME, ConvTransposeOp.OPERATION_NAME):
        return ": the number of channels in each of the 'groups' must be static"
    types = [value.type for value in op.results]
    if any(is_quantized(type_.element_type) for type_ in types if isinstance(type_, ir.ShapedType)):
        return ": quantized numbers; dequantize them before it, and quantize what comes of it"
    return ""


def _verify_lowered(operation: ir.Operation) -> None:
    remaining = operations_of(operation, "tcp")
    for op in remaining:
        op.location.emit_error(f"'{op.name}' op has no lowering to linalg" + _reason(op))
    if remaining:
        raise PassFailure


VERIFY_NO_TCP_OPS = Pass(
    "verify-no-tcp-ops",
    "Check that no op of TCP is left; lists all that are",
    _verify_lowered,
)

DROP_ASSERTIONS = Pass(
    "drop-assertions",
    "Take everything for granted that the program asserts",
    drop_assertions,
)


def _lower(name: str, *, values: bool) -> Pipeline:
    return Pipeline(
        name,
        (
            TCP_INLINE_GROUP_OPS,
            TCP_SPLIT_COMPLEX_NUMBERS,
            Nested("func.func", ("convert-complex-to-standard",)),
            NOTE_ARGUMENT_SHAPES,
            DROP_SYMBOLIC_SHAPE_OPS,
            TCP_CANONICALIZE,
            CHECK_VALUES if values else DROP_ASSERTIONS,
            CONVERT_TCP_TO_TENSOR,
            *((CHECK_PARTS,) if values else ()),
            CONVERT_TCP_TO_LINALG,
            CONVERT_TCP_TO_ARITH,
            VERIFY_NO_TCP_OPS,
            # What computes on tensors beside TCP.
            Nested("func.func", ("convert-elementwise-to-linalg",)),
            "canonicalize",
            "cse",
            # Later stages do not know the places in the user's source.
            LOCATE_ASSERTIONS,
        ),
        summary="Lower TCP to linalg on tensors",
    )


TCP_TO_LINALG = _lower("tcp-to-linalg-pipeline", values=True)

_PIPELINES: dict[RuntimeChecks, Pipeline] = {
    "off": _lower("tcp-to-linalg-without-checks", values=False),
    "values": TCP_TO_LINALG,
    "all": Pipeline(
        "tcp-to-linalg-with-all-checks",
        (NAME_TCP_OPS, TCP_TO_LINALG, GENERATE_RUNTIME_CHECKS, LOCATE_ASSERTIONS),
        summary="Lower TCP to linalg on tensors, and check the sizes of all operands",
    ),
}


def convert_tcp_to_linalg(module: ir.Module, runtime_checks: RuntimeChecks = "values") -> None:
    """Lowers every TCP op of `module` in place; ops of other dialects stay.

    Raises:
      LoweringError: it holds TCP ops that have no lowering; the message lists all of them, with
        their places in the user's source.
    """
    _PIPELINES[runtime_checks].run(module)
