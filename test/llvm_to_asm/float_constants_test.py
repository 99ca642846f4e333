import re
import struct
import sys

import llvmlite.binding as llvm
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch_mlir import ir
from torch_mlir.dialects import llvm as llvm_dialect

from plumbline.llvm_to_asm.float_constants import respell_float_constants

# LLVM's name, MLIR's name, bits.
_TYPES = [("half", "f16", 16), ("bfloat", "bf16", 16), ("float", "f32", 32), ("double", "f64", 64)]


def _printed_by_mlir(mlir_type: str, bits: int, width: int) -> str:
    """A global with the constant of these bits, as the newer LLVM prints it."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(
            f"llvm.mlir.global external constant @x(0x{bits:0{width // 4}X} : {mlir_type}) "
            f": {mlir_type}"
        )
        return str(llvm_dialect.translate_module_to_llvmir(module.operation))


def _bits_in_assembly(llvm_ir: str) -> int:
    """The bits of @x, after LLVM 22 has read the text and compiled it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(llvm_ir, llvm.create_context())
    machine = llvm.Target.from_default_triple().create_target_machine()
    match = re.search(
        r"\.(?:short|long|quad|hword|xword)\s+(0x[0-9a-f]+)", machine.emit_assembly(module)
    )
    assert match is not None
    return int(match[1], 16)


@pytest.mark.parametrize(("llvm_type", "mlir_type", "width"), _TYPES)
def test_every_bit_pattern_survives(llvm_type: str, mlir_type: str, width: int) -> None:
    infinity = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52}[mlir_type]
    quiet = {"f16": 1 << 9, "bf16": 1 << 6, "f32": 1 << 22, "f64": 1 << 51}[mlir_type]

    @settings(max_examples=150)
    @given(st.integers(0, (1 << width) - 1))
    @example(0)
    @example(1)  # the smallest subnormal
    @example(1 << (width - 1))  # -0.0
    @example(infinity - 1)  # the largest finite number
    @example(infinity)
    @example(infinity | 1 << (width - 1))
    @example(infinity | quiet)
    @example(infinity | quiet | 5)
    @example(infinity | 5)  # a signalling NaN
    def check(bits: int) -> None:
        text = respell_float_constants(_printed_by_mlir(mlir_type, bits, width))
        assert _bits_in_assembly(text) == bits

    check()


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("fadd float %0, 1.000000e+00", "fadd float %0, 1.000000e+00"),
        ("fadd float %0, 1.000000e-01", "fadd float %0, 0x3FB99999A0000000"),
        ("fadd half %0, -1.000000e-01", "fadd half %0, 0xHAE66"),
        ("fadd float %0, f0x3DCCCCCD", "fadd float %0, 0x3FB99999A0000000"),
        ("select i1 %c, double +inf, double -inf",
         "select i1 %c, double 0x7FF0000000000000, double 0xFFF0000000000000"),
        ("<2 x bfloat> <bfloat +qnan, bfloat 2.000000e+00>",
         "<2 x bfloat> <bfloat 0xR7FC0, bfloat 2.000000e+00>"),
        # Names, strings and comments that look like constants.
        ('@"float 1.1" = constant c"0.1\\22"', '@"float 1.1" = constant c"0.1\\22"'),
        ("br label %1.5 ; float 0.1", "br label %1.5 ; float 0.1"),
    ],
)  # fmt: skip
def test_spelling(given_text: str, expected: str) -> None:
    assert respell_float_constants(given_text) == expected


def test_rounding_happens_once() -> None:
    # Just above half way between two floats; a double in between would lie on the tie.
    text = "float 1.00000005960464477539062500000000000001"
    (bits,) = struct.unpack("<Q", struct.pack("<d", 1.0000001192092896))
    assert respell_float_constants(text) == f"float 0x{bits:016X}"


def test_a_constant_without_a_type_is_refused() -> None:
    with pytest.raises(ValueError, match="no floating type"):
        respell_float_constants("ret 1.5")


def test_lines_stay_apart() -> None:
    """Each is looked at alone, and those without constants are not."""
    text = "\n%1 = load float, ptr %0\n\n%2 = fmul double 0.1, %2\n%3 = fmul float 0.1, %1"
    doubled = text.replace("double 0.1", "double 0x3FB999999999999A")
    assert respell_float_constants(text) == doubled.replace("float 0.1", "float 0x3FB99999A0000000")
    with pytest.raises(ValueError, match="no floating type"):
        respell_float_constants("%1 = fneg float %0\nret 1.5\n")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
