"""How a module says which arguments a function writes in place.

While a function computes on tensors, what becomes of such an argument is one of its results, and
the argument has the attribute `plumbline.inout = 1 : i64`, with the number of that result (as XLA's
programs say `tf.aliasing_output`). Once tensors are buffers, the function writes there by itself
and no longer has that result; the attribute stays, without a number.
"""

from collections.abc import Iterator, Mapping

from torch_mlir import ir

INOUT = "plumbline.inout"
"""The attribute of an argument."""


def note_inout_results(function: ir.OpView, results: Mapping[int, int]) -> None:
    """Says of arguments of a `func.func` on tensors which results are their new values."""
    with function.context:
        i64 = ir.IntegerType.get_signless(64)
        _note(function, {n: ir.IntegerAttr.get(i64, result) for n, result in results.items()})


def note_inout_arguments(function: ir.OpView) -> None:
    """Says of a function that the results are gone, and that it writes the arguments by itself."""
    with function.context:
        _note(function, dict.fromkeys(inout_arguments(function), ir.UnitAttr.get()))


def inout_arguments(function: ir.OpView) -> list[int]:
    """The numbers of the arguments that a `func.func` writes, in order."""
    return [number for number, _ in _noted(function)]


def inout_results(function: ir.OpView) -> dict[int, int]:
    """For each argument that a function on tensors writes, the result that is its new value.

    Raises:
      ValueError: an attribute is no number.
    """
    return {number: ir.IntegerAttr(attribute).value for number, attribute in _noted(function)}


def _noted(function: ir.OpView) -> Iterator[tuple[int, ir.Attribute]]:
    if "arg_attrs" in function.attributes:
        for number, entry in enumerate(function.attributes["arg_attrs"]):
            if INOUT in ir.DictAttr(entry):
                yield number, ir.DictAttr(entry)[INOUT]


def _note(function: ir.OpView, attributes: Mapping[int, ir.Attribute]) -> None:
    count = len(function.regions[0].blocks[0].arguments)
    given = function.attributes.get("arg_attrs") or [ir.DictAttr.get({})] * count
    entries = []
    for number, entry in enumerate(given):
        named = {each.name: each.attr for each in ir.DictAttr(entry)}
        if number in attributes:
            named[INOUT] = attributes[number]
        entries.append(ir.DictAttr.get(named))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)
