"""tools/gpu/check runs tests with the tag gpu, by compute-sanitizer too, or says why not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[3] / "tools" / "gpu" / "check"


def _program(file: Path, script: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/bash\n{script}\n")
    file.chmod(0o755)


def _check(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs the script in a workspace whose Bazel writes down what it is told."""
    script = folder / "tools" / "gpu" / "check"
    script.parent.mkdir(parents=True)
    shutil.copy(_SCRIPT, script)
    _program(
        folder / "bazelw",
        "if [[ $1 == query ]]; then echo //a:one_gpu_test; "
        "[[ $2 == *except*models* ]] || echo //b:two_gpu_test; "
        'else echo "bazel $*"; fi',
    )
    # Nothing but what the script needs of any machine, and what the test puts there.
    for name in ("bash", "dirname"):
        found = shutil.which(name)
        assert found is not None
        (folder / "bin").mkdir(exist_ok=True)
        os.symlink(found, folder / "bin" / name)
    return subprocess.run(
        [script, *arguments],
        env={"PATH": str(folder / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_driver(tmp_path: Path) -> None:
    done = _check(tmp_path)
    assert done.returncode == 2
    assert "no test was run: there is no NVIDIA driver here" in done.stderr
    assert "bazel" not in done.stdout


def test_no_device(tmp_path: Path) -> None:
    _program(tmp_path / "bin" / "nvidia-smi", "echo 'No devices were found'; exit 6")
    done = _check(tmp_path)
    assert done.returncode == 2
    assert "no test was run: nvidia-smi says: No devices were found" in done.stderr


def test_a_card(tmp_path: Path) -> None:
    _program(tmp_path / "bin" / "nvidia-smi", "echo 'GPU 0: some card'")
    done = _check(tmp_path, "--config=ours")
    assert done.returncode == 0
    assert done.stdout.startswith("GPU 0: some card\nbazel test ")
    assert "-- //a:one_gpu_test //b:two_gpu_test\n" in done.stdout
    assert "--config=ours" in done.stdout
    assert "--test_env=LD_LIBRARY_PATH" in done.stdout
    assert "compute-sanitizer is not installed" in done.stderr


def test_compute_sanitizer(tmp_path: Path) -> None:
    _program(tmp_path / "bin" / "nvidia-smi", "echo 'GPU 0: some card'")
    _program(tmp_path / "bin" / "compute-sanitizer", "")
    done = _check(tmp_path)
    assert done.returncode == 0
    assert done.stdout.count("bazel test") == 5
    assert done.stdout.count("-- //a:one_gpu_test //b:two_gpu_test\n") == 1
    assert done.stdout.count("-- //a:one_gpu_test\n") == 4
    for tool in ("memcheck", "racecheck", "synccheck", "initcheck"):
        assert f"compute-sanitizer --tool {tool} --error-exitcode 1" in done.stdout


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
