"""Finds out for which dynamic sizes the graph of a program is another program.

torch.export takes a dynamic size to be 2 or more as it works out what follows from it: whether a
dimension is broadcast, whether there is a first element, how many elements a diagonal has. It
allows 0 and 1 in calls nevertheless. And of what follows from a `Dim.AUTO` it may take sizes of the
example to be those of every call.
"""

from collections.abc import Collection
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree
from torch.utils._sympy.value_ranges import ValueRanges

from plumbline.errors import UserError
from plumbline.loader_to_torch.pytorch_state import exporting

_LARGER = 13
"""How many times the sizes of the example a program is tried at."""


class SizesDoNotHold(UserError):
    """A program does not hold for larger sizes than those of its example."""

    def __init__(self, message: str, symbols: Collection[Any]) -> None:
        super().__init__(message)
        self.symbols = symbols
        """Of those sizes: the ones for which it holds at no other size, if each is tried alone."""


def exclude_sizes_that_do_not_hold(who: str, *programs: torch.export.ExportedProgram) -> None:
    """Raises the least size of symbols, in the ranges of the last of `programs`.

    The programs are forms of one, which messages call `who`, with the same inputs; those that are
    the same as the last are followed once. A size is left out if an op of any refuses it, or gives
    a tensor of another shape than is written beside it.

    Raises:
      SizesDoNotHold: the program does not hold for a size beyond that of the example.
    """
    ranges = programs[-1].range_constraints
    if not ranges:
        return
    *others, last = programs
    unlike = [program for program in others if not _is_same(program, last)]
    followed = [_Followed(program) for program in (*unlike, last)]
    examples = followed[-1].sizes
    # All at once and as multiples, as the program may compare its sizes; with the same remainders
    # for small divisors (1, 2, 3, 4, 6, 12), as it may divide them.
    larger = {symbol: _LARGER * size for symbol, size in examples.items()}
    allowed = all(larger.get(symbol, 0) <= sizes.upper for symbol, sizes in ranges.items())
    if allowed and not all(program.holds_at(larger) for program in followed):
        alone = [
            symbol
            for symbol, size in larger.items()
            if not all(program.holds_at({symbol: size}) for program in followed)
        ]
        raise SizesDoNotHold(
            f"{who}: the program works where its dynamic sizes are as in the example inputs, but "
            f"not where they are {_LARGER} times that: PyTorch took a size that follows from them "
            "for a constant. Give example inputs of another size, or that dimension a "
            "torch.export.Dim with a name and bounds",
            alone or larger.keys(),
        )
    for symbol, sizes in list(ranges.items()):
        for size in (1, 0):
            if size < sizes.lower:
                break
            if not all(program.holds_at({symbol: size}) for program in followed):
                ranges[symbol] = ValueRanges(size + 1, max(sizes.upper, size + 1))
                break


def _is_same(one: torch.export.ExportedProgram, other: torch.export.ExportedProgram) -> bool:
    """Whether two graphs have the same nodes, with the same written beside them."""
    if len(one.graph.nodes) != len(other.graph.nodes):
        return False
    made: dict[torch.fx.Node, torch.fx.Node] = {}
    for node, copy in zip(one.graph.nodes, other.graph.nodes, strict=True):
        args, kwargs = map_arg((node.args, node.kwargs), made.__getitem__)
        is_named = node.op != "placeholder"
        if (
            node.op != copy.op
            or (is_named and node.target != copy.target)
            or (args, kwargs) != (copy.args, copy.kwargs)
            or node.meta.get("val") is not copy.meta.get("val")
        ):
            return False
        made[node] = copy
    return True


