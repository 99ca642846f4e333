"""Runs a generated execute test on faulty functions, as `bazel test --config=valgrind` does."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parent

_RUN_UNDER = re.compile(r"^test:valgrind --run_under=(.*)$", re.MULTILINE)


def _run(**environment: str) -> subprocess.CompletedProcess[str]:
    (said,) = _RUN_UNDER.findall((_FOLDER.parents[3] / ".bazelrc").read_text(encoding="utf-8"))
    (command,) = shlex.split(said)
    return subprocess.run(
        [*shlex.split(command), _FOLDER / "fake_aliasing_execute_test"],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, **environment},
    )


def test_nothing_is_said_of_a_function_without_faults() -> None:
    ran = _run()
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "[  PASSED  ] 3 tests." in ran.stdout


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("READS_BEYOND", "0 bytes after a block of size 24 alloc'd"),
        ("READS_BEFORE", "4 bytes before a block of size 24 alloc'd"),
        ("READS_WHAT_NOBODY_WROTE", "Conditional jump or move depends on uninitialised value(s)"),
        ("LOSES_MEMORY", "128 bytes in 2 blocks are definitely lost"),
    ],
)
def test_a_fault_is_reported(fault: str, message: str) -> None:
    ran = _run(**{f"FAKE_{fault}": "1"})
    assert ran.returncode == 99
    assert message in ran.stderr


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
