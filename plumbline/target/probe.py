"""Finds out from LLVM what the CPU of a target has."""

import functools

import llvmlite.binding as llvm

from plumbline.target.machine import target_machine
from plumbline.target.target import Target
from plumbline.target.vector_unit import VectorUnit

# More than any register holds: code for it uses the widest there are.
_WIDE_ADDITION = """
define void @f(ptr %p) {
  %x = load <16 x float>, ptr %p, align 4
  %y = fadd <16 x float> %x, %x
  store <16 x float> %y, ptr %p, align 4
  ret void
}
"""


@functools.cache
def vector_unit_of(target: Target) -> VectorUnit:
    """The vector registers that code for `target` may use.

    Raises:
      UserError: the target does not exist.
    """
    addition = llvm.parse_assembly(_WIDE_ADDITION, llvm.create_context())
    assembly = target_machine(target).emit_assembly(addition)
    if not target.triple.startswith("x86_64"):
        return VectorUnit(16, 32)
    if "%zmm" in assembly:
        return VectorUnit(64, 32)
    return VectorUnit(32 if "%ymm" in assembly else 16, 16)
