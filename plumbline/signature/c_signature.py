"""Which functions of a module C calls, and what they may take and return.

The same rules hold before bufferization and after it, for tensors and for the memrefs in their
place.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from torch_mlir import ir

from plumbline.bindings.pipeline import Option, PassFailure
from plumbline.errors import UserError
from plumbline.runtime.requirement import misuses
from plumbline.signature.function_name import CHECKED_SUFFIX, PACKED_SUFFIX, check_function_name
from plumbline.signature.inout_arguments import INOUT, inout_results
from plumbline.signature.weight_arguments import EMBEDDED, LAYOUT, EmbeddedWeight
from plumbline.signature.weight_layout import WeightLayout


def is_public(operation: ir.Operation | ir.OpView) -> bool:
    """Whether others may call a function, or use another symbol: it says so, or nothing."""
    if "sym_visibility" not in operation.attributes:
        return True
    return bool(ir.StringAttr(operation.attributes["sym_visibility"]).value == "public")


def functions_with_bodies(
    module: ir.Module | ir.Operation, op_name: str, *, public: bool
) -> list[ir.OpView]:
    """The functions (ops called `op_name`) of `module` that have a body and that visibility."""
    return [
        operation
        for operation in module.operation.regions[0].blocks[0].operations
        if operation.operation.name == op_name
        and len(operation.regions[0].blocks) > 0
        and is_public(operation) == public
    ]


def embedded_weights(function: ir.OpView) -> list[EmbeddedWeight | None]:
    """For each argument of a `func.func`, as what weight it is marked as embedded, if as any."""
    if "arg_attrs" not in function.attributes:
        return [None] * len(function.regions[0].blocks[0].arguments)
    return [_embedded(ir.DictAttr(entry)) for entry in function.attributes["arg_attrs"]]


def _embedded(attributes: ir.DictAttr) -> EmbeddedWeight | None:
    if EMBEDDED not in attributes:
        return None
    layout = _layout(attributes)
    return EmbeddedWeight(
        ir.StringAttr(attributes[EMBEDDED]).value,
        None if layout is None else WeightLayout.parse(layout),
    )


def _layout(attributes: ir.DictAttr) -> str | None:
    return ir.StringAttr(attributes[LAYOUT]).value if LAYOUT in attributes else None


CALLED_FROM = Option("called-from", 'who calls the functions: "c", whose names they then need')
"""Of passes that check signatures. Where no C is made of a module, functions may be called at will:
main, round, a.b."""


def check_signatures(
    module: ir.Module | ir.Operation,
    type_: type[ir.RankedTensorType] | type[ir.MemRefType],
    called_from: Sequence[str],
) -> None:
    """Refuses public functions of `module` that C cannot call, whose tensors are of class `type_`.

    Raises:
      UserError: there is no public function.
      PassFailure: one has a name that C++ cannot call it by, and is called from C; takes or returns
        something else than row-major `type_` of integers or floats; or has weights in the wrong
        places. All such places have been reported.
    """
    check_name = check_function_name if "c" in called_from else _accept
    functions = functions_with_bodies(module, "func.func", public=True)
    if not functions:
        raise UserError("there is no public func.func with a body, so nothing to compile")
    names = {ir.StringAttr(function.attributes["sym_name"]).value for function in functions}
    problems = [
        (function, problem)
        for function in functions
        for problem in _problems(function, names, type_, check_name)
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


def _accept(name: str) -> None:
    """Takes any name."""


def _problems(
    function: ir.OpView,
    names: set[str],
    type_: type[ir.RankedTensorType] | type[ir.MemRefType],
    check_name: Callable[[str], None],
) -> Iterator[str]:
    """What keeps a function, one of those with these names, from being called from C."""
    name = ir.StringAttr(function.attributes["sym_name"]).value
    try:
        check_name(name)
    except UserError as error:
        yield str(error)
    for suffix, entry in ((CHECKED_SUFFIX, "checked"), (PACKED_SUFFIX, "packed")):
        if name.endswith(suffix) and name.removesuffix(suffix) in names:
            program = name.removesuffix(suffix)
            yield f"this is what the {entry} entry of @{program} is called; choose another name"
    signature = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    taken = "ranked tensors" if type_ is ir.RankedTensorType else "row-major memrefs"
    # Asked once: each time, all of them are made anew.
    inputs = signature.inputs
    for role, types in (("argument", inputs), ("result", signature.results)):
        for index, given in enumerate(types):
            if not isinstance(given, type_) or not _is_c_tensor(given):
                is_complex = isinstance(getattr(given, "element_type", None), ir.ComplexType)
                yield (
                    f"{role} {index} has type {given}; a compiled function takes and returns "
                    f"{taken} of integers or floats{_PAIRS if is_complex else ''}"
                )
    if type_ is ir.RankedTensorType:
        yield from _inout_problems(function, inputs, signature.results)
    weights = embedded_weights(function)
    for index, weight in enumerate(weights):
        if weight is None:
            continue
        given = inputs[index]
        where = f"argument {index} has {EMBEDDED} = {weight.name!r}"
        if None in weights[:index]:
            yield f"{where}: weights come before all other arguments"
        if isinstance(given, type_) and not given.has_static_shape:
            yield f"{where}: a weight has no dynamic sizes, but this one is {given}"
        text = _layout(ir.DictAttr(function.attributes["arg_attrs"][index]))
        if text is None or not isinstance(given, type_):
            continue
        if weight.layout is None or not weight.layout.gives(given.shape):
            yield f"{where} and {LAYOUT} = {text!r}: a {given} cannot lie so"


def _inout_problems(
    function: ir.OpView, inputs: Sequence[ir.Type], given: Sequence[ir.Type]
) -> Iterator[str]:
    """What is wrong with what is said of arguments that a function on tensors writes.

    It takes and gives values of these types.
    """
    weights = embedded_weights(function)
    try:
        results = inout_results(function)
    except ValueError:
        yield f"{INOUT} is the number of the result that is the argument's new value: 0 : i64"
        return
    written_by = Counter(results.values())
    for argument, result in results.items():
        where = f"argument {argument} has {INOUT} = {result}"
        if weights[argument] is not None:
            yield f"{where}: a weight of the library is not written"
        if written_by[result] > 1:
            yield f"{where}: another argument has the same result"
        if not 0 <= result < len(given):
            yield f"{where}: there is no such result"
        elif given[result] != inputs[argument]:
            yield f"{where}: their types differ"


_PAIRS = (
    ": complex numbers as pairs of these, the real part first, in a last dimension of 2 "
    "(complex.create and complex.re and im go from one to the other)"
)


def _is_c_tensor(type_: ir.RankedTensorType | ir.MemRefType) -> bool:
    element = type_.element_type
    if isinstance(type_, ir.MemRefType):
        identity = ir.AffineMap.get_identity(type_.rank, type_.context)
        if type_.memory_space is not None or type_.affine_map != identity:
            return False
    if isinstance(element, ir.IntegerType):
        return bool(element.is_signless) and element.width in (1, 8, 16, 32, 64)
    return isinstance(element, ir.F16Type | ir.BF16Type | ir.F32Type | ir.F64Type)
