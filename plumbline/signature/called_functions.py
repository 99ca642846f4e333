"""Calls between the functions of a module."""

from collections.abc import Iterator, Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.pipeline import Pass, PassFailure
from plumbline.bindings.walk import all_operations, callee
from plumbline.runtime.requirement import REQUIRE
from plumbline.runtime.threads import THREADS
from plumbline.signature.c_signature import is_public

_CALLED_SUFFIX = "_called"


def _separate_called_functions(module: ir.Operation) -> None:
    """Moves each public function of `module` that others call into a private one, which both call.

    The public one will have the C ABI, under which nothing here calls.

    Raises:
      PassFailure: a function calls itself, by way of others or not, or one that has no body. All
        such places have been reported.
    """
    functions = {
        ir.StringAttr(op.attributes["sym_name"]).value: op
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == "func.func"
    }
    calls = {name: list(_calls(function)) for name, function in functions.items()}
    callees = {name: {callee(call) for call in inner} for name, inner in calls.items()}
    problems = [
        (call, problem)
        for caller, inner in calls.items()
        for call in inner
        if (problem := _problem(caller, callee(call), functions, callees))
    ]
    for call, problem in problems:
        call.location.emit_error(problem)
    if problems:
        raise PassFailure
    with module.context:
        for name in sorted(set().union(*callees.values())):
            if is_public(functions[name]):
                inner = _unused(name + _CALLED_SUFFIX, functions)
                _make_private(functions[name], inner)
                for call in (call for inner_calls in calls.values() for call in inner_calls):
                    if callee(call) == name:
                        call.attributes["callee"] = ir.FlatSymbolRefAttr.get(inner)


def _calls(function: ir.OpView) -> Iterator[ir.Operation]:
    return (
        op
        for op in all_operations(function.operation)
        # These the last lowering defines, or makes something else of.
        if op.name == "func.call" and callee(op) not in (REQUIRE, THREADS)
    )


def _problem(
    caller: str, callee: str, functions: Mapping[str, ir.OpView], callees: Mapping[str, set[str]]
) -> str:
    """What is wrong with a call, if anything."""
    if not functions[callee].regions[0].blocks:
        return f"func.func @{caller} calls @{callee}, which has no body: define it in this file"
    reached, new = set[str](), {callee}
    while new:
        reached |= new
        new = set().union(*(callees[name] for name in new)) - reached
    if caller in reached:
        way = "" if callee == caller else f", by way of @{callee}"
        return (
            f"func.func @{caller} calls itself{way}: a compiled function cannot "
            "be recursive; use a loop (scf.while, scf.for)"
        )
    return ""


def _unused(name: str, functions: Mapping[str, ir.OpView]) -> str:
    while name in functions:
        name += "_"
    return name


def _make_private(function: ir.OpView, name: str) -> None:
    """Gives a function another name, and puts one that calls it in its place."""
    public = ir.StringAttr(function.attributes["sym_name"]).value
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    with ir.InsertionPoint(function), function.location:
        wrapper = func.FuncOp(public, type_)
        with ir.InsertionPoint(wrapper.add_entry_block()):
            called = func.CallOp(type_.results, name, list(wrapper.arguments))
            func.ReturnOp(called.results)
    if "arg_attrs" in function.attributes:
        # What is known of the sizes of arguments is for the checked entry, which is public.
        wrapper.attributes["arg_attrs"] = function.attributes["arg_attrs"]
        del function.attributes["arg_attrs"]
    function.attributes["sym_name"] = ir.StringAttr.get(name)
    function.attributes["sym_visibility"] = ir.StringAttr.get("private")


SEPARATE_CALLED_FUNCTIONS = Pass(
    "separate-called-functions",
    "Give public functions that others call a private one, which both call",
    _separate_called_functions,
)
