import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.lowering import STAGES
from test.tools.aot.faulty_loader_lib import Gated

_RIGHT = ("test/AotCompile/mlp_bisect", "test.AotCompile.model_loader_lib.mlp_loader")
_ONNX_BISECT = "test/AotCompile/onnx_classifier_bisect"
_ONNX = "test/AotCompile/onnx_model.onnx"
_WRONG = ("test/tools/aot/faulty_bisect", "test.tools.aot.faulty_loader_lib.relu_is_nothing_loader")


def _run(program: str, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], program), *arguments],
        cwd=cwd,
        env={**os.environ, "BUILD_WORKING_DIRECTORY": str(cwd)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_program_that_agrees(tmp_path: Path) -> None:
    program, loader = _RIGHT
    result = _run(program, f"--torch-loader-path={loader}", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"loader {loader}: ")
    assert "ops and the outputs agree with PyTorch" in result.stdout
    assert result.stdout.count("\n") == 1


def test_a_model_of_onnx(tmp_path: Path) -> None:
    model = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"], _ONNX)
    result = _run(_ONNX_BISECT, str(model), "--func-name=f", "--size=batch=4", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"model {model}: ")
    assert "ops and the outputs agree with PyTorch" in result.stdout


def test_a_wrong_op_is_found_and_its_stages_are_written(tmp_path: Path) -> None:
    program, loader = _WRONG
    result = _run(program, f"--torch-loader-path={loader}", "--stages=found/here", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (1, "")
    lines, first = inspect.getsourcelines(Gated)
    code = "value = torch.relu(self.value(x))"
    (line,) = (first + index for index, text in enumerate(lines) if code in text)
    assert (
        "computes something else than PyTorch's does from the same inputs\n\n"
        f"aten.relu.default (%relu)\nat test/tools/aot/faulty_loader_lib.py:{line}\n"
    ) in result.stdout
    assert code in result.stdout

    files = {file.name: file for file in (tmp_path / "found" / "here").iterdir()}
    assert len(files) == len(STAGES) + 1
    assert "torch.aten.relu" in files["relu_torch.mlir"].read_text()
    assert "return %arg0" in files["relu_tcp.mlir"].read_text()
    assert "func_main:" in files["relu_asm.S"].read_text()
    references = ReferenceArchive.read(files["relu_reference_tensors.npz"])
    assert [tensor.shape for tensor in (*references.inputs, *references.outputs)] == [(3, 4)] * 2
    assert (references.outputs[0] == references.inputs[0].clip(0)).all()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--torch-loader-path=no.such.loader"], "error: //a:b: loader no.such.loader: module no"),
        (
            [f"--torch-loader-path={_RIGHT[1]}", "--target-cpu=pentium-9000"],
            "error: //a:b: target_cpu 'pentium-9000': ",
        ),
    ],
)
def test_a_mistake_ends_in_one_message(arguments: list[str], expected: str, tmp_path: Path) -> None:
    result = _run(_RIGHT[0], "--label=//a:b", *arguments, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith(expected)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
