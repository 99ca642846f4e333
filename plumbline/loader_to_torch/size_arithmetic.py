"""Arithmetic on sizes in the words that torch-mlir's importer has.

In a graph of torch.export, sizes are numbers of Python: what the program computes of them is nodes
of Python's own functions, of which the importer has a few.
"""

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.fx.passes.shape_prop import _extract_tensor_metadata

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import UnsupportedOp, report
from plumbline.loader_to_torch.node_locations import module_path, place
from plumbline.loader_to_torch.python_functions import LOG2

Number = torch.fx.Node | int | float
Call = Callable[..., torch.fx.Node]

_KNOWN = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.truediv),
        *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
        operator.neg,
    }
)
"""What the importer has."""

_OF_INTEGERS = frozenset({operator.lt, operator.le, operator.ne})
"""What of it compares no floats."""

_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool, int, float)

_ADVICE = "compute it of the tensor's own numbers, outside, or with +, -, *, //, %, min and max"


def _value(of: Any) -> Any:
    return of.meta["val"] if isinstance(of, torch.fx.Node) else of


def _remainder(call: Call, left: Number, right: Number) -> torch.fx.Node:
    return call(operator.sub, left, call(operator.mul, call(operator.floordiv, left, right), right))


def _power(call: Call, base: Number, exponent: Number) -> torch.fx.Node:
    if not isinstance(exponent, int) or not 1 <= exponent <= 8:
        known = [_value(number) for number in (base, exponent)]
        # Of integers PyTorch takes the exponent for one that is not negative.
        are_integers = all(isinstance(value, int | torch.SymInt) for value in known)
        dtype = torch.int64 if are_integers else torch.float64
        return _by_tensors(torch.ops.aten.pow.Tensor_Tensor, dtype)(call, base, exponent)
    power = call(operator.mul, base, 1)
    for _ in range(exponent - 1):
        power = call(operator.mul, power, base)
    return power


def _of_integers_themselves(
    spell: Callable[..., torch.fx.Node | None],
) -> Callable[..., torch.fx.Node | None]:
    """How a number is rounded, where one that is an integer already stays what it is."""

    def spell_of_any(
        call: Call, number: torch.fx.Node, digits: Number | None = None
    ) -> torch.fx.Node | None:
        if isinstance(number.meta["val"], torch.SymInt):
            keeps_all = digits is None or (isinstance(digits, int) and digits >= 0)
            return call(operator.mul, number, 1) if keeps_all else None
        return spell(call, number) if digits is None else None

    return spell_of_any


def _ceil(call: Call, number: torch.fx.Node) -> torch.fx.Node:
    return call(torch.ops.aten.ceil.float, number)


def _floor(call: Call, number: torch.fx.Node) -> torch.fx.Node:
    # The Torch dialect has no floor of a number.
    return call(operator.neg, call(torch.ops.aten.ceil.float, call(operator.neg, number)))


def _rounded(call: Call, number: torch.fx.Node) -> torch.fx.Node:
    """The integer next to a number, the even one of two."""
    upper = _floor(call, call(operator.add, number, 0.5))
    lower = call(torch.ops.aten.ceil.float, call(operator.sub, number, 0.5))
    # Which are one apart where both are next to it, and else the same.
    both = call(operator.sub, upper, lower)
    return call(operator.sub, upper, call(operator.mul, both, _remainder(call, upper, 2)))


def _either(call: Call, holds: Number, chosen: Number, other: Number) -> torch.fx.Node:
    """One of two integers: the other one, and the difference where the condition holds."""
    one_or_zero = call(torch.ops.aten.Int.bool, holds)
    if isinstance(chosen, int) and isinstance(other, int):
        difference: Number = chosen - other
    else:
        difference = call(operator.sub, chosen, other)
    return call(operator.add, other, call(operator.mul, one_or_zero, difference))


def _truncated(call: Call, number: torch.fx.Node) -> torch.fx.Node:
    """What is left of a number without its fraction."""
    if statically_known_true(number.meta["val"] >= 0):
        return _floor(call, number)
    # The one of the two that is nearer to 0.
    return _either(call, call(operator.ge, number, 0), _floor(call, number), _ceil(call, number))


def _shifted(step: Callable[..., object]) -> Callable[..., torch.fx.Node]:
    def spell(call: Call, number: Number, bits: Number) -> torch.fx.Node:
        if isinstance(bits, int):
            return call(step, number, 1 << bits)
        factor = _power(call, 2, bits)
        factor.meta["val"] = 2 ** _value(bits)
        return call(step, number, factor)

    return spell


