"""Builds ops of the Torch dialect for nodes that torch-mlir's importer has no handlers for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch_mlir import ir

_Importer = Any
"""torch-mlir's `GraphNodeImporter`, which has no types."""


@dataclass(frozen=True)
class Builder:
    """Builds the ops that a node becomes."""

    importer: _Importer
    location: ir.Location

    def op(
        self, name: str, operands: Sequence[ir.Value], results: Sequence[ir.Type] = (), **more: Any
    ) -> ir.Operation:
        """An op, at the insertion point; `more` is what `ir.Operation.create` takes."""
        return ir.Operation.create(
            name, results=list(results), operands=list(operands), loc=self.location, **more
        )

    def type(self, text: str) -> ir.Type:
        """A type of the Torch dialect, such as `int`."""
        return ir.Type.parse(f"!torch.{text}", context=self.location.context)

    def constant(self, value: int | bool | torch.dtype | None) -> ir.Value:
        """What Python has as a constant; a dtype is a number here."""
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

    def tensor_type(self, sizes: Sequence[int | None], dtype: torch.dtype) -> ir.Type:
        """The type of a tensor; None stands for a size that nothing is known of."""
        shape = ",".join("?" if size is None else str(size) for size in sizes)
        return self.type(f"vtensor<[{shape}],{self.importer._cc.dtype_to_type(dtype)}>")

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

    def size(self, size: int | torch.SymInt, operands: Sequence[torch.fx.Node]) -> ir.Value:
        """A size as an int, found among those of `operands` where it is dynamic.

        Raises:
          NotImplementedError: none of them has it.
        """
        if isinstance(size, int):
            return self.constant(size)
        for operand in operands:
            for axis, own in enumerate(operand.meta["val"].shape):
                if str(own) == str(size):
                    taken_of = [*self.values(operand), self.constant(axis)]
                    return self.op("torch.aten.size.int", taken_of, [self.type("int")]).result
        raise NotImplementedError(f"a tensor in a loop has a size of {size}, which no operand has")

    def zeros(self, tensor: torch.Tensor, operands: Sequence[torch.fx.Node]) -> ir.Value:
        """A tensor like one without data, of which dynamic sizes are those of `operands`."""
        sizes = [self.size(size, operands) for size in tensor.shape]
        shape = self.op("torch.prim.ListConstruct", sizes, [self.type("list<int>")]).result
        options = [tensor.dtype, None, None, None]
        return self.op(
            "torch.aten.zeros", [shape, *self.values(options)], self.types([tensor])
        ).result

    def slice(
        self, tensor: ir.Value, axis: int, start: ir.Value, end: ir.Value, result: ir.Type
    ) -> ir.Value:
        """What is between two places along a dimension."""
        operands = [tensor, self.constant(axis), start, end, self.constant(1)]
        return self.op("torch.aten.slice.Tensor", operands, [result]).result

    def with_slice(
        self, tensor: ir.Value, part: ir.Value, axis: int, start: ir.Value, end: ir.Value
    ) -> ir.Value:
        """A tensor with another one in the place of such a slice."""
        operands = [tensor, part, self.constant(axis), start, end, self.constant(1)]
        return self.op("torch.aten.slice_scatter", operands, [tensor.type]).result

    def next(self, number: ir.Value) -> ir.Value:
        """An int, and one more."""
        return self.op("torch.aten.add.int", [number, self.constant(1)], [self.type("int")]).result

    def first_of(self, tensor: ir.Value, result: ir.Type) -> ir.Value:
        """A tensor without its first dimension, of size 1."""
        return self.op("torch.aten.squeeze.dim", [tensor, self.constant(0)], [result]).result

    def as_only(self, tensor: ir.Value, result: ir.Type) -> ir.Value:
        """A tensor with such a dimension."""
        return self.op("torch.aten.unsqueeze", [tensor, self.constant(0)], [result]).result

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
