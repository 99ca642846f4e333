"""Complex numbers of StableHLO, compiled and held against numpy.

StableHLO's interpreter knows no Fourier transforms, and the bindings cannot hand it complex numbers.
"""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from plumbline.context import lent_context
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.llvm_to_asm.assembly import emit_object
from plumbline.llvm_to_asm.llvm_ir import translate_to_llvm_ir
from plumbline.signature.name_attributes import noted_names
from plumbline.signature.signature import TensorSpec
from plumbline.stablehlo_to_tcp.conversion import convert_stablehlo_to_tcp
from plumbline.target.cpu import cpu_target
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from test.memref_function import MemrefFunction

Array = np.ndarray[Any, np.dtype[Any]]


def compiled(text: str) -> Callable[..., list[Array]]:
    """The function @program of a module of StableHLO, which takes and gives complex arrays."""
    with lent_context(torch=True, stablehlo=True) as context:
        module = ir.Module.parse(text, context)
        convert_stablehlo_to_tcp(module)
        function = module.body.operations[0]
        names = noted_names(function)
        results = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
        parts = [name.element_type.part or name.element_type for name in names.outputs]
        outputs = [
            TensorSpec(part, tuple(None if size < 0 else size for size in type_.shape))
            for part, type_ in zip(parts, results, strict=True)
        ]
        convert_tcp_to_linalg(module)
        convert_linalg_to_kernels(module)
        convert_kernels_to_llvm(module)
        llvm_ir = translate_to_llvm_ir(module)
    run = MemrefFunction(emit_object(llvm_ir, cpu_target("native"), 0), "program", outputs)

    def call(*arrays: Array) -> list[Array]:
        given = [
            np.stack([array.real, array.imag], -1) if np.iscomplexobj(array) else array
            for array in arrays
        ]
        return [
            result[..., 0] + 1j * result[..., 1] if name.element_type.is_complex else result
            for result, name in zip(run(*given), names.outputs, strict=True)
        ]

    return call


def _draw(shape: tuple[int, ...], dtype: str = "complex64") -> Array:
    generator = np.random.default_rng(sum(shape) + len(shape))
    if dtype.startswith("float"):
        return np.asarray(generator.standard_normal(shape), dtype)
    numbers = generator.standard_normal((2, *shape))
    return np.asarray(numbers[0] + 1j * numbers[1], dtype)


def _check(text: str, arguments: list[Array], *expected: Array, tolerance: float = 1e-5) -> None:
    for actual, wanted in zip(compiled(text)(*arguments), expected, strict=True):
        assert actual.shape == wanted.shape
        np.testing.assert_allclose(actual, wanted, rtol=tolerance, atol=tolerance)


UNARY: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "imag": np.imag,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "negate": np.negative,
    "real": np.real,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sign": lambda x: x / np.abs(x),
    "sine": np.sin,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}
BINARY = {
    "add": np.add,
    "divide": np.divide,
    "multiply": np.multiply,
    "power": np.power,
    "subtract": np.subtract,
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("part", ["f32", "f64"])
def test_functions_of_one_number(name: str, part: str) -> None:
    dtype = {"f32": "complex64", "f64": "complex128"}[part]
    result = part if name in ("abs", "imag", "real") else f"complex<{part}>"
    x = _draw((3, 5), dtype)
    text = f"""
        func.func @program(%x: tensor<?x5xcomplex<{part}>>) -> tensor<?x5x{result}> {{
          %0 = "stablehlo.{name}"(%x) : (tensor<?x5xcomplex<{part}>>) -> tensor<?x5x{result}>
          return %0 : tensor<?x5x{result}>
        }}"""
    tolerance = 2e-5 if part == "f32" else 1e-12
    _check(text, [x], UNARY[name](x), tolerance=tolerance)


@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name: str) -> None:
    x, y = _draw((3, 5)), _draw((5, 3)).T
    text = f"""
        func.func @program(%x: tensor<3x5xcomplex<f32>>, %y: tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>> {{
          %0 = stablehlo.{name} %x, %y : tensor<3x5xcomplex<f32>>
          return %0 : tensor<3x5xcomplex<f32>>
        }}"""
    _check(text, [x, y], BINARY[name](x, y))


