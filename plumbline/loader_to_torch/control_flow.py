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
from torch_mlir.extras.fx_importer import GraphNodeImporter

_Importer = Any
"""torch-mlir's `GraphNodeImporter`, which has no types."""

_ENDLESS = 2**63 - 1


@dataclass(frozen=True)
class _Builder:
    """Builds the ops that a node becomes."""

    importer: _Importer
    location: ir.Location

    def op(
        self, name: str, operands: Sequence[ir.Value], results: Sequence[ir.Type] = (), **more: Any
    ) -> ir.Operation:
        return ir.Operation.create(
            name, results=list(results), operands=list(operands), loc=self.location, **more
        )

    def type(self, text: str) -> ir.Type:
        return ir.Type.parse(f"!torch.{text}", context=self.location.context)

    def constant(self, value: int | bool | torch.dtype | None) -> ir.Value:
        (constant,) = self.values(value)
        return constant

    def values(self, arguments: Any) -> list[ir.Value]:
        """What the nodes and constants in nested tuples and lists are."""
        if isinstance(arguments, (tuple, list)):
            return [value for argument in arguments for value in self.values(argument)]
        return [self.importer._import_argument(self.location, arguments)]

    def truth(self, value: ir.Value) -> ir.Value:
        """A tensor of one truth value, or such a number, as a truth value."""
        if value.type == self.type("bool"):
            return value
        return self.op("torch.aten.Bool.Tensor", [value], [self.type("bool")]).result

    def types(self, values: Sequence[Any]) -> list[ir.Type]:
        """The types of the tensors without data that a node is said to be."""
        return [self.importer._cc.value_info_to_type(value) for value in values]

    def call(
        self, body: torch.fx.Node, operands: Sequence[ir.Value], results: Sequence[ir.Type]
    ) -> list[ir.Value]:
        """Calls the function that has been made of a body."""
        graph = getattr(body.graph.owning_module, str(body.target))
        name = self.importer.fx_importer._graph_module_to_func_name[id(graph)]
        callee = ir.FlatSymbolRefAttr.get(name, self.location.context)
        return list(self.op("func.call", operands, results, attributes={"callee": callee}).results)

    def bind(self, node: torch.fx.Node, values: Sequence[ir.Value]) -> None:
        """Has `node`, a tuple, be `values`."""
        self.importer._multi_result_nodes.add(node)
        for place, value in enumerate(values):
            self.importer.bind_node_value(node, value, place)

    def loop(
        self,
        count: ir.Value,
        begins: ir.Value,
        start: Sequence[ir.Value],
        types: Sequence[ir.Type],
        body: Callable[[ir.Value, list[ir.Value]], tuple[ir.Value, list[ir.Value]]],
    ) -> list[ir.Value]:
        """A loop that carries values.

        Args:
          count: how many rounds there are at most, an int.
          begins: whether there is a first one.
          start: what is carried into it.
          types: of what is carried.
          body: makes of the number of a round and what is carried into it whether there is another
            one, and what is carried into that.
        """
        loop = self.op("torch.prim.Loop", [count, begins, *start], types, regions=1)
        with self.location:
            block = ir.Block.create_at_start(loop.regions[0], [self.type("int"), *types])
        with ir.InsertionPoint(block):
            number, *carried = block.arguments
            goes_on, after = body(number, carried)
            self.op("torch.prim.Loop.condition", [goes_on, *after])
        return list(loop.results)


def _arguments(node: torch.fx.Node) -> Sequence[Any]:
    """Bodies, and operands in tuples and lists, as the op takes them."""
    return node.args


def _import_cond(build: _Builder, node: torch.fx.Node) -> None:
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


def _import_while_loop(build: _Builder, node: torch.fx.Node) -> None:
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


def _import_scan(build: _Builder, node: torch.fx.Node) -> None:
    body, start, slices, captured = _arguments(node)
    _import_slices(build, node, body, start, slices, captured)


def _import_map(build: _Builder, node: torch.fx.Node) -> None:
    body, slices, captured = _arguments(node)
    _import_slices(build, node, body, (), slices, captured)


