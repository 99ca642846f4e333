"""Ops that hold others, or stand for a function: control flow, calls, and what groups values."""

import re
from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, cf, scf
from torch_mlir.dialects import tensor as tensor_dialect

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp import functions, linear_algebra
from plumbline.stablehlo_to_tcp.pattern import Patterns, recast, tensor, tensor_type, tensors
from plumbline.stablehlo_to_tcp.pooling import convert_dynamic_reduce_window
from plumbline.tcp.building.tensors import Tensor, TensorType


def _types(values: Sequence[ir.Value]) -> list[TensorType]:
    return [tensor_type(value) for value in values]


def _as_results(values: Sequence[ir.Value], types: Sequence[TensorType]) -> list[Tensor]:
    return [Tensor(value, type_) for value, type_ in zip(values, types, strict=True)]


def take_over(
    source: ir.Block, target: ir.Block, arguments: Sequence[ir.Value] | None = None
) -> list[ir.Value]:
    """Moves the ops of a block behind those of another; gives what the block returned.

    What the other has as `arguments` take the place of those of the block: its own, if none are
    given.
    """
    if arguments is None:
        arguments = list(target.arguments)
    with ir.InsertionPoint(target):
        for old, new in zip(source.arguments, arguments, strict=True):
            old.replace_all_uses_with(recast(new, old.type))
    *operations, end = source.operations
    for op in operations:
        target.append(op)
    with ir.InsertionPoint(target):
        results = [recast(value, tensor_type(value).builtin()) for value in end.operands]
    end.operation.erase()
    return results


def convert_while(op: ir.OpView) -> list[Tensor]:
    """A loop that goes on as long as its first region says so."""
    start, types = tensors(op), _types(op.results)
    builtin = [type_.builtin() for type_ in types]
    loop = scf.WhileOp(builtin, [operand.value for operand in start])
    places = [op.location] * len(types)
    before = loop.before.blocks.append(*builtin, arg_locs=places)
    after = loop.after.blocks.append(*builtin, arg_locs=places)
    (goes_on,) = take_over(op.regions[0].blocks[0], before)
    with ir.InsertionPoint(before):
        scf.ConditionOp(tensor_dialect.extract(goes_on, []), list(before.arguments))
    values = take_over(op.regions[1].blocks[0], after)
    with ir.InsertionPoint(after):
        scf.YieldOp(values)
    return _as_results(loop.results, types)


def _yield_into(source: ir.Block, target: ir.Block) -> None:
    values = take_over(source, target)
    with ir.InsertionPoint(target):
        scf.YieldOp(values)


def convert_if(op: ir.OpView) -> list[Tensor]:
    """One of two regions."""
    condition, types = tensor(op.operands[0]), _types(op.results)
    return _one_of_two(tensor_dialect.extract(condition.value, []), op, types)


def _one_of_two(chosen: ir.Value, op: ir.OpView, types: Sequence[TensorType]) -> list[Tensor]:
    made = scf.IfOp(chosen, [type_.builtin() for type_ in types], has_else=True)
    _yield_into(op.regions[0].blocks[0], made.then_block)
    _yield_into(op.regions[1].blocks[0], made.else_block)
    return _as_results(made.results, types)


def convert_case(op: ir.OpView) -> list[Tensor]:
    """One of several regions; the last one for a number that is none's."""
    which, types = tensor(op.operands[0]), _types(op.results)
    number = tensor_dialect.extract(which.value, [])
    last = len(op.regions) - 1
    if last == 1:
        is_first = arith.cmpi(arith.CmpIPredicate.eq, number, arith.constant(number.type, 0))
        return _one_of_two(is_first, op, types)
    made = scf.IndexSwitchOp(
        [type_.builtin() for type_ in types],
        arith.index_cast(ir.IndexType.get(), number),
        list(range(last)),
    )
    sources = [op.regions[last], *list(op.regions)[:last]]
    for source, target in zip(sources, made.regions, strict=True):
        _yield_into(source.blocks[0], target.blocks[0])
    return _as_results(made.results, types)


def convert_composite(op: ir.OpView) -> list[Tensor]:
    """A call of the function that says what the op is made of."""
    operands, types = tensors(op), _types(op.results)
    callee = op.attributes["decomposition"]
    results = functions.call(callee, [operand.value for operand in operands], list(op.results))
    values = [recast(value, type_.builtin()) for value, type_ in zip(results, types, strict=True)]
    return _as_results(values, types)


def convert_optimization_barrier(op: ir.OpView) -> list[Tensor]:
    """Its operands: nothing is moved across other ops at this stage."""
    return tensors(op)


def convert_custom_call(op: ir.OpView) -> list[Tensor]:
    """What JAX makes of programs of dynamic sizes: assertions of them, and ops that take such."""
    target = ir.StringAttr(op.attributes["call_target_name"]).value
    if target in _CALLS:
        return _CALLS[target](op)
    if target.startswith(linear_algebra.PREFIX):
        return linear_algebra.convert_routine(op, target)
    if target in linear_algebra.OF_XLA:
        return linear_algebra.convert_factorization(op, target)
    if target != "shape_assertion":
        raise Unsupported(
            f"'{target}', of which only the runtime that it is exported for knows what it "
            "computes; export the ops that it stands for"
        )
    if not op.operands or "error_message" not in op.attributes:
        raise Unsupported("an assertion of nothing, or without a message")
    holds = tensor(op.operands[0])
    # What follows, and what stands in braces, are numbers that are known at run time only.
    message, _, _ = ir.StringAttr(op.attributes["error_message"]).value.partition(" Using the")
    message = re.sub(r" \(= \{\d+\}\)", "", message)
    cf.AssertOp(tensor_dialect.extract(holds.value, []), message)
    return []


_CALLS: Mapping[str, Callable[[ir.OpView], list[Tensor]]] = {
    "stablehlo.dynamic_reduce_window": convert_dynamic_reduce_window,
}

PATTERNS: Patterns = {
    "stablehlo.case": convert_case,
    "stablehlo.composite": convert_composite,
    "stablehlo.custom_call": convert_custom_call,
    "stablehlo.if": convert_if,
    "stablehlo.optimization_barrier": convert_optimization_barrier,
    "stablehlo.while": convert_while,
}
