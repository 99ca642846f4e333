"""Measures the errors of the elementary functions, and looks for calls in their code."""

import platform
import re
import sys
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch

import plumbline
from plumbline.archives.reference_archive import Tensor
from plumbline.elementary_functions.functions import FUNCTIONS
from plumbline.elementary_functions.trigonometric import SMALL
from plumbline.llvm_to_asm.assembly import emit_assembly
from plumbline.target.cpu import cpu_target
from test.elementary_functions.compiled import llvm_ir_of, load
from test.elementary_functions.references import OPERANDS, REFERENCES, of_mpmath, worst

_TYPES = ("f32", "f64")

_EXPONENTS = {"f32": (-150, 128), "f64": (-1076, 1025)}
"""For each type those of powers of 2 that are neither 0 nor infinite, and a few more."""

_FLOATS_BETWEEN = {"f32": 8191, "f64": 1999 << 38}
"""Every so many floats one is tried: by a prime, so that all patterns of last bits occur."""

_SPECIAL = [
    *(0.0, 5e-324, 1e-310, 1e-45, 1e-40, 2.0**-1022, 2.0**-126, 0.0625, 0.5, 1.0, 1.5, 2.0, 3.0),
    *(87.33655, 88.72283, 88.72284, 103.972, 104.1, 708.3, 709.78, 709.79, 745.1, 745.2),
    *(2.0**23 - 0.5, 2.0**24 - 1, 2.0**24, 2.0**24 + 2, 3e38, 1.7e308, np.inf, np.nan),
]

_LIBM = {name + suffix for name in (*OPERANDS, "pow", "floor", "fma") for suffix in ("", "f")}

# The first lacks fused multiply-add.
_CPUS = (["x86-64"] if platform.machine() == "x86_64" else []) + ["baseline", "native"]


def _floats(type_: str, *, special: bool = False) -> Tensor:
    """Floats of all magnitudes and both signs, or special ones only."""
    dtype: Any = np.float32 if type_ == "f32" else np.float64
    bits: Any = np.uint32 if type_ == "f32" else np.uint64
    generator = np.random.default_rng(0)
    with np.errstate(over="ignore"):
        numbers: np.ndarray[Any, Any] = np.array(_SPECIAL, dtype)
    if not special:
        positive = np.arange(0, dtype(np.inf).view(bits), _FLOATS_BETWEEN[type_], dtype=bits).view(
            dtype
        )
        near_one = [1 + generator.normal(size=2000) * 0.5**power for power in range(9)]
        dense = [np.linspace(0, 12, 20_000), *near_one]
        numbers = np.concatenate([positive, *(part.astype(dtype) for part in dense), numbers])
    return np.concatenate([numbers, -numbers])


def _operands(name: str, type_: str) -> tuple[Tensor, ...]:
    """Numbers to try a function on; of two operands the second such that results are moderate."""
    numbers = _floats(type_)
    if OPERANDS[name] == 1:
        return (numbers,)
    generator = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        size = np.abs(numbers.astype(np.float64))
        second = size * np.exp(generator.uniform(-20, 20, len(size)))
        if name == "powf":
            second = generator.uniform(*_EXPONENTS[type_], len(size)) / np.log2(size)
        second = (second * generator.choice([-1, 1], len(size))).astype(numbers.dtype)
    special = np.meshgrid(*[_floats(type_, special=True)] * 2)
    return (
        np.concatenate([numbers, special[0].ravel(), numbers]),
        np.concatenate([second, special[1].ravel(), generator.permutation(numbers)]),
    )


