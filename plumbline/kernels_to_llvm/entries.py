"""The C functions that a program is called by, as text of the LLVM dialect.

A program has two entries over one body. `foo` takes its arguments on trust; where the body fails
(there is no memory, an index is out of range), it writes a message to standard error and ends the
process, as no result could say so. `foo_checked` (`checked_entry.py`) returns the message.

MLIR's own lowering returns a struct as a first-class LLVM aggregate, which is the C ABI by luck
only: LLVM hands {ptr, ptr, i64} (rank 0) back in three registers on x86-64, and up to eight words
in registers on AArch64, where C compilers expect memory behind a hidden pointer for every struct
over 16 bytes. An explicit `sret` pointer makes it right for every rank on every 64-bit target
(System V AMD64 ABI 3.2.3, AAPCS64 6.9, RISC-V integer calling convention).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from plumbline.argument_shapes import ArgumentShapes
from plumbline.kernels_to_llvm.embedded_weights import EmbeddedWeight
from plumbline.kernels_to_llvm.failures import string_global


@dataclass(frozen=True)
class Body:
    """The function that does the work of a program's entries."""

    name: str
    """What the program is called: the name of its entry without checks."""
    symbol: str
    """What the function itself is called."""
    types: tuple[str, ...]
    """Of its arguments: the parts of embedded weights, what entries take, and a failure."""
    weights: tuple[EmbeddedWeight, ...]
    shapes: ArgumentShapes
    """Of the arguments that are no weights."""
    result: str | None
    """The type of the struct that it returns, if it returns any."""

    @property
    def parameters(self) -> dict[str, str]:
        """What entries take beside the place of the results: names, with types."""
        skipped = sum(len(weight.values(0)) for weight in self.weights)
        return {f"%a{index}": type_ for index, type_ in enumerate(self.types[skipped:-1])}

    @property
    def declarations(self) -> str:
        """What entries are read with: the body, the weights, and the program's name."""
        result = f" -> {self.result}" if self.result else ""
        return (
            f"llvm.func @{self.symbol}({', '.join(self.types)}){result}\n"
            + "".join(weight.declaration(self.name) for weight in self.weights)
            + string_global(_program(self.name), self.name)
        )

    def entry(self, name: str, lines: Iterable[str], *, results: str, returned: str = "") -> str:
        """The entry called `name` that consists of `lines`.

        `results` are the attributes of the pointer to the results, and `returned` is the type of
        what the entry itself returns.
        """
        parameters = [f"{argument}: {type_}" for argument, type_ in self.parameters.items()]
        if self.result is not None:
            parameters.insert(0, f"%results: !llvm.ptr{results}")
        body = "".join(f"  {line}\n" for line in lines)
        return f"llvm.func @{name}({', '.join(parameters)}){returned} {{\n{body}}}\n"

    def call(self) -> list[str]:
        """The lines that call the body, and go on where it has succeeded, else in `^failed`.

        `%failure` is the failure that it is called with, and `%program` the program's name.
        """
        numbered = list(enumerate(self.weights))
        lines = [line for index, weight in numbered for line in weight.load(self.name, index)]
        passed = [value for index, weight in numbered for value in weight.values(index)]
        passed += [*self.parameters, "%failure"]
        call = f"llvm.call @{self.symbol}({', '.join(passed)}) : ({', '.join(self.types)}) -> "
        lines.append(f"{call}()" if self.result is None else f"%value = {call}{self.result}")
        lines += [
            "%format = llvm.load %failure : !llvm.ptr -> !llvm.ptr",
            '%fine = llvm.icmp "eq" %format, %null : !llvm.ptr',
            "llvm.cond_br %fine weights([2000, 1]), ^succeeded, ^failed",
            "^succeeded:",
        ]
        if self.result is not None:
            lines.append(f"llvm.store %value, %results : {self.result}, !llvm.ptr")
        return lines

    def failure(self, most_values: int) -> list[str]:
        """The lines that make a failure of at most so many numbers, for `call`."""
        return [
            f'%program = llvm.mlir.addressof @"{_program(self.name)}" : !llvm.ptr',
            "%null = llvm.mlir.zero : !llvm.ptr",
            "%one = llvm.mlir.constant(1 : i64) : i64",
            f"%failure = llvm.alloca %one x {failure_type(most_values)} : (i64) -> !llvm.ptr",
            "llvm.store %null, %failure : !llvm.ptr, !llvm.ptr",
        ]


def _program(name: str) -> str:
    return f"plumbline_program_{name}"


def failure_type(most_values: int) -> str:
    """The type of a failure (`failures.py`) that has so many numbers."""
    return f"!llvm.struct<(ptr, array<{most_values} x i64>)>"


