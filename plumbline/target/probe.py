"""Finds out from LLVM what the CPU of a target has."""

import functools
import re
from dataclasses import replace

import llvmlite.binding as llvm

from plumbline.target.machine import target_machine
from plumbline.target.target import THUMB, Target
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

_SUM_OF_BYTES = """
define i32 @f(<16 x i8> %x, <16 x i8> %y) {
  %a = sext <16 x i8> %x to <16 x i32>
  %b = sext <16 x i8> %y to <16 x i32>
  %products = mul <16 x i32> %a, %b
  %sum = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %products)
  ret i32 %sum
}
declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>)
"""


# NEON divides no integers.
_QUOTIENTS = """
define <4 x i32> @f(<4 x i32> %x, <4 x i32> %y) {
  %z = sdiv <4 x i32> %x, %y
  ret <4 x i32> %z
}
"""

_SUM = """
define float @f(float %x, float %y) {
  %z = fadd float %x, %y
  ret float %z
}
"""

# Those with it have what multiplies halves of registers of integers (Armv7E-M).
_SUM_OF_HALVES = """
define i32 @f(i16 %x, i16 %y, i32 %sum) {
  %a = sext i16 %x to i32
  %b = sext i16 %y to i32
  %product = mul i32 %a, %b
  %z = add i32 %product, %sum
  ret i32 %z
}
"""

_OF_TILES = {"tdpbf16ps": "amx-bf16", "tdpbssd": "amx-int8"}
"""LLVM's features of what multiplies matrices in registers for them."""

_SCALARS = VectorUnit(4, 32)
"""Of a CPU that has no vectors, but registers of one float each."""

_LITTLE = 1 << 11
"""Bytes that a kernel may have on the stack of a microcontroller, which often has 64 kB of memory
in all, and no cache that more of them would make use of."""


@functools.cache
def vector_unit_of(target: Target) -> VectorUnit:
    """The vector registers that code for `target` may use.

    Raises:
      UserError: the target does not exist.
    """
    if target.is_webassembly:
        # It has any number of variables. Browsers keep them in the registers of x86-64, of which
        # they need some themselves, or AArch64.
        return VectorUnit(16, 12)
    if target.architecture == "aarch64":
        # Of Armv8.2-A.
        has_sdot = "\tsdot\t" in _assembly(_SUM_OF_BYTES, target)
        has_sve = "\tsdiv\tz" in _assembly(_QUOTIENTS, target)
        return VectorUnit(16, 32, ("sdot",) if has_sdot else (), scalable=has_sve)
    assembly = _assembly(_WIDE_ADDITION, target)
    if target.architecture == "riscv64":
        return _riscv_unit(assembly)
    if target.architecture == THUMB:
        return replace(_unit_of_arm(target, assembly), scratch_bytes=_LITTLE, index_bits=32)
    if target.architecture != "x86_64":
        return VectorUnit(16, 32)
    if "%ymm" not in assembly and "%zmm" not in assembly:
        return VectorUnit(16, 16)
    if "%zmm" not in assembly:
        return VectorUnit(32, 16, _dots_of_integers("%ymm", 8, target))
    dots = _dots_of_integers("%zmm", 16, target)
    if "vcvtneps2bf16" in _assembly(_ROUNDING, target):
        dots = (*dots, "vdpbf16ps")
    if not target.is_for_windows:
        # Linux lets programs use such when asked (`kernels_to_llvm/tile_permission.py`).
        dots += tuple(name for name, feature in _OF_TILES.items() if _has(feature, target))
    return VectorUnit(64, 32, dots)


def _has(feature: str, target: Target) -> bool:
    """Whether LLVM says so: it puts no function into another one whose CPU has less."""
    module = llvm.parse_assembly(
        f"""
define internal void @inner(ptr %p) "target-cpu"="x86-64" "target-features"="+{feature}" {{
  store i32 1, ptr %p
  ret void
}}
define void @outer(ptr %p) "target-cpu"="{target.cpu}" "target-features"="{target.features}" {{
  call void @inner(ptr %p)
  ret void
}}
""",
        llvm.create_context(),
    )
    passes = llvm.create_pass_builder(
        target_machine(target), llvm.create_pipeline_tuning_options(2)
    )
    passes.getModulePassManager().run(module, passes)
    return "call" not in str(module)


def has_float_registers(target: Target) -> bool:
    """Whether a CPU of Arm's adds floats by an instruction."""
    return "\tvadd.f32\t" in _assembly(_SUM, target)


def _unit_of_arm(target: Target, wide_addition: str) -> VectorUnit:
    """Of a microcontroller. Helium has vectors; else a register holds a float, or an integer."""
    if re.search(r"\tvadd\.f32\tq", wide_addition):
        return VectorUnit(16, 8, ("vmlava",))
    has_smlad = "\tsmlabb\t" in _assembly(_SUM_OF_HALVES, target)
    scalars = replace(_SCALARS, dots=("smlad",) if has_smlad else ())
    return scalars if has_float_registers(target) else replace(scalars, registers=4)


def _riscv_unit(wide_addition: str) -> VectorUnit:
    """Of RISC-V, where registers are as long as a CPU has them, and code is for at least so long.

    LLVM takes them in groups (`m4`: four) that hold a vector.
    """
    group = re.search(r"\tvset\w+\t.*\be32, m(f?)(\d)", wide_addition)
    if group is None:
        return _SCALARS
    # Of those of more than 64 bytes a part is used.
    registers = 1 if group[1] else int(group[2])
    return VectorUnit(16 * 4 // registers, 32, scalable=True)


def _dots_of_integers(register: str, lanes: int, target: Target) -> tuple[str, ...]:
    """Of which integers registers of so many lanes of 32 bits have products added up.

    Products of pairs are one instruction, and with VNNI one with the sum; that has another for
    bytes.
    """
    text = _assembly(_sums_of_pairs(lanes), target)
    lines = [line for line in text.splitlines() if register in line]
    if any("vpdpwssd" in line for line in lines):
        return ("vpdpbusd", "vpmaddwd")
    return ("vpmaddwd",) if any("vpmaddwd" in line for line in lines) else ()


def _sums_of_pairs(lanes: int) -> str:
    narrow, wide = f"<{2 * lanes} x i16>", f"<{lanes} x i32>"
    even, odd = (
        f"{wide} <{', '.join(f'i32 {lane}' for lane in range(first, 2 * lanes, 2))}>"
        for first in (0, 1)
    )
    return f"""
define {wide} @f({wide} %sums, {narrow} %x, {narrow} %y) {{
  %a = shufflevector {narrow} %x, {narrow} poison, {even}
  %b = shufflevector {narrow} %y, {narrow} poison, {even}
  %c = shufflevector {narrow} %x, {narrow} poison, {odd}
  %d = shufflevector {narrow} %y, {narrow} poison, {odd}
  %wide.a = sext <{lanes} x i16> %a to {wide}
  %wide.b = sext <{lanes} x i16> %b to {wide}
  %wide.c = sext <{lanes} x i16> %c to {wide}
  %wide.d = sext <{lanes} x i16> %d to {wide}
  %first = mul {wide} %wide.a, %wide.b
  %second = mul {wide} %wide.c, %wide.d
  %both = add {wide} %first, %second
  %added = add {wide} %sums, %both
  ret {wide} %added
}}
"""


def _assembly(text: str, target: Target) -> str:
    module = llvm.parse_assembly(text, llvm.create_context())
    return str(target_machine(target).emit_assembly(module))
