"""Passes and pipelines as data: named, with options, printed, and run by MLIR's pass manager.

A pipeline holds passes of MLIR's own, as text in MLIR's pipeline syntax, and passes written here in
Python (`Pass`), in one list. All of them run in one pass manager, so that what mlir-opt offers
around a pass (printing, timing, verifying) is there for ours too.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from torch_mlir import ir
from torch_mlir.passmanager import PassDisplayMode, PassManager

from plumbline.errors import UserError
from plumbline.errors.location import describe

MODULE = "builtin.module"

NESTED = "Nested"
"""What a pass is called that runs a manager with Python passes on ops: `Nested<func.func>`."""


class LoweringError(UserError):
    """A pipeline refused a module; the message holds every diagnostic that MLIR gave."""


class PassFailure(Exception):
    """Ends a pass that has reported, at their locations, what is in its way."""


def comma_separated(text: str) -> tuple[str, ...]:
    """The parts of an option's value that is a list."""
    return tuple(part for part in (part.strip() for part in text.split(",")) if part)


@dataclass(frozen=True)
class Option:
    """An option of a pass: a list of words, empty unless given."""

    name: str
    summary: str

    @property
    def argument(self) -> str:
        """The parameter of the pass's function that takes the value."""
        return self.name.replace("-", "_")


@dataclass(frozen=True)
class Pass:
    """A pass written in Python.

    `run` takes the operation that the pass is run on, and the options as keyword arguments. It
    reports what is in its way at the locations concerned (`ir.Location.emit_error`), and then
    raises `PassFailure`; or raises `UserError`.
    """

    name: str
    summary: str
    run: Callable[..., None]
    options: tuple[Option, ...] = ()

    def with_options(self, text: str) -> "PassUse":
        """The pass with options as MLIR writes them: `first=a,b second=c`.

        Raises:
          UserError: the pass has no such option.
        """
        values: dict[str, tuple[str, ...]] = {}
        for entry in text.split():
            name, _, value = entry.partition("=")
            if name not in {option.name for option in self.options}:
                raise UserError(
                    f"<Pass-Options-Parser>: no such option {name}\n"
                    f"failed to add `{self.name}` with options `{text}`"
                )
            values[name] = comma_separated(value)
        return PassUse(self, tuple(values.items()))


@dataclass(frozen=True)
class PassUse:
    """A pass of ours in a pipeline, with the options that are set."""

    pass_: Pass
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __str__(self) -> str:
        if not any(values for _, values in self.options):
            return self.pass_.name
        entries = (f"{name}={','.join(values)}" for name, values in self.options if values)
        return f"{self.pass_.name}{{{' '.join(entries)}}}"

    def run(self, operation: ir.Operation) -> None:
        """Runs the pass on one operation."""
        given = dict(self.options)
        values = {option.argument: given.get(option.name, ()) for option in self.pass_.options}
        with operation.location:
            self.pass_.run(operation, **values)


@dataclass(frozen=True)
class Nested:
    """Steps that run on each op called `anchor` right inside the op that the pipeline runs on."""

    anchor: str
    steps: tuple["Step", ...]

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.steps))})"


@dataclass(frozen=True)
class Instrumentation:
    """What a pass manager does around each pass, as `PassManager.enable_ir_printing` names it."""

    ir_printing: dict[str, Any] | None = None
    verify_each: bool = True
    timing: bool = False
    """Report the time of each pass on standard error, when the manager is deleted: the outermost
    manager first, then one report for each pass `NESTED` in it, in order and depth first."""
    statistics: str | None = None
    """How to report statistics on standard error after each run: "list" or "pipeline"."""

    def attach(self, manager: PassManager) -> None:
        """Has a manager do it."""
        manager.enable_verifier(self.verify_each)
        if self.ir_printing is not None:
            manager.enable_ir_printing(**self.ir_printing)
        if self.timing:
            manager.enable_timing()
        if self.statistics is not None:
            manager.enable_statistics(PassDisplayMode[self.statistics.upper()])


_UNVERIFIED = Instrumentation(verify_each=False)


@dataclass(frozen=True)
class Pipeline:
    """Steps over a `builtin.module`.

    A step is one of MLIR's passes as text, one of ours, or such steps nested in an op.
    """

    name: str
    steps: tuple["Step", ...]
    summary: str = field(default="", kw_only=True)
    anchor: str = field(default=MODULE, kw_only=True)

    def __str__(self) -> str:
        """The pipeline as `--pass-pipeline` takes it."""
        return f"{self.anchor}({','.join(str(step) for step in flatten(self.steps))})"

    def run(self, module: ir.Module) -> None:
        """Runs the passes on `module`, in place, and verifies what comes of all of them.

        What it is after each is verified by tcp-opt. Here that took a quarter of a lowering. But
        what passes of ours hand to MLIR's is verified here, too: those take it for valid, and end
        the process where it is not.

        Raises:
          LoweringError: a pass failed, or what comes of them does not verify. The module is then in
            an unspecified state.
        """
        context = module.context
        spare = _spare.setdefault(context, {})
        # Nobody else has it in the meantime, nor later if it fails.
        manager = spare.pop(self, None) or self.manager(context, _UNVERIFIED)
        with collected_errors(context) as errors:
            try:
                manager.run(module.operation)
                module.operation.verify()
            except ir.MLIRError as error:
                report = "\n".join(errors) or f"  {error}"
                raise LoweringError(f"{self.name} failed:\n{report}") from None
        spare[self] = manager

    def manager(
        self, context: ir.Context, instrumentation: Instrumentation | None = None
    ) -> PassManager:
        """The pass manager that runs the pipeline.

        Raises:
          ValueError: MLIR refuses the text of a step.
        """
        return _manager(context, self.anchor, self.steps, instrumentation or Instrumentation())


