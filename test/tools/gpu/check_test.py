"""Tests with the tag gpu run on a card, by compute-sanitizer too, or are packed for one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPTS = Path(__file__).parents[3] / "tools" / "gpu"


def _program(file: Path, script: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/bash\n{script}\n")
    file.chmod(0o755)


def _check(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Runs the script in a workspace whose Bazel writes down what it is told."""
    script = folder / "tools" / "gpu" / "check"
    script.parent.mkdir(parents=True)
    shutil.copy(_SCRIPTS / "check", script)
    shutil.copy(_SCRIPTS / "cards.sh", script.parent)
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


def _packed(folder: Path, **tests: str) -> Path:
    """What is packed in a workspace whose Bazel has built these tests."""
    scripts = folder / "tools" / "gpu"
    scripts.mkdir(parents=True)
    for name in ("cards.sh", "pack", "packed_check"):
        shutil.copy(_SCRIPTS / name, scripts / name)
    labels = " ".join(f"//a:{name}" for name in tests)
    _program(folder / "bazelw", f"[[ $1 != query ]] || printf '%s\\n' {labels}")
    for name, script in tests.items():
        runfiles = folder / "bazel-bin" / "a" / f"{name}.runfiles"
        _program(folder / "built" / name, script)
        (runfiles / "main" / "a").mkdir(parents=True)
        (runfiles / "main" / "a" / name).symlink_to(folder / "built" / name)
        (runfiles / "main" / "a" / f"{name}.npz").write_text("numbers")
        (runfiles / "MANIFEST").touch()
    out = folder / "out"
    done = subprocess.run([scripts / "pack", out], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"{len(tests)} tests are in {out}\n")
    shutil.rmtree(folder / "built")
    assert not [*out.rglob("MANIFEST")]
    return out


def _run_packed(out: Path, *tools: str) -> "subprocess.CompletedProcess[str]":
    programs = out.parent / "bin"
    _program(programs / "nvidia-smi", "echo 'GPU 0: some card'")
    _program(programs / "compute-sanitizer", 'echo "$*"; exec "${@: -1}"')
    return subprocess.run(
        [out / "check", *tools],
        env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "JOBS": "2"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_packed_tests_run_without_bazel(tmp_path: Path) -> None:
    reads = '[[ -f $RUNFILES_DIR/main/a/one_gpu_test.npz ]] && echo "[  PASSED  ]"'
    done = _run_packed(_packed(tmp_path, one_gpu_test=reads, two_gpu_test="true"), "memcheck")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "GPU 0: some card\n2 passed, 0 failed\n"
        "compute-sanitizer --tool memcheck\n2 passed, 0 failed\n"
    )


def test_packed_tests_that_fail_or_skip(tmp_path: Path) -> None:
    out = _packed(tmp_path, one_gpu_test="echo wrong; exit 1", two_gpu_test="echo 1: Skipped")
    done = _run_packed(out)
    assert done.returncode == 1
    assert "wrong\nFAILED one_gpu_test\n" in done.stdout
    assert "FAILED two_gpu_test\n" in done.stdout
    assert done.stdout.endswith("0 passed, 2 failed\n")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
