"""Stage program: writes the C++ test of a compiled function, from its reference tensors.

The archive decides the function's name, the element type and the rank of each input and output, how
many cases there are, and what size the checked entry must refuse. The test reads the values when it
runs, so its text does not change with them.
"""

import argparse
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plumbline import element_type
from plumbline.errors import UserError
from plumbline.reference_archive import ReferenceArchive, Tensor
from tools.aot import stage

MAX_RANK = 16
"""The highest rank that tools/aot/abi.h has macros for."""


@dataclass(frozen=True)
class _Variable:
    """What the test calls a tensor of the archive."""

    index: int
    name: str
    cpp_type: str
    rank: int


def _variables(prefix: str, tensors: Sequence[Tensor]) -> list[_Variable]:
    variables = []
    for index, tensor in enumerate(tensors):
        member = f"{prefix}{index}"
        if tensor.ndim > MAX_RANK:
            raise UserError(
                f"{member} has rank {tensor.ndim}; a compiled function's test goes up to {MAX_RANK}"
            )
        cpp_type = element_type.from_numpy_dtype(tensor.dtype).cpp
        variables.append(_Variable(index, member.lower(), cpp_type, tensor.ndim))
    return variables


def _lines(
    variables: Sequence[_Variable], line: Callable[[_Variable], str], indent: int, end: str = ""
) -> str:
    """One line for each variable, a newline before it and `end` between one and the next."""
    return end.join(f"\n{' ' * indent}{line(variable)}" for variable in variables)


def _following(
    variables: Sequence[_Variable], line: Callable[[_Variable], str], indent: int
) -> str:
    """The same, for what follows another entry of a list."""
    return "".join(f",\n{' ' * indent}{line(variable)}" for variable in variables)


def _passed(variable: _Variable) -> str:
    return f"PASS_RANK_{variable.rank}_MEMREF({variable.name})"


def _refused(archive: ReferenceArchive) -> str:
    refused = archive.refused
    if refused is None:
        return ""
    return (
        "\nconst plumbline::RefusedSize kRefused = "
        f"{{{refused.argument}, {refused.axis}, {refused.size}}};\n"
    )


def generate(
    archive: ReferenceArchive, template: str, runfile: str, bisect: str | None = None
) -> str:
    """The test of the function that `archive` belongs to.

    Args:
      archive: the signature is all that is taken from it.
      template: C++ with `$name` placeholders, as in execute_test.template.cpp.
      runfile: where the test finds the archive among its runfiles.
      bisect: the Bazel target to name where the test fails.

    Raises:
      UserError: a rank is too high, or the template asks for what there is not.
    """
    inputs = _variables("Input", archive.inputs)
    outputs = _variables("Output", archive.outputs)
    values = {
        "function": archive.func_name,
        "archive": runfile,
        "input_count": str(len(inputs)),
        "output_count": str(len(outputs)),
        "result_fields": _lines(
            outputs, lambda v: f"StridedMemRefType<{v.cpp_type}, {v.rank}> {v.name};", 2
        ),
        "parameters": _lines(
            inputs, lambda v: f"DECL_RANK_{v.rank}_MEMREF_ABI({v.cpp_type})", 4, ","
        ),
        "loads": _lines(
            inputs,
            lambda v: (
                f"const StridedMemRefType<{v.cpp_type}, {v.rank}> {v.name} = inputs[{v.index}];"
            ),
            2,
        ),
        "stores": _lines(outputs, lambda v: f"outputs[{v.index}] = results.{v.name};", 2),
        "arguments": _lines(inputs, _passed, 6, ","),
        "checked_parameters": _following(
            inputs, lambda v: f"DECL_RANK_{v.rank}_MEMREF_ABI({v.cpp_type})", 4
        ),
        "checked_arguments": _following(inputs, _passed, 6),
        "types": _lines(
            [*inputs, *outputs],
            lambda v: f"{{plumbline::kElementTypeOf<{v.cpp_type}>, {v.rank}}},",
            4,
        ),
        "further_cases": str(len(archive.further_cases)),
        "refused": _refused(archive),
        "refused_pointer": "nullptr" if archive.refused is None else "&kRefused",
        "bisect": "nullptr" if bisect is None else f'"{bisect}"',
    }
    try:
        return string.Template(template).substitute(values)
    except KeyError as error:
        raise UserError(f"the template has ${error.args[0]}, which stands for nothing") from error
    except ValueError as error:
        raise UserError(f"the template: {error}") from error


def _generate(given: argparse.Namespace) -> None:
    archive = ReferenceArchive.read(given.reference_tensors)
    template = stage.read(given.template)
    try:
        text = generate(archive, template, given.runfile, given.bisect)
    except UserError as error:
        raise UserError(f"{given.reference_tensors} with {given.template}: {error}") from error
    stage.write(given.output, text)


if __name__ == "__main__":
    arguments = stage.parser(__doc__)
    arguments.add_argument(
        "--reference-tensors",
        type=stage.path,
        required=True,
        metavar="NPZ",
        help="the archive of the function's inputs and expected outputs",
    )
    arguments.add_argument(
        "--runfile",
        required=True,
        metavar="PATH",
        help="where the test finds the archive among its runfiles: "
        "plumbline_main/test/AotCompile/_internal_foo_reference_tensors.npz",
    )
    arguments.add_argument(
        "--bisect",
        metavar="LABEL",
        help="the Bazel target that finds the op whose numbers are wrong, for when the test fails",
    )
    arguments.add_argument(
        "--template", type=stage.path, required=True, help="the .cpp file with placeholders"
    )
    arguments.add_argument(
        "-o", "--output", type=stage.path, required=True, help="the .cpp file to write"
    )
    stage.run(arguments, _generate)
