"""Modules as MLIR's bytecode."""

import contextlib
import io
import resource
import time
from collections.abc import Iterator

from torch_mlir import ir

from plumbline.errors import UserError

# https://mlir.llvm.org/docs/BytecodeFormat: the magic number.
_MAGIC = b"ML\xefR"

# MLIR may read damaged bytecode without end. Sound bytecode takes a hundredth of this.
_SECONDS, _BYTES_A_SECOND = 5, 1_000_000


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


@contextlib.contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    """Ends the process if it computes for longer, by a signal: it is in C++ then."""
    former = resource.getrlimit(resource.RLIMIT_CPU)
    soft, hard = former
    own = int(time.process_time()) + 1 + seconds
    least = min(limit for limit in (own, *former) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_CPU, (least, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def read(content: bytes, context: ir.Context) -> ir.Operation:
    """The module that bytecode holds; an operation that is none gets one around it.

    Where MLIR does not come to an end with it, SIGXCPU ends the process.

    Raises:
      UserError: it is damaged, or holds what does not verify.
    """
    try:
        with _time_limit(_SECONDS + len(content) // _BYTES_A_SECOND):
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
