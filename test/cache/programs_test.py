"""Programs of `plumbline.compile` that come from the cache."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.gpu_to_nvvm.options import GpuOptions
from plumbline.lowering import GPU_STAGES, STAGES, Lowering, Source
from plumbline.target.target import Target


def _twice(
    folder: Path, module: torch.nn.Module, *inputs: Any, **options: Any
) -> list[plumbline.CompiledProgram]:
    first, second = (plumbline.compile(module, inputs, cache=folder, **options) for _ in range(2))
    assert not first.from_cache
    assert second.from_cache
    assert second.signature == first.signature
    return [first, second]


def test_stages_are_made_when_they_are_asked_for(tmp_path: Path) -> None:
    x, done = torch.randn(2, 3), list[str]()
    first, second = _twice(tmp_path, torch.nn.Linear(3, 4), x, when_done=done.append)
    assert done == [*STAGES[:-1], "machine_code", "torch", "machine_code"]
    for stage in reversed(STAGES):
        assert second.stage(stage) == first.stage(stage)
    with pytest.raises(UserError, match="there is no stage 'ptx'"):
        second.stage("ptx")


def test_weights_are_those_of_the_module(tmp_path: Path) -> None:
    x, models = torch.randn(2, 30), [torch.nn.Linear(30, 20) for _ in range(2)]
    programs = [plumbline.compile(model, (x,), cache=tmp_path) for model in models]
    assert [program.from_cache for program in programs] == [False, True]
    for model, program in zip(models, programs, strict=True):
        torch.testing.assert_close(program(x)[0], model(x))
        assert program.weight_bytes == 4 * (30 * 20 + 20)


class _Scaled(torch.nn.Module):
    factors: torch.Tensor

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.register_buffer("factors", torch.full((3,), factor))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factors


def test_small_buffers_are_part_of_the_program(tmp_path: Path) -> None:
    for factor in (2.0, 3.0):
        program = plumbline.compile(_Scaled(factor), (torch.ones(2, 3),), cache=tmp_path)
        assert torch.equal(program(torch.ones(2, 3))[0], torch.full((2, 3), factor))


class _Grown(torch.nn.Module):
    """Has sizes of symbols, and writes in place."""

    def forward(self, cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        cache[1] = x.sum()
        return torch.cat([cache, x.nonzero()[:, 0]])


def test_sizes_and_what_is_written_are_as_in_the_first(tmp_path: Path) -> None:
    programs = _twice(
        tmp_path,
        _Grown(),
        *(torch.zeros(3), torch.ones(4)),
        dynamic_shapes={"cache": {0: Dim("cache", max=64)}, "x": {0: Dim("int")}},
        mutable=["cache"],
    )
    for program in programs:
        cache, x = torch.zeros(5), torch.tensor([0.0, 2, 0, 3, 4, 0])
        assert program(cache, x)[0].tolist() == [0, 9, 0, 0, 0, 1, 3, 4]
        assert cache.tolist() == [0, 9, 0, 0, 0]
        with pytest.raises(UserError) as raised:
            program(torch.zeros(65), x)
        assert "cache" in str(raised.value)


def test_damaged_files_are_written_anew(tmp_path: Path) -> None:
    x, model = torch.randn(5), torch.nn.ReLU()
    _twice(tmp_path, model, x)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    first, _ = _twice(tmp_path, model, x)
    assert torch.equal(first(x)[0], x.relu())


def test_programs_for_a_gpu_have_their_kernels(tmp_path: Path) -> None:
    options = {"target": "nvptx", "on_gpu_tensors": True, "stream": True}
    first, second = _twice(tmp_path, torch.nn.ReLU(), torch.randn(5), **options)
    for stage in GPU_STAGES[:-1]:
        assert second.stage(stage) == first.stage(stage)


_LOWERING = Lowering(
    Source("module {}"), "main", Target("x86_64", "znver5", "+avx2"), None, 2, "values", 1
)


_OTHERS = [
    dataclasses.replace(_LOWERING, **change)
    for change in (
        {"source": Source("module { }")},
        {"source": Source("module {}", is_stablehlo=True)},
        {"func_name": "other"},
        {"target": Target("aarch64", "znver5", "+avx2")},
        {"target": Target("x86_64", "znver4", "+avx2")},
        {"target": Target("x86_64", "znver5", "-avx2")},
        {"gpu": GpuOptions(Target("nvptx64", "sm_80"))},
        {"gpu": GpuOptions(Target("nvptx64", "sm_90"))},
        {"gpu": GpuOptions(Target("nvptx64", "sm_90"), allow_tf32=True)},
        {"gpu": GpuOptions(Target("nvptx64", "sm_90"), on_gpu_tensors=True)},
        {"gpu": GpuOptions(Target("nvptx64", "sm_90"), on_gpu_tensors=True, stream=True)},
        {"opt_level": 3},
        {"runtime_checks": "off"},
        {"threads": 2},
    )
]


def test_all_that_decides_is_part_of_the_key() -> None:
    assert dataclasses.replace(_LOWERING).key() == _LOWERING.key()
    assert len({each.key() for each in (_LOWERING, *_OTHERS)}) == 1 + len(_OTHERS)


@pytest.mark.parametrize("cache", [None, 1, ""])
def test_what_is_no_cache_is_refused(cache: Any) -> None:
    with pytest.raises(UserError, match=r"plumbline.compile: cache is .*; it is True, False or"):
        plumbline.compile(torch.nn.ReLU(), (torch.ones(3),), cache=cache)
    with pytest.raises(UserError, match=r"plumbline.Backend: cache is .*; it is True, False or"):
        plumbline.Backend(cache=cache)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
