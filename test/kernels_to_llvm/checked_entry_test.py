"""Calls checked entries, as C does."""

import ctypes
import sys
from collections.abc import Callable

import llvmlite.binding as llvm
import pytest

from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.target.cpu import cpu_target
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg

_LIBC = ctypes.CDLL(None)
_LIBC.free.argtypes = [ctypes.c_void_p]


class _MemRef(ctypes.Structure):
    _fields_ = (
        ("base", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
        ("sizes", ctypes.c_int64 * 2),
        ("strides", ctypes.c_int64 * 2),
    )


_TCP = """
func.func @f(%x: tensor<?x3xf32>, %y: tensor<?x?xf32>) -> tensor<?x3xf32> {
  %n = tcp.symbolic_int "n%" {min_val = 2, max_val = 64} : i64
  %m = tcp.symbolic_int "m" {min_val = 1, max_val = 9223372036854775807} : i64
  tcp.bind_symbolic_shape %x, [%n], affine_map<()[s0] -> (s0, 3)> : tensor<?x3xf32>
  tcp.bind_symbolic_shape %y, [%n, %m], affine_map<()[s0, s1] -> (s0 * 2 - 1, s1 * 3 + s0)> : tensor<?x?xf32>
  %0 = tcp.add %x, %x : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
"""  # noqa: E501

_Call = Callable[..., str | None]


@pytest.fixture(scope="module")
def call() -> _Call:
    """Calls `f_checked` with sizes and, unless they follow, strides and offset of two arguments."""
    module = parse_module(_TCP, make_context(torch=True), "f.mlir")
    convert_tcp_to_linalg(module)
    convert_linalg_to_kernels(module)
    convert_kernels_to_llvm(module)
    machine_code = emit_object(translate_to_llvm_ir(module), cpu_target("native"), 2)
    jit = llvm.create_lljit_compiler(use_jit_link=True)
    library = (
        llvm.JITLibraryBuilder()
        .add_object_img(machine_code)
        .add_current_process()
        .export_symbol("f_checked")
        .link(jit, "f_checked")
    )
    pointer, i64 = ctypes.c_void_p, ctypes.c_int64
    tensor = [pointer, pointer, *[i64] * 5]
    function = ctypes.CFUNCTYPE(pointer, pointer, *tensor, *tensor)(library["f_checked"])

    def run(
        *tensors: list[int], strides: dict[int, list[int]] | None = None, offset: int = 0
    ) -> str | None:
        assert library
        memory = (ctypes.c_float * 4096)(*range(4096))
        result = _MemRef()
        words: list[object] = []
        for index, sizes in enumerate(tensors):
            own = (strides or {}).get(index, [sizes[1], 1])
            words += [ctypes.addressof(memory), ctypes.addressof(memory), offset, *sizes, *own]
        message = function(ctypes.addressof(result), *words)
        if message is None:
            rows = tensors[0][0]
            assert list(result.sizes) == [rows, 3]
            data = (ctypes.c_float * (rows * 3)).from_address(result.data)
            assert list(data) == [2.0 * value for value in range(rows * 3)]
            _LIBC.free(result.base)
            return None
        assert result.base is None, "a refused call writes no results"
        text = ctypes.string_at(message).decode()
        _LIBC.free(message)
        return text

    return run


@pytest.mark.parametrize(("n", "m"), [(2, 1), (5, 4), (64, 1)])
def test_sizes_that_fit_compute(call: _Call, n: int, m: int) -> None:
    assert call([n, 3], [2 * n - 1, 3 * m + n]) is None


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 3], [1, 4], "f: argument 0 has size 1 in dimension 0, which is n%; n% must be at "
         "least 2 and at most 64"),
        ([65, 3], [129, 68], "f: argument 0 has size 65 in dimension 0, which is n%; n% must be at "
         "least 2 and at most 64"),
        ([2, 4], [3, 5], "f: argument 0 has size 4 in dimension 1, not 3"),
        ([2, 3], [4, 5], "f: argument 1 has size 4 in dimension 0, not 2*n% - 1 = 3; n% is 2 by "
         "dimension 0 of argument 0"),
        ([2, 3], [3, 6], "f: argument 1 has size 6 in dimension 1, which is 3*m + n% for no m"),
        ([2, 3], [3, 2], "f: argument 1 has size 2 in dimension 1, which is 3*m + n% for m = 0; m "
         "must be at least 1"),
        ([2, 3], [3, -4], "f: argument 1 has size -4 in dimension 1, which must be at least 0"),
        ([-(2**63), 3], [3, 5], f"f: argument 0 has size {-(2**63)} in dimension 0, which is n%; "
         "n% must be at least 2 and at most 64"),
    ],
)  # fmt: skip
def test_sizes_that_do_not_are_refused(
    call: _Call, x: list[int], y: list[int], expected: str
) -> None:
    assert call(x, y) == expected


@pytest.mark.parametrize(
    "layout", [{"strides": {1: [1, 3]}}, {"strides": {0: [4, 1]}}, {"offset": 1}]
)
def test_memory_that_is_not_row_major_is_refused(call: _Call, layout: dict[str, object]) -> None:
    message = call([2, 3], [3, 5], **layout)
    assert message is not None
    assert "are not those of row-major memory without gaps" in message


@pytest.mark.parametrize("entry", ["checked", "packed"])
def test_the_name_of_another_entry_is_taken(entry: str) -> None:
    function = "func.func @{0}(%x: tensor<f32>) -> tensor<f32> {{ return %x : tensor<f32> }}\n"
    text = function.format("g") + function.format(f"g_{entry}")
    module = parse_module(text, make_context(torch=True), "g.mlir")
    with pytest.raises(UserError, match=f"what the {entry} entry of @g is called"):
        convert_linalg_to_kernels(module)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
