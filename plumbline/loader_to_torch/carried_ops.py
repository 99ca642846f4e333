"""Takes ops that torch-mlir has none for through its pipeline, which refuses what it does not know.

There they are calls of functions that nothing is known of but their types. Before and after they
are `torch.operator`s, for which TCP has patterns.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.walk import callee, operations_of

CARRIED_OPS = frozenset(
    {
        "torch.aten.cummax",
        "torch.aten.cummin",
        "torch.aten.erfc",
        "torch.plumbline.fourier_transform",
        "torch.plumbline.polynomial",
    }
)
"""By their names in MLIR: those of which no rule makes others without more work at run time."""


@contextmanager
def carried(module: ir.Module) -> Iterator[None]:
    """Has such ops of `module` be calls meanwhile."""
    operators = [
        op
        for op in operations_of(module, "torch")
        if op.name == "torch.operator" and _name(op) in CARRIED_OPS
    ]
    names = {f"plumbline.carried.{number}": op for number, op in enumerate(operators)}
    attributes = {function: _name(op) for function, op in names.items()}
    for function, op in names.items():
        _hide(module, function, op)
    yield
    symbols = ir.SymbolTable(module.operation)
    for call in operations_of(module, "func"):
        if call.name == "func.call":
            function = callee(call)
            if function in attributes:
                _show(call, attributes[function])
    for function in attributes:
        if function in symbols:
            symbols.erase(symbols[function])


def _name(op: ir.Operation) -> str:
    return str(ir.StringAttr(op.attributes["name"]).value)


def _hide(module: ir.Module, function: str, op: ir.Operation) -> None:
    results = [result.type for result in op.results]
    with ir.InsertionPoint(module.body), op.location:
        types = [operand.type for operand in op.operands]
        func.FuncOp(function, (types, results), visibility="private")
    with ir.InsertionPoint(op), op.location:
        call = func.CallOp(results, ir.FlatSymbolRefAttr.get(function), list(op.operands))
    _replace(op, call.operation)


def _show(call: ir.Operation, name: str) -> None:
    with ir.InsertionPoint(call), call.location:
        op = ir.Operation.create(
            "torch.operator",
            results=[result.type for result in call.results],
            operands=list(call.operands),
            attributes={"name": ir.StringAttr.get(name)},
        )
    _replace(call, op)


def _replace(old: ir.Operation, new: ir.Operation) -> None:
    for before, after in zip(old.results, new.results, strict=True):
        before.replace_all_uses_with(after)
    old.erase()
