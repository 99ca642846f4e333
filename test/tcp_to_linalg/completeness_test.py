"""Every op of TCP has a lowering, and every lowering a test of its text."""

import re
import sys
from pathlib import Path

import pytest

from plumbline.context import make_context
from plumbline.tcp.dialect import TCP, TcpOp
from plumbline.tcp.ops import data_movement, structure, symbolic_shape
from plumbline.tcp_to_arith.conversion import PATTERNS as TO_ARITH
from plumbline.tcp_to_linalg.patterns import PATTERNS as TO_LINALG
from plumbline.tcp_to_tensor.data_movement import PATTERNS as TO_TENSOR

TESTS = Path(__file__).parent.parent

# What is gone by the time that TCP is lowered, or stands for what nobody knows how to lower.
WITHOUT_LOWERING = {
    structure.CustomOp,
    structure.GroupOp,
    structure.IsolatedGroupOp,
    structure.YieldOp,
    symbolic_shape.BindSymbolicShapeOp,
    symbolic_shape.SymbolicIntOp,
}


LOWERED: dict[type[TcpOp], object] = {**TO_LINALG, **TO_TENSOR, **TO_ARITH}


def test_every_op_is_lowered() -> None:
    make_context()
    missing = {op.OPERATION_NAME for op in TCP.operations if op not in LOWERED}
    assert missing == {op.OPERATION_NAME for op in WITHOUT_LOWERING}


def _test_of(op: type[TcpOp]) -> Path:
    if op is data_movement.ConstOp:
        return TESTS / "tcp_to_arith" / "conversion.mlir"
    family = op.__module__.rpartition(".")[2]
    room = "tcp_to_tensor" if op in TO_TENSOR else "tcp_to_linalg"
    return TESTS / room / f"{family}.mlir"


@pytest.mark.parametrize("op", LOWERED, ids=lambda op: str(op.__name__))
def test_every_lowering_is_tested(op: type[TcpOp]) -> None:
    text = _test_of(op).read_text()
    assert re.search(rf"%\w+ = {re.escape(op.OPERATION_NAME)}\b(?![.\w])", text)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
