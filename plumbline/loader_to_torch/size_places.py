"""Where the sizes of a program's inputs have the symbols that all its sizes are computed of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy
import torch

from plumbline.loader_to_torch.followed_program import symbolic_sizes_of
from plumbline.loader_to_torch.written_sizes import written_as

_SIZE = torch.ops.aten.sym_size.int


@dataclass(frozen=True)
class Place:
    """Where in the inputs a symbol is found: in a size that is `factor` times it plus `offset`."""

    node: torch.fx.Node
    axis: int
    factor: int = 1
    offset: int = 0

    def __str__(self) -> str:
        """The symbol, as a program would write it."""
        size = f"{self.node.name}.shape[{self.axis}]"
        if self.offset:
            size = f"({size} {'-' if self.offset > 0 else '+'} {abs(self.offset)})"
        return size if self.factor == 1 else f"({size} // {self.factor})"

    def written(self, tracer: torch.fx.proxy.TracerBase) -> Any:
        """The symbol, computed in the graph that `tracer` writes."""
        inputs = torch.fx.Proxy(self.node, tracer)
        size: Any = tracer.create_proxy("call_function", _SIZE, (inputs, self.axis), {})
        if self.offset:
            size = size - self.offset
        return size if self.factor == 1 else size // self.factor


def places_of_symbols(graph: torch.fx.Graph) -> dict[sympy.Symbol, Place]:
    """Where each symbol is found, as far as a size is it, or a `Dim` that is computed of it."""
    places: dict[sympy.Symbol, Place] = {}
    for node in graph.find_nodes(op="placeholder"):
        for axis, size in symbolic_sizes_of(node):
            expression = size.node.expr
            if expression.is_symbol:
                places[expression] = Place(node, axis)
            elif len(expression.free_symbols) == 1:
                (symbol,) = expression.free_symbols
                factor = expression.coeff(symbol)
                offset = expression - factor * symbol
                if factor.is_Integer and factor and offset.is_Integer:
                    places.setdefault(symbol, Place(node, axis, int(factor), int(offset)))
    return places


class SizeNodes:
    """Nodes of a graph that compute sizes, and conditions of them, each once."""

    def __init__(self, graph: torch.fx.Graph, places: Mapping[sympy.Symbol, Place]) -> None:
        """Writes into `graph` what is computed of symbols at `places` in its inputs."""
        self._tracer = _SizeTracer(graph)
        self._places = places
        self._written: dict[Any, Any] = {}

    def of(self, expression: sympy.Basic) -> Any:
        """The node or number of an expression, written where the graph is written now."""
        for symbol in sorted(expression.free_symbols - self._written.keys(), key=str):
            self._written[symbol] = self._places[symbol].written(self._tracer)
        written = written_as(expression, self._written)
        return written.node if isinstance(written, torch.fx.Proxy) else written


class _SizeTracer(torch.fx.proxy.GraphAppendingTracer):
    """Gives each node its value."""

    def create_node(self, *args: Any, **kwargs: Any) -> torch.fx.Node:
        node: torch.fx.Node = super().create_node(*args, **kwargs)
        assert callable(node.target)
        node.meta["val"] = node.target(
            *torch.fx.map_arg(node.args, lambda operand: operand.meta["val"])
        )
        return node