def _import_slices(
    build: _Builder,
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
    sizes = _Sizes(build, [*start, *sliced, *captured])
    along, one = build.constant(0), build.constant(1)

    def turn(place: ir.Value, carried: list[ir.Value]) -> tuple[ir.Value, list[ir.Value]]:
        end = build.op("torch.aten.add.int", [place, one], [build.type("int")]).result
        parts = []
        for operand, types in zip(operands, slices, strict=True):
            span = [operand, along, place, end, one]
            part = build.op("torch.aten.slice.Tensor", span, [types.among_one]).result
            parts.append(build.op("torch.aten.squeeze.dim", [part, along], [types.alone]).result)
        before, stacks = _split(carried, len(start))
        after, parts = _split(
            build.call(
                body,
                [*before, *parts, *others],
                [*carried_types, *(types.alone for types in made)],
            ),
            len(start),
        )
        filled = []
        for stack, part, types in zip(stacks, parts, made, strict=True):
            among_one = build.op("torch.aten.unsqueeze", [part, along], [types.among_one]).result
            span = [stack, among_one, along, place, end, one]
            filled.append(build.op("torch.aten.slice_scatter", span, [stack.type]).result)
        return build.constant(True), [*after, *filled]

    stacks = map(sizes.uninitialized, stacked, stack_types)
    build.bind(
        node,
        build.loop(
            sizes.of(sliced[0].meta["val"].shape[0]),
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
    def of(build: _Builder, tensor: torch.Tensor) -> "_SliceTypes":
        rest = tensor.shape[1:]
        return _SliceTypes(*build.types([tensor.new_empty(rest), tensor.new_empty((1, *rest))]))


class _Sizes:
    """Sizes of results, by those of operands."""

    def __init__(self, build: _Builder, operands: Sequence[torch.fx.Node]) -> None:
        self._build = build
        self._operands = operands

    def of(self, size: int | torch.SymInt) -> ir.Value:
        """An int of the Torch dialect.

        Raises:
          NotImplementedError: it is dynamic, and no operand has it.
        """
        if isinstance(size, int):
            return self._build.constant(size)
        for operand in self._operands:
            for axis, own in enumerate(operand.meta["val"].shape):
                if str(own) == str(size):
                    (value,) = self._build.values(operand)
                    return self._build.op(
                        "torch.aten.size.int",
                        [value, self._build.constant(axis)],
                        [self._build.type("int")],
                    ).result
        raise NotImplementedError(
            f"the body of a scan or map makes a tensor with a size of {size}, which no operand has"
        )

    def uninitialized(self, tensor: torch.Tensor, type_: ir.Type) -> ir.Value:
        """A tensor of that type, of which all elements are to be written."""
        build = self._build
        shape = build.op(
            "torch.prim.ListConstruct", [*map(self.of, tensor.shape)], [build.type("list<int>")]
        ).result
        dtype = build.constant(tensor.dtype)
        options = [dtype, *(build.constant(None) for _ in range(4))]
        return build.op("torch.aten.empty.memory_format", [shape, *options], [type_]).result


_IMPORTS: Mapping[str, Callable[[_Builder, torch.fx.Node], None]] = {
    "cond": _import_cond,
    "map_impl": _import_map,
    "scan": _import_scan,
    "while_loop": _import_while_loop,
}


def is_known(op: torch._ops.HigherOrderOperator) -> bool:
    """Whether it is one of the above, or one that torch-mlir imports itself."""
    return hasattr(GraphNodeImporter, f"_import_hop_{op.__name__}")


def _method(import_: Callable[[_Builder, torch.fx.Node], None]) -> Callable[..., None]:
    def handle(importer: _Importer, location: ir.Location, node: torch.fx.Node, op: object) -> None:
        import_(_Builder(importer, location), node)

    return handle


for _name, _import in _IMPORTS.items():
    # The importer looks for a method of this name.
    setattr(GraphNodeImporter, f"_import_hop_{_name}", _method(_import))
