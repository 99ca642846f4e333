"""Gives the public functions of a module their weights packed, as kernels read them."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.signature.name_attributes import rearrange_names
from plumbline.signature.packed_layout import PackedLayout
from plumbline.signature.weight_arguments import EMBEDDED, LAYOUT


class PackedWeights:
    """The weights of all functions that kernels take in another layout than the program's.

    Each stands beside the weight that it is a copy of, which goes when nothing else reads it.
    """

    def __init__(self) -> None:
        self._packed: dict[tuple[ir.Value, PackedLayout], ir.Value] = {}

    def packed(self, weight: ir.Value, layout: PackedLayout) -> ir.Value:
        """The argument that is this weight in this layout, made at the first time of asking."""
        key = (weight, layout)
        if key not in self._packed:
            type_ = ir.RankedTensorType(weight.type)
            self._packed[key] = weight.owner.add_argument(
                ir.RankedTensorType.get(layout.shape(type_.shape), type_.element_type),
                weight.location,
            )
        return self._packed[key]

    def finish(self) -> None:
        """Puts the arguments into order, so that weights come before all others."""
        blocks: list[ir.Block] = []
        for weight, _ in self._packed:
            if weight.owner not in blocks:
                blocks.append(weight.owner)
        for block in blocks:
            self._order(block)

    def _order(self, block: ir.Block) -> None:
        function = block.owner.operation
        entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes["arg_attrs"])]
        old = list(block.arguments)
        arguments: list[ir.Value] = []
        attributes: list[ir.DictAttr] = []
        numbers: list[int] = []
        for number, (argument, entry) in enumerate(zip(old[: len(entries)], entries, strict=True)):
            copies = [
                (value, _with_layout(entry, layout))
                for (weight, layout), value in self._packed.items()
                if weight == argument
            ]
            kept = [(argument, entry)] if not copies or _is_used(argument) else []
            for value, given in (*kept, *copies):
                new = block.add_argument(value.type, value.location)
                value.replace_all_uses_with(new)
                arguments.append(new)
                attributes.append(given)
                numbers.append(number)
        for _ in old:
            block.erase_argument(0)
        rearrange_names(function, numbers)
        _set_arguments(function, [value.type for value in arguments], attributes)


def _is_used(value: ir.Value) -> bool:
    return any(True for _ in value.uses)


def _with_layout(attributes: ir.DictAttr, layout: PackedLayout) -> ir.DictAttr:
    assert EMBEDDED in attributes
    entries = {entry.name: entry.attr for entry in attributes}
    return ir.DictAttr.get({**entries, LAYOUT: ir.StringAttr.get(str(layout))})


def _set_arguments(
    function: ir.Operation, types: Sequence[ir.Type], attributes: Sequence[ir.DictAttr]
) -> None:
    results = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(list(types), results)
    )
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(list(attributes))
