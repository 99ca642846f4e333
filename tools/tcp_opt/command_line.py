"""The command line of tcp-opt, as LLVM's own tools read theirs.

Flags have one or two dashes and stand in any order; those that are passes run in the order given.
`argparse` knows no flags that are found out at run time, so this is read by hand.
"""

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from plumbline.errors import UserError

PROGRAM = "tcp-opt"


@dataclass
class Arguments:
    """What was asked for."""

    input: str = "-"
    output: str = "-"
    passes: list[tuple[str, str]] = field(default_factory=list)
    """Passes and pipelines that were given as flags, with the text of their options."""
    pass_pipeline: str | None = None
    allow_unregistered_dialect: bool = False
    bytecode_version: int | None = None
    crash_reproducer: str | None = None
    diagnostic_notes: bool = True
    diagnostic_verbosity: str = "remarks"
    dump_pass_pipeline: bool = False
    emit_bytecode: bool = False
    generate_reproducer: str | None = None
    help: bool = False
    implicit_module: bool = True
    irdl_file: str | None = None
    list_passes: bool = False
    output_split_marker: str | None = None
    run_reproducer: bool = False
    split_input_file: str | None = None
    verify_diagnostics: str | None = None
    verify_each: bool = True
    verify_round_trip: bool = False
    version: bool = False
    elide_elements: int | None = None
    elide_resources: int | None = None
    names_of_locations: bool = False
    pretty_debug_info: bool = False
    print_debug_info: bool = False
    print_generic: bool = False
    print_local_scope: bool = False
    skip_regions: bool = False
    print_after: list[str] = field(default_factory=list)
    print_after_all: bool = False
    print_after_change: bool = False
    print_after_failure: bool = False
    print_before: list[str] = field(default_factory=list)
    print_before_all: bool = False
    print_module_scope: bool = False
    statistics: bool = False
    statistics_display: str = "pipeline"
    threading: bool = False
    timing: bool = False
    timing_display: str = "tree"

    @property
    def prints_ir(self) -> bool:
        """Whether IR is to be printed around passes."""
        return bool(
            self.print_after
            or self.print_after_all
            or self.print_after_change
            or self.print_after_failure
            or self.print_before
            or self.print_before_all
        )


@dataclass(frozen=True)
class Flag:
    """A flag that is no pass."""

    target: str
    """The attribute of `Arguments`."""
    kind: str
    """"switch", "off" (a switch that turns off), "list", "text", "number", "choice", or
    "optional": a text that may be left out."""
    summary: str
    value: str = ""
    """How the value is called in the help; for "optional" what stands for one left out, for
    "choice" all there are: `list|tree`."""


