"""The C ABI of compiled functions, which `tools/aot/abi.h` declares for C++ callers.

Each tensor argument of rank N arrives as 3 + 2 N scalars: allocated pointer, aligned pointer,
offset, N sizes, N strides. One result comes back by value as a struct of the same fields,
several as a struct of such structs.
"""

from torch_mlir import ir

from plumbline.c_signature import check_signatures, embedded_weight_names, functions_with_bodies
from plumbline.kernels_to_llvm.checked_entry import checked_entry, most_values
from plumbline.kernels_to_llvm.embedded_weights import EmbeddedWeight
from plumbline.kernels_to_llvm.entries import Body, failure_reports, unchecked_entry
from plumbline.kernels_to_llvm.failures import append_missing
from plumbline.requirement import MOST_VALUES
from plumbline.shape_attributes import attached, move_to_function, take_from_function

_BODY_SUFFIX = "_body"
_INTERNAL = "#llvm.linkage<internal>"
_WEIGHTS = "plumbline.weights"


def prepare_functions(module: ir.Operation) -> None:
    """Notes with each function what is said of its arguments, which will be taken apart.

    Of public ones that is which arguments are embedded weights, and what sizes the others may have.
    Private ones become symbols that no other object file sees.

    Raises:
      UserError: there is no public function.
      PassFailure: C cannot call one; that has been reported.
    """
    check_signatures(module, ir.MemRefType)
    with module.context:
        for function in functions_with_bodies(module, "func.func", public=True):
            weights = [
                EmbeddedWeight.of(name, argument.type).attribute()
                for name, argument in zip(
                    embedded_weight_names(function),
                    function.regions[0].blocks[0].arguments,
                    strict=True,
                )
                if name is not None
            ]
            if weights:
                function.attributes[_WEIGHTS] = ir.ArrayAttr.get(weights)
            move_to_function(function, attached(function, skipped=len(weights)))
            if "arg_attrs" in function.attributes:
                del function.attributes["arg_attrs"]
        for function in functions_with_bodies(module, "func.func", public=False):
            function.attributes["llvm.linkage"] = ir.Attribute.parse(_INTERNAL)


def wrap_public_functions(module: ir.Module | ir.Operation) -> None:
    """Puts two entries in the place of each public `llvm.func`, which follow the C ABI.

    The function that MLIR made stays beside them, internal, as `<name>_body`. It takes the
    program's embedded weights before all other arguments, and a failure after them.
    """
    with module.context:
        functions = [
            function
            for function in functions_with_bodies(module, "llvm.func", public=True)
            if str(function.attributes["linkage"]) != _INTERNAL
        ]
        bodies = [_hide(module, function) for function in functions]
        values = max([MOST_VALUES, *(most_values(body.shapes) for body in bodies)])
        reports = failure_reports(values)
        append_missing(module.operation, reports)
        for body, function in zip(bodies, functions, strict=True):
            known = reports + body.declarations
            append_missing(module.operation, known + unchecked_entry(body, values), before=function)
            append_missing(module.operation, known + checked_entry(body, values))


def _hide(module: ir.Module | ir.Operation, function: ir.OpView) -> Body:
    """Makes a function internal, for its entries to call."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    weights = []
    if _WEIGHTS in function.attributes:
        weights = [EmbeddedWeight.of_attribute(entry) for entry in function.attributes[_WEIGHTS]]
        del function.attributes[_WEIGHTS]
    symbol = _unused_symbol(module, name + _BODY_SUFFIX)
    function.attributes["sym_name"] = ir.StringAttr.get(symbol)
    function.attributes["linkage"] = ir.Attribute.parse(_INTERNAL)
    # One copy of it is enough.
    function.attributes["no_inline"] = ir.UnitAttr.get()
    shapes = take_from_function(function)
    return Body(
        name,
        symbol,
        tuple(str(argument.type) for argument in function.regions[0].blocks[0].arguments),
        tuple(weights),
        shapes,
        _returned_struct(function),
    )


def _returned_struct(function: ir.OpView) -> str | None:
    """The type of the struct that a function returns, if it returns any."""
    for block in function.regions[0].blocks:
        terminator = block.operations[len(block.operations) - 1]
        if terminator.operation.name == "llvm.return" and len(terminator.operands) == 1:
            type_ = str(terminator.operands[0].type)
            return type_ if type_.startswith("!llvm.struct<") else None
    return None


def _unused_symbol(module: ir.Module | ir.Operation, wanted: str) -> str:
    used = {
        ir.StringAttr(operation.attributes["sym_name"]).value
        for operation in module.operation.regions[0].blocks[0].operations
        if "sym_name" in operation.attributes
    }
    name = wanted
    while name in used:
        name += "_"
    return name
