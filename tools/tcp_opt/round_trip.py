"""Whether a module survives being written and read, as --verify-roundtrip of mlir-opt asks."""

from collections.abc import Callable, Iterator

from torch_mlir import ir

from plumbline.errors import UserError
from plumbline.tcp.assembly.lexer import Tokens
from plumbline.tcp.assembly.module import parse_operation
from plumbline.tcp.assembly.writer import Writer
from plumbline.tcp.dialect import formats
from tools.tcp_opt import bytecode

_Copy = Callable[[ir.Operation, ir.Context], ir.Operation]

_FORMS: tuple[tuple[str, _Copy], ...] = (
    ("custom assembly", lambda op, context: _read(_writer(op).write(), context)),
    ("generic assembly", lambda op, context: _read(_writer(op).write_generic(), context)),
    ("bytecode", lambda op, context: bytecode.read(bytecode.write(op), context)),
)


def differences(operation: ir.Operation, new_context: Callable[[], ir.Context]) -> Iterator[str]:
    """What went wrong in each form that `operation` does not survive.

    It is read in a `new_context`, as a context gives resources other names when they come again.
    """
    reference = _fingerprint(operation)
    for form, copy in _FORMS:
        try:
            copied = _fingerprint(copy(operation, new_context()))
        except UserError as error:
            yield f"op failed to parse {form} content back, cannot verify round-trip.\n{error}"
            continue
        if copied != reference:
            yield (
                f"op roundTrip testing roundtripped module differs from reference, in {form}:\n"
                f"<<<<<Reference\n{reference}\n=====\n{copied}\n>>>>>roundtripped"
            )


def _read(text: str, context: ir.Context) -> ir.Operation:
    return parse_operation(text, context, "<round trip>")


def _writer(operation: ir.Operation) -> Writer:
    return Writer(Tokens(operation.get_asm(enable_debug_info=True)), formats())


def _fingerprint(operation: ir.Operation) -> str:
    """All that an operation holds, as a text that depends on nothing else."""
    text: str = operation.get_asm(
        enable_debug_info=True, print_generic_op_form=True, use_local_scope=True
    )
    return text