Step = str | Pass | PassUse | Nested | Pipeline

_spare: MutableMapping[ir.Context, dict[Pipeline, PassManager]] = WeakKeyDictionary()
"""Managers that have run a pipeline in a context, to run it there again: before its first run, a
pass collects its patterns, those of all ops that there are for each `canonicalize`."""


def flatten(steps: Iterable[Step]) -> Iterator[str | PassUse | Nested]:
    """The steps with those of pipelines among them in their place."""
    for step in steps:
        match step:
            case Pipeline(steps=inner):
                yield from flatten(inner)
            case Pass():
                yield PassUse(step)
            case Nested(anchor, inner):
                yield Nested(anchor, tuple(flatten(inner)))
            case _:
                yield step


def _manager(
    context: ir.Context, anchor: str, steps: Iterable[Step], instrumentation: Instrumentation
) -> PassManager:
    with context:
        manager = PassManager(anchor)
    instrumentation.attach(manager)
    flat = [*flatten(steps)]
    for step, following in itertools.zip_longest(flat, flat[1:]):
        is_handed_on = following is not None and not _has_python(following)
        match step:
            case PassUse():
                verifies = is_handed_on and not instrumentation.verify_each
                manager.add(
                    _as_external(_verified(step) if verifies else step.run),
                    name=_class_name(step.pass_.name),
                    argument=str(step),
                    description=step.pass_.summary,
                )
            case Nested() if _has_python(step):
                inner = _manager(context, step.anchor, step.steps, instrumentation)
                manager.add(
                    _as_external(_on_each(step.anchor, inner)),
                    name=f"{NESTED}<{step.anchor}>",
                    argument="",
                )
            case _:
                manager.add(str(step))
    return manager


def _has_python(step: str | PassUse | Nested) -> bool:
    match step:
        case Nested(_, steps):
            return any(_has_python(inner) for inner in flatten(steps))
        case _:
            return isinstance(step, PassUse)


def _on_each(anchor: str, manager: PassManager) -> Callable[[ir.Operation], None]:
    """Runs a manager on the ops that it is for; the bindings nest no manager with Python passes."""

    def run(operation: ir.Operation) -> None:
        nested = [
            inner.operation
            for region in operation.regions
            for block in region.blocks
            for inner in block.operations
        ]
        for inner in nested:
            if anchor in ("any", inner.name):
                try:
                    manager.run(inner)
                except ir.MLIRError:
                    raise PassFailure from None

    return run


def _as_external(run: Callable[[ir.Operation], None]) -> Callable[[ir.Operation, Any], None]:
    """`run` as the bindings call a pass."""

    def external(operation: ir.Operation, handle: Any) -> None:
        # All passes before have done what they are for, whatever they tried on the way.
        _collected.get(operation.context, []).clear()
        try:
            run(operation)
        except UserError as error:
            operation.location.emit_error(str(error))
            handle.signal_pass_failure()
        except PassFailure:
            handle.signal_pass_failure()

    return external


def _verified(use: PassUse) -> Callable[[ir.Operation], None]:
    """Runs a pass, and reports where it leaves what is not valid."""

    def run(operation: ir.Operation) -> None:
        use.run(operation)
        try:
            operation.verify()
        except ir.MLIRError:
            # What is wrong has been told by then.
            operation.location.emit_error(f"the pass {use} left an invalid '{operation.name}'")
            raise PassFailure from None

    return run


def _class_name(name: str) -> str:
    """The name that MLIR's C++ gives the class of a pass."""
    return "".join(part.capitalize() for part in name.split("-"))


_collected: MutableMapping[ir.Context, list[str]] = WeakKeyDictionary()
"""Of contexts that run a pipeline, what errors were given since its last pass of ours began."""


@contextmanager
def collected_errors(context: ir.Context) -> Iterator[Sequence[str]]:
    """A list that takes errors given in the meantime, with their places, as lines of a report.

    Some of MLIR's passes report what they try in vain, and succeed otherwise: it forgets these as
    another pass of ours begins.
    """
    lines: list[str] = []
    around = _collected.get(context, [])
    _collected[context] = lines

    def take(diagnostic: ir.Diagnostic) -> bool:
        line = f"  {describe(diagnostic.location)}: error: {diagnostic.message}"
        # Of one line of a program several ops may be refused for one reason.
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR and line not in lines:
            lines.append(line)
            lines.extend(
                f"    {describe(note.location)}: note: {_first_line(note.message)}"
                for note in diagnostic.notes
            )
        return True

    handler = context.attach_diagnostic_handler(take)
    emitted = context.emit_error_diagnostics
    # The bindings keep errors for their exceptions only, unless told so.
    context.emit_error_diagnostics = True
    try:
        yield lines
    finally:
        _collected[context] = around
        context.emit_error_diagnostics = emitted
        handler.detach()


def _first_line(message: str) -> str:
    # The note "see current operation" carries whole regions, of thousands of lines at times.
    first, _, rest = message.partition("\n")
    return f"{first} ..." if rest else first
