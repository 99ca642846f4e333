"""How a module says what the tensors of a function are called, and which integers have no sign.

The attribute `plumbline.signature` of a function lists its arguments and results, each with a name
and an element type of `signature/element_type.py`:

    {inputs = [{name = "x", type = "u8"}, {name = "temperature", scalar, type = "f64"}],
     outputs = [{name = "out0", type = "f32"}]}

A `scalar` is a tensor of rank 0, for which callers have a number. Lowerings hand it on as it is. A
function without it has arguments arg0, arg1 and so on, and results out0, out1, of integers with a
sign.

Of complex numbers it says so too: the tensor itself is of real ones, with one dimension more.
"""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.bindings.pipeline import PassFailure
from plumbline.signature import element_type
from plumbline.signature.element_type import ElementType
from plumbline.signature.tensor_names import NamedTensor, TensorNames

_SIGNATURE = "plumbline.signature"


def note_names(function: ir.OpView, names: TensorNames) -> None:
    """Writes the attribute."""
    with function.context:
        function.attributes[_SIGNATURE] = ir.DictAttr.get(
            {"inputs": _list(names.inputs), "outputs": _list(names.outputs)}
        )


def noted_names(function: ir.OpView) -> TensorNames:
    """What is said of a `func.func` on tensors or memrefs.

    Raises:
      PassFailure: the attribute is malformed; that has been reported.
    """
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    usual = TensorNames(_usual("arg", type_.inputs), _usual("out", type_.results))
    if _SIGNATURE not in function.attributes:
        return usual
    try:
        given = ir.DictAttr(function.attributes[_SIGNATURE])
        names = TensorNames(_read(given["inputs"]), _read(given["outputs"]))
    except (KeyError, ValueError, StopIteration) as error:
        raise _malformed(function) from error
    for noted, own, types in (
        (names.inputs, usual.inputs, type_.inputs),
        (names.outputs, usual.outputs, type_.results),
    ):
        if any(tensor.is_scalar and t.rank > 0 for tensor, t in zip(noted, types, strict=False)):
            raise _malformed(function)
        if [tensor.element_type.mlir for tensor in noted] != [t.element_type.mlir for t in own]:
            raise _malformed(function)
    return names


def is_known(type_: ir.Type) -> bool:
    """Whether a type is of tensors of which a signature can tell what their elements are."""
    return isinstance(type_, ir.RankedTensorType) and any(
        str(type_.element_type) in (known.mlir, known.mlir_signed)
        for known in element_type.ELEMENT_TYPES
    )


def scalar_arguments(function: ir.OpView) -> frozenset[int]:
    """The numbers of the arguments of a function that callers give by value, where that is said."""
    if _SIGNATURE not in function.attributes:
        return frozenset()
    inputs = noted_names(function).inputs
    return frozenset(number for number, tensor in enumerate(inputs) if tensor.is_scalar)


def rearrange_names(function: ir.OpView, arguments: Sequence[int]) -> None:
    """Says of a function that its arguments are to be those of these numbers, before they are."""
    if _SIGNATURE in function.attributes:
        names = noted_names(function)
        inputs = tuple(names.inputs[number] for number in arguments)
        note_names(function, TensorNames(inputs, names.outputs))


def drop_names(function: ir.OpView) -> None:
    """Takes the attribute away, once it has been read."""
    if _SIGNATURE in function.attributes:
        del function.attributes[_SIGNATURE]


def _malformed(function: ir.OpView) -> PassFailure:
    function.location.emit_error(
        f"{_SIGNATURE} is {function.attributes[_SIGNATURE]}; it lists the arguments and results of "
        'the function: {inputs = [{name = "x", type = "f32"}], outputs = [{name = "out0", '
        'type = "f32"}]}'
    )
    return PassFailure()


def _usual(prefix: str, types: Sequence[ir.Type]) -> tuple[NamedTensor, ...]:
    return tuple(
        NamedTensor(f"{prefix}{number}", _signed(str(type_.element_type)))
        for number, type_ in enumerate(types)
    )


def _signed(mlir: str) -> ElementType:
    """Of integers the signed one; also of complex numbers, before a tensor is one of pairs."""
    known = element_type.ELEMENT_TYPES
    return next(each for each in known if mlir in (each.mlir, each.mlir_signed))


def _list(tensors: Sequence[NamedTensor]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get(
        [
            ir.DictAttr.get(
                {
                    "name": ir.StringAttr.get(tensor.name),
                    "type": ir.StringAttr.get(tensor.element_type.name),
                    **({"scalar": ir.UnitAttr.get()} if tensor.is_scalar else {}),
                }
            )
            for tensor in tensors
        ]
    )


def _read(attribute: ir.Attribute) -> tuple[NamedTensor, ...]:
    known = {each.name: each for each in element_type.ELEMENT_TYPES}
    entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(attribute)]
    return tuple(
        NamedTensor(
            ir.StringAttr(entry["name"]).value,
            known[ir.StringAttr(entry["type"]).value],
            "scalar" in entry,
        )
        for entry in entries
    )
