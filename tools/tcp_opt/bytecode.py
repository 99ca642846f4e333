"""Modules as MLIR's bytecode."""

import io

from torch_mlir import ir

from plumbline.errors import UserError

# https://mlir.llvm.org/docs/BytecodeFormat: the magic number.
_MAGIC = b"ML\xefR"


def is_bytecode(content: bytes) -> bool:
    """Whether a file's content is bytecode, and not text."""
    return content.startswith(_MAGIC)


def write(operation: ir.Operation, version: int | None = None) -> bytes:
    """The bytecode of an operation, in the newest version of the format unless told.

    Raises:
      UserError: the version is none that MLIR writes.
    """
    file = io.BytesIO()
    try:
        operation.write_bytecode(file, desired_version=version)
    except ValueError as error:
        raise UserError(f"bytecode version {version} cannot be written: {error}") from None
    return file.getvalue()


def read(content: bytes, context: ir.Context) -> ir.Operation:
    """The module that bytecode holds; an operation that is none gets one around it.

    Raises:
      UserError: it is damaged, or holds what does not verify.
    """
    try:
        return ir.Module.parse(content, context).operation
    except ir.MLIRError as error:
        raise UserError("\n".join(info.message for info in error.error_diagnostics)) from None
    except (RuntimeError, MemoryError) as error:
        # The bindings cannot hand on a message that quotes bytes which are no text; and damage may
        # make a length of any size.
        raise UserError("malformed bytecode") from error


def mlir_version(context: ir.Context) -> str:
    """The version of MLIR, which bytecode names as the one that wrote it, such as `24.0.0git`."""
    with ir.Location.unknown(context):
        content = write(ir.Module.create().operation)
    # After the magic number and a byte for the version of the format.
    producer = content[len(_MAGIC) :].partition(b"\0")[0]
    return producer.partition(b"MLIR")[2].decode()
