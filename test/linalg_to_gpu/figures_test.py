"""The figures of the kernels for a GPU count what fails, and exit so."""

import sys
from collections.abc import Callable

import pytest
import torch

from plumbline.loader_to_torch.loader import TorchLoaderOutput
from test.linalg_to_gpu import figures
from test.linalg_to_gpu.emulated_programs import EmulatedProgram, Function


def _loader(function: Callable[..., object]) -> Callable[[], TorchLoaderOutput]:
    return lambda: TorchLoaderOutput(model=Function(function), inputs=(torch.ones(40, 300),))


def _figures(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *functions: object
) -> tuple[int, str]:
    found = [pytest.param(_loader(function), id="program") for function in functions]  # type: ignore[arg-type]
    packages = {"test.AotCompile": found}
    monkeypatch.setattr(figures, "loaders_in", lambda package: packages.get(package.__name__, []))
    status = figures.main([])
    return status, capsys.readouterr().out


def test_what_is_right(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = _figures(monkeypatch, capsys, lambda x: x.softmax(-1), lambda x: x + 1)
    assert status == 0
    assert "suite: 2 of 2 compiled to PTX and assembled without a spill; 2 of 2 right" in said
    assert "2 kernels;" in said
    first, second = said.splitlines()[-2:]
    assert first.startswith("| program | max_sub_exp")
    assert second.startswith("| program | add_kernel | 256 |")


def test_what_is_wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def check(program: EmulatedProgram, *operands: object) -> None:
        raise AssertionError("it differs")

    monkeypatch.setattr(EmulatedProgram, "check", check)
    status, said = _figures(monkeypatch, capsys, lambda x: x + 1)
    assert status == 1
    assert "suite: 1 of 1 compiled to PTX and assembled without a spill; 0 of 1 right" in said
    assert said.endswith("program: it differs\n")


def test_no_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert figures.main(["there is no such program"]) == 1
    assert "0 kernels" in capsys.readouterr().out


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
