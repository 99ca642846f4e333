"""Takes the weights of a program of StableHLO out of its module, before a text is made of it.

They are its large constants, as a program of JAX's has of what it closes over, and the arguments
that a framework has values for, such as TensorFlow's variables. As in a program of PyTorch's they
become leading arguments of its function that go by their names (`signature/weight_arguments.py`).
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from plumbline.bindings.walk import all_operations
from plumbline.signature.element_type import ELEMENT_TYPES, ElementType, Tensor
from plumbline.signature.weight_arguments import EMBEDDED

RESULT_NAME = "plumbline.result"
"""What is noted of a result of a function that is called so."""

LARGEST_CONSTANT = 100
"""Constants of at most so many elements stay in the text, where they can be read and folded.

MLIR spells larger ones as bytes. A product with a constant of 256 to 1024 elements, each of them a
number in the code, takes 1.3 to 1.7 times as long, and compiles in 0.3 to 1.3 s in place of 0.1.
"""

_CONSTANT = "stablehlo.constant"
_CALL = "func.call"

_OPEN = frozenset({"stablehlo.case", "stablehlo.if", "stablehlo.while"})
"""Ops whose regions are lowered with what they use from around them."""


@dataclass(frozen=True)
class GivenArguments:
    """What a framework knows of the arguments and results of a function, beside its module."""

    inputs: Sequence[str]
    """What arguments are called that calls have, which come first."""
    weights: Mapping[str, Tensor]
    """The arguments after these by their names, as the reference archive stores them."""
    outputs: Sequence[str]
    """What results are called."""


def take_weights(
    module: ir.Module, entry: ir.OpView, given: GivenArguments | None
) -> dict[str, Tensor]:
    """Makes weights of the large constants that `entry` uses, and of arguments that it has.

    Equal constants are one weight, also those of functions that it calls. What is in a region that
    has all it uses in itself, as the body of a reduction, stays there.

    Args:
      module: it is changed in place.
      entry: its function that others call.
      given: what its arguments are, if that is known.

    Returns:
      The weights by their names, in the order of the arguments that stand for them.
    """
    with module.context:
        _hand_to_callees(module, entry)
        own = len(entry.regions[0].blocks[0].arguments)
        weights = dict(given.weights) if given else {}
        lifted = _lift(entry, _weights_among_constants(entry))
        inputs = given.inputs if given else [None] * own
        free = (
            name for number in itertools.count() if (name := f"constant{number}") not in weights
        )
        for attribute, noted in lifted:
            weights[next(free) if noted is None else noted] = _elements(attribute)
        if weights or given:
            _put_first(entry, list(weights), inputs)
            _name_results(entry, given.outputs if given else ())
    return weights


def give_constants(function: ir.OpView, weights: Mapping[str, Tensor]) -> None:
    """Undoes `take_weights`: the weights become constants, which note their names."""
    block = function.regions[0].blocks[0]
    entries = _entries(function)
    with function.context, ir.InsertionPoint.at_block_begin(block):
        for name, value in weights.items():
            argument = block.arguments[0]
            attributes = {
                "value": _attribute(value, argument.type),
                EMBEDDED: ir.StringAttr.get(name),
            }
            made = ir.Operation.create(
                _CONSTANT, [argument.type], [], attributes, loc=argument.location
            )
            argument.replace_all_uses_with(made.result)
            block.erase_argument(0)
        _set_arguments(function, entries[len(weights) :])


def _attribute(value: Tensor, type_: ir.Type) -> ir.Attribute:
    """The elements of a weight as those of a constant of this type."""
    if value.dtype.kind == "V":
        content = np.ascontiguousarray(value).tobytes().hex().upper()
        return ir.Attribute.parse(f'dense<"0x{content}"> : {type_}')
    return ir.DenseElementsAttr.get(np.ascontiguousarray(value), type=type_)


def _weights_among_constants(function: ir.OpView) -> list[ir.Operation]:
    """The constants in whose place a function can have arguments: the large ones."""
    return [
        op
        for op in all_operations(function.operation)
        if op.name == _CONSTANT and _is_weight(op) and _is_reached(op, function)
    ]


def _name(constant: ir.Operation) -> str | None:
    """What a constant is called that was a weight as the program was saved."""
    if EMBEDDED not in constant.attributes:
        return None
    return str(ir.StringAttr(constant.attributes[EMBEDDED]).value)


def _is_weight(constant: ir.Operation) -> bool:
    type_ = ir.RankedTensorType(constant.results[0].type)
    known = _element_type(type_)
    if known is None:
        return False
    # Elements that numpy does not have are read where there are many.
    if _name(constant) is not None and known.numpy_dtype.kind != "V":
        return True
    if math.prod(type_.shape) <= LARGEST_CONSTANT:
        return False
    value = constant.attributes["value"]
    # Of a resource the elements are elsewhere.
    return (
        isinstance(value, ir.DenseFPElementsAttr | ir.DenseIntElementsAttr) and not value.is_splat
    )


def _element_type(type_: ir.RankedTensorType) -> ElementType | None:
    """That of a tensor, if weights may have it: one which is a number of TCP's."""
    spelled = str(type_.element_type)
    for known in ELEMENT_TYPES:
        if known.is_computed_with and spelled in (known.mlir, known.mlir_signed):
            return known
    return None


def _is_reached(op: ir.Operation, function: ir.OpView) -> bool:
    """Whether an op may use arguments of the function that it is in."""
    around = op.parent.operation
    while around != function.operation:
        if around.name not in _OPEN:
            return False
        around = around.parent.operation
    return True


