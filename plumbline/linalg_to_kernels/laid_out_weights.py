"""Gives the public functions of a module their weights as kernels read them."""

import math
from collections.abc import Sequence

from torch_mlir import ir

from plumbline.linalg_to_kernels.constants import argument_attributes
from plumbline.linalg_to_kernels.transpositions import transpose
from plumbline.signature.name_attributes import rearrange_names
from plumbline.signature.strided_layout import StridedLayout
from plumbline.signature.weight_arguments import EMBEDDED, LAYOUT
from plumbline.signature.weight_layout import WeightLayout


class LaidOutWeights:
    """The weights of all functions that kernels take in another layout than the functions do.

    Each stands beside the weight that it is a copy of, which goes when nothing else reads it.
    """

    def __init__(self) -> None:
        self._laid_out: dict[tuple[ir.Value, WeightLayout], ir.Value] = {}

    def laid_out(self, weight: ir.Value, layout: WeightLayout) -> ir.Value:
        """The argument that is this weight in this layout, made at the first time of asking."""
        key = (weight, layout)
        if key not in self._laid_out:
            type_ = ir.RankedTensorType(weight.type)
            self._laid_out[key] = weight.owner.add_argument(
                ir.RankedTensorType.get(layout.shape(type_.shape), type_.element_type),
                weight.location,
            )
        return self._laid_out[key]

    def turned(self, weight: ir.Value, axes: Sequence[int]) -> ir.Value:
        """A weight with its axes in another order: by then if the model has it, else in each call.

        That is so of one that a file has in a layout, too.
        """
        attributes = argument_attributes(weight)
        if EMBEDDED not in attributes or LAYOUT in attributes:
            return transpose(weight, axes)
        shape = ir.RankedTensorType(weight.type).shape
        strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        view = StridedLayout(
            0, tuple(((shape[axis], strides[axis]),) if shape[axis] != 1 else () for axis in axes)
        )
        return self.laid_out(weight, WeightLayout(view))

    def finish(self) -> None:
        """Puts the arguments into order, so that weights come before all others."""
        blocks: list[ir.Block] = []
        for weight, _ in self._laid_out:
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
                for (weight, layout), value in self._laid_out.items()
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


def _with_layout(attributes: ir.DictAttr, layout: WeightLayout) -> ir.DictAttr:
    assert EMBEDDED in attributes
    entries = {entry.name: entry.attr for entry in attributes}
    if LAYOUT in entries:
        before = WeightLayout.parse(ir.StringAttr(entries[LAYOUT]).value)
        assert before is not None
        assert layout.packed is not None
        layout = before.then(layout.packed)
    return ir.DictAttr.get({**entries, LAYOUT: ir.StringAttr.get(str(layout))})


def _set_arguments(
    function: ir.Operation, types: Sequence[ir.Type], attributes: Sequence[ir.DictAttr]
) -> None:
    results = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(list(types), results)
    )
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(list(attributes))
