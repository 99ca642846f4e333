"""Measures the errors of the elementary functions, and looks for calls in their code."""

import platform
import re
import sys

import numpy as np
import pytest

from plumbline.elementary_functions.functions import F32
from plumbline.llvm_to_asm.assembly import Target, emit_assembly
from plumbline.reference_archive import Tensor
from test.elementary_functions.compiled import Functions, llvm_ir_of, load
from test.elementary_functions.references import OPERANDS, REFERENCES, worst

_STEP = 8191
"""Every so many floats one is tried: a prime, so that all patterns of last bits occur."""

_SPECIAL = np.array(
    [
        *(0.0, 1e-45, 1e-40, 2.0**-126, 0.5, 1.0, 1.5, 2.0, 3.0),
        *(87.33655, 88.72283, 88.72284, 103.972, 104.1),
        *(2.0**23 - 0.5, 2.0**24 - 1, 2.0**24, 2.0**24 + 2, 3e38, np.inf, np.nan),
    ],
    np.float32,
)

_LIBM = {name + suffix for name in (*OPERANDS, "pow", "floor", "fma") for suffix in ("", "f")}

# The first lacks fused multiply-add.
_CPUS = (["x86-64"] if platform.machine() == "x86_64" else []) + ["baseline", "native"]


def _floats() -> Tensor:
    """Floats of all magnitudes and both signs, subnormal and special ones among them."""
    positive = np.arange(0, 0x7F800000, _STEP, dtype=np.uint32).view(np.float32)
    dense = np.linspace(0, 12, 50_000, dtype=np.float32)
    numbers = np.concatenate([positive, dense, _SPECIAL])
    return np.concatenate([numbers, -numbers])


def _pairs(name: str) -> tuple[Tensor, Tensor]:
    """The special values with one another, and pairs of whose functions some are moderate."""
    special = np.concatenate([_SPECIAL, -_SPECIAL])
    generator = np.random.default_rng(0)
    first = generator.choice(_floats(), 400_000)
    second = generator.choice(_floats(), 400_000)
    if name == "powf":
        with np.errstate(all="ignore"):
            logarithms = np.log2(np.abs(first.astype(np.float64)))
            second[::2] = (generator.uniform(-150, 128, 400_000) / logarithms)[::2]
    grid = np.meshgrid(special, special)
    return (
        np.concatenate([grid[0].ravel(), first]),
        np.concatenate([grid[1].ravel(), second]),
    )


@pytest.fixture(scope="module", params=_CPUS)
def cpu(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def llvm_ir(cpu: str) -> str:
    return llvm_ir_of(OPERANDS, "f32", Target.for_cpu(cpu))


@pytest.fixture(scope="module")
def functions(cpu: str, llvm_ir: str) -> Functions:
    return load(llvm_ir, OPERANDS, "f32", Target.for_cpu(cpu))


@pytest.mark.parametrize("name", REFERENCES)
def test_errors(cpu: str, functions: Functions, name: str) -> None:
    reference = REFERENCES[name]
    operands = (_floats(),) if reference.operands == 1 else _pairs(name)
    (actual,) = functions[name](*operands)
    error, where = worst(name, actual, *operands)
    bound = reference.bound if cpu == "x86-64" else reference.bound_if_fused or reference.bound
    assert error <= bound, f"{error} units at {where}"


@pytest.mark.parametrize("op", F32)
def test_bounds_are_stated_at_the_functions(op: str) -> None:
    reference = REFERENCES[op.removeprefix("math.")]
    stated = f"Error: {reference.bound} units"
    if reference.bound_if_fused is not None:
        stated += f", {reference.bound_if_fused} if fused"
    assert f"{stated}." in (F32[op].__doc__ or "")


def test_code(cpu: str, llvm_ir: str) -> None:
    assembly = emit_assembly(llvm_ir, Target.for_cpu(cpu))
    called = set(re.findall(r"\b(?:call\w*|jmp|bl?)\s+(\w+)", assembly))
    assert "aligned_alloc" in called
    assert not called & _LIBM
    if platform.machine() == "x86_64" and cpu != "x86-64":
        parts = re.split(r"^\w+:", assembly, flags=re.MULTILINE)
        vectorised = [part for part in parts if re.search(r"\bvf?n?m\w+p[sd]\s.*%[yz]mm", part)]
        assert len(vectorised) == len(OPERANDS)


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_half_precision_is_computed_in_f32(type_: str) -> None:
    llvm_ir = llvm_ir_of(OPERANDS, type_, Target.for_cpu("baseline"))
    declared = set(re.findall(r"^declare .*@([\w.]+)\(", llvm_ir, re.MULTILINE))
    assert "aligned_alloc" in declared
    assert not declared & _LIBM


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
