"""The C ABI of compiled functions, which `tools/aot/abi.h` declares for C++ callers.

Each tensor argument of rank N arrives as 3 + 2 N scalars: allocated pointer, aligned pointer,
offset, N sizes, N strides. One result comes back by value as a struct of the same fields,
several as a struct of such structs.
"""

from collections.abc import Iterator

from torch_mlir import ir

from plumbline.errors import UserError
from plumbline.function_name import CHECKED_SUFFIX, check_function_name
from plumbline.linalg_to_llvm.checked_entry import checked_entry, most_values
from plumbline.linalg_to_llvm.embedded_weights import EmbeddedWeight, embedded_weights
from plumbline.linalg_to_llvm.entries import Body, failure_reports, unchecked_entry
from plumbline.linalg_to_llvm.failures import append_missing
from plumbline.pipeline import PassFailure
from plumbline.requirement import MOST_VALUES, misuses
from plumbline.shape_attributes import attached, move_to_function, take_from_function

_BODY_SUFFIX = "_body"
_INTERNAL = "#llvm.linkage<internal>"
_WEIGHTS = "plumbline.weights"


def _functions(module: ir.Module | ir.Operation, op_name: str, *, public: bool) -> list[ir.OpView]:
    """The functions (ops called `op_name`) of `module` that have a body and that visibility."""
    return [
        operation
        for operation in module.operation.regions[0].blocks[0].operations
        if operation.operation.name == op_name
        and len(operation.regions[0].blocks) > 0
        and _is_public(operation) == public
    ]


def check_signatures(module: ir.Module | ir.Operation) -> None:
    """Refuses public functions that the C ABI cannot express.

    Raises:
      UserError: there is no public function.
      PassFailure: one has a name that C++ cannot call it by, or takes or returns something that is
        not a ranked tensor of integers or floats. All such places have been reported.
    """
    functions = _functions(module, "func.func", public=True)
    if not functions:
        raise UserError("there is no public func.func with a body, so nothing to compile")
    names = {ir.StringAttr(function.attributes["sym_name"]).value for function in functions}
    problems = [
        (function, problem) for function in functions for problem in _problems(function, names)
    ]
    for function, problem in problems:
        name = ir.StringAttr(function.attributes["sym_name"]).value
        function.location.emit_error(f"func.func @{name}: {problem}")
    with module.context:
        misused = list(misuses(module.operation))
    for operation, problem in misused:
        operation.location.emit_error(problem)
    if problems or misused:
        raise PassFailure


def _problems(function: ir.OpView, names: set[str]) -> Iterator[str]:
    """What keeps a function, one of those with these names, from being called from C."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    try:
        check_function_name(name)
    except UserError as error:
        yield str(error)
    if name.removesuffix(CHECKED_SUFFIX) in names - {name}:
        checked = name.removesuffix(CHECKED_SUFFIX)
        yield f"this is what the checked entry of @{checked} is called; choose another name"
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    for role, types in (("argument", signature.inputs), ("result", signature.results)):
        for index, type_ in enumerate(types):
            if not _is_abi_tensor(type_):
                yield (
                    f"{role} {index} has type {type_}; a compiled function takes and returns "
                    "ranked tensors of integers or floats"
                )


def prepare_functions(module: ir.Module | ir.Operation) -> None:
    """Tells the passes that follow what the ABI promises.

    Arguments of public functions are memory that must not be written; private functions are
    symbols that no other object file sees. Which arguments are embedded weights, and what sizes
    the others may have, is noted with the function, as the arguments themselves will be taken
    apart.
    """
    with module.context:
        read_only = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
        for function in _functions(module, "func.func", public=True):
            count = len(function.regions[0].blocks[0].arguments)
            weights = embedded_weights(function)
            if weights:
                function.attributes[_WEIGHTS] = ir.ArrayAttr.get([w.attribute() for w in weights])
            move_to_function(function, attached(function, skipped=len(weights)))
            function.attributes["arg_attrs"] = ir.ArrayAttr.get([read_only] * count)
        for function in _functions(module, "func.func", public=False):
            function.attributes["llvm.linkage"] = ir.Attribute.parse(_INTERNAL)


def wrap_public_functions(module: ir.Module | ir.Operation) -> None:
    """Puts two entries in the place of each public `llvm.func`, which follow the C ABI.

    The function that MLIR made stays beside them, internal, as `<name>_body`. It takes the
    program's embedded weights before all other arguments, and a failure after them.
    """
    with module.context:
        functions = [
            function
            for function in _functions(module, "llvm.func", public=True)
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
        weights = [EmbeddedWeight.of(entry) for entry in function.attributes[_WEIGHTS]]
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


def _is_abi_tensor(type_: ir.Type) -> bool:
    if not isinstance(type_, ir.RankedTensorType):
        return False
    element = type_.element_type
    if isinstance(element, ir.IntegerType):
        return bool(element.is_signless) and element.width in (1, 8, 16, 32, 64)
    return isinstance(element, ir.F16Type | ir.BF16Type | ir.F32Type | ir.F64Type)


def _is_public(operation: ir.OpView) -> bool:
    if "sym_visibility" not in operation.attributes:
        return True
    return bool(ir.StringAttr(operation.attributes["sym_visibility"]).value == "public")
