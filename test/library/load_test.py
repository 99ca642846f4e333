import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError
from plumbline.library.load import describe
from plumbline.llvm_to_asm.description_section import include_description
from plumbline.signature.library_description import LibraryDescription
from plumbline.signature.size_expressions import Operation


class _Fences(torch.nn.Module):
    """What has sizes and element types of many kinds."""

    def forward(
        self, x: torch.Tensor, fences: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        wide = torch.nn.functional.interpolate(x[None, None], scale_factor=1.5)
        return (fences[1:] - fences[:-1]) * x * mask, wide[0].to(torch.uint8)


_N = Dim("n", min=3, max=100)
_INPUTS = (torch.arange(4.0), torch.arange(5.0) ** 2, torch.tensor([True, False, True, True]))


@pytest.fixture(scope="module")
def program() -> plumbline.CompiledProgram:
    shapes = {"x": {0: _N}, "fences": {0: _N + 1}, "mask": {0: _N}}
    return plumbline.compile(_Fences(), _INPUTS, shapes, func_name="fences")


@pytest.fixture(scope="module")
def shared_object(
    program: plumbline.CompiledProgram, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("library")
    description = LibraryDescription(program.signature, "native", 'a "test" in C:\\ größe')
    return _linked(folder, program.stage("asm") + include_description(description.to_json()))


def _linked(folder: Path, assembly: str) -> Path:
    (folder / "fences.S").write_text(assembly)
    command = ["gcc", "-undef", "-shared", "-o", "libfences.so", "fences.S", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "libfences.so"


def test_a_library_is_called_as_the_program_it_was_made_of(
    program: plumbline.CompiledProgram, shared_object: Path
) -> None:
    library = plumbline.load(shared_object)
    assert library.signature.names.inputs == ("x", "fences", "mask")
    for n in (3, 4, 33):
        given = (
            np.arange(n, dtype=np.float32),
            np.arange(n + 1, dtype=np.float32) ** 2,
            np.arange(n) % 2 == 0,
        )
        for ours, theirs in zip(library(*given), program(*given), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs)
    with pytest.raises(UserError, match="argument 1 has size 4 in dimension 0, not n \\+ 1 = 5"):
        library(_INPUTS[0], torch.ones(4), _INPUTS[2])
    with pytest.raises(UserError, match=r"argument 2 is f32\[4\], .* takes i1\[\?\]"):
        library(_INPUTS[0], _INPUTS[1], torch.ones(4))


def test_it_outlives_its_file(shared_object: Path, tmp_path: Path) -> None:
    copy = shutil.copy(shared_object, tmp_path / "libcopy.so")
    library = plumbline.load(copy)
    Path(copy).unlink()
    differences, _ = library(*_INPUTS)
    assert torch.equal(differences, torch.tensor([0.0, 0.0, 10.0, 21.0]))


class _Times(torch.nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


def test_a_file_that_takes_the_place_of_another_is_loaded(tmp_path: Path) -> None:
    def times(factor: float, count: int) -> plumbline.Library:
        return plumbline.load(
            plumbline.aot(_Times(factor), torch.ones(count), name="multiplied", out=tmp_path)
        )

    # With the other's machine code, most of the results would not be written.
    libraries = [times(factor, count) for factor, count in ((2, 3), (3, 70000), (4, 5))]
    again = plumbline.load(tmp_path / "multiplied.so")
    for library, factor, count in zip(
        [*libraries, again], (2, 3, 4, 4), (3, 70000, 5, 5), strict=True
    ):
        (result,) = library(np.ones(count, np.float32))
        assert (result == factor).all()


def test_a_file_that_is_written_to_once_it_is_loaded_is_refused(
    shared_object: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "libcopy.so"
    copy.write_bytes(shared_object.read_bytes())
    plumbline.load(copy)
    os.utime(copy, (0, 0))
    with pytest.raises(UserError, match="has loaded it, and it has been written to since"):
        plumbline.load(copy)


def test_what_it_says_of_itself_survives_stripping(shared_object: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "libstripped.so"
    subprocess.run(["strip", "--strip-all", "-o", stripped, shared_object], check=True)
    (description,) = describe(stripped)
    assert description.origin == 'a "test" in C:\\ größe'
    assert plumbline.load(str(stripped), "fences")(*_INPUTS)[1].dtype == torch.uint8


def test_loading_needs_neither_torch_nor_mlir(shared_object: Path) -> None:
    code = f"""
import sys
import numpy as np
import plumbline
library = plumbline.load({str(shared_object)!r})
result, _ = library(np.ones(3, np.float32), np.ones(4, np.float32), np.ones(3, bool))
assert not result.any()
heavy = {{"torch", "torch_mlir", "llvmlite", "safetensors"}} & set(sys.modules)
assert not heavy, heavy
"""
    environment = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_torch_tensors_need_nothing_that_compiles(shared_object: Path) -> None:
    """A program that has PyTorch need not have what compiles, and may have another PyTorch."""
    code = f"""
import sys
import torch
import plumbline
library = plumbline.load({str(shared_object)!r})
for _ in range(3):
    result, _ = library(torch.ones(3), torch.ones(4), torch.ones(3, dtype=torch.bool))
assert isinstance(result, torch.Tensor) and not result.any()
heavy = {{"torch_mlir", "safetensors"}} & set(sys.modules)
heavy |= {{name for name in sys.modules if name.startswith("plumbline.loader_to_torch")}}
assert not heavy, heavy
"""
    environment = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_descriptions_lose_nothing(program: plumbline.CompiledProgram) -> None:
    text = LibraryDescription(program.signature, "skylake", "here").to_json()
    read = LibraryDescription.from_json("it", text)
    assert read.to_json() == text
    assert read.signature.inputs == program.signature.inputs
    assert read.signature.outputs == program.signature.outputs
    assert read.signature.result_shapes == program.signature.result_shapes
    assert isinstance(read.signature.result_shapes[1][1], Operation)


def _changed(text: str, **changes: Any) -> str:
    return json.dumps({**json.loads(text), **changes})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"format": 1}, "is of format 1, where this version of Plumbline reads 3"),
        ({"inputs": [{"name": "x"}]}, "is not one of Plumbline's"),
        ({"outputs": [{"name": "y", "type": "f32", "shape": ["k"]}]}, "is not one of Plumbline's"),
        (
            {"outputs": [{"name": "y", "type": "f32", "shape": [["^", 1, 2]]}]},
            r"'\^' is no operation on sizes",
        ),
        ({"inputs": [{"name": "x", "type": "f8", "shape": []}]}, "element type 'f8' is not"),
    ],
)
def test_descriptions_of_others_are_refused(
    program: plumbline.CompiledProgram, changes: dict[str, Any], expected: str
) -> None:
    text = LibraryDescription(program.signature, "skylake", "here").to_json()
    with pytest.raises(UserError, match=expected):
        LibraryDescription.from_json("it", _changed(text, **changes))


def test_files_that_are_no_library_are_refused(
    program: plumbline.CompiledProgram, shared_object: Path, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"absent\.so: it cannot be read: No such file"):
        plumbline.load(tmp_path / "absent.so")
    with pytest.raises(UserError, match="it cannot be read: embedded null byte"):
        plumbline.load("a\0.so")
    with pytest.raises(UserError, match="it cannot be read: it is no ELF file"):
        plumbline.load(__file__)
    (tmp_path / "cut.so").write_bytes(shared_object.read_bytes()[:2000])
    with pytest.raises(UserError, match="it cannot be read: it is cut off"):
        plumbline.load(tmp_path / "cut.so")
    with pytest.raises(UserError, match="it says nothing of its programs"):
        plumbline.load(_linked(tmp_path, program.stage("asm")))
    with pytest.raises(UserError, match="it has the programs fences; not walls"):
        plumbline.load(shared_object, "walls")
    unloadable = tmp_path / "unloadable.so"
    subprocess.run(["gcc", "-c", "-o", unloadable, shared_object.parent / "fences.S"], check=True)
    with pytest.raises(UserError, match="it cannot be loaded: "):
        plumbline.load(unloadable)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
