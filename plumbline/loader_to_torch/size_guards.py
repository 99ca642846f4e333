"""What PyTorch has found of the sizes of an example, and takes to hold in every call.

Where the program or PyTorch compares sizes as it follows a program, it takes the branch that the
example inputs take, and notes a guard. Of a `Dim` with a name, guards hold in all of its range, or
PyTorch refuses the program; of `Dim.AUTO` and `Dim.DYNAMIC` they restrict what the program may be
called with, as `ExportedProgram.module()` checks. Decompositions add guards of their own.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from traceback import FrameSummary
from typing import Any

import sympy
import torch
from torch.fx.experimental import _config
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy.functions import FloatPow, FloorDiv, Mod, PythonMod
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy

from plumbline.errors import UserError
from plumbline.loader_to_torch.assertions import ASSERT_NUMBER
from plumbline.loader_to_torch.followed_program import FollowedProgram, symbolic_sizes_of
from plumbline.loader_to_torch.memory_questions import is_of_memory, is_of_strides
from plumbline.loader_to_torch.node_locations import all_nodes
from plumbline.loader_to_torch.size_places import Place, SizeNodes, places_of_symbols
from plumbline.loader_to_torch.size_words import in_words
from plumbline.loader_to_torch.written_sizes import written_as

_TORCH = Path(torch.__file__).parent

_OURS = Path(__file__).parent

_TRIED = 64
"""How many sizes of a symbol are looked at for one that a guard excludes."""


def assert_guards(
    exported: torch.export.ExportedProgram, followed: FollowedProgram, names: Mapping[str, str]
) -> None:
    """Has `exported` assert the guards on the sizes of its inputs that it needs.

    Messages have `names` for symbols that the user has named, and for others where they are found.

    It needs none that holds in all of its ranges. Nor does it need those by which PyTorch makes
    sure that a size is neither 0 nor 1, or how tensors lie in memory, if the program, which
    `followed` is before this, works for the least size that one excludes.
    """
    graph = exported.graph
    places = places_of_symbols(graph)
    ranges = {symbol: exported.range_constraints[symbol] for symbol in places}
    is_excessive = _Excessive(ranges, followed)
    guards: dict[sympy.Basic, _Origin] = {}
    for guard, origin in _guards(exported).items():
        if not guard.free_symbols <= ranges.keys():
            continue
        unsettled = [
            condition
            for condition in (*_positive_divisors(guard), guard)
            if not _always_holds(condition, ranges)
        ]
        # To follow the program costs more than to look at ranges.
        if unsettled and not is_excessive(guard, origin.asked_by):
            guards |= dict.fromkeys(unsettled, origin)
    if not guards:
        return
    first = next(node for node in graph.nodes if node.op != "placeholder")
    sizes = SizeNodes(graph, places)
    with graph.inserting_before(first):
        for condition, origin in guards.items():
            said = _said(condition, places, names)
            text = f"the program is exported for sizes where {said}"
            node = graph.call_function(ASSERT_NUMBER, (sizes.of(condition), text))
            node.meta["val"] = None
            if line := origin.line:
                node.meta["stack_trace"] = f'File "{line.filename}", line {line.lineno}'


def _said(
    condition: sympy.Basic, places: Mapping[sympy.Symbol, Place], names: Mapping[str, str]
) -> str:
    """A condition in the user's words."""
    found = {str(symbol): str(place) for symbol, place in places.items()}
    return in_words(condition, {**found, **names})


def stretched_sizes(exported: torch.export.ExportedProgram) -> set[sympy.Basic]:
    """The expressions of sizes that guards say to be 1, and that an op stretches."""
    ones = {
        guard.lhs for guard in _guards(exported) if isinstance(guard, sympy.Eq) and guard.rhs == 1
    }
    return {size for node in all_nodes(exported) for size in _stretched(node) if size in ones}


def _stretched(node: torch.fx.Node) -> Iterator[sympy.Basic]:
    """The sizes of operands, as far as they are expressions, that are not those of the result."""
    target, result = node.target, node.meta.get("val")
    if not isinstance(target, torch._ops.OpOverload) or not isinstance(result, torch.Tensor):
        return
    if torch.Tag.pointwise not in target.tags and target is not torch.ops.aten.expand.default:
        return
    for operand in node.all_input_nodes:
        for axis, size in symbolic_sizes_of(operand):
            stretched = result.shape[axis - operand.meta["val"].dim()]
            if not isinstance(stretched, torch.SymInt) or stretched.node.expr != size.node.expr:
                yield size.node.expr


@dataclass
class _Origin:
    """Where a guard comes from, as far as that is known."""

    asked_by: list[FrameSummary] = field(default_factory=list)
    """What asks: the program, or a function of PyTorch's that it calls."""
    line: FrameSummary | None = None
    """The first line of the program, or of a library that it calls, where it is asked."""


