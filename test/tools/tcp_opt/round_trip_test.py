"""What does not survive being written and read is told, for each form."""

import sys
from pathlib import Path

import pytest

from plumbline.context import make_context
from plumbline.tcp.assembly.module import parse_operation
from plumbline.tcp.assembly.writer import Writer
from tools.tcp_opt import bytecode, round_trip, tcp_opt

_TEXT = """
module {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32> loc("layer.0"("model.py":7:0))
    return %0 : tensor<2xf32>
  }
}
"""


def _differences() -> list[str]:
    operation = parse_operation(_TEXT, make_context(), "test.mlir")
    return list(round_trip.differences(operation, make_context))


def test_all_forms_survive() -> None:
    assert _differences() == []


@pytest.mark.parametrize(
    ("method", "form"), [("write", "custom assembly"), ("write_generic", "generic assembly")]
)
@pytest.mark.parametrize(
    ("written", "read"), [("tcp.tanh", "tcp.sinh"), ('"layer.0"', '"layer.1"')]
)
def test_a_writer_that_writes_something_else(
    monkeypatch: pytest.MonkeyPatch, method: str, form: str, written: str, read: str
) -> None:
    original = getattr(Writer, method)
    monkeypatch.setattr(Writer, method, lambda self: original(self).replace(written, read))

    (problem,) = _differences()

    head, _, texts = problem.partition("\n")
    expected = "op roundTrip testing roundtripped module differs from reference"
    assert head == f"{expected}, in {form}:"
    reference, _, copied = texts.partition("\n=====\n")
    assert written in reference
    assert read in copied


def test_a_writer_that_writes_what_does_not_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Writer, "write", lambda self: "module {")

    (problem,) = _differences()

    expected = "op failed to parse custom assembly content back, cannot verify round-trip.\n"
    assert problem.startswith(f"{expected}<round trip>:1:")


def test_damaged_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    original = bytecode.write
    monkeypatch.setattr(bytecode, "write", lambda operation: original(operation)[:-20])

    (problem,) = _differences()

    assert problem.startswith("op failed to parse bytecode content back")


def test_what_is_emitted_is_bytecode(tmp_path: Path) -> None:
    source, output = tmp_path / "f.mlir", tmp_path / "f.mlirbc"
    source.write_text(_TEXT)

    assert tcp_opt.main([str(source), "--emit-bytecode", "-o", str(output)]) == 0

    assert bytecode.is_bytecode(output.read_bytes())


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