FLAGS = {
    "allow-unregistered-dialect": Flag(
        "allow_unregistered_dialect", "switch", "Allow operations of dialects that are not known"
    ),
    "dump-pass-pipeline": Flag("dump_pass_pipeline", "switch", "Print the pipeline that is run"),
    "emit-bytecode": Flag(
        "emit_bytecode", "switch", "Write MLIR's bytecode; it is known by itself when read"
    ),
    "emit-bytecode-version": Flag(
        "bytecode_version", "number", "Write this version of bytecode", "uint"
    ),
    "help": Flag("help", "switch", "Print this"),
    "irdl-file": Flag("irdl_file", "text", "Load the dialects that this file defines", "filename"),
    "list-passes": Flag("list_passes", "switch", "Print the passes only"),
    "mlir-diagnostic-verbosity-level": Flag(
        "diagnostic_verbosity", "choice", "The least of what to print", "errors|warnings|remarks"
    ),
    "mlir-disable-diagnostic-notes": Flag("diagnostic_notes", "off", "Print no notes"),
    "mlir-disable-threading": Flag("threading", "off", "Nothing: there are no threads"),
    "mlir-elide-elementsattrs-if-larger": Flag(
        "elide_elements", "number", "Leave out constants of more elements", "uint"
    ),
    "mlir-elide-resource-strings-if-larger": Flag(
        "elide_resources", "number", "Leave out the text of larger resources", "uint"
    ),
    "mlir-generate-reproducer": Flag(
        "generate_reproducer", "text", "Write a reproducer, also without a failure", "filename"
    ),
    "mlir-pass-pipeline-crash-reproducer": Flag(
        "crash_reproducer", "text", "Write a reproducer if a pass fails or crashes", "filename"
    ),
    "mlir-pass-statistics": Flag(
        "statistics",
        "switch",
        "Print the statistics of passes (empty: the bindings are built without counters)",
    ),
    "mlir-pass-statistics-display": Flag(
        "statistics_display", "choice", "How to print them", "list|pipeline"
    ),
    "mlir-pretty-debuginfo": Flag("pretty_debug_info", "switch", "Print locations for people"),
    "mlir-print-debuginfo": Flag("print_debug_info", "switch", "Print locations"),
    "mlir-print-ir-after": Flag("print_after", "list", "Print the IR after these", "pass,..."),
    "mlir-print-ir-after-all": Flag("print_after_all", "switch", "Print the IR after each pass"),
    "mlir-print-ir-after-change": Flag(
        "print_after_change", "switch", "Of what is printed after passes, print what changed only"
    ),
    "mlir-print-ir-after-failure": Flag(
        "print_after_failure", "switch", "Print the IR after a pass that failed only"
    ),
    "mlir-print-ir-before": Flag("print_before", "list", "Print the IR before these", "pass,..."),
    "mlir-print-ir-before-all": Flag("print_before_all", "switch", "Print the IR before each pass"),
    "mlir-print-ir-module-scope": Flag(
        "print_module_scope", "switch", "Print the whole module around what a pass is run on"
    ),
    "mlir-print-local-scope": Flag("print_local_scope", "switch", "Print without aliases"),
    "mlir-print-op-generic": Flag("print_generic", "switch", "Print operations in generic form"),
    "mlir-print-skip-regions": Flag("skip_regions", "switch", "Print operations without regions"),
    "mlir-timing": Flag("timing", "switch", "Print how long each pass took"),
    "mlir-timing-display": Flag("timing_display", "choice", "How to print that", "list|tree"),
    "mlir-use-nameloc-as-prefix": Flag(
        "names_of_locations", "switch", "Name values by the names in their locations"
    ),
    "no-implicit-module": Flag(
        "implicit_module", "off", "Put no module around the input, which is one operation then"
    ),
    "o": Flag("output", "text", "Write to this file, not to standard output", "filename"),
    "output-split-marker": Flag(
        "output_split_marker", "text", "Print this between the parts of the output", "text"
    ),
    "pass-pipeline": Flag("pass_pipeline", "text", "Run passes: 'builtin.module(cse)'", "text"),
    "run-reproducer": Flag(
        "run_reproducer", "switch", "Run the pipeline of the reproducer that the input is"
    ),
    "split-input-file": Flag(
        "split_input_file", "optional", "Take each part of the input by itself", "// -----"
    ),
    "verify-diagnostics": Flag(
        "verify_diagnostics", "optional", "Hold diagnostics against expected-* comments", "all"
    ),
    "verify-each": Flag("verify_each", "switch", "Verify after each pass (default: true)"),
    "verify-roundtrip": Flag(
        "verify_round_trip", "switch", "Check that what was read survives being written and read"
    ),
    "version": Flag("version", "switch", "Print the version of MLIR"),
}

_FROM_FLAGS_OF_CPP = "MLIR reads it from the command line of a C++ program only"

