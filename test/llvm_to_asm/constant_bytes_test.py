import sys

import numpy as np
import pytest

from plumbline.context import make_context
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.library.linked_code import linked_function
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.target.cpu import cpu_target
from plumbline.tcp.assembly.module import parse_module


def _llvm_ir(values: str, count: int) -> str:
    module = parse_module(
        f"llvm.mlir.global private constant @c(dense<{values}> : tensor<{count}xf32>) "
        f": !llvm.array<{count} x f32>",
        make_context(),
        "in.mlir",
    )
    before = str(module)
    text = translate_to_llvm_ir(module)
    assert str(module) == before
    return text


def test_a_large_constant_is_bytes() -> None:
    content = np.arange(5000, dtype=np.float32).tobytes()
    llvm_ir = _llvm_ir(f'"0x{content.hex()}"', 5000)
    assert "@c = private constant [20000 x i8] c" in llvm_ir
    assert ", align 64" in llvm_ir


def test_a_small_constant_is_for_people_to_read() -> None:
    assert "[2 x float] [float 1.000000e+00, float 2.000000e+00]" in _llvm_ir("[1.0, 2.0]", 2)


def test_a_constant_without_elements() -> None:
    """MLIR's translation divides by their number, and ends the process."""
    module = parse_module(
        "llvm.mlir.global private constant @c(dense_resource<none> : tensor<0x3x3xi64>) "
        ": !llvm.array<0 x array<3 x array<3 x i64>>>\n"
        '{-# dialect_resources: { builtin: { none: "0x08000000" } } #-}',
        make_context(),
        "in.mlir",
    )
    assert "@c = private constant [0 x i8]" in translate_to_llvm_ir(module)


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "i1", "i8", "i16", "i32", "i64", "bf16"])
def test_the_numbers_are_the_same(dtype: str) -> None:
    type_ = f"tensor<2x1500x{dtype}>"
    numbers = np.arange(3000) % 2 if dtype == "i1" else np.arange(3000) % 100
    spelled = [str(bool(n)).lower() if dtype == "i1" else str(n) for n in numbers]
    if "f" in dtype:
        spelled = [f"{number}.0" for number in spelled]
    elements = f"[[{', '.join(spelled[:1500])}], [{', '.join(spelled[1500:])}]]"
    text = (
        f"func.func @f() -> {type_} {{\n"
        f"  %0 = arith.constant dense<{elements}> : {type_}\n"
        f"  return %0 : {type_}\n"
        "}\n"
    )
    module = parse_module(text, make_context(torch=True), "in.mlir")
    convert_linalg_to_kernels(module)
    signature = program_signature(module, "f")
    convert_kernels_to_llvm(module, "pointers")
    llvm_ir = translate_to_llvm_ir(module)
    (constant,) = (line for line in llvm_ir.splitlines() if line.startswith("@__constant"))
    assert (" x i8] c" in constant) == (dtype != "bf16")
    function = linked_function(
        emit_object(llvm_ir, cpu_target("baseline")),
        signature,
    )
    (answer,) = function()
    if dtype == "bf16":
        answer = (answer.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(answer.astype(np.float64).reshape(-1), numbers)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