def unchecked_entry(body: Body, most_values: int) -> str:
    """The entry that takes its arguments on trust."""
    return body.entry(
        body.name,
        [
            *body.failure(most_values),
            *body.call(),
            "llvm.return",
            "^failed:",
            "llvm.call @plumbline_end(%failure, %program) : (!llvm.ptr, !llvm.ptr) -> ()",
            "llvm.unreachable",
        ],
        results="" if body.result is None else f" {{llvm.sret = {body.result}}}",
    )


def failure_reports(most_values: int) -> str:
    """What entries do with a failure, of at most so many numbers, of a program.

    Its message is made up of the program's name and what the format makes of the numbers.
    plumbline_message gives it in memory from malloc, or null where there is none left even for it;
    plumbline_end writes it to standard error, and ends the process.
    """
    values = [f"%v{index}" for index in range(most_values)]
    load = ["%format = llvm.load %failure : !llvm.ptr -> !llvm.ptr"]
    for index, value in enumerate(values):
        place = f"%p{index} = llvm.getelementptr inbounds %failure[0, 1, {index}]"
        load.append(f"{place} : (!llvm.ptr) -> !llvm.ptr, {failure_type(most_values)}")
        load.append(f"{value} = llvm.load %p{index} : !llvm.ptr -> i64")
    numbers = ", ".join(values)
    types = ", ".join(["i64"] * most_values)

    def snprintf(target: str, size: str, *, prefix: bool) -> str:
        given, given_types = ("%prefix, %program", "!llvm.ptr, !llvm.ptr")
        if not prefix:
            given, given_types = f"%format, {numbers}", f"!llvm.ptr, {types}"
        return (
            f"llvm.call @snprintf({target}, {size}, {given}) vararg(!llvm.func<i32 (ptr, i64, ptr, "
            f"...)>) : (!llvm.ptr, i64, {given_types}) -> i32"
        )

    def dprintf(given: str, given_types: str) -> str:
        return (
            f"llvm.call @dprintf(%standard_error, {given}) vararg(!llvm.func<i32 (i32, ptr, ...)>) "
            f": (i32, {given_types}) -> i32"
        )

    loaded = "\n  ".join(load)
    return (
        string_global("plumbline_prefix", "%s: ")
        + string_global("plumbline_line_end", "\n")
        + f"""
llvm.func @malloc(i64) -> !llvm.ptr
llvm.func @abort() attributes {{passthrough = ["noreturn"]}}
llvm.func @snprintf(!llvm.ptr, i64, !llvm.ptr, ...) -> i32
llvm.func @dprintf(i32, !llvm.ptr, ...) -> i32
llvm.func internal @plumbline_message(%failure: !llvm.ptr, %program: !llvm.ptr) -> !llvm.ptr
    attributes {{no_inline}} {{
  {loaded}
  %null = llvm.mlir.zero : !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %prefix = llvm.mlir.addressof @plumbline_prefix : !llvm.ptr
  %c0 = {snprintf("%null", "%zero", prefix=True)}
  %c1 = {snprintf("%null", "%zero", prefix=False)}
  %w0 = llvm.sext %c0 : i32 to i64
  %w1 = llvm.sext %c1 : i32 to i64
  %rest = llvm.add %w1, %one : i64
  %size = llvm.add %w0, %rest : i64
  %message = llvm.call @malloc(%size) : (i64) -> !llvm.ptr
  %lacking = llvm.icmp "eq" %message, %null : !llvm.ptr
  llvm.cond_br %lacking, ^done, ^write
^write:
  {snprintf("%message", "%size", prefix=True)}
  %second = llvm.getelementptr %message[%w0] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  {snprintf("%second", "%rest", prefix=False)}
  llvm.br ^done
^done:
  llvm.return %message : !llvm.ptr
}}
llvm.func internal @plumbline_end(%failure: !llvm.ptr, %program: !llvm.ptr)
    attributes {{no_inline, passthrough = ["noreturn"]}} {{
  {loaded}
  %standard_error = llvm.mlir.constant(2 : i32) : i32
  %prefix = llvm.mlir.addressof @plumbline_prefix : !llvm.ptr
  %line_end = llvm.mlir.addressof @plumbline_line_end : !llvm.ptr
  {dprintf("%prefix, %program", "!llvm.ptr, !llvm.ptr")}
  {dprintf(f"%format, {numbers}", f"!llvm.ptr, {types}")}
  {dprintf("%line_end", "!llvm.ptr")}
  llvm.call @abort() : () -> ()
  llvm.unreachable
}}
"""
    )
