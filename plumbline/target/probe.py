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

# VNNI makes one instruction of products of pairs and a sum, and has another for bytes.
_SUMS_OF_PAIRS = """
declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)
define <8 x i32> @f(<8 x i32> %sums, <16 x i16> %x, <16 x i16> %y) {
  %products = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %x, <16 x i16> %y)
  %added = add <8 x i32> %sums, %products
  ret <8 x i32> %added
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
    if "%ymm" not in assembly and "%zmm" not in assembly:
        return VectorUnit(16, 16)
    dots = ["i8"] if "vpdpwssd" in _assembly(_SUMS_OF_PAIRS, target) else []
    if "%zmm" not in assembly:
        return VectorUnit(32, 16, tuple(dots))
    if "vcvtneps2bf16" in _assembly(_ROUNDING, target):
        dots.append("bf16")
    return VectorUnit(64, 32, tuple(dots))


def _assembly(text: str, target: Target) -> str:
    module = llvm.parse_assembly(text, llvm.create_context())
    return str(target_machine(target).emit_assembly(module))
