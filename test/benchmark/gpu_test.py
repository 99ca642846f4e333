"""What the benchmark of GPUs says of its figures, and where there is no GPU."""

import sys

import pytest

from test.benchmark import gpu


def test_ratios_and_parts_of_what_the_card_does() -> None:
    row = gpu.Row(
        "blur",
        "float32",
        bytes=2e9,
        flops=4e12,
        seconds={"ours": 0.002, "eager": 0.008, "torch.compile": 0.0025},
        kernels={"row_kernel": 0.0005, "column_kernel": 0.0015},
    )
    text = gpu.table([row], {"float32": gpu.Ceilings(2e12, 1e16)})
    assert "| blur | float32 | 2.0000 | 0.25 | 0.80 | 1000 | 50 % | 2000.00 | 20 % |" in text
    assert text.endswith(
        "blur, float32: column_kernel 1.5000 ms\nblur, float32: row_kernel 0.5000 ms\n"
    )


def test_what_fails_is_said() -> None:
    row = gpu.Row("blur", "float16", seconds={"eager": 1.0}, problems={"ours": "no kernel does it"})
    text = gpu.table([row], {"float16": gpu.Ceilings(1.0, 1.0)})
    assert "| blur | float16 | failed | - | - | - | - | - | - |" in text
    assert "blur: ours no kernel does it" in text


def test_no_gpu_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    if not gpu.problem_here():
        pytest.skip("this machine has a GPU")
    assert gpu.main(["unsharp_mask*"]) == 2
    assert "//test/benchmark:gpu: nothing was timed: no NVIDIA driver" in capsys.readouterr().err


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