@pytest.mark.parametrize(
    ("cpu", "type_"), [*((cpu, "f32") for cpu in _CPUS), *((cpu, "f64") for cpu in _CPUS[:-1])]
)
def test_errors_and_code(cpu: str, type_: str) -> None:
    target = cpu_target(cpu)
    llvm_ir = llvm_ir_of(OPERANDS, type_, target)
    functions = load(llvm_ir, OPERANDS, type_, target)
    failures = []
    for name, function in functions.items():
        operands = _operands(name, type_)
        error, where = worst(name, *function(*operands), *operands)
        if error > REFERENCES[name].bound_for(type_, fused=cpu != "x86-64"):
            failures.append(f"{name}: {error} units at {where}")
    assert not failures

    assembly = emit_assembly(llvm_ir, target)
    called = set(re.findall(r"\b(?:call\w*|jmp|bl?)\s+(\w+)", assembly))
    assert any(name.endswith("_kernel") for name in called)
    assert not called & _LIBM
    if platform.machine() == "x86_64" and cpu != "x86-64":
        parts = re.split(r"^\w+:", assembly, flags=re.MULTILINE)
        vectorised = [part for part in parts if re.search(r"\bvf?n?m\w+p[sd]\s.*%[yz]mm", part)]
        assert len(vectorised) == len(functions)


@pytest.mark.parametrize("type_", _TYPES)
def test_limits_are_reached(type_: str) -> None:
    # A unit less is within the bounds of errors, but gelu(-10) is then no longer 0.
    limits = {"erf": 1.0, "tanh": 1.0, "expm1": -1.0}
    target = cpu_target("native")
    functions = load(llvm_ir_of(OPERANDS, type_, target), OPERANDS, type_, target)
    dtype = np.float32 if type_ == "f32" else np.float64
    x = np.concatenate([np.linspace(9.2, 19, 1000), [100, 1e4, np.inf]]).astype(dtype)
    for name, limit in limits.items():
        far = x if name == "erf" or type_ == "f32" else x * 4
        far = -2 * far if name == "expm1" else far
        np.testing.assert_array_equal(functions[name](far)[0], np.full_like(far, limit))