class _Followed:
    """A program that is followed at several sizes, at those of its example first."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        self.sizes = _example_sizes(program)
        self._program = program
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)
        self._example = self._values({}, {})
        # An op that writes in place may change the shape of what others read.
        self._may_share = not any(map(_writes, program.graph.nodes))

    def holds_at(self, changed: dict[Any, int]) -> bool:
        """Whether the program works with symbols of such sizes, the others as in its example."""
        if self._example is None:
            # A program that cannot be followed at its own sizes tells nothing about others.
            return True
        return self._values(changed, self._example if self._may_share else {}) is not None

    def _values(
        self, changed: dict[Any, int], example: dict[torch.fx.Node, Any]
    ) -> dict[torch.fx.Node, Any] | None:
        """What each node gives, if all can be followed."""
        follow = _Follow(self._program.graph_module, {**self.sizes, **changed}, example)
        try:
            with exporting(), self._mode, torch.no_grad():
                follow.run()
        except Exception:
            return None
        return follow.values


def _writes(node: torch.fx.Node) -> bool:
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable


def _example_sizes(program: torch.export.ExportedProgram) -> dict[Any, int]:
    """The symbols in the sizes of inputs, and what they are in the example."""
    found: dict[Any, int] = {}
    for node in program.graph.find_nodes(op="placeholder"):
        for size in _sizes(node.meta.get("val")):
            if isinstance(size, torch.SymInt):
                values = size.node.shape_env.backed_var_to_val
                found |= {symbol: int(values[symbol]) for symbol in size.node.expr.free_symbols}
    return found


class _Unlike(Exception):
    """A value is not of the shape that is written beside it."""


class _Follow(torch.fx.Interpreter):
    """Runs a graph on tensors that have shapes and no elements, and compares their shapes.

    What does not depend on sizes other than in an `example` is taken from there: the values of its
    nodes.
    """

    def __init__(
        self,
        module: torch.fx.GraphModule,
        symbols: dict[Any, int],
        example: dict[torch.fx.Node, Any],
    ) -> None:
        super().__init__(module, garbage_collect_values=True)
        # What fails here is no mistake, for which the whole graph would be printed.
        self.extra_traceback = False
        self._symbols = symbols
        # To substitute took half of the time.
        self._numbers: dict[Any, int | None] = {}
        self._example = example
        self.values: dict[torch.fx.Node, Any] = {}
        """What each node gives."""

    def run_node(self, node: torch.fx.Node) -> Any:
        """What a node gives at these sizes.

        Raises:
          _Unlike: it is of another shape than the graph says.
        """
        self.values[node] = value = self._value(node)
        if node.op not in ("placeholder", "output"):
            pytree.tree_map(self._compare, value, node.meta.get("val"))
        return value

    def _value(self, node: torch.fx.Node) -> Any:
        known = self._example.get(node)
        if node.op == "placeholder":
            expected = node.meta.get("val")
            if isinstance(known, torch.Tensor) and list(known.shape) == self._sizes_of(expected):
                return known
            return pytree.tree_map_only(torch.Tensor, self._of_these_sizes, expected)
        is_as_in_example = node in self._example and all(
            self.values[one] is self._example[one] for one in node.all_input_nodes
        )
        return known if is_as_in_example else super().run_node(node)

    def _sizes_of(self, tensor: Any) -> list[int | None]:
        return [self._number(size) for size in tensor.shape]

    def _of_these_sizes(self, tensor: torch.Tensor) -> torch.Tensor:
        # What depends on no input cannot be the size of one.
        sizes = [size for size in self._sizes_of(tensor) if size is not None]
        return torch.empty(sizes, dtype=tensor.dtype)

    def _compare(self, value: Any, expected: Any) -> None:
        if not isinstance(value, torch.Tensor):
            return
        sizes = self._sizes_of(expected)
        if len(sizes) != value.dim():
            raise _Unlike
        for size, given in zip(sizes, value.shape, strict=True):
            if size is not None and isinstance(given, int) and size != given:
                raise _Unlike

    def _number(self, size: int | torch.SymInt) -> int | None:
        """A size in numbers, where it depends on those of inputs alone."""
        if isinstance(size, int):
            return size
        expression = size.node.expr
        if expression not in self._numbers:
            number = expression.subs(self._symbols)
            self._numbers[expression] = int(number) if number.is_number else None
        return self._numbers[expression]


def _sizes(value: Any) -> list[Any]:
    return list(value.shape) if isinstance(value, torch.Tensor) else []
