import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import Dim

from plumbline.bindings.walk import operations_of
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.errors.location import describe, module_path
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput, load
from plumbline.loader_to_torch.source_path import relative_to_import_path
from plumbline.loader_to_torch.traced_functions import TracedFunctions
from plumbline.tcp.assembly.module import parse_module
from plumbline.torch_to_tcp.torch_ops import computing_ops, pytorch_name


class _Add(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def test_locations_are_relative_to_the_workspace() -> None:
    text = export("it", TorchLoaderOutput(_Add(), (torch.ones(2), torch.ones(2)))).text
    files = set(re.findall(r'loc\("([^"]+)":', text))
    assert files == {"test/loader_to_torch/export_test.py"}


def test_what_a_double_is_subtracted_from_is_one() -> None:
    class _FromNumber(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 0.6 - x

    program = TorchLoaderOutput(_FromNumber(), (torch.ones(2, dtype=torch.float64),))
    assert "f32" not in export("it", program).text


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


_N = Dim("n", min=2, max=64)


class _Slices(torch.nn.Module):
    row: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("row", torch.randn(1, 64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = x.shape[0]
        # PyTorch writes the sizes 1 - Max(0, 1 - s) and s.
        return x + self.row[max(0, 1 - length) :, :length]


def test_a_size_that_is_one_number_is_written_as_that() -> None:
    program = TorchLoaderOutput(_Slices(), (torch.randn(7, 7),), {"x": dict.fromkeys((0, 1), _N)})
    text = export("it", program).text
    (last,) = re.findall(r"aten\.add\.Tensor .* -> ", text)
    assert "!torch.vtensor<[?,?],f32>, !torch.vtensor<[1,?],f32>" in last


class _Few(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.nonzero()
        torch._check(rows.shape[0] <= 2)  # type: ignore[no-untyped-call]
        return torch.cat([rows, rows])


def test_a_size_that_values_decide_is_no_number() -> None:
    # However small it is: only those of inputs are at least 2 to PyTorch.
    text = export("it", TorchLoaderOutput(_Few(), (torch.tensor([0.0, 1, 0]),))).text
    assert re.search(r"return .* : !torch\.vtensor<\[\?,1\],si64>", text)


def test_arguments_that_are_one_tensor_stay_two() -> None:
    text = export("it", load("test.loader_to_torch.broken_loaders.one_tensor_twice")).text
    assert re.search(r"torch\.aten\.add\.Tensor %arg0, %arg1", text)


class _Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return torch.tanh(x)


def test_locations_name_the_user_s_line_and_the_module() -> None:
    exported = export("it", TorchLoaderOutput(_Layers(), (torch.ones(2, 3),)))
    module = parse_module(exported.text, make_context(torch=True), "it.mlir")

    places = {
        (pytorch_name(op), module_path(op.location), describe(op.location).partition(",")[0])
        for op in computing_ops(module)
        if op.name in ("torch.aten.mm", "torch.aten.tanh")
    }

    layer, tanh = (
        f"test/loader_to_torch/export_test.py:{line}" for line in _lines("layer(x)", "torch.tanh(")
    )
    assert places == {
        ("aten.mm", "layers.0", layer),
        ("aten.mm", "layers.1", layer),
        ("aten.tanh", "", tanh),
    }
    # Each is written once, however many ops are from there.
    assert exported.text.count('loc("layers.0"(') == 1
    # A function is the whole program's.
    (function,) = operations_of(module, "func")[:1]
    assert module_path(function.location) == ""
    assert "plumbline node" not in exported.text


class _Tried(_Layers):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            try:
                x = layer(x, lengths=x)
            except TypeError:
                x = layer(x)
        return torch.tanh(x)


def test_modules_that_raise_are_left() -> None:
    """The second is no part of the first, which was tried with what it does not take."""
    exported = export("it", TorchLoaderOutput(_Tried(), (torch.ones(2, 3),)))
    module = parse_module(exported.text, make_context(torch=True), "it.mlir")
    places = [(pytorch_name(op), module_path(op.location)) for op in computing_ops(module)]
    assert ("aten.mm", "layers.1") in places
    assert ("aten.tanh", "") in places


@torch.compiler.nested_compile_region
def _region(layer: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(layer(x))


class _Regions(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        one, other = self.layers
        result: torch.Tensor = torch.cond(
            x.sum() > 0, lambda y: _region(one, y), lambda y: _region(other, y), (_region(one, x),)
        )
        return torch.abs(_region(other, result))


def test_regions_are_traced_as_functions() -> None:
    exported = export("it", TorchLoaderOutput(_Regions(), (torch.ones(2, 3),)))
    ops = computing_ops(parse_module(exported.text, make_context(torch=True), "it.mlir"))
    assert [pytorch_name(op) for op in ops].count("aten.tanh") == 4


def _lines(*texts: str) -> list[int]:
    """The first lines of this file with each of `texts`, counted from 1."""
    lines = Path(__file__).read_text().splitlines()
    return [next(n for n, line in enumerate(lines, 1) if text in line) for text in texts]


class _Weights(torch.nn.Module):
    table: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.unused = torch.nn.Linear(3, 2)
        self.register_buffer("table", torch.randn(2), persistent=False)
        self.constant = torch.randn(17, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        small, large = torch.tensor([0.5, 0.25]), torch.arange(34.0).reshape(17, 2)
        y: torch.Tensor = self.layer(x)
        return y * self.table + small + large + self.constant


@pytest.mark.parametrize(("embedded", "mark"), [(True, "weight"), (False, "parameter")])
def test_weights_are_leading_arguments(embedded: bool, mark: str) -> None:
    model = _Weights()
    exported = export("it", TorchLoaderOutput(model, (torch.ones(17, 3),)), embedded=embedded)
    marks, names = zip(*re.findall(r'plumbline\.(\w+) = "([^"]+)"', exported.text), strict=True)
    assert list(names) == list(exported.weights)
    # No checkpoint has constants.
    assert names == ("constant", "layer.weight", "layer.bias", "table")
    assert marks == ("weight", mark, mark, mark)
    assert exported.parameters == (() if embedded else names[1:])
    assert torch.equal(exported.weights["layer.weight"], model.layer.weight)
    assert torch.equal(exported.weights["table"], model.table)
    # A small constant is worth reading; values of the weights are not in the text.
    assert "dense<[5.000000e-01, 2.500000e-01]>" in exported.text
    assert "dense_resource" not in exported.text


class _Converting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layer.to(x.device)(x) + self.layer.float().cpu()(x)
        y += self.layer.to(x)(x)
        return y


def test_modules_are_converted_to_what_they_are() -> None:
    model = _Converting()
    weight = model.layer.weight
    exported = export("it", TorchLoaderOutput(model, (torch.ones(4, 3),)))
    assert list(exported.weights) == ["layer.weight", "layer.bias"]
    assert model.layer.weight is weight


class _Widening(_Converting):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.layer.double()(x.double())
        return y


def test_modules_that_become_others_are_refused() -> None:
    with pytest.raises(UserError, match="swap Linear"):
        export("it", TorchLoaderOutput(_Widening(), (torch.ones(4, 3),)))


def test_weights_are_not_shown_to_what_looks_at_the_functions_of_a_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []
    look = TracedFunctions.__torch_function__

    def noted(mode: TracedFunctions, function: Any, *given: Any) -> Any:
        seen.append(function)
        return look(mode, function, *given)

    monkeypatch.setattr(TracedFunctions, "__torch_function__", noted)

    def views(layers: int) -> int:
        seen.clear()
        model = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(layers)))
        export("Sequential", TorchLoaderOutput(model, (torch.randn(2, 3),)))
        return seen.count(torch.Tensor._is_view)

    # Whoever makes a tensor without data of another asks whether that is one: here of the input.
    assert views(1) == views(4)


def test_source_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/run", "/run/main", ""])
    assert relative_to_import_path("/run/main/test/a.py") == "test/a.py"
    assert relative_to_import_path("/elsewhere/a.py") == "/elsewhere/a.py"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
