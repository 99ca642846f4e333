"""tcp-opt as a program of its own; the lit tests run it in forks of a server."""

import os
import subprocess
import sys
from pathlib import Path

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


# A module of three ops whose bytes were changed, which the hunt of test/hostile came upon.
_ENDLESS = bytes.fromhex(
    "4d4cef520d4d4c495232342e302e3067697400011f070105090901030f03050713050317032513070113"
    "0b130b0b13131313130107371b0f0269050d170103030d03050b17010313170103331701036317010511"
    "170107071b0500ffffffffffffffff0d0505150101030101020204510501500301070441030105035009"
    "0307042d03070b05030b030d0007060f03010501030504110305060301050100630f0b0b0f0f090b1162"
    "75696c74696e0066756e6300746370006d6f64756c650072657475726e0073686c690073656564000817"
    "050501010d010501010701"
)


def test_bytecode_that_mlir_reads_without_end_ends_in_a_message(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.mlirbc"
    damaged.write_bytes(_ENDLESS)
    done = _run("", str(damaged))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tcp-opt: error: ended by SIGXCPU within LLVM or MLIR")


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
