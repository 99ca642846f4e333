"""Functions of PyTorch's in the place of ops that programs of PyTorch have by other ones.

They are exported for the operands at hand and lowered to TCP, and stand where the op stood.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, cf
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.bindings.pipeline import Pipeline
from plumbline.bindings.walk import operations_of
from plumbline.context import lent_context
from plumbline.signature.c_signature import functions_with_bodies
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.dialect import NAMESPACE
from plumbline.tcp.ops.data_movement import ConstOp
from plumbline.tcp.ops.symbolic_shape import BindSymbolicShapeOp
from plumbline.tcp.transforms.drop_symbolic_shape_ops import DROP_SYMBOLIC_SHAPE_OPS
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp

if TYPE_CHECKING:
    # It imports PyTorch, which few programs need.
    from plumbline.loader_to_torch.exported_function import ExportedFunction

_WITHOUT_LIMIT = 2**63 - 1


@dataclass(frozen=True)
class _Size:
    """A size that a function is for some values of, as its first operand to have it does."""

    operand: int
    axis: int
    least: int
    most: int


@dataclass(frozen=True)
class TcpFunction:
    """A function of TCP's, of no context."""

    text: str
    tables: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]
    """What its first arguments are always."""
    sizes: tuple[_Size, ...]


def lowered(exported: "ExportedFunction", who: str) -> TcpFunction:
    """A function of PyTorch's in TCP; messages call it `who`.

    Raises:
      UserError: it cannot be lowered.
    """
    with lent_context(torch=True) as context:
        module = parse_module(exported.text, context, who)
        convert_torch_to_tcp(module)
        sizes = tuple(_sizes(module.operation, len(exported.tables)))
        Pipeline("drop-symbolic-shape-ops-of-functions", (DROP_SYMBOLIC_SHAPE_OPS,)).run(module)
        text = print_module(module, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return TcpFunction(text, exported.tables, sizes)


def _sizes(module: ir.Operation, skipped: int) -> Iterator[_Size]:
    """The sizes of operands, which follow as many tables, of which some values alone are taken."""
    (function,) = functions_with_bodies(module, "func.func", public=True)
    arguments = list(function.regions[0].blocks[0].arguments)[skipped:]
    numbers = {value: number for number, value in enumerate(arguments)}
    seen = set()
    for op in operations_of(module, NAMESPACE):
        if op.name != BindSymbolicShapeOp.OPERATION_NAME or op.operands[0] not in numbers:
            continue
        operand, *symbols = op.operands
        expressions = ir.AffineMapAttr(op.attributes["shape_expressions"]).value
        for axis, expression in enumerate(expressions.results):
            if not isinstance(expression, ir.AffineSymbolExpr):
                continue
            symbol = symbols[expression.position].owner
            least, most = (
                ir.IntegerAttr(symbol.attributes[limit]).value for limit in ("min_val", "max_val")
            )
            # Programs of JAX have sizes of 1 and more.
            if symbol not in seen and (least > 1 or most < _WITHOUT_LIMIT):
                yield _Size(numbers[operand], axis, least, most)
            seen.add(symbol)


def inlined(who: str, function: TcpFunction, operands: Sequence[Tensor]) -> list[ir.Value]:
    """What a function makes of the operands, by its ops at the insertion point.

    A call with sizes that it is not for fails, with a message that calls it `who`.
    """
    for size in function.sizes:
        _assert_size(who, operands[size.operand], size)
    place = ir.InsertionPoint.current
    module = parse_module(function.text, place.block.owner.context, who)
    (inner,) = functions_with_bodies(module, "func.func", public=True)
    block = inner.regions[0].blocks[0]
    tables = [ConstOp(value=ir.DenseElementsAttr.get(table)).out for table in function.tables]
    given = [*tables, *(operand.value for operand in operands)]
    for argument, value in zip(block.arguments, given, strict=True):
        type_ = argument.type
        argument.replace_all_uses_with(
            value if value.type == type_ else tensor_dialect.cast(type_, value)
        )
    *ops, end = block.operations
    results = list(end.operands)
    for op in ops:
        op.operation.move_before(place.ref_operation)
    return results


def _assert_size(who: str, operand: Tensor, size: _Size) -> None:
    """Asserts that a size is one that the function is for."""
    index = ir.IndexType.get()
    given = size_arithmetic.value(size_arithmetic.of(operand, size.axis))
    for predicate, limit, words in (
        (arith.CmpIPredicate.sge, size.least, "at least"),
        (arith.CmpIPredicate.sle, size.most, "at most"),
    ):
        if limit < _WITHOUT_LIMIT:
            holds = arith.cmpi(predicate, given, arith.constant(index, limit))
            cf.AssertOp(
                holds, f"{who}: dimension {size.axis} of its matrix has to be {words} {limit}"
            )