def _elements(attribute: ir.Attribute) -> Tensor:
    """The elements of a constant, as the reference archive stores them."""
    type_ = ir.RankedTensorType(attribute.type)
    known = _element_type(type_)
    assert known is not None
    if known.numpy_dtype.kind != "V":
        return np.array(attribute)
    # Of floats that numpy does not have, the bindings lend no memory. So many elements are spelled
    # as bytes.
    _, _, digits = str(attribute).partition('"0x')
    content = bytearray.fromhex(digits.partition('"')[0])
    return np.frombuffer(content, known.numpy_dtype).reshape(type_.shape)


def _hand_to_callees(module: ir.Module, entry: ir.OpView) -> None:
    """Has the functions that `entry` calls be handed their large constants, in the end by it.

    Those which not only calls refer to, but composite ops, keep theirs.
    """
    functions = {
        ir.StringAttr(op.attributes["sym_name"]).value: op
        for op in module.body.operations
        if op.operation.name == "func.func"
    }
    for name in _callees_first(entry, functions):
        constants = _weights_among_constants(functions[name])
        if not constants:
            continue
        users = [op for op in all_operations(module) if name in _functions_named(op)]
        if all(op.name == _CALL for op in users):
            attributes = [attribute for attribute, _ in _lift(functions[name], constants)]
            for call in users:
                _hand_over(call, attributes)


def _callees_first(entry: ir.OpView, functions: Mapping[str, ir.OpView]) -> Iterable[str]:
    """The functions that `entry` calls, and those that these call, each before who calls it."""
    order: list[str] = []
    reached: set[str] = set()

    def visit(function: ir.OpView) -> None:
        for op in all_operations(function.operation):
            for name in _functions_named(op):
                if name in functions and name not in reached:
                    reached.add(name)
                    visit(functions[name])
                    order.append(name)

    visit(entry)
    return order


def _functions_named(op: ir.Operation) -> Iterator[str]:
    """The functions that the attributes of an op refer to."""
    # The bindings have no classes for all elements that constants have.
    for key in op.attributes if op.name != _CONSTANT else ():
        attribute = op.attributes[key]
        for each in attribute if isinstance(attribute, ir.ArrayAttr) else [attribute]:
            if isinstance(each, ir.FlatSymbolRefAttr):
                yield each.value


def _hand_over(call: ir.Operation, attributes: Sequence[ir.Attribute]) -> None:
    """Hands a function what were constants of its own, by a call of it."""
    with ir.InsertionPoint(call), call.location:
        constants = [
            ir.Operation.create(_CONSTANT, [each.type], [], {"value": each}).result
            for each in attributes
        ]
        made = func.CallOp(
            [result.type for result in call.results],
            ir.FlatSymbolRefAttr(call.attributes["callee"]),
            [*call.operands, *constants],
        )
    for old, new in zip(call.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()


def _lift(
    function: ir.OpView, constants: Sequence[ir.Operation]
) -> list[tuple[ir.Attribute, str | None]]:
    """Gives a function an argument, after its own, for each of its constants that differs.

    Returns:
      The elements that these have, and their names, in the order of the arguments.
    """
    block = function.regions[0].blocks[0]
    arguments: dict[tuple[ir.Attribute, str | None], ir.Value] = {}
    entries = _entries(function)
    for op in constants:
        key = (op.attributes["value"], _name(op))
        if key not in arguments:
            arguments[key] = block.add_argument(op.results[0].type, op.location)
            entries.append(ir.DictAttr.get({}))
        op.results[0].replace_all_uses_with(arguments[key])
        op.erase()
    if arguments:
        _set_arguments(function, entries)
    return list(arguments)


def _put_first(function: ir.OpView, weights: Sequence[str], inputs: Sequence[str | None]) -> None:
    """Puts the weights among the arguments, which come last, before the others: the inputs.

    Each is called so, or as it was, for None.
    """
    block = function.regions[0].blocks[0]
    entries, old = _entries(function), list(block.arguments)
    count = len(inputs)
    for argument, name in zip([*old[count:], *old[:count]], [*weights, *inputs], strict=True):
        place = argument.location
        if name is not None:
            place = ir.Location.name(name, place)
        argument.replace_all_uses_with(block.add_argument(argument.type, place))
    for _ in old:
        block.erase_argument(0)
    marks = [ir.DictAttr.get({EMBEDDED: ir.StringAttr.get(name)}) for name in weights]
    _set_arguments(function, [*marks, *entries[:count]])


def _name_results(function: ir.OpView, outputs: Sequence[str]) -> None:
    """Notes what the results of a function are called."""
    if outputs:
        function.attributes["res_attrs"] = ir.ArrayAttr.get(
            [ir.DictAttr.get({RESULT_NAME: ir.StringAttr.get(name)}) for name in outputs]
        )


def _entries(function: ir.OpView) -> list[ir.Attribute]:
    """What is said of the arguments of a function."""
    if "arg_attrs" in function.attributes:
        return list(ir.ArrayAttr(function.attributes["arg_attrs"]))
    return [ir.DictAttr.get({})] * len(function.regions[0].blocks[0].arguments)


def _set_arguments(function: ir.OpView, entries: Sequence[ir.Attribute]) -> None:
    """Says of a function that it has the arguments of its block, and this of them."""
    types = [argument.type for argument in function.regions[0].blocks[0].arguments]
    results = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, results))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(list(entries))
