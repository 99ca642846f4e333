"""Ops that give dynamic sizes a name."""

from contextlib import suppress

from torch_mlir import ir

from plumbline.bindings.walk import operations_of
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.ops.symbolic_shape import BindSymbolicShapeOp, SymbolicIntOp
from plumbline.torch_to_tcp.pattern import tensor


def convert(operation: ir.Operation) -> None:
    """Converts the symbolic sizes in `operation`, and what says which tensors have them.

    What is said of a tensor that TCP has no type for is dropped: nothing is computed by it. So are
    symbols that nothing uses any more, by the rewriter.
    """
    symbols: dict[ir.Value, ir.Value] = {}
    for op in operations_of(operation, "torch"):
        if op.name == "torch.symbolic_int":
            symbols[op.results[0]] = _convert_symbolic_int(op)
        elif op.name == "torch.bind_symbolic_shape":
            _convert_bind(op, symbols)


def _convert_symbolic_int(op: ir.Operation) -> ir.Value:
    with ir.InsertionPoint(op), op.location:
        return SymbolicIntOp(
            symbol_name=op.attributes["symbol_name"],
            min_val=op.attributes["min_val"],
            max_val=op.attributes["max_val"],
            results=ir.IntegerType.get_signless(64),
        ).result


def _convert_bind(op: ir.Operation, symbols: dict[ir.Value, ir.Value]) -> None:
    operand, *shape_symbols = op.operands
    with suppress(Unsupported), ir.InsertionPoint(op), op.location:
        BindSymbolicShapeOp(
            tensor(operand).value,
            [symbols[symbol] for symbol in shape_symbols],
            shape_expressions=op.attributes["shape_expressions"],
        )
    op.erase()
