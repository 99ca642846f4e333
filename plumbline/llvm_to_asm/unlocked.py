"""What LLVM takes long for, without the lock of llvmlite, so that several threads do it at once.

llvmlite lets one thread into its library at a time, for the sake of what modules share in a
context. LLVM itself asks for no more than that what has one context is not used by two threads at
once: https://llvm.org/docs/ProgrammersManual.html#threads-and-llvm
"""

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi


def run_passes(
    manager: llvm.ModulePassManager, module: llvm.ModuleRef, builder: llvm.PassBuilder
) -> None:
    """Runs passes over a module, in whose context no other thread does anything meanwhile."""
    _unlocked(ffi.lib.LLVMPY_RunNewModulePassManager)(manager, module, builder)


def object_of(machine: llvm.TargetMachine, module: llvm.ModuleRef) -> bytes:
    """The object file of such a module; nobody else uses the `machine` meanwhile, either.

    Raises:
      RuntimeError: LLVM can make none.
    """
    with ffi.OutputString() as error:
        emit = _unlocked(ffi.lib.LLVMPY_TargetMachineEmitToMemory)
        buffer = emit(machine, module, True, error)
        if not buffer:
            raise RuntimeError(str(error))
    try:
        start = ffi.lib.LLVMPY_GetBufferStart(buffer)
        return ctypes.string_at(start, ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _unlocked(function: Callable[..., Any]) -> Callable[..., Any]:
    # It is a wrapper that takes the lock; where it is none, threads take turns as they did.
    inner: Callable[..., Any] = getattr(function, "_cfn", function)
    return inner
