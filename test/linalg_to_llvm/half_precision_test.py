"""Moves and comparisons of half precision, which LLVM vectorises, compiled for several CPUs.

Where LLVM cannot make code of a program, it aborts the process: so each check has its own.
"""

import os
import platform
import subprocess
import sys

import pytest
import torch

import plumbline

_CHECK = "--check"

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


def _check(dtype: torch.dtype, cpu: str, *, runs: bool) -> None:
    """Compiles the programs for `cpu`, and compares what they give with PyTorch where it `runs`."""
    generator = torch.Generator().manual_seed(0)
    for sizes in _SIZES:
        x = torch.randn(sizes, generator=generator).to(dtype)
        x.view(-1)[7] = float("nan")
        keep = torch.rand(sizes, generator=generator) < 0.5
        programs: list[tuple[torch.nn.Module, tuple[torch.Tensor, ...]]]
        programs = [(_Moves(), (x, keep)), (_Comparisons(), (x,))]
        for module, inputs in programs:
            print(type(module).__name__, sizes, flush=True)
            compiled = plumbline.compile(module, inputs, target_cpu=cpu)
            if runs:
                torch.testing.assert_close(
                    compiled(*inputs), module(*inputs), rtol=0, atol=0, equal_nan=True
                )


on_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="names CPUs of x86-64")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
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
def test_programs_compile_and_agree_with_pytorch(cpu: str, dtype: str) -> None:
    process = subprocess.run(
        [sys.executable, __file__, _CHECK, dtype, cpu],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr


if __name__ == "__main__":
    if _CHECK in sys.argv:
        _, _, name, target_cpu = sys.argv
        # Code for other CPUs may not run here.
        _check(getattr(torch, name), target_cpu, runs=target_cpu in ("baseline", "native"))
        raise SystemExit
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
