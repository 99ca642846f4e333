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

    The programs are forms of one, which messages call `who`, with the same inputs. A size is left
    out if an op of any refuses it, or gives a tensor of another shape than is written beside it.

    Raises:
      SizesDoNotHold: the program does not hold for a size beyond that of the example.
    """
    ranges = programs[-1].range_constraints
    if not ranges:
        return
    examples = _example_sizes(programs[-1])
    # All at once and as multiples, as the program may compare its sizes; with the same remainders
    # for small divisors (1, 2, 3, 4, 6, 12), as it may divide them.
    larger = {symbol: _LARGER * size for symbol, size in examples.items()}
    allowed = all(larger.get(symbol, 0) <= sizes.upper for symbol, sizes in ranges.items())
    if allowed and not all(_holds(program, larger) for program in programs):
        alone = [
            symbol
            for symbol, size in larger.items()
            if not all(_holds(program, {symbol: size}) for program in programs)
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
            if not all(_holds(program, {symbol: size}) for program in programs):
                ranges[symbol] = ValueRanges(size + 1, max(sizes.upper, size + 1))
                break


def _holds(program: torch.export.ExportedProgram, changed: dict[Any, int]) -> bool:
    """Whether a program works with symbols of such sizes, the others as in its example."""
    sizes = _example_sizes(program)
    # A program that cannot be followed at its own sizes tells nothing about others.
    return _runs(program, {**sizes, **changed}) or not _runs(program, sizes)


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


def _runs(program: torch.export.ExportedProgram, symbols: dict[Any, int]) -> bool:
    try:
        with exporting(), FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
            _Follow(program.graph_module, symbols).run()
    except Exception:
        return False
    return True


class _Follow(torch.fx.Interpreter):
    """Runs a graph on tensors that have shapes and no elements, and compares their shapes."""

    def __init__(self, module: torch.fx.GraphModule, symbols: dict[Any, int]) -> None:
        super().__init__(module, garbage_collect_values=True)
        self._symbols = symbols
        # To substitute took half of the time.
        self._numbers: dict[Any, int | None] = {}

    def run_node(self, node: torch.fx.Node) -> Any:
        """What a node gives at these sizes.

        Raises:
          _Unlike: it is of another shape than the graph says.
        """
        expected = node.meta.get("val")
        if node.op == "placeholder":
            return pytree.tree_map_only(torch.Tensor, self._of_these_sizes, expected)
        value = super().run_node(node)
        if node.op != "output":
            pytree.tree_map(self._compare, value, expected)
        return value

    def _of_these_sizes(self, tensor: torch.Tensor) -> torch.Tensor:
        sizes = [self._number(size) for size in tensor.shape]
        # What depends on no input cannot be the size of one.
        return torch.empty([size for size in sizes if size is not None], dtype=tensor.dtype)

    def _compare(self, value: Any, expected: Any) -> None:
        if not isinstance(value, torch.Tensor):
            return
        sizes = [self._number(size) for size in expected.shape]
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
