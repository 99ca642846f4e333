import re
import sys

import pytest
from torch_mlir import ir

from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels


def _lower(text: str) -> str:
    with make_context(torch=True):
        module = ir.Module.parse(text)
        convert_linalg_to_kernels(module)
        convert_kernels_to_llvm(module)
        assert module.operation.verify()
        return str(module)


_IDENTITY = "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"


def test_a_result_goes_through_a_hidden_pointer() -> None:
    lowered = _lower(_IDENTITY)
    assert re.search(r"llvm\.func @f\(%arg0: !llvm\.ptr \{llvm\.sret = !llvm\.struct<", lowered)
    assert "llvm.func internal @f_body(" in lowered


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_an_argument_of_rank_n_takes_3_plus_2_n_words(rank: int) -> None:
    type_ = f"tensor<{'?x' * rank}f32>"
    lowered = _lower(f"func.func @f(%x: {type_}) -> {type_} {{ return %x : {type_} }}")
    match = re.search(r"llvm\.func @f\((.*)\)", lowered)
    assert match is not None
    # And one more for the hidden pointer of the result.
    assert len(re.findall(r"%arg\d+:", match[1])) == 1 + 3 + 2 * rank


def test_the_body_takes_a_name_that_is_free() -> None:
    lowered = _lower(_IDENTITY + _IDENTITY.replace("@f", "@f_body"))
    assert "llvm.func internal @f_body_(" in lowered
    assert "llvm.func internal @f_body_body(" in lowered


def test_private_functions_stay_inside() -> None:
    lowered = _lower(
        "func.func private @g(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"
        "func.func @f(%x: tensor<f32>) -> tensor<f32> {"
        "  %0 = call @g(%x) : (tensor<f32>) -> tensor<f32> return %0 : tensor<f32> }"
    )
    assert "llvm.func internal @g(" in lowered
    assert len(re.findall(r"llvm\.func .*llvm\.sret", lowered)) == 1


def test_one_value_everywhere_takes_no_text_of_its_size() -> None:
    type_ = "tensor<100000x100000xf32>"
    lowered = _lower(
        f"func.func @f() -> {type_} {{"
        f"  %c = arith.constant dense<3.0> : {type_} return %c : {type_} }}"
    )
    assert "100000 x" not in lowered


def test_results_are_copies_of_inputs_and_constants() -> None:
    lowered = _lower(
        "func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {"
        "  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>"
        "  return %x, %c : tensor<4xf32>, tensor<4xf32> }"
    )
    assert lowered.count("llvm.call @aligned_alloc") == 2


def test_kernels_know_which_buffers_are_apart() -> None:
    lowered = _lower(
        "func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {"
        "  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>"
        "  return %0 : tensor<8xf32> }"
    )
    match = re.search(r"llvm\.func internal @exp_kernel\((.*)\) attributes {no_inline", lowered)
    assert match is not None
    # The pointers to the elements of both, each after the one for freeing.
    noted = ["llvm.noalias" in argument for argument in match[1].split(",")]
    assert [number for number, is_noted in enumerate(noted) if is_noted] == [1, 6]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("func.func @f(%x: tensor<*xf32>) { return }", "argument 0 has type tensor<*xf32>"),
        ("func.func @f(%x: tensor<2xcomplex<f32>>) { return }", "argument 0 has type"),
        ("func.func @f() -> index { %0 = arith.constant 1 : index return %0 : index }",
         "result 0 has type index"),
        ("func.func @f(%x: tensor<2xi4>) { return }", "argument 0 has type tensor<2xi4>"),
        ("func.func @tanhf(%x: tensor<f32>) { return }", "'tanhf' is taken in the C library"),
        ("func.func private @f()", "no public func.func with a body"),
        ("func.func @f() { return } func.func private @plumbline_end() { return }",
         "@plumbline_end: names that begin so are those of Plumbline's own"),
        ("func.func @f() { return } func.func private @plumbline_require(i1)",
         "@plumbline_require: names that begin so"),
        ("func.func private @plumbline_require(i1, i64, i64, i64) "
         "func.func @f(%x: i1, %y: i64) { func.call @plumbline_require(%x, %y, %y, %y) "
         ": (i1, i64, i64, i64) -> () return }",
         "a call of @plumbline_require has the string plumbline.message"),
    ],
)  # fmt: skip
def test_what_c_cannot_call_is_refused(function: str, expected: str) -> None:
    with pytest.raises(UserError) as refusal:
        _lower(function)
    assert expected in str(refusal.value)


def test_embedded_weights_come_from_memory_of_their_own() -> None:
    lowered = _lower(
        'func.func @f(%w: tensor<2x3xf32> {plumbline.weight = "a.b"}, %x: tensor<2x3xf32>) '
        "-> tensor<2x3xf32> { return %w : tensor<2x3xf32> }"
    )
    assert "llvm.mlir.global external constant @f.weight.a.b()" in lowered
    assert ": !llvm.array<2 x array<3 x f32>>" in lowered
    match = re.search(r"llvm\.func @f\((.*)\)", lowered)
    assert match is not None
    # The result's pointer, and the 7 words of %x.
    assert len(re.findall(r"%arg\d+:", match[1])) == 8


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('%x: tensor<f32>, %w: tensor<2xf32> {plumbline.weight = "w"}', "before all other"),
        ('%w: tensor<?xf32> {plumbline.weight = "w"}', "no dynamic sizes"),
    ],
)
def test_weights_that_cannot_be_embedded(arguments: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        _lower(f"func.func @f({arguments}) {{ return }}")


def test_all_refusals_come_at_once() -> None:
    with pytest.raises(UserError) as refusal:
        _lower("func.func @f(%x: index) { return }\nfunc.func @g(%x: f32) { return }")
    assert "@f: argument 0" in str(refusal.value)
    assert "@g: argument 0" in str(refusal.value)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
