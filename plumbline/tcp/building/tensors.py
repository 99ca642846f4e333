"""Tensors of TCP with the signs of their integers, which the types of MLIR do not have."""

from dataclasses import dataclass

from torch_mlir import ir

from plumbline.tcp.building.dtypes import element_type
from plumbline.tcp.dialect import TcpOp


@dataclass(frozen=True)
class TensorType:
    """A tensor type with known rank."""

    sizes: tuple[int, ...]
    """DYNAMIC where the size is not known before run time."""
    dtype: str
    """As in `plumbline.tcp.building.dtypes`."""

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.sizes)

    def builtin(self) -> ir.RankedTensorType:
        """The builtin type that carries it, whose integers have no sign."""
        return ir.RankedTensorType.get(self.sizes, element_type(self.dtype))


@dataclass(frozen=True)
class Tensor:
    """A value of builtin tensor type, with what that type does not say."""

    value: ir.Value
    type: TensorType


def built(op: TcpOp, dtype: str) -> Tensor:
    """The result of an op of TCP."""
    value = op.results[0]
    return Tensor(value, TensorType(tuple(value.type.shape), dtype))