UNAVAILABLE = {
    "elide-resource-data-from-bytecode": "the bindings' bytecode writer takes a version only",
    "emit-bytecode-producer": "the bindings' bytecode writer takes a version only",
    "load-dialect-plugin": "the bindings load no plugins",
    "load-pass-plugin": "the bindings load no plugins",
    "log-actions-to": "the bindings have no actions",
    "log-mlir-actions-filter": "the bindings have no actions",
    "mlir-debug-counter": _FROM_FLAGS_OF_CPP,
    "mlir-output-format": "times are printed as text only",
    "mlir-pass-pipeline-local-reproducer": "a reproducer holds the whole pipeline",
    "mlir-print-elementsattrs-with-hex-if-larger": _FROM_FLAGS_OF_CPP,
    "mlir-print-ir-tree-dir": "dumps go to standard error, where TCP is spelled in custom form",
    "mlir-print-op-on-diagnostic": _FROM_FLAGS_OF_CPP,
    "mlir-print-stacktrace-on-diagnostic": _FROM_FLAGS_OF_CPP,
    "mlir-print-unique-ssa-ids": _FROM_FLAGS_OF_CPP,
    "mlir-print-value-users": _FROM_FLAGS_OF_CPP,
    "mlir-very-unsafe-disable-verifier-on-parsing": "the bindings verify all that they read",
    "profile-actions-to": "the bindings have no actions",
    "show-dialects": "the bindings list no dialects",
}
"""Flags of mlir-opt's that are not here, and why."""

_TRUTH = {"": True, "1": True, "true": True, "TRUE": True, "0": False, "false": False}


def parse(
    arguments: Sequence[str], is_pass: Callable[[str], bool], passes: Callable[[], Sequence[str]]
) -> Arguments:
    """The command line `arguments`, without the program's name.

    Args:
      arguments: the command line.
      is_pass: whether there is a pass or pipeline of that name.
      passes: all such names, asked for when one was misspelled.

    Raises:
      UserError: a flag or a value is wrong.
    """
    result = Arguments()
    inputs = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "-" or not argument.startswith("-"):
            inputs.append(argument)
            continue
        name, equals, value = argument.lstrip("-").partition("=")
        name = "help" if name == "h" else name
        if name in FLAGS:
            _set(result, name, value if equals else None, rest)
        elif name in UNAVAILABLE:
            raise UserError(
                f"{PROGRAM}: for the --{name} option: not available here: {UNAVAILABLE[name]}"
            )
        elif is_pass(name):
            result.passes.append((name, _unquote(value)))
        else:
            raise UserError(_unknown(argument.partition("=")[0], [*FLAGS, *passes()]))
    if len(inputs) > 1:
        raise UserError(
            f"{PROGRAM}: Too many positional arguments specified!\n"
            f"Can specify at most 1 positional arguments: See: {PROGRAM} --help"
        )
    result.input = inputs[0] if inputs else "-"
    return result


def _set(result: Arguments, name: str, value: str | None, rest: Iterator[str]) -> None:
    flag = FLAGS[name]
    if flag.kind in ("switch", "off"):
        if (value or "") not in _TRUTH:
            raise UserError(
                f"{PROGRAM}: for the --{name} option: '{value}' is invalid value for boolean "
                "argument! Try 0 or 1"
            )
        setattr(result, flag.target, _TRUTH[value or ""] is (flag.kind == "switch"))
        return
    if flag.kind == "optional":
        setattr(result, flag.target, value or flag.value)
        return
    if value is None:
        value = next(rest, None)
    if value is None:
        raise UserError(f"{PROGRAM}: for the --{name} option: requires a value!")
    if flag.kind == "list":
        getattr(result, flag.target).extend(value.split(","))
    elif flag.kind == "number":
        if not value.isdecimal():
            raise UserError(
                f"{PROGRAM}: for the --{name} option: '{value}' value invalid for uint argument!"
            )
        setattr(result, flag.target, int(value))
    elif flag.kind == "choice" and value not in flag.value.split("|"):
        raise UserError(f"{PROGRAM}: for the --{name} option: Cannot find option named '{value}'!")
    else:
        setattr(result, flag.target, value)


def _unquote(text: str) -> str:
    """Options of a pass, with or without braces around them."""
    return text[1:-1] if text.startswith("{") and text.endswith("}") else text


def _unknown(flag: str, names: Sequence[str]) -> str:
    message = f"{PROGRAM}: Unknown command line argument '{flag}'.  Try: '{PROGRAM} --help'"
    close = difflib.get_close_matches(flag.lstrip("-"), names, n=1)
    return message + (f"\n{PROGRAM}: Did you mean '--{close[0]}'?" if close else "")
