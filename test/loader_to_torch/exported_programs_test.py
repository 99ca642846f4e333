"""Programs that torch.export has made are compiled with their sizes, bounds and names."""

import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram

import plumbline
from plumbline.compiler import CompiledProgram
from plumbline.errors import UserError
from plumbline.loader_to_torch.loader import load


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inner(x).relu() + y
        return result


class _ByKeyword(nn.Module):
    def forward(
        self, x: torch.Tensor, *, scales: dict[str, torch.Tensor], more: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        pairs = x.view(x.shape[0], -1, 2)
        return x[:, ::2].sum(1) * scales["row"] + more, pairs.sum(2)


def _exported() -> ExportedProgram:
    torch.manual_seed(0)
    batch = Dim("batch", min=2, max=64)
    inputs = torch.randn(5, 4), torch.randn(5, 3)
    return torch.export.export(_Layer(), inputs, dynamic_shapes=({0: batch}, {0: batch}))


def exported_loader() -> ExportedProgram:
    """What torch.export gives, as it is."""
    return _exported()


def _check_layer(program: CompiledProgram, exported: ExportedProgram) -> None:
    x, y = torch.randn(7, 4), torch.randn(7, 3)
    with torch.no_grad():
        torch.testing.assert_close(program(x, y), (exported.module()(x, y),))
    with pytest.raises(UserError, match="x_0 must be at least 2 and at most 64"):
        program(torch.randn(65, 4), torch.randn(65, 3))


def test_what_export_gives() -> None:
    exported = _exported()
    program = plumbline.compile(exported)
    _check_layer(program, exported)
    # Weights have the names that the module has for them.
    assert 'plumbline.weight = "inner.weight"' in program.stage("tcp")


def test_a_file(tmp_path: Path) -> None:
    exported, file = _exported(), tmp_path / "layer.pt2"
    torch.export.save(exported, file)
    _check_layer(plumbline.compile(plumbline.load_exported(file)), exported)


def test_a_loader_may_return_one() -> None:
    loaded = load(f"{__name__}.exported_loader", target="layer")
    assert loaded.func_name == "layer"
    assert [input_.shape for input_ in loaded.inputs] == [(5, 4), (5, 3)]


def test_arguments_by_keyword_and_conditions() -> None:
    """They come after the others; and sizes that are to be even are held to that in each call."""
    model = _ByKeyword()
    given = {"scales": {"row": torch.randn(5)}, "more": 2}
    shapes = {"x": {0: Dim.AUTO, 1: Dim.AUTO}, "scales": {"row": {0: Dim.AUTO}}, "more": None}
    exported = torch.export.export(model, (torch.randn(5, 4),), given, dynamic_shapes=shapes)
    program = plumbline.compile(exported)
    for rows, columns in ((5, 4), (7, 10)):
        x, row = torch.randn(rows, columns), torch.randn(rows)
        expected = model(x, scales={"row": row}, more=2)
        torch.testing.assert_close(program(x, {"row": row}, 2), expected)
    with pytest.raises(UserError, match="the program is exported for sizes where"):
        program(torch.randn(5, 7), {"row": torch.randn(5)}, 2)


def test_sizes_that_are_computed_of_another() -> None:
    half = Dim("half", max=50)
    exported = torch.export.export(
        nn.Softplus(),
        (torch.randn(3, 8),),
        dynamic_shapes=({1: 2 * half},),
    )
    program = plumbline.compile(exported)
    x = torch.randn(3, 20)
    torch.testing.assert_close(program(x), (nn.functional.softplus(x),))


def test_what_is_part_of_it_is_not_given_beside() -> None:
    with pytest.raises(UserError, match="inputs is part of the ExportedProgram given"):
        plumbline.compile(_exported(), (torch.randn(5, 4), torch.randn(5, 3)))


def test_a_program_without_inputs() -> None:
    exported = _exported()
    exported.example_inputs = None
    with pytest.raises(UserError, match="the ExportedProgram has no example_inputs"):
        plumbline.compile(exported)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04" + bytes(90)], ids=len)
def test_files_that_are_no_programs(
    content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.pt2"
    file.write_bytes(content)
    with pytest.raises(UserError, match=r"bad.pt2: torch.export.load does not read it: "):
        plumbline.load_exported(file)
    assert not capfd.readouterr().err


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
