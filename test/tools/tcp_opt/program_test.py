"""tcp-opt as a program of its own; the lit tests run it in forks of a server."""

import os
import subprocess
import sys

import pytest


def _run(text: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tools.tcp_opt.tcp_opt", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_reads_standard_input_and_writes_standard_output() -> None:
    done = _run("func.func @f() {\n  return\n}\n", "--cse")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "module {\n  func.func @f() {\n    return\n  }\n}\n\n"


def test_a_mistake_ends_in_a_message_and_status_1() -> None:
    done = _run("tcp.tanh\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("<stdin>:2:1: error: expected SSA operand")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
