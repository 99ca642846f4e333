"""What a bisection found, for people."""

import textwrap
from collections.abc import Iterator

from plumbline.bisect.bisection import Bisection, Culprit, Finding, Outcome
from plumbline.bisect.comparison import Comparison, Tolerance
from plumbline.compiler import CompiledProgram
from plumbline.context import make_context
from plumbline.lowering import STAGES
from plumbline.tcp.assembly.module import parse_module, print_module

_MOST_LINES = 40
"""Of the text of a stage; the rest is counted."""
_MOST_OPS = 5
"""In a list of ops."""
_SHOWN_WHOLE = ("torch", "tcp", "linalg")
"""Stages whose texts are as long as the op is intricate; of the others the length is told."""

_INDENT = "  "


def report(bisection: Bisection) -> str:
    """The whole report; one line where all is well."""
    paragraphs = {
        Outcome.AGREES: _agreement,
        Outcome.EXPORT: _wrong_export,
        Outcome.OP: _wrong_op,
        Outcome.ACCUMULATION: _accumulation,
        Outcome.WHOLE_PROGRAM: _wrong_whole,
    }[bisection.outcome](bisection)
    return "\n\n".join([*paragraphs, *_notes(bisection)])


def _agreement(bisection: Bisection) -> Iterator[str]:
    text = f"{bisection.who}: {_count(len(bisection.findings), 'op')} and the outputs agree with "
    findings = [finding for finding in bisection.findings.values() if finding.own.worst]
    if not findings:
        yield text + "PyTorch, bit for bit"
        return
    worst = max(findings, key=lambda finding: finding.own.excess)
    assert worst.own.worst is not None
    yield (
        f"{text}PyTorch; the largest error of an op is {worst.own.worst.absolute:.3g}, "
        f"{_share(worst.own)}, of {worst.op} at {worst.place}"
    )


def _wrong_export(bisection: Bisection) -> Iterator[str]:
    yield (
        f"{bisection.who}: what torch.export makes of the model, with its ops decomposed, computes "
        "something else than the model, in PyTorch itself; nothing was compiled. Look at the rules "
        "of plumbline/loader_to_torch/decompositions for the ops of the model."
    )
    yield _outputs(bisection.exported_outputs)


def _wrong_op(bisection: Bisection) -> Iterator[str]:
    culprit = bisection.culprit
    assert culprit is not None
    finding = culprit.finding
    number = list(bisection.findings).index(finding.name) + 1
    yield (
        f"{bisection.who}: op {number} of {bisection.count} is the first that computes something "
        "else than PyTorch's does from the same inputs"
    )
    yield _head(finding)
    yield f"its result {finding.own}"
    yield "its inputs, beside PyTorch's run of the program:\n" + _inputs(bisection, finding)
    yield "compiled alone, on PyTorch's inputs: " + _alone(culprit)
    yield from _lowering(culprit.program)
    others = [
        other
        for other in bisection.findings.values()
        if other.is_wrong and other.name != finding.name
    ]
    if others:
        yield "others that differ from PyTorch's on the same inputs:\n" + _list(others)


def _accumulation(bisection: Bisection) -> Iterator[str]:
    first = bisection.first_over_bound
    assert first is not None
    yield (
        f"{bisection.who}: the outputs differ, but each op agrees with PyTorch's on the same "
        "inputs: small errors add up. This is the first value that is over its bound:"
    )
    yield _head(first)
    yield f"its result {first.total}"
    yield "its inputs, beside PyTorch's run of the program:\n" + _inputs(bisection, first)
    yield (
        f"what the op itself adds, from the same inputs: {first.own}\n\n"
        "the largest errors that ops before it add, from the same inputs:\n"
        + _list(_largest_before(bisection, first))
    )
    yield _outputs(bisection.outputs)


def _wrong_whole(bisection: Bisection) -> Iterator[str]:
    yield (
        f"{bisection.who}: outputs differ, but no op alone does: the fault goes away where the "
        "values between the ops are outputs as well. So it comes of what is done to several ops "
        "at once: fusion, the sharing of buffers, or LLVM's optimisation."
    )
    yield _outputs(bisection.outputs)
    if bisection.shortest is None:
        yield "With any one of these outputs as its only one, the program is right."
        return
    finding, comparison = bisection.shortest
    yield (
        "The shortest part of the program that is wrong, with one output, ends with this op "
        "(found by halving, so a shorter one may be missed):"
    )
    yield _head(finding)
    yield f"its result {comparison}"


