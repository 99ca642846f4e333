"""Runs a program op by op through the compiled chain, beside PyTorch.

All values that a program computes are results of what is compiled here, so each can be held against
two answers of PyTorch's: that of the whole program, which shows how errors travel
(`Finding.total`), and that of the one op on the very inputs that the compiled code had for it,
which shows what the op itself adds (`Finding.own`). The first op whose own error exceeds its bound
is where numbers leave PyTorch's, however far off its inputs are already.
"""

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from plumbline.archives.reference_archive import ReferenceArchive, Tensor
from plumbline.archives.torch_tensors import to_numpy
from plumbline.bisect.comparison import Comparison, Tolerance, compare, to_double
from plumbline.bisect.program_graph import ProgramGraph, op_name, trace
from plumbline.compiler import CompiledProgram, compile_export
from plumbline.errors import UserError
from plumbline.loader_to_torch.export import to_functional, to_torch_dialect
from plumbline.loader_to_torch.loader import TorchLoaderOutput, name_of_function
from plumbline.loader_to_torch.node_locations import module_path, place
from plumbline.loader_to_torch.references import check_repeatable, record_references
from plumbline.loader_to_torch.state import with_mutations_returned
from plumbline.loader_to_torch.structure import leaves
from plumbline.runtime.threads import check_threads
from plumbline.target.cpu import cpu_target_here
from plumbline.target.target import Target

_MOST_VALUES = 64
"""In one compiled function: LLVM's time grows faster than a function."""
_MOST_BYTES = 1 << 29
"""Of results of one compiled function, which are all in memory at once."""

_ROUNDING_FACTOR = 8
"""How much farther than PyTorch one may be from the result in double precision. By so much the luck
of one order of summation beats that of another where sums come near zero."""

Values = dict[Node, torch.Tensor]


class Outcome(enum.Enum):
    """What a bisection comes to."""

    AGREES = enum.auto()
    EXPORT = enum.auto()
    """The exported graph is wrong already: PyTorch itself computes something else from it."""
    OP = enum.auto()
    """An op computes something else from its inputs."""
    ACCUMULATION = enum.auto()
    """No op does, but small errors of many add up."""
    WHOLE_PROGRAM = enum.auto()
    """Only where the intermediate values are not results."""


@dataclass(frozen=True)
class Finding:
    """One value of a program."""

    name: str
    """Of the node in the exported graph: `tanh_1`."""
    op: str
    place: str
    trace: str
    module_path: str
    inputs: tuple[str, ...]
    """The names of the values, arguments and weights that it is computed from."""
    total: Comparison
    """With PyTorch's value in its own run of the program."""
    own: Comparison
    """With what PyTorch computes from the inputs that the compiled op had."""
    rounding: bool
    """Whether PyTorch's own rounding is as large as what is over the bound in `own`."""

    @property
    def is_wrong(self) -> bool:
        """Whether the op computes something else than PyTorch's does."""
        return not self.own.agrees and not self.rounding


@dataclass(frozen=True)
class Culprit:
    """The first op that is wrong."""

    finding: Finding
    alone: Comparison | None
    """The op compiled by itself, on PyTorch's own inputs; None where that does not compile."""
    program: CompiledProgram
    """The op compiled by itself, or else with those around it."""
    references: ReferenceArchive | None
    """What PyTorch gave the op and what it answered; None where `program` is not the op alone."""

    @property
    def wrong_alone(self) -> bool:
        """Whether it takes nothing but the op to see the fault."""
        return self.alone is not None and not self.alone.agrees


