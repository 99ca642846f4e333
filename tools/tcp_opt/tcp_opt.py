"""tcp-opt: runs passes on a file with TCP, with the habits of mlir-opt.

The passes are given as flags, in order, or as one text with --pass-pipeline: those of Plumbline and
all that come with the MLIR bindings. The exit status is 0 if all went well, else 1.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torch_mlir import ir
from torch_mlir.dialects import irdl
from torch_mlir.passmanager import PassManager

from plumbline.archives import atomic_file
from plumbline.bindings.pipeline import Instrumentation, Nested, Pipeline, Step, flatten
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.errors.watched_process import Death, run_watched
from plumbline.passes.registry import FOLLOWED, PASSES, PIPELINES
from plumbline.passes.textual import PipelineReader, pretty
from plumbline.tcp.assembly.lexer import AssemblyError, Tokens
from plumbline.tcp.assembly.module import parse_module, parse_operation
from plumbline.tcp.assembly.writer import Writer
from plumbline.tcp.dialect import formats
from tools.tcp_opt import bytecode, command_line, round_trip
from tools.tcp_opt.command_line import FLAGS, PROGRAM, UNAVAILABLE, Arguments
from tools.tcp_opt.diagnostics import (
    Diagnostic,
    from_mlir,
    from_rendered,
    place_of,
    print_to_stderr,
    verify,
)
from tools.tcp_opt.ir_dumps import spell_dumps
from tools.tcp_opt.reproducer import UNREAD_BY_MLIR, Reproducer, failure_note, go_on_watched
from tools.tcp_opt.timing import Timing
from tools.tcp_opt.upstream_passes import is_upstream_pass, parsed, upstream_passes

_RESTRICTED = re.compile(r"restricted to '([^']+)' on a PassManager intended to run on")


def main(command: Sequence[str]) -> int:
    """Runs the command line; returns the exit status."""
    context = _make_context()
    reader = PipelineReader(
        PASSES, PIPELINES, lambda name: is_upstream_pass(name, context), FOLLOWED
    )

    def names() -> list[str]:
        return [*PASSES, *PIPELINES, *(name for name, _ in upstream_passes(context))]

    try:
        arguments = command_line.parse(command, reader.knows, names)
        if arguments.help or arguments.list_passes:
            print("\n".join(_help(context, passes_only=arguments.list_passes)))
            return 0
        if arguments.version:
            print(f"LLVM (http://llvm.org/):\n  LLVM version {bytecode.mlir_version(context)}")
            return 0
        for name in (*arguments.print_before, *arguments.print_after):
            if not reader.knows(name):
                option = "before" if name in arguments.print_before else "after"
                raise UserError(
                    f"{PROGRAM}: for the --mlir-print-ir-{option} option: "
                    f"Cannot find option named '{name}'!"
                )
        content = _read(arguments.input)
        _set_up(context, arguments)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    if arguments.prints_ir:
        spell_dumps(lambda dump: _custom_form(dump, arguments), _wanted(arguments))
    return Run(arguments, context, reader, _display_name(arguments.input)).on(content)


def watched_main(command: Sequence[str]) -> int:
    """The same in a process of its own, so that a pass which crashes ends in a message, too."""
    ending = run_watched(lambda: sys.exit(main(command)))
    if not isinstance(ending, Death):
        return ending
    print_to_stderr(
        f"{PROGRAM}: error: ended by {ending.cause} within LLVM or MLIR; to find the pass, "
        "--mlir-pass-pipeline-crash-reproducer=<filename> or --mlir-print-ir-before-all"
    )
    return 1


def _make_context() -> ir.Context:
    return make_context(torch=True, stablehlo=True)


@dataclass(frozen=True)
class Run:
    """One run over one input."""

    arguments: Arguments
    context: ir.Context
    reader: PipelineReader
    filename: str
    timing: Timing = field(default_factory=Timing)

    def on(self, content: str | bytes) -> int:
        """Processes the input's text or bytecode; returns the exit status."""
        marker = self.arguments.split_input_file
        parts = [content] if isinstance(content, bytes) else list(_split(content, marker))
        results = [self._on_part(part) for part in parts]
        succeeded = all(success for success, _ in results)
        if self.arguments.output_split_marker is not None:
            marker = self.arguments.output_split_marker
        output = f"{marker}\n".encode().join(result for _, result in results)
        written = self._write(output, succeeded)
        if self.arguments.timing:
            print_to_stderr(self.timing.report(self.arguments.timing_display))
        return 0 if written and succeeded else 1

    def _write(self, output: bytes, succeeded: bool) -> bool:
        with self.timing.output():
            if self.arguments.output == "-":
                sys.stdout.buffer.write(output)
                sys.stdout.flush()
                return True
            return not succeeded or _write_file(self.arguments.output, output)

    def _on_part(self, content: str | bytes) -> tuple[bool, bytes]:
        """Whether all went well, and the output; with --verify-diagnostics, as was expected."""
        mode = self.arguments.verify_diagnostics
        text = content if isinstance(content, str) else ""
        given: list[Diagnostic] = []

        def report(*diagnostics: Diagnostic) -> None:
            given.extend(diagnostics)
            if mode is None:
                for diagnostic in filter(self._is_wanted, diagnostics):
                    print_to_stderr(diagnostic.render(self.filename, text))

        def handle(diagnostic: ir.Diagnostic) -> bool:
            if diagnostic.message != UNREAD_BY_MLIR:
                heard = from_mlir(diagnostic, self._custom_form)
                # mlir-opt has MLIR add none of these notes when it verifies diagnostics.
                report(*(one for one in heard if mode is None or not one.shows_operation))
            return True

        handler = self.context.attach_diagnostic_handler(handle)
        try:
            output = self._transform(content, report)
        finally:
            handler.detach()
        if mode is None:
            return output is not None, output or b""
        problems = verify(given, text, self.filename, only_expected=mode == "only-expected")
        for problem in problems:
            print_to_stderr(problem)
        return not problems, output or b""

    def _new_context(self) -> ir.Context:
        context = _make_context()
        _set_up(context, self.arguments)
        return context

    def _custom_form(self, text: str) -> str:
        return _custom_form(text, self.arguments)

    def _is_wanted(self, diagnostic: Diagnostic) -> bool:
        if diagnostic.severity == "note":
            return self.arguments.diagnostic_notes
        levels = ("error", "warning", "remark")
        least = self.arguments.diagnostic_verbosity.removesuffix("s")
        return levels.index(diagnostic.severity) <= levels.index(least)

    def _transform(self, content: str | bytes, report: Callable[..., None]) -> bytes | None:
        """The output for one part; None after an error has been reported."""
        self.context.emit_error_diagnostics = False
        try:
            with self.timing.parser():
                operation = self._parse(content)
        except UserError as error:
            diagnostics = list(from_rendered(str(error)))
            report(*(diagnostics or [Diagnostic("error", str(error))]))
            return None
        if self.arguments.verify_round_trip:
            problems = list(round_trip.differences(operation, self._new_context))
            if problems:
                place = place_of(operation.location)
                texts = (f"'{operation.name}' {problem}" for problem in problems)
                report(*(Diagnostic("error", text, *place) for text in texts))
                return None
        # From here on the handler hears of errors.
        self.context.emit_error_diagnostics = True
        try:
            reproducer = self._given_reproducer(content)
            pipeline = self._pipeline(operation.name, reproducer)
            instrumentation = self._instrumentation(reproducer)
            manager = pipeline.manager(self.context, instrumentation)
        except (UserError, ValueError) as error:
            # MLIR's parser of pipelines says what failed, and then within what.
            head, *rest = re.split(r"\n(?=failed to add)", str(error))
            report(*(Diagnostic("error", part) for part in (head, *map(str.rstrip, rest))))
            return None
        if self.arguments.dump_pass_pipeline:
            print_to_stderr(_dump(pipeline, self.context))
        succeeded = self._run(manager, operation, pipeline, report)
        managers = [manager]
        del manager
        if self.arguments.timing:
            self.timing.add_passes(managers.clear)
        if not succeeded:
            return None
        with self.timing.output():
            return self._output(operation)

    def _parse(self, content: str | bytes) -> ir.Operation:
        if isinstance(content, bytes):
            return bytecode.read(content, self.context)
        if self.arguments.implicit_module:
            return parse_module(content, self.context, self.filename).operation
        return parse_operation(content, self.context, self.filename)

    def _output(self, operation: ir.Operation) -> bytes | None:
        if not self.arguments.emit_bytecode:
            return _print(operation, self.arguments).encode()
        try:
            return bytecode.write(operation, self.arguments.bytecode_version)
        except UserError:
            # MLIR has reported it, with the place.
            return None

    def _run(
        self,
        manager: PassManager,
        operation: ir.Operation,
        pipeline: Pipeline,
        report: Callable[..., None],
    ) -> bool:
        """Whether the passes succeed; errors have been reported otherwise."""
        given = self.arguments
        names = [name for name in (given.generate_reproducer, given.crash_reproducer) if name]
        if names:
            module = _print(operation, Arguments())
            reproducer = Reproducer(_with_options(pipeline, self.context), given.verify_each)
            file = reproducer.file(module).encode()
        if given.generate_reproducer and not _write_file(given.generate_reproducer, file):
            return False
        place = place_of(operation.location)

        def failed(problem: str) -> None:
            name = given.crash_reproducer
            if name and _write_file(name, file):
                report(
                    Diagnostic("error", problem, *place),
                    Diagnostic("note", failure_note(operation, name), *place),
                )

        if given.crash_reproducer:
            go_on_watched(
                lambda: failed("A signal was caught while processing an MLIR pass pipeline")
            )
        try:
            manager.run(operation)
        except ir.MLIRError as error:
            if not error.error_diagnostics and not str(error).startswith("Failure while"):
                report(Diagnostic("error", str(error)))
            failed("Failures have been detected while processing an MLIR pass pipeline")
            return False
        return True

    def _given_reproducer(self, content: str | bytes) -> Reproducer | None:
        if not self.arguments.run_reproducer:
            return None
        found = Reproducer.find(content) if isinstance(content, str) else None
        if found is None:
            raise UserError(f"{self.filename} holds no reproducer, which --run-reproducer runs")
        return found

    def _pipeline(self, anchor: str, reproducer: Reproducer | None) -> Pipeline:
        given = self.arguments
        if reproducer is not None:
            return self.reader.read(reproducer.pipeline)
        if given.pass_pipeline is not None:
            if given.passes:
                raise UserError(
                    "'-pass-pipeline' option can't be used with individual pass options"
                )
            return self.reader.read(given.pass_pipeline)
        steps = (self.reader.flag(name, options) for name, options in given.passes)
        nested = tuple(self._nest(step, anchor) for step in steps)
        return Pipeline("command line", nested, anchor=anchor)

    def _nest(self, step: Step, anchor: str) -> Step:
        """A step on the op that it is for, as mlir-opt nests those that are given as flags."""
        if isinstance(step, str):
            try:
                with self.context:
                    PassManager.parse(f"{anchor}({step.partition('{')[0]})")
            except ValueError as error:
                if found := _RESTRICTED.search(str(error)):
                    return Nested(found[1], (step,))
        return step

    def _instrumentation(self, reproducer: Reproducer | None) -> Instrumentation:
        given = self.arguments
        printing = None
        if given.prints_ir:
            printing = {
                "print_before_all": bool(given.print_before_all or given.print_before),
                "print_after_all": bool(
                    given.print_after_all or given.print_after or given.print_after_failure
                ),
                "print_after_change": given.print_after_change,
                "print_after_failure": given.print_after_failure,
                "print_module_scope": given.print_module_scope,
                "print_generic_op_form": given.print_generic,
                "enable_debug_info": given.print_debug_info,
                "large_elements_limit": given.elide_elements,
                "large_resource_limit": given.elide_resources,
            }
        return Instrumentation(
            printing,
            given.verify_each if reproducer is None else reproducer.verify_each,
            given.timing,
            given.statistics_display if given.statistics else None,
        )


