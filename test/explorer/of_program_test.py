"""The page of a program that is in memory."""

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import plumbline
from plumbline.errors import UserError


class _Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(3, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        return torch.tanh(y)


def _stages_of(file: Path, code: str) -> list[str]:
    """The stages in which something comes from a line of the model, of all that are there."""
    (text,) = re.findall(r'id="data">(.*)</script>', file.read_text(encoding="utf-8"))
    data: Any = json.loads(text)
    lines, first = inspect.getsourcelines(_Model)
    (number,) = (first + index for index, line in enumerate(lines) if code in line)
    (origin,) = (
        line[2]
        for source in data["sources"]
        if source["file"].endswith("test/explorer/of_program_test.py")
        for line in source["lines"]
        if line[0] == number
    )
    return [
        stage["name"]
        for stage in data["stages"]
        if any(origin in origins for origins in stage["origins"])
    ]


def test_a_compiled_program(tmp_path: Path) -> None:
    program = plumbline.compile(_Model(), (torch.randn(4, 3),))
    before = program.stage("tcp")
    plumbline.explore(program, tmp_path / "model.html")
    stages = ["torch", "tcp", "linalg", "kernels", "llvm", "llvm-ir", "asm"]
    assert _stages_of(tmp_path / "model.html", "return torch.tanh(y)") == stages
    assert '"shares":{}' in (tmp_path / "model.html").read_text(encoding="utf-8")
    assert program.stage("tcp") == before
    assert "loc(" not in before


def test_a_program_for_a_gpu(tmp_path: Path) -> None:
    program = plumbline.compile(_Model(), (torch.randn(4, 3),), target="nvptx")
    plumbline.explore(program, tmp_path / "model.html")
    stages = ["torch", "tcp", "linalg", "gpu", "nvvm", "ptx"]
    assert _stages_of(tmp_path / "model.html", "return torch.tanh(y)") == stages


def test_the_programs_of_a_backend(tmp_path: Path) -> None:
    backend = plumbline.Backend()
    model = torch.compile(_Model(), backend=backend)
    model(torch.randn(4, 3)).sum().backward()
    forward, backward = backend.programs
    for program, code in ((forward, "y = self.first(x)"), (backward, "return torch.tanh(y)")):
        plumbline.explore(program, tmp_path / "model.html")
        assert "kernels" in _stages_of(tmp_path / "model.html", code)


def test_a_call_tells_how_long_lines_take(tmp_path: Path) -> None:
    x = torch.randn(40, 3)
    plumbline.explore(plumbline.compile(_Model(), (x,)), tmp_path / "model.html", x)
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert re.search(r'"shares":\{"\d+":0\.\d+', text)


def test_what_is_no_program() -> None:
    with pytest.raises(UserError, match=r"takes what plumbline\.compile gives, not _Model"):
        plumbline.explore(_Model(), "model.html")  # type: ignore[arg-type]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    program = plumbline.compile(_Model(), (torch.randn(4, 3),))
    with pytest.raises(UserError, match=r"nowhere/model\.html: cannot be written: No such file"):
        plumbline.explore(program, tmp_path / "nowhere" / "model.html")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
