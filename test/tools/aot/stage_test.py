"""What a user sees of a stage program that does not come to its end."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import ctypes, os, signal, sys
from tools.aot import stage

def crash(given):
    os.write(2, b"LLVM ERROR: no such thing\\nmore\\n")
    %s

sys.argv[0] = "a/b_to_c.py"
stage.run(stage.text_stage_parser(""), crash)
"""

_ENDS = {
    "SIGSEGV": "os.kill(os.getpid(), signal.SIGSEGV)",
    "SIGABRT": "os.abort()",
    "exit with status 1": "ctypes.CDLL(None).exit(1)",
}


def _run(end: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM % end, "in.mlir", "-o", "out.mlir", "--label=//a:b"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONSAFEPATH": "1",
            "TMPDIR": str(folder),
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("cause", _ENDS)
def test_a_crash_is_told_in_one_message_and_can_be_seen_again(cause: str, tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text("module {}")
    result = _run(_ENDS[cause], tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(
        f"error: //a:b: in.mlir: b_to_c was ended by {cause} within LLVM or MLIR, "
        "saying: LLVM ERROR: no such thing more\n"
    )
    command = re.search(r"the command is: b_to_c (\S+) -o out.mlir --label=//a:b$", result.stderr)
    assert command is not None
    assert Path(command[1]).read_text() == "module {}"
    assert not (tmp_path / "out.mlir").exists()


def test_so_is_a_lack_of_memory(tmp_path: Path) -> None:
    # More than the machine has: Linux would give it, and end some process once it is used.
    result = _run("ctypes.create_string_buffer(1 << 46)", tmp_path)
    assert result.returncode == 1
    assert result.stderr.endswith("error: //a:b: in.mlir: there is not enough memory for it\n")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