def _notes(bisection: Bisection) -> Iterator[str]:
    rounding = [finding for finding in bisection.findings.values() if finding.rounding]
    if rounding:
        yield (
            "Not counted as wrong, since PyTorch itself is about as far from what double precision "
            "gives:\n" + _list(rounding)
        )
    if bisection.hidden:
        yield (
            "Not looked at by themselves, since they do not compile as outputs: "
            + ", ".join(bisection.hidden)
        )


def _head(finding: Finding) -> str:
    module = f" in module {finding.module_path}" if finding.module_path else ""
    lines = [f"{finding.op} (%{finding.name}){module}", f"at {finding.place}"]
    lines += [_INDENT + line for line in finding.trace.splitlines()]
    return "\n".join(lines)


def _inputs(bisection: Bisection, finding: Finding) -> str:
    lines = []
    for name in finding.inputs:
        known = bisection.findings.get(name)
        text = f"{known.op} {known.total}" if known else "given to the program, or a weight"
        lines.append(f"%{name}: {text}")
    return textwrap.indent("\n".join(lines) or "none", _INDENT)


def _alone(culprit: Culprit) -> str:
    if culprit.alone is None:
        return "it does not compile; the texts below are of the op with those around it"
    if culprit.wrong_alone:
        return f"just as wrong: {culprit.alone}"
    return (
        f"right ({culprit.alone}); so the fault comes of the ops around it, or of the inputs "
        "that it has there. The texts below are of the op alone."
    )


def _lowering(program: CompiledProgram) -> Iterator[str]:
    for stage in _SHOWN_WHOLE:
        lines = stage_text(program, stage).strip().splitlines()
        if len(lines) > _MOST_LINES:
            rest = len(lines) - _MOST_LINES
            lines[_MOST_LINES:] = [f"... {rest} more lines; --stages=FOLDER writes them all"]
        yield f"{stage}:\n" + textwrap.indent("\n".join(lines), _INDENT)
    sizes = [
        f"{stage} {_count(len(program.stage(stage).splitlines()), 'line')}"
        for stage in STAGES
        if stage not in _SHOWN_WHOLE
    ]
    yield "further down: " + ", ".join(sizes) + " (--stages=FOLDER writes them)"


def stage_text(program: CompiledProgram, stage: str) -> str:
    """The text of a stage, without the locations that that of the Torch dialect has."""
    text = program.stage(stage)
    return (
        print_module(parse_module(text, make_context(torch=True), stage))
        if stage == "torch"
        else text
    )


def _largest_before(bisection: Bisection, finding: Finding) -> list[Finding]:
    behind: set[str] = set()
    to_do = [finding.name]
    while to_do:
        name = to_do.pop()
        if name in bisection.findings and name not in behind:
            behind.add(name)
            to_do.extend(bisection.findings[name].inputs)
    found = [bisection.findings[name] for name in behind if bisection.findings[name].own.worst]
    return sorted(found, key=lambda one: (-one.own.excess, one.name))


def _list(findings: list[Finding]) -> str:
    lines = [
        f"{finding.op} (%{finding.name}) at {finding.place}: {_error(finding.own)}"
        for finding in findings[:_MOST_OPS]
    ]
    if len(findings) > _MOST_OPS:
        lines.append(f"and {len(findings) - _MOST_OPS} more")
    return textwrap.indent("\n".join(lines) or "none", _INDENT)


def _error(comparison: Comparison) -> str:
    if comparison.worst is None:
        return str(comparison)
    return f"{comparison.worst.absolute:.3g}, {_share(comparison)}"


def _share(comparison: Comparison) -> str:
    if comparison.tolerance == Tolerance(0, 0):
        return "where none is allowed"
    return f"{comparison.excess:.2g} of its bound"


def _outputs(comparisons: tuple[Comparison, ...]) -> str:
    return "\n".join(f"Output{index}, {comparison}" for index, comparison in enumerate(comparisons))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
