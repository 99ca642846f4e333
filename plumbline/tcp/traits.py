"""Rules that ops of several families share, with the messages of MLIR's traits of those names."""

from torch_mlir import ir

from plumbline.tcp.dialect import TcpOp, Trait, VerificationError
from plumbline.tcp.shapes import common_shape


def _types(op: TcpOp) -> list[ir.Type]:
    return [value.type for value in (*op.operands, *op.results)]


class Elementwise(Trait):
    """All operands and results have compatible shapes."""

    message = "all non-scalar operands/results must have the same shape and base type"

    @staticmethod
    def verify(op: TcpOp) -> None:
        """Compares the shapes."""
        if common_shape(type_.shape for type_ in _types(op)) is None:
            raise VerificationError(Elementwise.message)


class SameElementType(Trait):
    """All operands and results have the same element type."""

    message = "requires the same element type for all operands and results"

    @staticmethod
    def verify(op: TcpOp) -> None:
        """Compares the element types."""
        first, *others = (type_.element_type for type_ in _types(op))
        if any(other != first for other in others):
            raise VerificationError(SameElementType.message)
