"""The programs that aot_compile makes of profiles, as Bazel runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_RUNFILES = Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"])
_LOADER = "test.AotCompile.model_loader_lib.mlp_loader"


def _run(program: str, *arguments: str, cwd: Path) -> str:
    result = subprocess.run(
        [_RUNFILES / program, *arguments],
        cwd=cwd,
        env={**os.environ, "BUILD_WORKING_DIRECTORY": str(cwd)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_a_loader(tmp_path: Path) -> None:
    profile = f"--torch-loader-path={_LOADER}"
    text = _run("test/AotCompile/mlp_profile", profile, "--target-name=mlp", cwd=tmp_path)
    assert text.startswith("mlp: a call takes ")
    assert "test/AotCompile/model_loader_lib.py:" in text


def test_a_model_of_onnx(tmp_path: Path) -> None:
    model = str(_RUNFILES / "test/AotCompile/onnx_model.onnx")
    program = "test/AotCompile/onnx_classifier_profile"
    text = _run(program, model, "--func-name=f", "--size=batch=4", cwd=tmp_path)
    assert text.startswith("f: a call takes ")
    assert "Gop/s" in text


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
