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


class _Weights(torch.nn.Module):
    table: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.unused = torch.nn.Linear(3, 2)
        self.register_buffer("table", torch.randn(2), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        small, large = torch.tensor([0.5, 0.25]), torch.arange(34.0).reshape(17, 2)
        y: torch.Tensor = self.layer(x)
        return y * self.table + small + large


@pytest.mark.parametrize(("embedded", "mark"), [(True, "weight"), (False, "parameter")])
def test_weights_are_leading_arguments(embedded: bool, mark: str) -> None:
    model = _Weights()
    exported = export("it", TorchLoaderOutput(model, (torch.ones(17, 3),)), embedded=embedded)
    names = re.findall(rf'plumbline\.{mark} = "([^"]+)"', exported.text)
    assert names == list(exported.weights)
    assert names[:3] == ["layer.weight", "layer.bias", "table"]
    assert torch.equal(exported.weights["layer.weight"], model.layer.weight)
    assert torch.equal(exported.weights["table"], model.table)
    # A small constant is worth reading; values of the weights are not in the text.
    assert "dense<[5.000000e-01, 2.500000e-01]>" in exported.text
    assert "dense_resource" not in exported.text


def test_source_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/run", "/run/main", ""])
    assert relative_to_import_path("/run/main/test/a.py") == "test/a.py"
    assert relative_to_import_path("/elsewhere/a.py") == "/elsewhere/a.py"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
