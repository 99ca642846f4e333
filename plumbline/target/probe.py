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

# AVX512-BF16 rounds vectors, and multiplies them.
_ROUNDING = """
define void @f(ptr %p) {
  %x = load <16 x float>, ptr %p, align 4
  %y = fptrunc <16 x float> %x to <16 x bfloat>
  store <16 x bfloat> %y, ptr %p, align 2
  ret void
}
"""


@functools.cache
def vector_unit_of(target: Target) -> VectorUnit:
    """The vector registers that code for `target` may use.

    Raises:
      UserError: the target does not exist.
    """
    assembly = _assembly(_WIDE_ADDITION, target)
    if not target.triple.startswith("x86_64"):
        return VectorUnit(16, 32)
    if "%zmm" in assembly:
        return VectorUnit(64, 32, "vcvtneps2bf16" in _assembly(_ROUNDING, target))
    return VectorUnit(32 if "%ymm" in assembly else 16, 16)


def _assembly(text: str, target: Target) -> str:
    module = llvm.parse_assembly(text, llvm.create_context())
    return str(target_machine(target).emit_assembly(module))
