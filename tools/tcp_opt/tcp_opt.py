"""tcp-opt: runs passes on a file with TCP, with the habits of mlir-opt.

The passes are given as flags, in order, or as one text with --pass-pipeline: those of Plumbline and
all that come with the MLIR bindings. The exit status is 0 if all went well, else 1.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from plumbline import atomic_file
from plumbline.context import make_context
from plumbline.errors import UserError
from plumbline.passes.registry import PASSES, PIPELINES
from plumbline.passes.textual import PipelineReader, pretty
from plumbline.pipeline import Instrumentation, Nested, Pipeline, Step, flatten
from plumbline.tcp.assembly.lexer import AssemblyError, Tokens
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp.assembly.writer import Writer
from plumbline.tcp.dialect import formats
from tools.tcp_opt import command_line
from tools.tcp_opt.command_line import FLAGS, PROGRAM, Arguments
from tools.tcp_opt.diagnostics import Diagnostic, from_mlir, from_rendered, print_to_stderr, verify
from tools.tcp_opt.ir_dumps import spell_dumps
from tools.tcp_opt.upstream_passes import is_upstream_pass, parsed, upstream_passes

_RESTRICTED = re.compile(r"restricted to '([^']+)' on a PassManager intended to run on")


def main(command: Sequence[str]) -> int:
    """Runs the command line; returns the exit status."""
    context = make_context(torch=True, stablehlo=True)
    reader = PipelineReader(PASSES, PIPELINES, lambda name: is_upstream_pass(name, context))

    def names() -> list[str]:
        return [*PASSES, *PIPELINES, *(name for name, _ in upstream_passes(context))]

    try:
        arguments = command_line.parse(command, reader.knows, names)
        if arguments.help or arguments.list_passes:
            print("\n".join(_help(context, passes_only=arguments.list_passes)))
            return 0
        for name in (*arguments.print_before, *arguments.print_after):
            if not reader.knows(name):
                option = "before" if name in arguments.print_before else "after"
                raise UserError(
                    f"{PROGRAM}: for the --mlir-print-ir-{option} option: "
                    f"Cannot find option named '{name}'!"
                )
        text = _read(arguments.input)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    context.allow_unregistered_dialects = arguments.allow_unregistered_dialect
    if arguments.prints_ir:
        spell_dumps(lambda dump: _custom_form(dump, arguments), _wanted(arguments))
    return Run(arguments, context, reader, _display_name(arguments.input)).on(text)


@dataclass(frozen=True)
class Run:
    """One run over one input."""

    arguments: Arguments
    context: ir.Context
    reader: PipelineReader
    filename: str

    def on(self, text: str) -> int:
        """Processes the input's `text`; returns the exit status."""
        chunks = list(_split(text, self.arguments.split_input_file))
        results = [self._on_chunk(chunk) for chunk in chunks]
        succeeded = all(success for success, _ in results)
        output = f"{self.arguments.split_input_file}\n".join(result for _, result in results)
        return 0 if self._write(output, succeeded) and succeeded else 1

    def _write(self, output: str, succeeded: bool) -> bool:
        target = self.arguments.output
        if target == "-":
            sys.stdout.write(output)
            sys.stdout.flush()
        elif succeeded:
            try:
                atomic_file.write_text(_path(target), output)
            except OSError as error:
                print_to_stderr(f"cannot open output file '{target}': {error.strerror}")
                return False
        return True

    def _on_chunk(self, text: str) -> tuple[bool, str]:
        """Whether all went well, and the output; with --verify-diagnostics, as was expected."""
        mode = self.arguments.verify_diagnostics
        given: list[Diagnostic] = []

        def report(*diagnostics: Diagnostic) -> None:
            given.extend(diagnostics)
            if mode is None:
                for diagnostic in diagnostics:
                    print_to_stderr(diagnostic.render(self.filename, text))

        def handle(diagnostic: ir.Diagnostic) -> bool:
            report(*from_mlir(diagnostic, lambda ir_text: _custom_form(ir_text, self.arguments)))
            return True

        handler = self.context.attach_diagnostic_handler(handle)
        try:
            output = self._transform(text, report)
        finally:
            handler.detach()
        if mode is None:
            return output is not None, output or ""
        problems = verify(given, text, self.filename, only_expected=mode == "only-expected")
        for problem in problems:
            print_to_stderr(problem)
        return not problems, output or ""

    def _transform(self, text: str, report: Callable[..., None]) -> str | None:
        """The output for one chunk; None after an error has been reported."""
        self.context.emit_error_diagnostics = False
        try:
            module = parse_module(text, self.context, self.filename)
        except UserError as error:
            diagnostics = list(from_rendered(str(error)))
            report(*(diagnostics or [Diagnostic("error", str(error))]))
            return None
        # From here on the handler hears of errors.
        self.context.emit_error_diagnostics = True
        try:
            pipeline = self._pipeline()
            manager = pipeline.manager(self.context, self._instrumentation())
        except (UserError, ValueError) as error:
            # MLIR's parser of pipelines says what failed, and then within what.
            head, *rest = re.split(r"\n(?=failed to add)", str(error))
            report(*(Diagnostic("error", part) for part in (head, *map(str.rstrip, rest))))
            return None
        if self.arguments.dump_pass_pipeline:
            print_to_stderr(_dump(pipeline, self.context))
        try:
            manager.run(module.operation)
        except ir.MLIRError as error:
            if not error.error_diagnostics and not str(error).startswith("Failure while"):
                report(Diagnostic("error", str(error)))
            return None
        return _print(module, self.arguments)

    def _pipeline(self) -> Pipeline:
        given = self.arguments
        if given.pass_pipeline is not None:
            if given.passes:
                raise UserError(
                    "'-pass-pipeline' option can't be used with individual pass options"
                )
            return self.reader.read(given.pass_pipeline)
        steps = (self.reader.step(name, options) for name, options in given.passes)
        return Pipeline("command line", tuple(map(self._nest, steps)))

    def _nest(self, step: Step) -> Step:
        """A step on the op that it is for, as mlir-opt nests those that are given as flags."""
        if isinstance(step, str):
            try:
                with self.context:
                    PassManager.parse(f"builtin.module({step.partition('{')[0]})")
            except ValueError as error:
                if found := _RESTRICTED.search(str(error)):
                    return Nested(found[1], (step,))
        return step

    def _instrumentation(self) -> Instrumentation:
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
        return Instrumentation(printing, given.verify_each, given.timing, given.statistics)


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


def _print(module: ir.Module, arguments: Arguments) -> str:
    text = module.operation.get_asm(
        enable_debug_info=arguments.print_debug_info,
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
    def with_options(step: Step) -> Step:
        match step:
            case str():
                return parsed(step, context) or step
            case Nested(anchor, inner):
                return Nested(anchor, tuple(map(with_options, inner)))
        return step

    steps = tuple(map(with_options, flatten(pipeline.steps)))
    text = str(Pipeline(pipeline.name, steps, anchor=pipeline.anchor))
    return f"Pass Manager with {len(steps)} passes:\n{pretty(text)}\n"


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


def _read(name: str) -> str:
    try:
        content = sys.stdin.buffer.read() if name == "-" else _path(name).read_bytes()
        return content.decode()
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
    sys.exit(main(sys.argv[1:]))
