"""A pass that crashes leaves a reproducer; lit cannot ask for a crash, MLIR's passes have few."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.tcp_opt.reproducer import Reproducer

# A pass of this program's own, which ends its process as a wild pointer would.
_PROGRAM = f"""
import os, sys
from plumbline.passes.registry import PASSES
from plumbline.bindings.pipeline import Pass
from tools.tcp_opt import tcp_opt

PASSES["crash"] = Pass("crash", "", lambda operation: os.kill(os.getpid(), {signal.SIGSEGV:d}))
sys.exit(tcp_opt.main(sys.argv[1:]))
"""
_MODULE = """\
func.func @f() -> tensor<2xf32> {
  %0 = tcp.const {value = dense<1.0> : tensor<2xf32>} : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def _run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONSAFEPATH": "1"},
        cwd=folder,
        input=_MODULE,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_crash_leaves_a_reproducer(tmp_path: Path) -> None:
    result = _run(tmp_path, "--cse", "--crash", "--mlir-pass-pipeline-crash-reproducer=again.mlir")

    assert result.returncode == 1
    assert "error: A signal was caught while processing an MLIR pass pipeline" in result.stderr
    assert "note: Pipeline failed on 'builtin.module' operation: reproducer generated at " in (
        result.stderr
    )
    text = (tmp_path / "again.mlir").read_text()
    assert "tcp.const {value = dense<1.000000e+00> : tensor<2xf32>}" in text
    assert Reproducer.find(text) == Reproducer("builtin.module(cse,crash)", verify_each=True)


def test_without_a_crash_none_is_left(tmp_path: Path) -> None:
    result = _run(tmp_path, "--cse", "--mlir-pass-pipeline-crash-reproducer=again.mlir")

    assert result.returncode == 0
    assert "tcp.const" in result.stdout
    assert not (tmp_path / "again.mlir").exists()


def test_dumps_before_a_crash_are_printed(tmp_path: Path) -> None:
    result = _run(
        tmp_path,
        "--cse",
        "--crash",
        "--mlir-print-ir-after-all",
        "--mlir-pass-pipeline-crash-reproducer=again.mlir",
    )

    assert "IR Dump After CSEPass" in result.stderr
    assert "tcp.const {value" in result.stderr
    assert (tmp_path / "again.mlir").exists()


@pytest.mark.parametrize("pipeline", ["builtin.module(cse)", 'builtin.module(p{o="a \\\\ b"})'])
@pytest.mark.parametrize("verify_each", [False, True])
def test_a_reproducer_is_found_in_its_file(pipeline: str, verify_each: bool) -> None:
    reproducer = Reproducer(pipeline, verify_each)

    assert Reproducer.find(reproducer.file("module {\n}\n")) == reproducer


def test_one_is_found_among_other_resources() -> None:
    text = """module {}
{-#
  dialect_resources: { builtin: { blob: "0x0100000001" } },
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(canonicalize{a=1    b=2}, cse)",
      disable_threading: false,
      verify_each: false
    }
  }
#-}
"""

    assert Reproducer.find(text) == Reproducer(
        "builtin.module(canonicalize{a=1 b=2}, cse)", verify_each=False
    )


@pytest.mark.parametrize("text", ["", "module {}", "// mlir_reproducer: pipeline", "{-# #-}"])
def test_none_is_found_where_none_is(text: str) -> None:
    assert Reproducer.find(text) is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
