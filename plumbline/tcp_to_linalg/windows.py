"""Windows that move over the last dimensions of a tensor, as loops read them."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.tcp.dialect import TcpOp
from plumbline.tcp_to_linalg.building import index, padded


@dataclass(frozen=True)
class Windows:
    """How windows lie over the spatial dimensions of a tensor, which are its last ones."""

    strides: Sequence[int]
    dilations: Sequence[int]
    padding_low: Sequence[int]
    padding_high: Sequence[int]

    @classmethod
    def of(cls, op: TcpOp) -> "Windows":
        """Those that the attributes of an op describe."""
        return cls(
            *(
                [entry.value for entry in attribute]
                for attribute in (op.strides, op.dilations, op.padding_low, op.padding_high)
            )
        )

    def places(
        self, windows: Sequence[int], elements: Sequence[int | ir.AffineExpr]
    ) -> list[ir.AffineExpr]:
        """Where an element of a window is, given the loops over the windows and its elements."""
        return [
            ir.AffineDimExpr.get(window) * stride
            + (ir.AffineDimExpr.get(element) if isinstance(element, int) else element) * dilation
            for window, stride, element, dilation in zip(
                windows, self.strides, elements, self.dilations, strict=True
            )
        ]

    def extent(self, axis: int, kernel: ir.Value) -> ir.Value:
        """From the first element of a window to the last, both counted."""
        gaps = arith.muli(arith.subi(kernel, index(1)), index(self.dilations[axis]))
        return arith.addi(gaps, index(1))

    def count(self, axis: int, size: ir.Value, kernel: ir.Value) -> ir.Value:
        """How many windows of `kernel` elements fit along a spatial axis of that size."""
        padding = index(self.padding_low[axis] + self.padding_high[axis])
        room = arith.subi(arith.addi(size, padding), self.extent(axis, kernel))
        count = arith.addi(arith.floordivsi(room, index(self.strides[axis])), index(1))
        return arith.maxsi(count, index(0))

    def covered(self, axis: int, count: ir.Value, kernel: ir.Value) -> ir.Value:
        """How many elements that many windows cover, padding and all."""
        steps = arith.muli(arith.subi(count, index(1)), index(self.strides[axis]))
        return arith.addi(steps, self.extent(axis, kernel))

    def padded(self, value: ir.Value, element: ir.Value) -> ir.Value:
        """A tensor with `element` in its padding."""
        if not any((*self.padding_low, *self.padding_high)):
            return value
        others = [0] * (value.type.rank - len(self.strides))
        return padded(value, [*others, *self.padding_low], [*others, *self.padding_high], element)
