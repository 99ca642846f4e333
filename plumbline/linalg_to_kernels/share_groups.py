"""Groups that differ in numbers alone are one, which takes these numbers.

The layers of a quantized network have scales and zero points of their own, and the steps of an
unrolled loop their factors. A kernel for each would be compiled as often.
"""

import math
from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func

from plumbline.bindings.walk import all_operations, callee
from plumbline.linalg_to_kernels.build_kernels import members_of
from plumbline.linalg_to_kernels.computations import GENERIC
from plumbline.linalg_to_kernels.fusion_groups import GROUP
from plumbline.linalg_to_kernels.shared_functions import text_of
from plumbline.linalg_to_kernels.strategies import Strategies

_DIVISION = "arith.divf"

_ARITHMETIC = frozenset({"arith.addf", "arith.mulf", "arith.subf", _DIVISION})
"""What a number may be given to as well as be known for. Others, such as powers and clamps, are
lowered by what it is."""


def share_groups(module: ir.Operation, strategies: Strategies) -> None:
    """Has calls of groups that differ in numbers alone call one, and hand it the numbers."""
    with module.context:
        alike: dict[str, list[_Numbers]] = {}
        for view in module.regions[0].blocks[0].operations:
            if GROUP in view.operation.attributes:
                group = _Numbers(view.operation)
                # Those alike without numbers are one already.
                if group.constants:
                    alike.setdefault(group.key(), []).append(group)
        several = [groups for groups in alike.values() if len(groups) > 1]
        if not several:
            return
        calls: dict[str, list[ir.Operation]] = {}
        for op in all_operations(module):
            if op.name == "func.call":
                calls.setdefault(callee(op), []).append(op)
        for groups in several:
            if not _is_found_by_numbers(groups[0].function, strategies):
                _share(groups, calls)


def _is_found_by_numbers(function: ir.Operation, strategies: Strategies) -> bool:
    """Whether what a group is follows from numbers in it, of scales of scores and of weights."""
    found = members_of(function)
    return strategies.attention(*found) is not None or strategies.block_products(*found) is not None


class _Numbers:
    """The numbers of a group that it may be given."""

    def __init__(self, function: ir.Operation) -> None:
        self.function = function
        self.constants = [op for op in all_operations(function) if _may_be_given(op)]
        self.values = [op.attributes["value"] for op in self.constants]

    @property
    def name(self) -> str:
        """What the function is called."""
        return str(ir.StringAttr(self.function.attributes["sym_name"]).value)

    def key(self) -> str:
        """The group as text, but for its name and these numbers."""
        name, none = self.function.attributes["sym_name"], ir.StringAttr.get("")
        self.function.attributes["sym_name"] = none
        for op in self.constants:
            op.attributes["value"] = none
        text = text_of(self.function)
        self.function.attributes["sym_name"] = name
        for op, value in zip(self.constants, self.values, strict=True):
            op.attributes["value"] = value
        return text


def _may_be_given(op: ir.Operation) -> bool:
    if op.name != "arith.constant" or not isinstance(op.results[0].type, ir.FloatType):
        return False
    number = ir.FloatAttr(op.attributes["value"]).value
    if not math.isfinite(number) or abs(number) in (0, 1):
        return False
    users = set(_users(op.results[0]))
    is_power_of_2 = abs(math.frexp(number)[0]) == 0.5
    # A division by such a power is a multiplication.
    return users <= _ARITHMETIC and not (_DIVISION in users and is_power_of_2)


def _users(value: ir.Value) -> Iterator[str]:
    """What reads a number, be it as the element of a tensor that has nothing else."""
    for use in value.uses:
        user = use.owner.operation
        filled = user.parent.operation if user.name == "linalg.yield" else None
        if filled is None or len(filled.results) != 1:
            yield user.name
            continue
        for read in filled.results[0].uses:
            reader = read.owner.operation
            if reader.name == GENERIC and read.operand_number < len(reader.opview.inputs):
                yield from _users(reader.regions[0].blocks[0].arguments[read.operand_number])
            else:
                yield reader.name


def _share(groups: Sequence[_Numbers], calls: dict[str, list[ir.Operation]]) -> None:
    first, *others = groups
    given = [
        place
        for place, values in enumerate(zip(*(group.values for group in groups), strict=True))
        if any(value != values[0] for value in values)
    ]
    for group in groups:
        for call in calls.get(group.name, []):
            _hand_over(call, first.name, [group.values[place] for place in given])
    _take([first.constants[place] for place in given], first.function)
    for group in others:
        group.function.erase()


def _hand_over(call: ir.Operation, name: str, numbers: Sequence[ir.Attribute]) -> None:
    """Has a call be one of a group that takes numbers as well."""
    with ir.InsertionPoint(call), call.location:
        handed = [arith.ConstantOp(ir.FloatAttr(number).type, number).result for number in numbers]
        types = [result.type for result in call.results]
        new = func.CallOp(types, name, [*call.operands, *handed])
    for old, result in zip(call.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    call.erase()


def _take(constants: Sequence[ir.Operation], function: ir.Operation) -> None:
    """Has a group take arguments in place of some of its numbers."""
    block = function.regions[0].blocks[0]
    for op in constants:
        argument = block.add_argument(op.results[0].type, op.location)
        op.results[0].replace_all_uses_with(argument)
        op.erase()
    type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = [argument.type for argument in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(inputs, type_.results)
    )
    noted = [*ir.ArrayAttr(function.attributes["arg_attrs"])]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(
        [*noted, *[ir.DictAttr.get({})] * len(constants)]
    )