def _sum(call: Call, *given: Any) -> torch.fx.Node:
    # One by one, or in a list.
    terms: Sequence[Number] = given[0] if isinstance(given[0], Sequence) else given
    # The importer adds nothing to what is no node.
    first, *others = sorted(terms, key=lambda term: not isinstance(term, torch.fx.Node))
    return functools.reduce(
        functools.partial(call, operator.add), others, call(operator.mul, first, 1)
    )


def _by_tensors(
    op: torch._ops.OpOverload, dtype: torch.dtype = torch.float64
) -> Callable[..., torch.fx.Node]:
    """A function of numbers, of which the Torch dialect has one of tensors alone."""

    def spell(call: Call, *numbers: Number) -> torch.fx.Node:
        tensors = [
            call(torch.ops.aten.scalar_tensor.default, number, dtype=dtype) for number in numbers
        ]
        return call(torch.ops.aten._local_scalar_dense.default, call(op, *tensors))

    return spell


def _absolute(call: Call, number: torch.fx.Node) -> torch.fx.Node:
    if isinstance(number.meta["val"], torch.SymInt):
        return call(torch.ops.prim.max.int, number, call(operator.neg, number))
    return _by_tensors(torch.ops.aten.abs.default)(call, number)


def _of_truths(op: Callable[..., object]) -> Callable[..., torch.fx.Node | None]:
    def spell(call: Call, left: Number, right: Number) -> torch.fx.Node | None:
        known = [_value(number) for number in (left, right)]
        are_truths = all(isinstance(value, bool | torch.SymBool) for value in known)
        return call(op, left, right) if are_truths else None

    return spell


def _not(call: Call, holds: Number) -> torch.fx.Node:
    return call(torch.ops.aten.ne.bool, holds, True)


def _chosen(call: Call, holds: Number, chosen: Number, other: Number) -> torch.fx.Node | None:
    """One of two numbers, if they are integers."""
    known = [_value(number) for number in (chosen, other)]
    if not all(isinstance(value, int | torch.SymInt) for value in known):
        return None
    return _either(call, holds, chosen, other)


_SPELLINGS: dict[object, Callable[..., torch.fx.Node | None]] = {
    abs: _absolute,
    operator.abs: _absolute,
    operator.mod: _remainder,
    operator.pow: _power,
    operator.lshift: _shifted(operator.mul),
    operator.rshift: _shifted(operator.floordiv),
    operator.and_: _of_truths(torch.ops.aten.__and__.bool),
    operator.or_: _of_truths(torch.ops.aten.__or__.bool),
    operator.lt: lambda call, left, right: call(operator.gt, right, left),
    operator.le: lambda call, left, right: call(operator.ge, right, left),
    operator.ne: lambda call, left, right: _not(call, call(operator.eq, left, right)),
    torch.sym_sum: _sum,
    torch.sym_max: lambda call, left, right: call(torch.ops.prim.max.int, left, right),
    torch.sym_min: lambda call, left, right: call(torch.ops.prim.min.int, left, right),
    torch.sym_ite: _chosen,
    torch.sym_not: _not,
    LOG2: _by_tensors(torch.ops.aten.log2.default),
    torch.sym_sqrt: _by_tensors(torch.ops.aten.sqrt.default),
    torch.sym_float: lambda call, number: call(torch.ops.aten.Float.Scalar, number),
    math.ceil: _of_integers_themselves(_ceil),
    math.floor: _of_integers_themselves(_floor),
    math.trunc: _of_integers_themselves(_truncated),
    round: _of_integers_themselves(_rounded),
}
"""For each function, what computes the same, if anything does; the arguments are its own."""


def spell_size_arithmetic(who: str, exported: torch.export.ExportedProgram) -> None:
    """Spells in place what `exported`, which messages call `who`, computes of sizes.

    A size in the place of a tensor, as in `n - x`, becomes one.

    Raises:
      UserError: it computes of them what cannot be spelled; the message lists all places.
    """
    for graph, node in _calls(exported):
        if node.target is torch.ops.aten.sym_storage_offset.default:
            _drop_assertions(graph, node)
    unknown = []
    for graph, node in _calls(exported):
        _make_tensors(graph, node)
        _read_truth(node)
        if not _is_unknown(node):
            continue
        spelling = _SPELLINGS.get(node.target)
        with graph.inserting_before(node):
            spelled = spelling and spelling(_caller(graph, node), *node.args)
        if spelled is None:
            unknown.append(node)
            continue
        spelled.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(spelled)
        graph.erase_node(node)
    if unknown:
        ops = [
            UnsupportedOp(_name(node), "", place(node), module_path(node), _ADVICE)
            for node in unknown
        ]
        raise UserError(f"{who}: forward computes of sizes what cannot be compiled:\n{report(ops)}")


