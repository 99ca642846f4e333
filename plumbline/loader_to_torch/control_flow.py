"""Branches and loops of PyTorch's higher-order ops, as those of the Torch dialect.

torch-mlir's importer makes a function of each body. Here the ops that call them become
`torch.prim.If` and `torch.prim.Loop` with calls of these, which are inlined later:

    torch.cond        both branches, of which one runs
    while_loop        a loop that ends by its condition
    scan, map         a loop of known length, over slices of operands along their first dimension,
                      whose results are put into slices of tensors of the same length
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch_mlir import ir

from plumbline.loader_to_torch.torch_builder import Builder

_ENDLESS = 2**63 - 1


def _arguments(node: torch.fx.Node) -> Sequence[Any]:
    """Bodies, and operands in tuples and lists, as the op takes them."""
    return node.args


def _import_cond(build: Builder, node: torch.fx.Node) -> None:
    predicate, *branches, operands = _arguments(node)
    types = build.types(node.meta["val"])
    values = build.values(operands)
    holds = build.truth(build.values(predicate)[0])
    choice = build.op("torch.prim.If", [holds], types, regions=2)
    for branch, region in zip(branches, choice.regions, strict=True):
        with build.location:
            block = ir.Block.create_at_start(region, [])
        with ir.InsertionPoint(block):
            build.op("torch.prim.If.yield", build.call(branch, values, types))
    build.bind(node, list(choice.results))


def _import_while_loop(build: Builder, node: torch.fx.Node) -> None:
    condition, body, *operands = _arguments(node)
    start, captured = map(build.values, operands)
    types = [value.type for value in start]
    truth = [build.type("vtensor<[],i1>")]

    def goes_on(carried: Sequence[ir.Value]) -> ir.Value:
        (holds,) = build.call(condition, [*carried, *captured], truth)
        return build.truth(holds)

    def turn(_: ir.Value, carried: list[ir.Value]) -> tuple[ir.Value, list[ir.Value]]:
        after = build.call(body, [*carried, *captured], types)
        return goes_on(after), after

    build.bind(node, build.loop(build.constant(_ENDLESS), goes_on(start), start, types, turn))


def _import_scan(build: Builder, node: torch.fx.Node) -> None:
    body, start, slices, captured = _arguments(node)
    _import_slices(build, node, body, start, slices, captured)


def _import_map(build: Builder, node: torch.fx.Node) -> None:
    body, slices, captured = _arguments(node)
    _import_slices(build, node, body, (), slices, captured)


def _import_slices(
    build: Builder,
    node: torch.fx.Node,
    body: torch.fx.Node,
    start: Sequence[torch.fx.Node],
    sliced: Sequence[torch.fx.Node],
    captured: Sequence[torch.fx.Node],
) -> None:
    """A loop over slices of some tensors, which carries others, and stacks what else it makes."""
    results = node.meta["val"]
    carried_types, stack_types = _split(build.types(results), len(start))
    stacked = results[len(start) :]
    operands, others = build.values(sliced), build.values(captured)
    slices = [_SliceTypes.of(build, value.meta["val"]) for value in sliced]
    made = [_SliceTypes.of(build, value) for value in stacked]
    known = [*start, *sliced, *captured]

    def turn(place: ir.Value, carried: list[ir.Value]) -> tuple[ir.Value, list[ir.Value]]:
        end = build.next(place)
        parts = [
            build.first_of(build.slice(operand, 0, place, end, types.among_one), types.alone)
            for operand, types in zip(operands, slices, strict=True)
        ]
        before, stacks = _split(carried, len(start))
        result_types = [*carried_types, *(types.alone for types in made)]
        results = build.call(body, [*before, *parts, *others], result_types)
        after, parts = _split(results, len(start))
        filled = [
            build.with_slice(stack, build.as_only(part, types.among_one), 0, place, end)
            for stack, part, types in zip(stacks, parts, made, strict=True)
        ]
        return build.constant(True), [*after, *filled]

    stacks = [build.zeros(value, known) for value in stacked]
    build.bind(
        node,
        build.loop(
            build.size(sliced[0].meta["val"].shape[0], known),
            build.constant(True),
            [*build.values(start), *stacks],
            [*carried_types, *stack_types],
            turn,
        ),
    )


def _split(values: Sequence[Any], count: int) -> tuple[list[Any], list[Any]]:
    return list(values[:count]), list(values[count:])


@dataclass(frozen=True)
class _SliceTypes:
    """The types of a slice along the first dimension of a tensor, of one place."""

    alone: ir.Type
    """Without that dimension."""
    among_one: ir.Type
    """With it, of size 1."""

    @staticmethod
    def of(build: Builder, tensor: torch.Tensor) -> "_SliceTypes":
        rest = tensor.shape[1:]
        return _SliceTypes(*build.types([tensor.new_empty(rest), tensor.new_empty((1, *rest))]))


IMPORTS: Mapping[str, Callable[[Builder, torch.fx.Node], None]] = {
    "cond": _import_cond,
    "map_impl": _import_map,
    "scan": _import_scan,
    "while_loop": _import_while_loop,
}
"""How each is imported, by its name."""
