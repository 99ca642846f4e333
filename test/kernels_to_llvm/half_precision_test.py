"""Moves and comparisons of half precision, which LLVM vectorises, compiled for several CPUs.

Where LLVM cannot make code of a program, it aborts the process: so each has a process of its own.
"""

import functools
import platform
import sys
from dataclasses import dataclass
from typing import BinaryIO

import pytest
import torch

from plumbline.compiler import compile_export
from plumbline.loader_to_torch.export import Export, export
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.signature.function_name import DEFAULT_FUNCTION_NAME
from plumbline.target.cpu import cpu_target
from plumbline.target.target import Target
from test.forked import run_forked

_TIME_LIMIT = 300
"""In seconds, of a program on a CPU."""

_SIZES = ((3, 4, 5), (64,), (1000,))


class _Moves(torch.nn.Module):
    """What hands elements on: slices, selects, concatenations, transposes, gathers."""

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> tuple[torch.Tensor, ...]:
        early, late = x[..., :-1], x[..., 1:]
        backwards = torch.arange(x.shape[-1] - 1, -1, -1).expand(x.shape)
        return (
            x[..., 1::2].clone(),
            torch.where(keep, x, x.flip(-1)),
            torch.where(keep[..., :-1], early, late),
            torch.cat([x[..., :1], torch.where(keep[..., 1:], early, late), x], -1),
            x.movedim(0, -1).contiguous(),
            x.gather(-1, backwards),
            torch.nn.functional.pad(x, (1, 2), value=-1.5),
        )


class _Comparisons(torch.nn.Module):
    """What chooses elements by comparing them."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rows = x.reshape(1, -1, x.shape[-1])
        results = [
            *(part for dim in range(x.dim()) for part in x.cummax(dim)),
            *torch.max(x, -1),
            x.argmin(-1),
            x.amin(-1),
            x.isnan(),
            *torch.sort(x.nan_to_num(), dim=-1, stable=True),
            *torch.nn.functional.max_pool1d(rows, 3, 1, return_indices=True),
        ]
        return tuple(results)


@dataclass(frozen=True)
class _Program:
    module: torch.nn.Module
    inputs: tuple[torch.Tensor, ...]
    exported: Export

    def __str__(self) -> str:
        return f"{type(self.module).__name__} of {list(self.inputs[0].shape)}"


@functools.cache
def _programs(dtype: torch.dtype) -> list[_Program]:
    """The programs, exported: in that the CPU has no part, and it takes as long as the rest."""
    programs = []
    generator = torch.Generator().manual_seed(0)
    for sizes in _SIZES:
        x = torch.randn(sizes, generator=generator).to(dtype)
        x.view(-1)[7] = float("nan")
        keep = torch.rand(sizes, generator=generator) < 0.5
        cases: list[tuple[torch.nn.Module, tuple[torch.Tensor, ...]]]
        cases = [(_Moves(), (x, keep)), (_Comparisons(), (x,))]
        for module, inputs in cases:
            exported = export(type(module).__name__, TorchLoaderOutput(module, inputs))
            programs.append(_Program(module, inputs, exported))
    return programs


def _check(program: _Program, target: Target, *, runs: bool) -> None:
    """Compiles a program, and compares what it gives with PyTorch where it `runs`."""
    compiled = compile_export(str(program), program.exported, DEFAULT_FUNCTION_NAME, target)
    if runs:
        torch.testing.assert_close(
            compiled(*program.inputs),
            program.module(*program.inputs),
            rtol=0,
            atol=0,
            equal_nan=True,
        )


on_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="names CPUs of x86-64")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize(
    "cpu",
    [
        "baseline",
        "native",
        # Have vectors of bf16, of f16 too, and compute with both.
        pytest.param("cooperlake", marks=on_x86_64),
        pytest.param("sapphirerapids", marks=on_x86_64),
        pytest.param("diamondrapids", marks=on_x86_64),
    ],
)
def test_programs_compile_and_agree_with_pytorch(
    cpu: str, dtype: torch.dtype, capfd: pytest.CaptureFixture[str]
) -> None:
    # Code for other CPUs may not run here.
    runs = cpu in ("baseline", "native")

    target = cpu_target(cpu)

    def task(program: _Program, _: BinaryIO) -> None:
        _check(program, target, runs=runs)

    for end in run_forked(_programs(dtype), task, time_limit=_TIME_LIMIT):
        assert not end.death, f"{end.item}: {end.death}\n{capfd.readouterr().err}"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
