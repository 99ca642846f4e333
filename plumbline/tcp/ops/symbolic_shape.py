"""Ops that say which dynamic sizes are the same, or follow from others."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from plumbline.tcp.constraints import I64, AffineMap, AnyTensor, I64Value, IntegerValue, Text
from plumbline.tcp.dialect import TcpOp, VerificationError
from plumbline.tcp.shapes import verify_count


class SymbolicIntOp(TcpOp, name="symbolic_int", traits=[ext.Pure]):
    """A size that is known when the program runs only, between `min_val` and `max_val`."""

    symbol_name: Text
    min_val: I64
    max_val: I64
    result: Result[IntegerValue]
    assembly_format = (
        "$symbol_name ` ` `{` `min_val` `=` $min_val `,` `max_val` `=` $max_val `}` "
        "attr-dict `:` type($result)"
    )

    def verify_operation(self) -> None:
        """The bounds leave a value."""
        if self.min_val.value > self.max_val.value:
            raise VerificationError(
                f"requires 'min_val' no greater than 'max_val', but got {self.min_val.value} and "
                f"{self.max_val.value}"
            )


class BindSymbolicShapeOp(TcpOp, name="bind_symbolic_shape"):
    """Says what each size of a tensor is, as a function of symbolic sizes."""

    operand: Operand[AnyTensor]
    shape_symbols: Sequence[Operand[I64Value]]
    shape_expressions: AffineMap
    assembly_format = (
        "$operand `,` `[` $shape_symbols `]` `,` $shape_expressions attr-dict `:` type($operand)"
    )

    def verify_operation(self) -> None:
        """The map takes the symbols, which are symbolic ints, to a size for each dimension."""
        map_ = self.shape_expressions.value
        symbols = self.shape_symbols
        if map_.n_dims:
            raise VerificationError(
                f"requires 'shape_expressions' of symbols only, but got {map_.n_dims} dimensions"
            )
        verify_count(
            "shape symbols, as many as 'shape_expressions' has", len(symbols), map_.n_symbols
        )
        verify_count(
            "expressions, one for each dimension", len(map_.results), self.operand.type.rank
        )
        for symbol in symbols:
            if (
                not isinstance(symbol, ir.OpResult)
                or symbol.owner.name != SymbolicIntOp.OPERATION_NAME
            ):
                raise VerificationError(
                    f"requires shape symbols that '{SymbolicIntOp.OPERATION_NAME}' makes"
                )
