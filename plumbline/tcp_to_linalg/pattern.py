"""What patterns from TCP to linalg are.

A pattern is a function from an op of TCP to the tensor that replaces its result, or None for one
that it has no lowering for. The insertion point and the location are set when it is called.
"""

from collections.abc import Callable, Mapping

from torch_mlir import ir

from plumbline.tcp.dialect import TcpOp

Pattern = Callable[[TcpOp], ir.Value | None]

Patterns = Mapping[type[TcpOp], Pattern]
"""The patterns of a family, by the class of the op that each converts."""