MOVES: dict[str, tuple[str, str, Callable[[Array], Array]]] = {
    "reshape": ("stablehlo.reshape %x : ({x}) -> {r}", "15", lambda x: x.reshape(15)),
    "transpose": ("stablehlo.transpose %x, dims = [1, 0] : ({x}) -> {r}", "5x3", lambda x: x.T),
    "slice": ("stablehlo.slice %x [1:3, 0:5:2] : ({x}) -> {r}", "2x3", lambda x: x[1:3, ::2]),
    "concatenate": (
        "stablehlo.concatenate %x, %x, dim = 0 : ({x}, {x}) -> {r}",
        "6x5",
        lambda x: np.concatenate([x, x]),
    ),
    "reverse": ("stablehlo.reverse %x, dims = [1] : {r}", "3x5", lambda x: x[:, ::-1]),
    "broadcast_in_dim": (
        "stablehlo.broadcast_in_dim %x, dims = [1, 2] : ({x}) -> {r}",
        "2x3x5",
        lambda x: np.broadcast_to(x, (2, 3, 5)),
    ),
    "pad": (
        "stablehlo.pad %x, %c, low = [1, 0], high = [0, 2], interior = [0, 1] : ({x}, tensor<complex<f32>>) -> {r}",
        "4x11",
        lambda x: np.insert(
            np.pad(x, ((1, 0), (0, 2)), constant_values=0.5 - 2j), [1, 2, 3, 4], 0.5 - 2j, 1
        ),
    ),
    "reduce": (
        "stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : ({x}, tensor<complex<f32>>) -> {r}",
        "5",
        lambda x: x.sum(0) + (0.5 - 2j),
    ),
    "select": (
        "stablehlo.select %p, %x, %d : tensor<3x5xi1>, {r}",
        "3x5",
        lambda x: np.where(x == 0.5 - 2j, x, 0.5 - 2j),
    ),
    "dynamic_slice": (
        "stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 2] : ({x}, tensor<i32>, tensor<i32>) -> {r}",
        "2x2",
        lambda x: x[1:3, 1:3],
    ),
    "convert": ("stablehlo.convert %x : ({x}) -> tensor<3x5xcomplex<f64>>", "3x5", lambda x: x),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves(name: str) -> None:
    op, shape, function = MOVES[name]
    x = _draw((3, 5))
    x[1, 2] = 0.5 - 2j
    result = f"tensor<{shape}xcomplex<{'f64' if name == 'convert' else 'f32'}>>"
    body = op.format(x="tensor<3x5xcomplex<f32>>", r=result)
    text = f"""
        func.func @program(%x: tensor<3x5xcomplex<f32>>) -> {result} {{
          %c = stablehlo.constant dense<(0.5, -2.0)> : tensor<complex<f32>>
          %d = stablehlo.constant dense<(0.5, -2.0)> : tensor<3x5xcomplex<f32>>
          %i = stablehlo.constant dense<1> : tensor<i32>
          %p = stablehlo.compare EQ, %x, %d : (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>) -> tensor<3x5xi1>
          %0 = {body}
          return %0 : {result}
        }}"""
    _check(text, [x], function(x))


@pytest.mark.parametrize("size", [1, 7, 100, 101, 300])
def test_constants_of_any_size(size: int) -> None:
    numbers = _draw((size,))
    elements = ", ".join(f"({x.real:.9e}, {x.imag:.9e})" for x in numbers)
    text = f"""
        func.func @program(%x: tensor<{size}xcomplex<f32>>) -> tensor<{size}xcomplex<f32>> {{
          %c = stablehlo.constant dense<[{elements}]> : tensor<{size}xcomplex<f32>>
          %same = stablehlo.constant dense<(2.0, 1.0)> : tensor<{size}xcomplex<f32>>
          %0 = stablehlo.multiply %x, %c : tensor<{size}xcomplex<f32>>
          %1 = stablehlo.multiply %0, %same : tensor<{size}xcomplex<f32>>
          return %1 : tensor<{size}xcomplex<f32>>
        }}"""
    x = _draw((size,))
    _check(text, [x], x * numbers * (2 + 1j))


def test_whole_numbers_of_any_count() -> None:
    text = """
        func.func @program(%x: tensor<?xf32>) -> (tensor<3xcomplex<f32>>, tensor<?xcomplex<f32>>) {
          %0 = stablehlo.iota dim = 0 : tensor<3xcomplex<f32>>
          %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
          %sizes = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
          %1 = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<1xi32>) -> tensor<?xcomplex<f32>>
          return %0, %1 : tensor<3xcomplex<f32>>, tensor<?xcomplex<f32>>
        }"""
    of_three, of_five = (np.arange(count, dtype=np.complex64) for count in (3, 5))
    _check(text, [np.zeros(5, np.float32)], of_three, of_five)


def test_products_of_matrices() -> None:
    text = """
        func.func @program(%x: tensor<?x3x4xcomplex<f32>>, %y: tensor<?x4x5xcomplex<f32>>) -> tensor<?x3x5xcomplex<f32>> {
          %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<?x3x4xcomplex<f32>>, tensor<?x4x5xcomplex<f32>>) -> tensor<?x3x5xcomplex<f32>>
          return %0 : tensor<?x3x5xcomplex<f32>>
        }"""
    x, y = _draw((2, 3, 4)), _draw((2, 4, 5))
    _check(text, [x, y], x @ y)


TRANSFORMS: dict[str, Callable[[Array, int], Array]] = {
    "FFT": lambda x, n: np.fft.fft(x),
    "IFFT": lambda x, n: np.fft.ifft(x),
    "RFFT": lambda x, n: np.fft.rfft(x),
    "IRFFT": lambda x, n: np.fft.irfft(x, n),
}


# What PyTorch's rules do for them is tested there.
@pytest.mark.parametrize(
    ("kind", "size"),
    [
        *(("FFT", 1), ("FFT", 30), ("FFT", 64), ("IFFT", 2), ("IFFT", 16), ("RFFT", 1)),
        *(("RFFT", 7), ("RFFT", 128), ("IRFFT", 1), ("IRFFT", 15), ("IRFFT", 16)),
    ],
)
def test_fourier_transforms(kind: str, size: int) -> None:
    half = size // 2 + 1
    taken, given = (half if kind == "IRFFT" else size), (half if kind == "RFFT" else size)
    takes, gives = ("f64" if kind == real else "complex<f64>" for real in ("RFFT", "IRFFT"))
    text = f"""
        func.func @program(%x: tensor<?x{taken}x{takes}>) -> tensor<?x{given}x{gives}> {{
          %0 = stablehlo.fft %x, type = {kind}, length = [{size}] : (tensor<?x{taken}x{takes}>) -> tensor<?x{given}x{gives}>
          return %0 : tensor<?x{given}x{gives}>
        }}"""
    x = _draw((3, taken), "float64" if kind == "RFFT" else "complex128")
    _check(text, [x], TRANSFORMS[kind](x, size), tolerance=1e-10)


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_fourier_transforms_along_several_dimensions(kind: str) -> None:
    taken, given = (4 if kind == "IRFFT" else 6), (4 if kind == "RFFT" else 6)
    takes, gives = ("f32" if kind == real else "complex<f32>" for real in ("RFFT", "IRFFT"))
    text = f"""
        func.func @program(%x: tensor<2x3x5x{taken}x{takes}>) -> tensor<2x3x5x{given}x{gives}> {{
          %0 = stablehlo.fft %x, type = {kind}, length = [3, 5, 6] : (tensor<2x3x5x{taken}x{takes}>) -> tensor<2x3x5x{given}x{gives}>
          return %0 : tensor<2x3x5x{given}x{gives}>
        }}"""
    x = _draw((2, 3, 5, taken), "float32" if kind == "RFFT" else "complex64")
    function = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn}.get(kind)
    axes = (1, 2, 3)
    expected = function(x, axes=axes) if function else np.fft.irfftn(x, (3, 5, 6), axes)
    _check(text, [x], expected, tolerance=1e-4)