def _wanted(arguments: Arguments) -> Callable[[str, str], bool]:
    """Whether a dump is one of those asked for; MLIR's bindings print for all passes or none."""

    def wanted(when: str, argument: str) -> bool:
        if when == "Before":
            return arguments.print_before_all or argument in arguments.print_before
        return (
            arguments.print_after_all
            or arguments.print_after_failure
            or argument in arguments.print_after
        )

    return wanted


def _print(operation: ir.Operation, arguments: Arguments) -> str:
    text = operation.get_asm(
        enable_debug_info=arguments.print_debug_info or arguments.pretty_debug_info,
        pretty_debug_info=arguments.pretty_debug_info,
        use_name_loc_as_prefix=arguments.names_of_locations,
        skip_regions=arguments.skip_regions,
        print_generic_op_form=arguments.print_generic,
        use_local_scope=arguments.print_local_scope,
        large_elements_limit=arguments.elide_elements,
        large_resource_limit=arguments.elide_resources,
    )
    return _custom_form(text, arguments) + "\n"


def _custom_form(text: str, arguments: Arguments) -> str:
    """Text of IR with TCP in custom form; text that is not quite IR stays as it is."""
    try:
        writer = Writer(Tokens(text), formats())
        return writer.write_generic() if arguments.print_generic else writer.write()
    except AssemblyError:
        return text


