"""Compiles models that a Python program has, to libraries."""

import sys
from collections import defaultdict
from pathlib import Path

import pytest
import torch
from torch.export import Dim
from torch_mlir import ir

import plumbline
from plumbline import context
from plumbline.cli.main import main
from plumbline.errors import UserError
from plumbline.library.sections import read_section
from plumbline.library_files.kinds import KINDS, shipped


class _Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.arange(1.0, 40.0))
        self.norm = torch.nn.BatchNorm1d(39)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed: torch.Tensor = self.norm(x * self.scale)
        return normed


def test_one_line_makes_a_library(tmp_path: Path) -> None:
    model = _Scaled().eval()
    x = torch.randn(4, 39)
    rows = {"x": {0: Dim("rows")}}
    file = plumbline.aot(model, x, name="scaled", out=tmp_path / "out", dynamic_shapes=rows)
    assert file == tmp_path / "out" / "libscaled.so"
    names = {KINDS[kind].file_name("scaled") for kind in shipped("host")}
    assert {each.name for each in file.parent.iterdir()} == names
    library = plumbline.load(file)
    assert library.description.origin.endswith("ahead_of_time_test._Scaled")
    for count in (1, 4, 7):
        x = torch.randn(count, 39)
        torch.testing.assert_close(library(x)[0], model(x))


def test_another_library_takes_contexts_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of which each of its stages would make one."""
    made = 0
    make_context = context._make_context

    def counted(torch: bool, stablehlo: bool) -> ir.Context:
        nonlocal made
        made += 1
        return make_context(torch, stablehlo)

    monkeypatch.setattr(context, "_make_context", counted)
    monkeypatch.setattr(context, "_spare", defaultdict(list))
    for name in ("first", "second"):
        plumbline.aot(torch.nn.ReLU(), torch.ones(2), name=name, out=tmp_path)
        # Those with PyTorch's dialect, and those without.
        assert made == 2


def test_options_are_those_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = torch.nn.Linear(3, 2)
    file = plumbline.aot(
        model,
        torch.ones(1, 3),
        name="line",
        func_name="lines",
        memory="pool",
        weights="arguments",
        opt_level=1,
        threads=2,
    )
    assert file == Path("libline.so")
    library = plumbline.load(file)
    assert library.signature.name == "lines"
    assert library.signature.workspace is not None
    weight, bias = model.weight.detach(), model.bias.detach()
    x = torch.randn(1, 3)
    torch.testing.assert_close(library(weight, bias, x)[0], model(x))


class _Transform(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.randn(40))
        self.window = torch.hann_window(40)
        self.shape = torch.tensor([-1, 2])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        transformed: torch.Tensor = torch.fft.rfft(x * self.scale * self.window).real
        return transformed[:, 1:].reshape(self.shape.tolist())


def test_constants_are_no_arguments(tmp_path: Path) -> None:
    """No checkpoint has them: tables of decompositions, and tensors that a model just holds."""
    model, x = _Transform(), torch.randn(3, 40)
    file = plumbline.aot(model, x, name="transform", out=tmp_path, weights="arguments")
    library = plumbline.load(file)
    assert library.signature.names.inputs == ("scale", "x")
    scale = torch.randn(40)
    (result,) = library(scale, x)
    model.scale.data = scale
    torch.testing.assert_close(result, model(x))


class _Steps(torch.nn.Module):
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor, scale: float) -> tuple[torch.Tensor, float]:
        self.count.add_(1)
        return self.layer(x) * scale, scale * 2


def test_state_numbers_and_weights_of_a_file(tmp_path: Path) -> None:
    model = _Steps()
    file = plumbline.aot(
        model,
        torch.ones(2, 3),
        0.5,
        name="steps",
        out=tmp_path,
        dynamic_shapes={"x": None, "scale": Dim.DYNAMIC},
        mutable=["count"],
        weights="file",
    )
    library = plumbline.load(file)
    x, count = torch.randn(2, 3), torch.tensor(0)
    with pytest.raises(UserError, match="call steps_load_weights first"):
        library(x, 2.0, count)
    with pytest.raises(UserError, match="has a null byte"):
        library.load_weights(f"{tmp_path / 'steps.safetensors'}\0")
    library.load_weights(tmp_path / "steps.safetensors")
    for number in (1, 2):
        result, doubled = library(x, 1.5, count)
        torch.testing.assert_close(result, model.layer(x).detach() * 1.5)
        assert (doubled, int(count)) == (3, number)


def test_the_code_is_that_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("squashing.py").write_text("""
import torch
import plumbline


def squash_loader():
    return plumbline.TorchLoaderOutput(torch.nn.Tanh(), (torch.ones(3),))
""")
    assert main(["compile", "squashing.py:squash_loader", "--out", "command"]) == 0
    plumbline.aot(torch.nn.Tanh(), torch.ones(3), name="squash", out="aot")
    # They say of themselves from where they come, each in its own words.
    code = [read_section(Path(folder, "squash.o"), ".text") for folder in ("command", "aot")]
    assert code[0]
    assert code[0] == code[1]
    assert plumbline.load("command/libsquash.so").description.origin == "squashing.squash_loader"
    origin = plumbline.load("aot/libsquash.so").description.origin
    assert origin == "torch.nn.modules.activation.Tanh"


def test_a_library_for_a_gpu_has_packed_weights(tmp_path: Path) -> None:
    """Those of an image whose channels are put last, in the order in which kernels read them."""
    model = torch.nn.Conv2d(16, 32, 3, padding=1).half()
    image = torch.zeros(1, 16, 20, 20, dtype=torch.float16)
    library = plumbline.aot(model, image, name="edges", out=tmp_path, target="nvptx")
    assert library == tmp_path / "libedges.so"


def test_a_model_stays_as_it_was(tmp_path: Path) -> None:
    model = _Scaled()
    former = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(UserError, match="forward writes in place"):
        plumbline.aot(model, torch.randn(4, 39), name="training", out=tmp_path / "out")
    for name, value in model.state_dict().items():
        assert torch.equal(value, former[name]), name
    assert not (tmp_path / "out").exists()


def test_mistakes_are_told(tmp_path: Path) -> None:
    model, x = torch.nn.Tanh(), torch.ones(3)
    with pytest.raises(UserError, match=r"plumbline\.aot: model is the class Tanh"):
        plumbline.aot(torch.nn.Tanh, x, name="tanh_", out=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"plumbline\.aot: inputs\[0\] is of type str"):
        plumbline.aot(model, "x", name="foo", out=tmp_path)
    with pytest.raises(UserError, match="the name 'a b' becomes part of file names"):
        plumbline.aot(model, x, name="a b", out=tmp_path)
    with pytest.raises(UserError, match="memory is 'heap'; it is one of 'malloc', 'pool'"):
        plumbline.aot(model, x, name="foo", out=tmp_path, memory="heap")
    assert not list(tmp_path.iterdir())


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