@dataclass(frozen=True)
class Bisection:
    """What is known of a program after its values have been looked at."""

    who: str
    outcome: Outcome
    findings: Mapping[str, Finding]
    """Of the values that were looked at, by name and in order."""
    count: int
    """How many values there are."""
    hidden: tuple[str, ...]
    """Values that cannot be looked at, since nothing compiles that returns them."""
    culprit: Culprit | None
    exported_outputs: tuple[Comparison, ...]
    """The outputs of the exported graph in PyTorch, against those of the model."""
    outputs: tuple[Comparison, ...]
    """The outputs of the program compiled as it is, against those of the model; empty where an op
    is known to be wrong."""
    shortest: tuple[Finding, Comparison] | None
    """For a fault of the whole program: the value that the shortest wrong program ends with and
    returns, and what it makes of it; None where it takes more than one output."""

    @property
    def agrees(self) -> bool:
        """Whether the compiled program computes what PyTorch does."""
        return self.outcome is Outcome.AGREES

    @property
    def first_over_bound(self) -> Finding | None:
        """The first value that is farther from PyTorch's than its bound, by whatever op's fault."""
        return next((found for found in self.findings.values() if not found.total.agrees), None)


def bisect(
    who: str,
    program: TorchLoaderOutput,
    *,
    target_cpu: str = "native",
    opt_level: int = 2,
    threads: int = 1,
    keep_going: bool = False,
    progress: Callable[[str], None] = lambda line: None,
) -> Bisection:
    """Finds where `program`, which messages call `who`, leaves PyTorch's numbers when compiled.

    Args:
      who: such as "loader test.foo_loader".
      program: it runs on its own inputs.
      target_cpu: as the flag --//tools/aot:target_cpu.
      opt_level: as the flag --//tools/aot:opt_level.
      threads: how many it runs on.
      keep_going: looks at all values, also after the first op that is wrong.
      progress: called with lines that tell a person what is going on.

    Raises:
      UserError: the program fails in PyTorch, or it does not compile.
    """
    target = cpu_target_here(target_cpu)
    check_threads(who, threads)
    program = with_mutations_returned(who, program)
    bisector = _Bisector(who, program, target, opt_level, threads, progress)
    return bisector.run(keep_going=keep_going)