def _dump(pipeline: Pipeline, context: ir.Context) -> str:
    count = len(list(flatten(pipeline.steps)))
    return f"Pass Manager with {count} passes:\n{pretty(_with_options(pipeline, context))}\n"


def _with_options(pipeline: Pipeline, context: ir.Context) -> str:
    """The text of a pipeline, MLIR's passes with all their options."""

    def with_options(step: Step) -> Step:
        match step:
            case str():
                return parsed(step, context) or step
            case Nested(anchor, inner):
                return Nested(anchor, tuple(map(with_options, inner)))
        return step

    steps = tuple(map(with_options, flatten(pipeline.steps)))
    return str(Pipeline(pipeline.name, steps, anchor=pipeline.anchor))


def _split(text: str, marker: str | None) -> Iterator[str]:
    """The parts between lines that are `marker`, each at the lines where it is in the whole."""
    if marker is None:
        yield text
        return
    begin = 0
    for separator in re.finditer(rf"^{re.escape(marker)}[ \t]*(?:\n|\Z)", text, re.MULTILINE):
        yield "\n" * text.count("\n", 0, begin) + text[begin : separator.start()]
        begin = separator.end()
    yield "\n" * text.count("\n", 0, begin) + text[begin:]


def _path(name: str) -> Path:
    # `bazel run` starts programs elsewhere than where the user stands.
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""), name)


