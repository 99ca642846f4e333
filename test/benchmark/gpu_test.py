"""What the benchmark of GPUs says of its figures, and where there is no GPU."""

import sys
from typing import Any

import pytest
import torch

import plumbline
from test.benchmark import gpu
from test.benchmark.cases import Program
from test.runtime.cuda.stand_in import Kernels, driver


def test_ratios_and_parts_of_what_the_card_does() -> None:
    row = gpu.Row(
        "blur",
        "float32",
        bytes=2e9,
        flops=4e12,
        seconds={"ours": 0.002, "eager": 0.008, "torch.compile": 0.0025},
        calls={"ours": 0.003, "eager": 0.01},
        kernels={"row_kernel": 0.0005, "column_kernel": 0.0015},
    )
    text = gpu.table([row], {"float32": gpu.Ceilings(2e12, 1e16)})
    assert (
        "| blur | float32 | 2.0000 | 0.25 | 0.80 | 3.0000 | 0.30 | 1000 | 50 % | 2000.00 | 20 % |"
        in text
    )
    assert text.endswith(
        "blur, float32: column_kernel 1.5000 ms\nblur, float32: row_kernel 0.5000 ms\n"
    )


def test_what_fails_is_said() -> None:
    row = gpu.Row("blur", "float16", seconds={"eager": 1.0}, problems={"ours": "no kernel does it"})
    text = gpu.table([row], {"float16": gpu.Ceilings(1.0, 1.0)})
    assert "| blur | float16 | failed | - | - | - | - | - | - | - | - |" in text
    assert "blur: ours no kernel does it" in text


def test_an_element_type_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        gpu.main(["--dtypes=float32,float8"])
    assert "--dtypes: float8 is none of float32, float16, bfloat16" in capsys.readouterr().err


def test_no_gpu_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    if not gpu.problem_here():
        pytest.skip("this machine has a GPU")
    assert gpu.main(["unsharp_mask*"]) == 2
    assert "//test/benchmark:gpu: nothing was timed: no NVIDIA driver" in capsys.readouterr().err


# The last one, as the stand-in stays.
def test_all_but_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program is compiled, compared and timed on the stand-in, and what fails is said."""
    driver()
    kept: list[Kernels] = []

    def on_host(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], **options: Any) -> Any:
        assert options.pop("on_gpu_tensors")
        assert options.pop("stream")
        program = compile_(module, inputs, **options)
        kept.append(Kernels(program))
        return program

    def no_triton(module: torch.nn.Module, mode: str) -> None:
        raise RuntimeError(f"there is no Triton for {mode}\nand so on")

    compile_ = plumbline.compile
    monkeypatch.setattr(plumbline, "compile", on_host)
    monkeypatch.setattr(torch, "compile", no_triton)
    monkeypatch.setattr(gpu, "_DEVICE", "cpu")
    monkeypatch.setattr(gpu, "_seconds", lambda turn: turn.run() is None and 0.5)
    monkeypatch.setattr(gpu, "_captured", lambda turn: None)
    monkeypatch.setattr(gpu, "_kernels", lambda call: {"one": 0.5})
    x = torch.randn(8, 32)
    program = Program(torch.nn.Linear(32, 16).eval(), (x,))
    with torch.no_grad():
        row = gpu._measure("linear", program, torch.float32, "sm_90")
    assert row.problems == {"torch.compile": "there is no Triton for max-autotune-no-cudagraphs"}
    assert row.seconds == row.calls == {"ours": 0.5, "eager": 0.5}
    assert row.flops == 2 * 8 * 32 * 16
    assert row.bytes == 4 * (8 * 32 + 16 * 32 + 16 + 8 * 16)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
