"""Assertions of a program: what they do where they do not hold.

MLIR's own lowering hands the message to `puts` and aborts, which loses it wherever standard output
is not a terminal: what is still in its buffer is not written then. Ours goes to standard error, at
once.
"""

from torch_mlir import ir

from plumbline.pipeline import Pass
from plumbline.walk import all_operations

_ASSERT = "plumbline_assert"

# write(2, message, length) is POSIX; standard error itself is a macro in C.
_DEFINITION = f"""
llvm.func @write(i32, !llvm.ptr, i64) -> i64
llvm.func @abort() attributes {{passthrough = ["noreturn"]}}
llvm.func internal @{_ASSERT}(%holds: i1, %message: !llvm.ptr, %length: i64)
    attributes {{always_inline}} {{
  llvm.cond_br %holds weights([2000, 1]), ^go_on, ^fail
^go_on:
  llvm.return
^fail:
  %standard_error = llvm.mlir.constant(2 : i32) : i32
  %written = llvm.call @write(%standard_error, %message, %length) : (i32, !llvm.ptr, i64) -> i64
  llvm.call @abort() : () -> ()
  llvm.unreachable
}}
"""


def _lower(operation: ir.Operation) -> None:
    assertions = [op for op in all_operations(operation) if op.name == "cf.assert"]
    if not assertions:
        return
    with operation.context:
        block = operation.regions[0].blocks[0]
        known = {
            op.attributes["sym_name"] for op in block.operations if "sym_name" in op.attributes
        }
        definitions = _DEFINITION
        symbols: dict[str, str] = {}
        for op in assertions:
            message = ir.StringAttr(op.attributes["msg"]).value + "\n"
            symbol = symbols.setdefault(message, f"{_ASSERT}.message{len(symbols)}")
            _call(op, symbol, len(message.encode()))
        for message, symbol in symbols.items():
            definitions += (
                f'llvm.mlir.global internal constant @"{symbol}"({ir.StringAttr.get(message)}) '
                "{addr_space = 0 : i32}\n"
            )
        for defined in ir.Module.parse(definitions).body.operations:
            if defined.attributes["sym_name"] not in known:
                # A clone, since an operation outlives its own module only in C++.
                block.append(defined.operation.clone())


def _call(op: ir.Operation, symbol: str, length: int) -> None:
    pointer = ir.Type.parse("!llvm.ptr")
    i64 = ir.IntegerType.get_signless(64)
    with ir.InsertionPoint(op), op.location:
        address = ir.Operation.create(
            "llvm.mlir.addressof",
            results=[pointer],
            attributes={"global_name": ir.FlatSymbolRefAttr.get(symbol)},
        ).result
        count = ir.Operation.create(
            "llvm.mlir.constant",
            results=[i64],
            attributes={"value": ir.IntegerAttr.get(i64, length)},
        ).result
        ir.Operation.create(
            "llvm.call",
            operands=[op.operands[0], address, count],
            attributes={
                "callee": ir.FlatSymbolRefAttr.get(_ASSERT),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([3, 0]),
                "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            },
        )
    op.erase()


LOWER_ASSERTIONS = Pass(
    "lower-assertions",
    "Have assertions that do not hold write their message to standard error, and abort",
    _lower,
)