def _display_name(name: str) -> str:
    return "<stdin>" if name == "-" else name


def _write_file(name: str, content: bytes) -> bool:
    """Whether the file could be written; an error has been printed otherwise."""
    try:
        atomic_file.write_bytes(_path(name), content)
    except OSError as error:
        print_to_stderr(f"cannot open output file '{name}': {error.strerror}")
        return False
    return True


def _set_up(context: ir.Context, arguments: Arguments) -> None:
    """Has the context take the dialects that the command line asks for."""
    if (name := arguments.irdl_file) is not None:
        irdl.load_dialects(parse_module(_text(_read(name), name), context, name))
    context.allow_unregistered_dialects = arguments.allow_unregistered_dialect


def _text(content: str | bytes, name: str) -> str:
    if isinstance(content, bytes):
        raise UserError(f"{name}: error: bytecode where text is expected")
    return content


def _read(name: str) -> str | bytes:
    """The text of a file, or the bytecode that it is instead."""
    try:
        content = sys.stdin.buffer.read() if name == "-" else _path(name).read_bytes()
        return content if bytecode.is_bytecode(content) else content.decode()
    except OSError as error:
        raise UserError(f"cannot open input file '{name}': {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{_display_name(name)}: error: not UTF-8 text: {error}") from None


def _help(context: ir.Context, *, passes_only: bool) -> Iterator[str]:
    if not passes_only:
        yield "OVERVIEW: TCP optimizer driver, with the habits of mlir-opt\n"
        yield f"USAGE: {PROGRAM} [options] <input file>\n\nOPTIONS:\n"
        for name, flag in FLAGS.items():
            value = f"=<{flag.value}>" if flag.value and flag.kind != "optional" else ""
            value = f"[=<{flag.value}>]" if flag.kind == "optional" else value
            yield _entry("-o <filename>" if name == "o" else f"--{name}{value}", flag.summary)
        yield "\nOptions of mlir-opt that are not available here, and why:"
        for name, reason in UNAVAILABLE.items():
            yield _entry(f"--{name}", reason)
        yield ""
    yield "Passes of Plumbline:"
    for name, pass_ in PASSES.items():
        yield _entry(f"  --{name}", pass_.summary)
        for option in pass_.options:
            yield _entry(f"    {option.name}=<a,b>", option.summary)
    yield "Pipelines of Plumbline:"
    for name, pipeline in PIPELINES.items():
        yield _entry(f"  --{name}", pipeline.summary)
    yield "Passes and pipelines of the MLIR bindings, with the defaults of their options:"
    for name, options in upstream_passes(context):
        yield _entry(f"  --{name}", options)


def _entry(name: str, summary: str) -> str:
    return f"  {name:<52} {summary}".rstrip()


if __name__ == "__main__":
    sys.exit(watched_main(sys.argv[1:]))
