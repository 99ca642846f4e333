"""A workspace that has this one as an external repository compiles its programs.

Run by hand, as Bazel within it installs all packages anew: a minute and a half.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from test.remote.checkout import outer_environment
from tools.lint import repository

_WORKSPACE = repository.ROOT / "examples" / "other_workspace"
_PROGRAMS = ("//models:softmax", "//test:test_relu", "//tools:tools_relu")


def _bazel(output_base: Path, *words: str) -> str:
    ran = subprocess.run(
        [repository.ROOT / "bazelw", f"--output_base={output_base}", *words],
        cwd=_WORKSPACE,
        env=outer_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def test_its_programs_pass_and_their_tools_run(tmp_path: Path) -> None:
    output_base = tmp_path / "output_base"
    options = ("--symlink_prefix=/", "--color=no")
    try:
        output = _bazel(output_base, "test", *options, "//...")
        assert f"Executed {len(_PROGRAMS)} out of {len(_PROGRAMS)} tests" in output
        for program in _PROGRAMS:
            found = _bazel(output_base, "run", *options, f"{program}_bisect")
            assert "agree with PyTorch" in found
    finally:
        _bazel(output_base, "shutdown")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