def _guards(exported: torch.export.ExportedProgram) -> dict[sympy.Basic, _Origin]:
    """All guards, and where they come from."""
    environment = _environment(exported)
    guards: dict[sympy.Basic, _Origin] = {}
    if environment is None:
        return guards
    for guard in environment.guards:
        condition = environment.replace(guard.expr)
        if condition.free_symbols:
            origin = guards.setdefault(condition, _Origin())
            asked_by, line = guard.sloc.framework_loc, guard.sloc.maybe_user_loc
            if isinstance(asked_by, FrameSummary):
                origin.asked_by.append(asked_by)
            # `size_lines_noted` has seen to that.
            if isinstance(line, FrameSummary):
                origin.line = origin.line or line
    return guards


def _environment(exported: torch.export.ExportedProgram) -> ShapeEnv | None:
    """What knows the sizes of a program, if any is dynamic."""
    inputs = exported.graph.find_nodes(op="placeholder")
    size = next((size for node in inputs for _, size in symbolic_sizes_of(node)), None)
    return None if size is None else size.node.shape_env


@contextlib.contextmanager
def guards_settled(
    who: str, exported: torch.export.ExportedProgram, names: Mapping[str, str]
) -> Iterator[None]:
    """Has what is done to a program meanwhile hold for any size, as no guard is asserted any more.

    PyTorch's questions whether a size is 1, say, are answered as for most sizes then, and not as
    the example's would have it, which it would note as a guard. The message has `names` for symbols
    that the user has named.

    Raises:
      UserError: something asked for a size of the example's all the same.
    """
    environment = _environment(exported)
    before = 0 if environment is None else len(environment.guards)
    with _config.patch(backed_size_oblivious=True):  # type: ignore[attr-defined]
        yield
    if environment is not None and len(environment.guards) > before:
        guard = _said(environment.guards[before].expr, places_of_symbols(exported.graph), names)
        raise UserError(
            f"{who}: it could be compiled for such sizes only where {guard}; give an example of "
            "larger sizes, or leave them static"
        )


def _is_of_torch(frame: FrameSummary) -> bool:
    # What has PyTorch follow a program is in this very folder.
    file = Path(frame.filename)
    return file.is_relative_to(_TORCH) or file.parent == _OURS


def _positive_divisors(condition: sympy.Basic) -> list[sympy.Basic]:
    """What must hold for a condition to mean anything: that it does not divide by 0."""
    divisors = {quotient.args[1] for quotient in condition.atoms(FloorDiv, Mod, PythonMod)}
    return [
        # Symbols count as positive, whatever their ranges are.
        sympy.Gt(divisor, 0, evaluate=False)
        for divisor in sorted(divisors, key=str)
        if divisor.free_symbols
    ]


def _always_holds(condition: sympy.Basic, ranges: Mapping[Any, ValueRanges[Any]]) -> bool:
    bounds = bound_sympy(condition, dict(ranges))
    return bounds.is_singleton() and bool(bounds.lower)


class _Excessive:
    """Tells of guards whether a program does without them."""

    def __init__(
        self,
        ranges: Mapping[sympy.Symbol, ValueRanges[Any]],
        program: FollowedProgram,
    ) -> None:
        self._ranges = ranges
        self._program = program
        self._tried: dict[tuple[sympy.Symbol, int], bool] = {}

    def __call__(self, condition: sympy.Basic, frames: Sequence[FrameSummary]) -> bool:
        """Whether the program works where a condition does not hold, as far as is tried."""
        if not frames or not all(map(_is_of_torch, frames)):
            # A branch of the program's, or of a rule of ours.
            return False
        if condition.has(FloatPow):
            # An estimate, which PyTorch makes to choose one of two ways to the same result.
            return True
        asks_of_memory = is_of_strides(condition) or any(map(is_of_memory, frames))
        if not asks_of_memory and not _is_of_0_or_1(condition):
            return False
        excluded = self._excluded(condition)
        if excluded is None:
            return asks_of_memory
        if excluded not in self._tried:
            self._tried[excluded] = self._program.holds_at(dict([excluded]))
        return self._tried[excluded]

    def _excluded(self, condition: sympy.Basic) -> tuple[sympy.Symbol, int] | None:
        """The least size from 2 on for which a condition does not hold, others as in the example.

        For 0 and 1, the program is followed anyway.
        """
        examples = self._program.examples
        if not condition.free_symbols <= examples.keys():
            return None
        conditions = [*_positive_divisors(condition), condition]
        for symbol in sorted(condition.free_symbols, key=str):
            least = max(2, int(self._ranges[symbol].lower))
            for size in range(least, min(least + _TRIED, examples[symbol])):
                numbers = {**examples, symbol: size}
                if not all(written_as(one, numbers) for one in conditions):
                    return symbol, size
        return None


def _is_of_0_or_1(condition: sympy.Basic) -> bool:
    """Whether a condition is that a size, or a product of such, is neither 0 nor 1."""
    if isinstance(condition, sympy.Ne):
        return condition.rhs in (0, 1)
    return isinstance(condition, sympy.StrictGreaterThan) and condition.rhs == 1