def test_loops_and_branches_hand_on_both_parts() -> None:
    text = """
        func.func @program(%x: tensor<4xcomplex<f32>>, %n: tensor<i32>) -> (tensor<4xcomplex<f32>>, tensor<4xf32>) {
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %i = stablehlo.constant dense<(0.0, 1.0)> : tensor<4xcomplex<f32>>
          %r:3 = stablehlo.while(%k = %zero, %z = %x, %m = %n) : tensor<i32>, tensor<4xcomplex<f32>>, tensor<i32>
            cond {
              %c = stablehlo.compare LT, %k, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
              stablehlo.return %c : tensor<i1>
            } do {
              %next = stablehlo.add %k, %one : tensor<i32>
              %turned = stablehlo.multiply %z, %i : tensor<4xcomplex<f32>>
              stablehlo.return %next, %turned, %m : tensor<i32>, tensor<4xcomplex<f32>>, tensor<i32>
            }
          %many = stablehlo.compare GT, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %s = "stablehlo.if"(%many) ({
            %d = stablehlo.add %r#1, %r#1 : tensor<4xcomplex<f32>>
            stablehlo.return %d : tensor<4xcomplex<f32>>
          }, {
            stablehlo.return %x : tensor<4xcomplex<f32>>
          }) : (tensor<i1>) -> tensor<4xcomplex<f32>>
          %a = stablehlo.abs %s : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
          return %s, %a : tensor<4xcomplex<f32>>, tensor<4xf32>
        }"""
    x = _draw((4,))
    _check(text, [x, np.array(3, np.int32)], x * 1j**3 * 2, np.abs(x) * 2)
    _check(text, [x, np.array(1, np.int32)], x, np.abs(x))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
