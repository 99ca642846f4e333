"""Compiles a graph, and holds what it computes in each case against PyTorch."""

import json
import re
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

import torch

import plumbline
from plumbline.errors import UserError
from plumbline.linalg_to_kernels import parallelisation
from test.forked import End
from test.random_graphs.graph import Case, Graph, evaluate, evaluate_in, is_exact

TIME_LIMIT = 120
"""Seconds that a graph may take."""

# How far a result may be from PyTorch's, as a multiple of how far PyTorch's is from double.
_SLACK = 16


@dataclass
class Trial:
    """What became of a graph."""

    kind: str = "agrees"
    """"agrees", "refused" (a message before it was run), "wrong" (it answers otherwise than
    PyTorch), "lenient" (it answers where PyTorch raises), or "broken" (a traceback, or the end of
    the process)."""
    reason: str = ""
    case: int = 0
    """The case that it is so in."""
    output: int = 0
    """The first result that is wrong; what is written in place comes after those returned."""
    cases: dict[str, int] = field(default_factory=dict)
    """How many agree, are refused (a size that the program was not compiled for), raise in both."""


class Program(Protocol):
    """What a graph has been compiled to."""

    @property
    def state(self) -> Mapping[str, torch.Tensor]:
        """The weights that it takes behind its inputs, as it writes them, with their values."""

    def __call__(self, *arguments: torch.Tensor) -> Sequence[torch.Tensor]:
        """Runs it.

        Raises:
          UserError: it refuses the arguments, or cannot go on.
        """


def compiled(graph: Graph) -> Program:
    """A graph compiled just in time.

    Raises:
      UserError: it cannot be.
    """
    return plumbline.compile(
        graph.module(),
        tuple(graph.cases[0].values()),
        graph.dynamic_shapes(),
        **graph.options.arguments,
        mutable=graph.written,
        cache=False,
    )


def run_trial(
    graph: Graph, pipe: BinaryIO, compile_: Callable[[Graph], Program] = compiled
) -> None:
    """Tries a graph, and writes the trial as JSON; before each case, what it is about to do."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    # Of what is drawn none would be worth several threads.
    parallelisation.LEAST_WORK = 1

    def about_to(step: str) -> None:
        pipe.write(f"{step}\n".encode())
        pipe.flush()

    pipe.write(json.dumps(vars(_try(graph, compile_, about_to))).encode())


def trial_of(end: End[Any]) -> Trial:
    """The trial that a process wrote, or what its death says."""
    *steps, last = end.written.decode().split("\n")
    if end.death or not last:
        what = steps[-1] if steps else "starting"
        return Trial("broken", f"{end.death} while {what}")
    return Trial(**json.loads(last))


def _try(
    graph: Graph, compile_: Callable[[Graph], Program], about_to: Callable[[str], None]
) -> Trial:
    outcomes: list[str] = []
    about_to("compiling")
    try:
        program = compile_(graph)
    except UserError as error:
        return Trial("refused", str(error))
    except Exception:
        return Trial("broken", traceback.format_exc(limit=-3))
    for number, case in enumerate(graph.cases):
        known = {**graph.weights, **case}
        values: Case | None = None
        raised = ""
        try:
            values = evaluate(graph.lines, known)
        except Exception as error:
            raised = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
        about_to(f"running case {number}" + (", where PyTorch raises" if raised else ""))
        given = {name: value.clone() for name, value in case.items() if name in graph.written}
        state = {name: value.clone() for name, value in program.state.items()}
        try:
            results = program(*{**case, **given}.values(), *state.values())
        except UserError:
            outcomes.append("refused" if values else "both raise")
            continue
        except Exception:
            return Trial("broken", traceback.format_exc(limit=-3), number)
        if values is None:
            return Trial("lenient", f"answers where PyTorch raises {raised}", number)
        try:
            doubles, singles = (
                evaluate_in(dtype, graph.lines, known) for dtype in (torch.float64, torch.float32)
            )
        except Exception:
            outcomes.append("only PyTorch itself can tell")
            continue
        if not _is_exact_where_it_matters(graph, values, doubles, singles):
            outcomes.append("rounding decides")
            continue
        named = [*zip(graph.outputs, results, strict=True), *given.items(), *state.items()]
        for index, (name, result) in enumerate(named):
            if problem := _difference(result, values[name], doubles[name]):
                return Trial("wrong", f"{name}: {problem}", number, index)
        outcomes.append("agree")
    return Trial(cases=Counter(outcomes))


# Ops whose results jump: a rounding other than PyTorch's may become another answer.
_JUMPS = re.compile(
    r"[<>]|==|!=|//|%|arg(max|min|sort)|\)\[1\]|floor|ceil|round|trunc|frac|fmod|remainder|isclose"
    r"|sgn|sign|shrink|heaviside|searchsorted|logical|bool|any|all|nonzero|to\(torch\.u?int"
    r"|torch\.func|threshold"
)


def _is_exact_where_it_matters(graph: Graph, values: Case, *others: Case) -> bool:
    return all(
        is_exact(values[name], [other[name] for other in others])
        for line in graph.lines
        if _JUMPS.search(line.expression)
        for name in line.operands
        if values[name].is_floating_point()
    )


def _difference(actual: torch.Tensor, expected: torch.Tensor, double: torch.Tensor) -> str:
    """How a result is wrong; empty where it is as right as PyTorch's."""
    try:
        torch.testing.assert_close(actual, expected, equal_nan=True)
        return ""
    except AssertionError as error:
        message = str(error)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return message
    if not actual.is_floating_point():
        return message
    ours, theirs, exact = actual.double(), expected.double(), double.double()
    finite = ours.isfinite() & theirs.isfinite() & exact.isfinite()
    # PyTorch's own gelu of an infinite float32 is NaN.
    if not any(is_exact(ours[~finite], [other[~finite]]) for other in (theirs, exact)):
        return message
    bound = _SLACK * (theirs - exact)[finite].abs().max()
    return message if bool(((ours - exact)[finite].abs() > bound).any()) else ""


def reason_without_numbers(reason: str) -> str:
    """A message without what differs from graph to graph, to count by."""
    lines = [line.strip() for line in reason.splitlines() if line.strip()]
    text = " ".join(lines[:3])
    text = re.sub(r"\S+:\d+(:\d+)?", "", text)
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "N", text)[:160]


def summary(kinds: Sequence[Trial]) -> str:
    """Figures of many trials."""
    counts = Counter(trial.kind for trial in kinds)
    cases: Counter[str] = Counter()
    for trial in kinds:
        cases.update(trial.cases)
    reasons = Counter(
        reason_without_numbers(trial.reason) for trial in kinds if trial.kind == "refused"
    )
    return "\n".join(
        [
            f"{len(kinds)} graphs: " + ", ".join(f"{n} {kind}" for kind, n in counts.items()),
            "their cases: " + ", ".join(f"{n} {kind}" for kind, n in cases.items()),
            *(f"{n:6} {reason}" for reason, n in reasons.most_common(40)),
        ]
    )