@pytest.mark.parametrize("cpu", _CPUS[:-1])
def test_angles_of_doubles_near_right_ones(cpu: str) -> None:
    generator = np.random.default_rng(0)
    with mpmath.workprec(1300):
        counts = [int(2**power) for power in generator.uniform(0, 52, 300)]
        near = [float(count * mpmath.pi / 2) for count in counts]
    # The one that is the nearest of all (Muller, "Elementary functions", 2016, 11.3.2).
    near.append(6381956970095103.0 * 2.0**797)
    huge = 2.0 ** generator.uniform(52, 1024, 300)
    x = np.concatenate([near, huge, 2.0 ** np.arange(1024.0), [np.finfo(np.float64).max]])
    x = np.concatenate([x, -x])
    target = cpu_target(cpu)
    names = {"sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan}
    operands = dict.fromkeys(names, 1)
    functions = load(llvm_ir_of(operands, "f64", target), operands, "f64", target)
    for name, exact in names.items():
        error, where = worst(name, *functions[name](x), x, of_numbers=of_mpmath(exact, 1300))
        bound = REFERENCES[name].bound_of_f64
        assert bound is not None
        assert error <= bound, f"{name}: {error} units at {where}"


class _Angles(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.sin(), x.cos(), x.tan()


@pytest.mark.parametrize("cpu", _CPUS[:-1])
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_angles_that_are_small_beside_one_another(type_: str, cpu: str) -> None:
    dtype = np.dtype(np.float32 if type_ == "f32" else np.float64).type
    generator = np.random.default_rng(0)
    bound = SMALL[32 if type_ == "f32" else 64]
    with mpmath.workprec(200):
        counts = [int(count) for count in generator.uniform(0, bound / 1.5708, 2000)]
        near = np.array([float(count * mpmath.pi / 2) for count in counts], dtype)
    drawn = generator.uniform(-1, 1, 2000).astype(dtype) * dtype(bound)
    small = (10.0 ** generator.uniform(-30, 1, 1000)).astype(dtype)
    x = np.concatenate([near, np.nextafter(near, dtype(0)), drawn, small, -small])
    x = np.nextafter(np.clip(x, -bound, bound), dtype(0))
    program = plumbline.compile(_Angles(), (torch.from_numpy(x),), target_cpu=cpu)
    for name, result in zip(("sin", "cos", "tan"), program(torch.from_numpy(x)), strict=True):
        exact = of_mpmath(getattr(mpmath, name), 200)
        error, where = worst(name, result.numpy(), x, of_numbers=exact)
        expected = REFERENCES[name]
        most = expected.bound if type_ == "f32" else expected.bound_of_f64
        assert most is not None
        assert error <= most, f"{name}: {error} units at {where}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("count", [40, 1000])
def test_angles_of_which_some_are_large(count: int, dtype: torch.dtype) -> None:
    x = torch.randn(count, dtype=dtype, generator=torch.Generator().manual_seed(0))
    program = plumbline.compile(_Angles(), (x,))
    for at, number in ((3, 1e9), (17, torch.inf), (39, torch.nan), (count - 1, -1e30)):
        y = x.clone()
        y[at] = number
        for actual, expected in zip(program(y), _Angles()(y.double()), strict=True):
            torch.testing.assert_close(actual, expected.to(dtype), equal_nan=True)


@pytest.mark.parametrize("cpu", ["baseline", "native"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_angles_of_all_numbers_of_half_precision(dtype: torch.dtype, cpu: str) -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x.sin(), x.cos(), x.tan()

    x = torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype)
    results = plumbline.compile(Program(), (x,), target_cpu=cpu)(x)
    for name, result in zip(("sin", "cos", "tan"), results, strict=True):
        exact = getattr(torch, name)(x.double())
        beside = torch.nextafter(result, result * 2).double() - result.double()
        is_near = (result.double() - exact).abs() <= 0.501 * beside.abs()
        is_large = result.isinf() & (exact.abs() > torch.finfo(dtype).max)
        assert torch.where(x.isfinite(), is_near | is_large, result.isnan()).all(), name


@pytest.mark.parametrize("type_", _TYPES)
def test_one_more_than_tanh_does_not_cancel(type_: str) -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return 1 + torch.tanh(x), torch.tanh(x * 0.5) + 1.0

    def exact(x: Tensor) -> Tensor:
        with np.errstate(over="ignore"):
            result: Tensor = 2 / (1 + np.exp(-2 * x))
        return result

    x = _floats(type_)
    program = plumbline.compile(Program(), (torch.from_numpy(x),))
    assert "math.tanh" in program.stage("linalg")
    for actual, operand in zip(
        program(torch.from_numpy(x)), (x, x * x.dtype.type(0.5)), strict=True
    ):
        tiny = np.finfo(operand.dtype).tiny
        normal = ~(exact(operand) < tiny)
        assert (actual.numpy()[~normal] <= tiny).all()
        error, where = worst("", actual.numpy()[normal], operand[normal], of_numbers=exact)
        assert error <= 2.6, f"{error} units at {where}"


@pytest.mark.parametrize("type_", _TYPES)
def test_exponentials_of_what_is_at_most_0_have_the_same_bits(type_: str) -> None:
    class Program(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (-x.abs()).exp()

    x = _floats(type_)
    target = cpu_target("native")
    exponential = load(llvm_ir_of({"exp": 1}, type_, target), {"exp": 1}, type_, target)["exp"]
    program = plumbline.compile(Program(), (torch.from_numpy(x),), target_cpu="native")
    (actual,) = program(torch.from_numpy(x))
    np.testing.assert_array_equal(actual.numpy(), exponential(-np.abs(x))[0])


@pytest.mark.parametrize("op", FUNCTIONS)
def test_bounds_are_stated_at_the_functions(op: str) -> None:
    reference = REFERENCES[op.removeprefix("math.")]
    stated = f"Error: {reference.bound} units"
    if reference.bound_if_fused is not None:
        stated += f", {reference.bound_if_fused} if fused"
    if reference.bound_of_f64 is not None:
        stated += f"; of f64 {reference.bound_of_f64}"
    assert f"{stated}." in (FUNCTIONS[op].__doc__ or "")


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_half_precision_is_computed_in_f32(type_: str) -> None:
    llvm_ir = llvm_ir_of(OPERANDS, type_, cpu_target("baseline"))
    known = set(re.findall(r"^(?:declare|define) .*@([\w.]+)\(", llvm_ir, re.MULTILINE))
    assert {f"math_{name}_packed" for name in OPERANDS} <= known
    assert not known & _LIBM


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
