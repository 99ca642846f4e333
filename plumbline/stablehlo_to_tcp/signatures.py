"""What callers of a function are told of it, which is lost as StableHLO becomes TCP."""

import re
from collections.abc import Sequence

from torch_mlir import ir

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import callee
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_stablehlo.entry import entry_of, public_functions
from plumbline.loader_to_stablehlo.weights import RESULT_NAME
from plumbline.signature.element_type import ELEMENT_TYPES, ElementType
from plumbline.signature.name_attributes import note_names
from plumbline.signature.tensor_names import NamedTensor, TensorNames
from plumbline.signature.weight_arguments import EMBEDDED
from plumbline.stablehlo_to_tcp.argument_sizes import bind_sizes
from plumbline.stablehlo_to_tcp.pattern import dtype_of

_OF_FRAMEWORKS = ("jax.", "mhlo.", "sdy.", "tf.", "tf_saved_model.", RESULT_NAME)
"""How attributes begin that say where a program comes from and which devices it is laid out for."""

_RESULT = "jax.result_info"
"""What JAX notes of a result: where it stands among all, `result[0]` or `result['loss']`."""

_KEY = re.compile(r"""\[['"]?([^\]'"]*)['"]?\]|\.""")
"""A step of the way to where a tensor stands: into a dict, a list or what has fields."""


def keep_entry(module: ir.Module, who: str) -> None:
    """Leaves one function public, that which `entry_of` gives; messages call the module `who`.

    Raises:
      UserError: there is none such.
    """
    entry = entry_of(module, who)
    for function in public_functions(module).values():
        if function.operation != entry.operation:
            function.attributes["sym_visibility"] = ir.StringAttr.get("private", module.context)


def name_entry(module: ir.Module, name: str) -> None:
    """Has the one public function be called `name`; no function of a C library can be `main`."""
    (function,) = public_functions(module).values()
    function.attributes["sym_name"] = ir.StringAttr.get(name, module.context)


def note_signatures(module: ir.Operation) -> None:
    """Notes of each public function what arguments and sizes are called, and which have no sign.

    What frameworks note for themselves is left out.
    """
    with module.context:
        _drop_notes(module)
        symbols = ir.SymbolTable(module)
        for function in public_functions(module).values():
            bind_sizes(function.operation, symbols)
            results = _result_names(function)
            for kind in ("arg_attrs", "res_attrs"):
                if kind in function.attributes:
                    kept = _without_notes(function.attributes[kind])
                    if any(len(ir.DictAttr(entry)) for entry in kept):
                        function.attributes[kind] = kept
                    else:
                        del function.attributes[kind]
            try:
                names = _names(function.operation, symbols, results)
            except Unsupported:
                # Which type is none of TCP's is told later, with the place.
                continue
            note_names(function, names)


def _drop_notes(op: ir.Operation) -> None:
    for name in [name for name in op.attributes if name.startswith(_OF_FRAMEWORKS)]:
        del op.attributes[name]


def _without_notes(of_values: ir.Attribute) -> ir.ArrayAttr:
    """A list of what is said of each argument or result, without what frameworks say."""
    entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(of_values)]
    return ir.ArrayAttr.get(
        [
            ir.DictAttr.get(
                {
                    named.name: named.attr
                    for named in entry
                    if not named.name.startswith(_OF_FRAMEWORKS)
                }
            )
            for entry in entries
        ]
    )


def _result_names(function: ir.OpView) -> list[str]:
    """What results are called: after the keys of a dict, or fields, if such is what is returned."""
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    names = [f"out{number}" for number in range(len(type_.results))]
    if "res_attrs" in function.attributes:
        for number, entry in enumerate(ir.ArrayAttr(function.attributes["res_attrs"])):
            noted = ir.DictAttr(entry)
            if RESULT_NAME in noted:
                names[number] = ir.StringAttr(noted[RESULT_NAME]).value
            if _RESULT in noted:
                place = ir.StringAttr(noted[_RESULT]).value
                path = _KEY.sub(r"_\1", place.removeprefix("result")).lstrip("_")
                if place.startswith("result") and path and not path[0].isdigit():
                    names[number] = path
    return names


def _names(function: ir.Operation, symbols: ir.SymbolTable, results: Sequence[str]) -> TensorNames:
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    arguments = function.regions[0].blocks[0].arguments
    weights = _weights(function)
    own = list(arguments)[len(weights) :]
    names = [_name(argument, symbols) or f"arg{number}" for number, argument in enumerate(own)]
    return TensorNames(
        tuple(
            NamedTensor(name, _element_type(argument.type))
            for name, argument in zip([*weights, *names], arguments, strict=True)
        ),
        tuple(
            NamedTensor(name, _element_type(result))
            for name, result in zip(results, type_.results, strict=True)
        ),
    )


def _weights(function: ir.Operation) -> list[str]:
    """The names of the weights, which come before all other arguments."""
    if "arg_attrs" not in function.attributes:
        return []
    entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes["arg_attrs"])]
    return [ir.StringAttr(entry[EMBEDDED]).value for entry in entries if EMBEDDED in entry]


def _element_type(type_: ir.Type) -> ElementType:
    """That of a tensor as callers know it.

    Raises:
      Unsupported: TCP has no such tensors.
    """
    if not isinstance(type_, ir.RankedTensorType):
        raise Unsupported(f"a value of type {type_}, which is no ranked tensor")
    element = type_.element_type
    spelled = str(element) if isinstance(element, ir.ComplexType) else dtype_of(element)
    for known in ELEMENT_TYPES:
        if spelled in (known.mlir_signed, known.name):
            return known
    raise Unsupported(f"elements of type {element}")


def _name(argument: ir.Value, symbols: ir.SymbolTable) -> str:
    """What an argument is called by its location, or by that in a function which takes it.

    JAX puts a function around what it exports for dynamic sizes, and that has no names. A tensor in
    `params["layer"]` is `params_layer`.
    """
    if isinstance(argument.location, ir.NameLoc):
        return _KEY.sub(r"_\1", str(argument.location.name_str))
    for use in argument.uses:
        if use.owner.name == "func.call":
            function = symbols[callee(use.owner)]
            # A declaration has none.
            for block in list(function.regions[0].blocks)[:1]:
                inner = block.arguments[use.operand_number]
                if isinstance(inner.location, ir.NameLoc):
                    return _KEY.sub(r"_\1", str(inner.location.name_str))
    return ""


STABLEHLO_NOTE_SIGNATURES = Pass(
    "stablehlo-note-signatures",
    "Note what arguments of functions and their sizes are called, and which integers have no sign",
    note_signatures,
)