class _Bisector:
    def __init__(
        self,
        who: str,
        program: TorchLoaderOutput,
        target: Target,
        opt_level: int,
        threads: int,
        progress: Callable[[str], None],
    ) -> None:
        self._who = who
        self._target = target
        self._opt_level = opt_level
        self._threads = threads
        self._progress = progress
        self._func_name = name_of_function(program)
        self._inputs = tuple(program.inputs)
        self._references = record_references(who, program)
        exported = to_functional(who, program)
        check_repeatable(who, program, self._references)
        with torch.no_grad():
            self._exported_outputs = self._against_references(exported.module()(*self._inputs))
        self._graph = ProgramGraph(exported)
        self._weights = self._graph.weights()
        # PyTorch's values and the compiled code's, as long as an op to come needs them.
        self._expected = self._given()
        self._actual = self._given()
        self._findings: dict[str, Finding] = {}
        self._hidden: list[str] = []
        self._culprit: Culprit | None = None
        self._compiles = False

    def run(self, *, keep_going: bool) -> Bisection:
        if not all(output.agrees for output in self._exported_outputs):
            return self._result(Outcome.EXPORT)
        remaining = self._graph.values
        while remaining and (keep_going or self._culprit is None):
            self._progress(f"{len(remaining)} values to look at")
            self._look_at(self._next_portion(remaining))
            self._forget_all_but(remaining)
        if self._culprit is not None:
            return self._result(Outcome.OP)
        self._progress("the program as it is")
        outputs = self._against_references(self._whole_program()(*self._inputs))
        if all(output.agrees for output in outputs):
            return self._result(Outcome.AGREES, outputs)
        if not all(finding.total.agrees for finding in self._output_findings()):
            return self._result(Outcome.ACCUMULATION, outputs)
        wrong = next(index for index, output in enumerate(outputs) if not output.agrees)
        shortest = self._shortest_wrong_program(self._graph.outputs[wrong])
        return self._result(Outcome.WHOLE_PROGRAM, outputs, shortest)

    def _result(
        self,
        outcome: Outcome,
        outputs: tuple[Comparison, ...] = (),
        shortest: tuple[Finding, Comparison] | None = None,
    ) -> Bisection:
        return Bisection(
            who=self._who,
            outcome=outcome,
            findings=self._findings,
            count=len(self._graph.values) + len(self._hidden),
            hidden=tuple(self._hidden),
            culprit=self._culprit,
            exported_outputs=self._exported_outputs,
            outputs=outputs,
            shortest=shortest,
        )

    def _given(self) -> Values:
        return {**self._weights, **dict(zip(self._graph.inputs, self._inputs, strict=True))}

    def _compile(self, inputs: Sequence[Node], outputs: Sequence[Node]) -> CompiledProgram:
        part = self._graph.slice(inputs, outputs)
        exported = to_torch_dialect(self._who, part, self._func_name)
        return compile_export(
            self._who,
            exported,
            self._func_name,
            self._target,
            opt_level=self._opt_level,
            threads=self._threads,
        )

    def _whole_program(self) -> CompiledProgram:
        return self._compile(self._graph.inputs, self._graph.outputs)

    def _against_references(self, returned: Any) -> tuple[Comparison, ...]:
        return tuple(
            compare(to_numpy(result), expected, Tolerance(rtol, atol))
            for result, expected, rtol, atol in zip(
                leaves(returned),
                self._references.outputs,
                self._references.rtol,
                self._references.atol,
                strict=True,
            )
        )

    def _next_portion(self, remaining: list[Node]) -> list[Node]:
        """Takes values from the front, as many as one compiled function shall return."""
        portion: list[Node] = []
        size = 0
        while remaining and len(portion) < _MOST_VALUES and size < _MOST_BYTES:
            node = remaining.pop(0)
            self._expected[node] = self._graph.evaluate(node, self._expected)
            size += self._expected[node].nbytes
            portion.append(node)
        return portion

    def _sources(self, nodes: Sequence[Node]) -> list[Node]:
        """What values are computed from, but for one another and for weights."""
        found = {source: None for node in nodes for source in self._graph.sources(node)}
        known = {*nodes, *self._weights}
        return [node for node in found if node not in known]

    def _forget_all_but(self, remaining: Sequence[Node]) -> None:
        needed = set(self._sources(remaining)) | self._weights.keys()
        for values in (self._expected, self._actual):
            for node in values.keys() - needed:
                del values[node]

    def _look_at(self, portion: Sequence[Node]) -> None:
        """Compiles and runs a portion on what the compiled portions before it computed."""
        inputs = self._sources(portion)
        try:
            program = self._compile(inputs, portion)
        except UserError:
            self._look_at_less(portion)
            return
        results = program(*(self._actual[node] for node in inputs))
        for node, result in zip(portion, results, strict=True):
            self._actual[node] = _laid_out_as(self._expected[node], result)
        for node in portion:
            try:
                finding = self._find(node)
            except RuntimeError:
                # After an op whose result has another shape, PyTorch may refuse to go on.
                if self._culprit is None:
                    raise
                continue
            self._findings[node.name] = finding
            if finding.is_wrong and self._culprit is None:
                self._culprit = self._accuse(node, finding, program)

    def _look_at_less(self, portion: Sequence[Node]) -> None:
        """A portion that does not compile, in two; a value that does not, as part of others."""
        if not self._compiles:
            # Where the program itself does not, that is what the user has to know.
            self._whole_program()
            self._compiles = True
        if len(portion) == 1:
            self._graph.hide(portion[0])
            self._hidden.append(portion[0].name)
            return
        middle = len(portion) // 2
        self._look_at(portion[:middle])
        self._look_at(portion[middle:])

    def _find(self, node: Node) -> Finding:
        actual = to_numpy(self._actual[node])
        from_same_inputs = to_numpy(self._graph.evaluate(node, self._actual))
        bounds = self._output_tolerances(node)
        total = compare(actual, to_numpy(self._expected[node]), bounds)
        strictest = Tolerance.default(actual)
        own = compare(
            actual, from_same_inputs, bounds.strictest(strictest) if bounds else strictest
        )
        return Finding(
            name=node.name,
            op=op_name(node),
            place=place(node),
            trace=trace(node),
            module_path=module_path(node),
            inputs=tuple(source.name for source in self._graph.sources(node)),
            total=total,
            own=own,
            rounding=not own.agrees and self._rounds_alike(node, actual, from_same_inputs, own),
        )

    def _output_tolerances(self, node: Node) -> Tolerance | None:
        """What the program's loader allows for a value that is an output."""
        found: Tolerance | None = None
        for index, output in enumerate(self._graph.outputs):
            if output is node:
                bounds = Tolerance(self._references.rtol[index], self._references.atol[index])
                found = bounds.strictest(found) if found else bounds
        return found

    def _output_findings(self) -> list[Finding]:
        names = [node.name for node in self._graph.outputs]
        return [self._findings[name] for name in names if name in self._findings]

    def _rounds_alike(self, node: Node, actual: Tensor, expected: Tensor, own: Comparison) -> bool:
        """Whether PyTorch is about as far from the result in double precision as `actual` is.

        What is summed up in another order rounds otherwise; for long sums over large numbers that
        can be more than the bounds, which PyTorch made for results that hardly differ.
        """
        values = {
            source: self._actual[source].double()
            if self._actual[source].is_floating_point()
            else self._actual[source]
            for source in self._graph.sources(node)
        }
        try:
            result = self._graph.evaluate(node, values)
        except RuntimeError:
            return False
        if result.dtype != torch.float64 or actual.dtype == np.float64:
            return False
        exact = to_numpy(result)
        ours, theirs = (
            compare(to_double(array), exact, own.tolerance).excess for array in (actual, expected)
        )
        return math.isfinite(theirs) and ours <= _ROUNDING_FACTOR * theirs

    def _accuse(self, node: Node, finding: Finding, program: CompiledProgram) -> Culprit:
        """Tries the op by itself."""
        inputs = self._sources([node])
        try:
            alone = self._compile(inputs, [node])
        except UserError:
            return Culprit(finding, None, program, None)
        (result,) = alone(*(self._expected[source] for source in inputs))
        references = ReferenceArchive(
            self._func_name,
            tuple(to_numpy(self._expected[source]) for source in inputs),
            (to_numpy(self._expected[node]),),
            (finding.own.tolerance.rtol,),
            (finding.own.tolerance.atol,),
        )
        comparison = compare(to_numpy(result), references.outputs[0], finding.own.tolerance)
        return Culprit(finding, comparison, alone, references)

    def _shortest_wrong_program(self, output: Node) -> tuple[Finding, Comparison] | None:
        """Halves the ops before `output`, as long as what ends at the later end is wrong."""
        behind = self._graph.values_behind(output)
        candidates = [node for node in behind if node.name in self._findings]
        known_wrong: tuple[Node, Comparison] | None = None
        first, last = 0, len(candidates) - 1
        while first <= last:
            # The whole first: where it is right, its fault needs the other outputs too.
            middle = (first + last) // 2 if known_wrong else last
            self._progress(f"the program as far as {candidates[middle].name}")
            comparison = self._as_only_output(candidates[middle])
            if not comparison.agrees:
                known_wrong = candidates[middle], comparison
                last = middle - 1
            elif known_wrong is None:
                return None
            else:
                first = middle + 1
        return known_wrong and (self._findings[known_wrong[0].name], known_wrong[1])

    def _as_only_output(self, node: Node) -> Comparison:
        """The program that ends with a value, and returns nothing else, against PyTorch's."""
        (result,) = self._compile(self._graph.inputs, [node])(*self._inputs)
        self._expected = self._given()
        remaining = self._graph.values_behind(node)
        while remaining:
            self._expected[remaining[0]] = self._graph.evaluate(remaining[0], self._expected)
            if remaining.pop(0) is not node:
                self._forget_all_but(remaining)
        tolerance = self._findings[node.name].total.tolerance
        return compare(to_numpy(result), to_numpy(self._expected[node]), tolerance)


def _laid_out_as(like: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` with the strides of `like`, which ops such as as_strided see."""
    if like.stride() == tensor.stride() or like.shape != tensor.shape:
        return tensor
    if not torch.ops.aten.is_non_overlapping_and_dense(like):
        return tensor
    return torch.empty_strided(like.shape, like.stride(), dtype=like.dtype).copy_(tensor)
