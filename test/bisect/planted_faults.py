"""Wrong lowerings, planted into the chain of this process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from torch_mlir import ir

from plumbline.tcp.dialect import TcpOp
from plumbline.tcp_to_linalg.patterns import PATTERNS as TCP_TO_LINALG
from plumbline.torch_to_tcp.pattern import Pattern
from plumbline.torch_to_tcp.patterns import PATTERNS as TORCH_TO_TCP


@contextmanager
def torch_op_lowered(name: str, wrongly: Callable[[Pattern], Pattern]) -> Iterator[None]:
    """Has a Torch op, "torch.aten.tanh", lowered by what `wrongly` makes of its pattern."""
    planted = {**TORCH_TO_TCP, name: wrongly(TORCH_TO_TCP[name])}
    with mock.patch("plumbline.torch_to_tcp.conversion.PATTERNS", planted):
        yield


@contextmanager
def tcp_op_lowered(
    op: type[TcpOp], wrongly: Callable[[Callable[[TcpOp], ir.Value]], Callable[[TcpOp], ir.Value]]
) -> Iterator[None]:
    """The same for an op of TCP on its way to linalg."""
    planted = {**TCP_TO_LINALG, op: wrongly(TCP_TO_LINALG[op])}
    with mock.patch("plumbline.tcp_to_linalg.conversion.PATTERNS", planted):
        yield
