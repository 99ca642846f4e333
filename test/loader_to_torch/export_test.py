import re
import sys

import pytest
import torch
from torch.export import Dim

from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput, load
from plumbline.loader_to_torch.source_path import relative_to_import_path


class _Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def test_locations_are_relative_to_the_workspace() -> None:
    text = export("it", TorchLoaderOutput(_Add(), (torch.ones(2), torch.ones(2)))).text
    files = set(re.findall(r'loc\("([^"]+)":', text))
    assert files == {"test/loader_to_torch/export_test.py"}


def test_two_exports_are_equal() -> None:
    path = "test.loader_to_torch.broken_loaders.sound"
    assert export("it", load(path)).text == export("it", load(path)).text


def test_dynamic_dimensions_and_names() -> None:
    program = TorchLoaderOutput(
        _Add(),
        (torch.ones(2, 3), torch.ones(3)),
        dynamic_shapes={"x": {0: Dim("batch")}, "y": {}},
        func_name="add",
    )
    text = export("it", program).text
    assert "func.func @add(%arg0: !torch.vtensor<[?,3],f32>" in text
    assert "torch.symbolic_int" in text


def test_arguments_that_are_one_tensor_stay_two() -> None:
    text = export("it", load("test.loader_to_torch.broken_loaders.one_tensor_twice")).text
    assert re.search(r"torch\.aten\.add\.Tensor %arg0, %arg1", text)


def test_source_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/run", "/run/main", ""])
    assert relative_to_import_path("/run/main/test/a.py") == "test/a.py"
    assert relative_to_import_path("/elsewhere/a.py") == "/elsewhere/a.py"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