def _calls(
    exported: torch.export.ExportedProgram,
) -> list[tuple[torch.fx.Graph, torch.fx.Node]]:
    return [
        (module.graph, node)
        for module in exported.graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for node in module.graph.nodes
        if node.op == "call_function"
    ]


def _drop_assertions(graph: torch.fx.Graph, offset: torch.fx.Node) -> None:
    """Drops what is asserted of where a tensor begins in memory: here none shares another's."""
    for compared in list(offset.users):
        for user in list(compared.users):
            if user.target is torch.ops.aten._assert_scalar.default:
                graph.erase_node(user)
        if not compared.users:
            graph.erase_node(compared)
    if not offset.users:
        graph.erase_node(offset)


def _is_unknown(node: torch.fx.Node) -> bool:
    """Whether a node computes of sizes, and the importer has no word for that."""
    return (
        isinstance(node.meta.get("val"), _NUMBERS)
        and not isinstance(node.target, torch._ops.OpOverload)
        and (node.target not in _KNOWN or (node.target in _OF_INTEGERS and _has_float(node)))
    )


def _has_float(node: torch.fx.Node) -> bool:
    known = map(_value, node.args)
    return any(isinstance(value, float | torch.SymFloat) for value in known)


def _make_tensors(graph: torch.fx.Graph, node: torch.fx.Node) -> None:
    """Makes tensors of sizes that `node`, an op on tensors, has in the places of such.

    Of a second operand the importer does so itself, but where it is beside a rounding mode.
    """
    if not isinstance(node.target, torch._ops.OpOverload):
        return
    values = [operand.meta.get("val") for operand in node.all_input_nodes]
    others = [value for value in values if isinstance(value, torch.Tensor)]
    count = 2 if node.target is torch.ops.aten.div.Tensor_mode else 1
    for at, number in enumerate(node.args[:count] if others else ()):
        declared = node.target._schema.arguments[at]
        if not isinstance(number, torch.fx.Node) or str(declared.type) != "Tensor":
            continue
        if not isinstance(number.meta.get("val"), _NUMBERS):
            continue
        with graph.inserting_before(node):
            tensor = graph.call_function(
                torch.ops.aten.scalar_tensor.default, (number,), {"dtype": others[0].dtype}
            )
        tensor.meta = {key: value for key, value in node.meta.items() if key != "tensor_meta"}
        tensor.meta["val"] = others[0].new_empty(())
        node.update_arg(at, tensor)


def _read_truth(node: torch.fx.Node) -> None:
    """Has a truth value that is read out of a tensor be one: the importer makes it an integer."""
    read = torch.ops.aten._local_scalar_dense.default
    if node.target is read and isinstance(node.meta["val"], torch.SymBool):
        node.target = torch.ops.aten.Bool.Tensor


def _caller(graph: torch.fx.Graph, origin: torch.fx.Node) -> Call:
    """Makes nodes that come from where `origin` does."""

    def call(function: Callable[..., object], *arguments: Number, **options: Any) -> torch.fx.Node:
        node = graph.call_function(function, arguments, options)
        node.meta = dict(origin.meta)
        if not isinstance(function, torch._ops.OpOverload):
            values = [_value(number) for number in arguments]
            node.meta["val"] = function(*values)
        elif str(function._schema.returns[0].type) == "Tensor":
            known = (each.meta.get("val") for each in graph.nodes)
            like = next(value for value in known if isinstance(value, torch.Tensor))
            dtype = options.get("dtype") or _value(arguments[0]).dtype
            node.meta["val"] = like.new_empty((), dtype=dtype)
            # For where a number is read out of it.
            node.meta["tensor_meta"] = _extract_tensor_metadata(node.meta["val"])
        return node

    return call


def _name(node: torch.fx.Node) -> str:
    return str(getattr(node.target, "__name__", node.target))
