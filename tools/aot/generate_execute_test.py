"""Stage program: writes the C++ test of a compiled function, from its reference tensors.

The archive decides the function's name, the element type and the rank of each input and output, how
many cases there are, and what size the checked entry must refuse. The test reads the values when it
runs, so its text does not change with them.
"""

import argparse
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from plumbline.archives import text_file
from plumbline.archives.reference_archive import ReferenceArchive, Tensor
from plumbline.errors import UserError
from plumbline.signature import element_type
from plumbline.signature.argument_shapes import Definition
from plumbline.signature.c_names import WORKSPACE
from plumbline.signature.element_type import ElementType
from plumbline.signature.function_name import (
    ERROR_SUFFIX,
    LOAD_WEIGHTS_SUFFIX,
    WORKSPACE_SIZE_SUFFIX,
)
from plumbline.signature.library_description import LibraryDescription
from plumbline.signature.signature import Signature
from plumbline.signature.size_expressions import c_expression
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
    part: ElementType
    """What the function takes or returns it as: complex numbers as pairs of real ones."""
    dimensions: int
    """The rank of that."""

    @property
    def memref(self) -> str:
        """The C++ type that the function is handed."""
        return f"StridedMemRefType<{self.part.cpp}, {self.dimensions}>"


def _variables(prefix: str, tensors: Sequence[Tensor]) -> list[_Variable]:
    variables = []
    for index, tensor in enumerate(tensors):
        member = f"{prefix}{index}"
        type_ = element_type.from_numpy_dtype(tensor.dtype)
        dimensions = tensor.ndim + type_.is_complex
        if dimensions > MAX_RANK:
            raise UserError(
                f"{member} has rank {tensor.ndim}; a compiled function's test goes up to "
                f"{MAX_RANK - type_.is_complex}"
            )
        variables.append(
            _Variable(
                index, member.lower(), type_.cpp, tensor.ndim, type_.part or type_, dimensions
            )
        )
    return variables


def _lines(variables: Sequence[_Variable], line: Callable[[_Variable], str], indent: int) -> str:
    """One line for each variable, a newline before it."""
    return "".join(f"\n{' ' * indent}{line(variable)}" for variable in variables)


def _listed(entries: Sequence[str], indent: int) -> str:
    """The entries of a list, each on a line of its own."""
    return ",".join(f"\n{' ' * indent}{entry}" for entry in entries)


def _declared(variable: _Variable) -> str:
    return f"DECL_RANK_{variable.dimensions}_MEMREF_ABI({variable.part.cpp})"


def _passed(variable: _Variable) -> str:
    return f"PASS_RANK_{variable.dimensions}_MEMREF({variable.name})"


def _load(variable: _Variable) -> str:
    parts = ".Parts()" if variable.dimensions > variable.rank else ""
    return f"const {variable.memref} {variable.name} = inputs[{variable.index}]{parts};"


def _store(variable: _Variable) -> str:
    result = f"results.{variable.name}"
    if variable.dimensions > variable.rank:
        whole = f"plumbline::kElementTypeOf<{variable.cpp_type}>"
        result = f"plumbline::AnyMemRef({result}).Of({whole})"
    return f"outputs[{variable.index}] = {result};"


def _refused(archive: ReferenceArchive) -> str:
    refused = archive.refused
    if refused is None:
        return ""
    return (
        "\nconst plumbline::RefusedSize kRefused = "
        f"{{{refused.argument}, {refused.axis}, {refused.size}}};\n"
    )


def _common(
    archive: ReferenceArchive,
    inputs: Sequence[_Variable],
    outputs: Sequence[_Variable],
    runfile: str,
    bisect: str | None,
) -> dict[str, str]:
    """What all templates are told."""
    pairs = ", ".join(f"{{{number}, {output}}}" for number, output in archive.inout)
    return {
        "archive": runfile,
        "input_count": str(len(inputs)),
        "output_count": str(len(outputs)),
        "types": _types([*inputs, *outputs]),
        "further_cases": str(len(archive.further_cases)),
        "bisect": "nullptr" if bisect is None else f'"{bisect}"',
        "inout_count": str(len(archive.inout)),
        "inouts": f"\nconst plumbline::InOut kInOuts[] = {{{pairs}}};\n" if pairs else "",
        "inouts_pointer": "kInOuts" if pairs else "nullptr",
    }


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
    struct = f"{archive.func_name}_results"
    results = outputs[: len(outputs) - len(archive.inout)]
    values = {
        "function": archive.func_name,
        "result_fields": _lines(results, lambda v: f"{v.memref} {v.name};", 2),
        "parameters": _listed([*map(_declared, inputs)], 4),
        "loads": _lines(inputs, _load, 2),
        "stores": _lines(results, _store, 2),
        "result_type": struct if results else "void",
        "results": f"\n  {struct} results;" if results else "",
        "take": f"const {struct} results = " if results else "",
        "arguments": _listed([*map(_passed, inputs)], 6),
        "checked_parameters": _listed(
            [*[f"{struct}*" for _ in results[:1]], *map(_declared, inputs)], 4
        ),
        "checked_arguments": _listed(
            [*["&results" for _ in results[:1]], *map(_passed, inputs)], 6
        ),
        "refused": _refused(archive),
        "refused_pointer": "nullptr" if archive.refused is None else "&kRefused",
        **_common(archive, inputs, outputs, runfile, bisect),
    }
    return _filled(template, values)


def generate_by_pointers(
    archive: ReferenceArchive,
    description: LibraryDescription,
    template: str,
    runfile: str,
    header: str,
    bisect: str | None = None,
    weights_file: str | None = None,
) -> str:
    """The test of a library that is called by pointers, which `description` says more of.

    Args:
      archive: as for `generate`.
      description: what the library is called with.
      template: as in execute_test_by_pointers.template.cpp.
      runfile: as for `generate`.
      header: the library's header, as the test includes it.
      bisect: as for `generate`.
      weights_file: where the test finds, among its runfiles, what the library loads.

    Raises:
      UserError: as `generate` does.
    """
    signature = description.signature
    inputs = _variables("Input", archive.inputs)
    outputs = _variables("Output", archive.outputs)
    sizes = [
        f"const std::int64_t {signature.names.symbols[step.symbol]} = "
        f"(inputs[{step.place.argument}].sizes[{step.place.axis}] - "
        f"({c_expression(step.rest, signature.names.symbols)})) / {step.scale};"
        for step in signature.shapes.steps
        if isinstance(step, Definition)
    ]
    arguments = [
        *(_given(signature, index) for index in range(len(signature.inputs))),
        *(
            f"static_cast<{spec.element_type.c}*>({_place(signature, f'outputs[{index}]', 'Out')})"
            for index, spec in enumerate(signature.outputs)
        ),
        # In the place of the most that each may be.
        *(f"&outputs[{size.output}].sizes[{size.axis}]" for size in signature.unbacked),
        *signature.names.symbols,
    ]
    told = dict.fromkeys(size.output for size in signature.unbacked)
    load = ""
    if signature.loads_weights:
        load = (
            f"\n  if (const int code = ::{signature.name}{LOAD_WEIGHTS_SUFFIX}(\n"
            f'          plumbline::FindRunfile("{weights_file}").c_str())) {{\n'
            f"    throw std::runtime_error(::{signature.name}{ERROR_SUFFIX}(code));\n"
            "  }"
        )
    workspace = ""
    if signature.workspace is not None:
        size = f"{signature.name}{WORKSPACE_SIZE_SUFFIX}({', '.join(signature.names.symbols)})"
        if signature.on_device:
            arguments.append(f"device.Bytes({size})")
        else:
            workspace = f"  const plumbline::Workspace {WORKSPACE}({size});\n"
            arguments.append(f"{WORKSPACE}.data()")
    if signature.on_device:
        workspace = "  plumbline::DeviceMemory device;\n"
    if signature.has_stream:
        arguments.append("/*stream=*/nullptr")
    return _filled(
        template,
        {
            "function": signature.name,
            "header": header,
            "workspace": workspace,
            "load_weights": load,
            "symbols": "".join(f"\n  {line}" for line in sizes),
            "shape_arguments": "".join(f", {name}" for name in signature.names.symbols),
            "arguments": ",".join(f"\n      {argument}" for argument in arguments),
            "told": "".join(f"\n  outputs[{output}].SetStrides();" for output in told),
            "result_count": str(len(signature.outputs)),
            **_common(archive, inputs, outputs, runfile, bisect),
        },
    )


def _given(signature: Signature, number: int) -> str:
    """What an input is handed over as."""
    spec, tensor = signature.inputs[number], f"inputs[{number}]"
    if spec.is_scalar:
        return f"*static_cast<const {spec.element_type.c}*>({tensor}.data)"
    is_inout = number in signature.inout
    place = _place(signature, tensor, "Out" if is_inout else "In")
    return f"static_cast<{'' if is_inout else 'const '}{spec.element_type.c}*>({place})"


def _place(signature: Signature, tensor: str, direction: str) -> str:
    """Where a tensor of the test's is for the program."""
    return f"device.{direction}({tensor})" if signature.on_device else f"{tensor}.data"


def generate_by_memrefs(
    archive: ReferenceArchive,
    description: LibraryDescription,
    template: str,
    runfile: str,
    header: str,
    bisect: str | None = None,
) -> str:
    """The test of a library that is called by memrefs; all is as for `generate_by_pointers`."""
    signature = description.signature
    inputs = _variables("Input", archive.inputs)
    outputs = _variables("Output", archive.outputs)
    arguments = ["&results"] if signature.outputs else []
    for variable, spec in zip(inputs, signature.inputs, strict=True):
        tensor, axes = f"inputs[{variable.index}]", range(variable.rank)
        const = "" if variable.index in signature.inout else "const "
        pointer = f"{const}{spec.element_type.c}*"
        arguments += [
            *(f"static_cast<{pointer}>({tensor}.{place})" for place in ("base", "data")),
            f"{tensor}.offset",
            *(f"{tensor}.{words}[{axis}]" for words in ("sizes", "strides") for axis in axes),
        ]
    stores = [
        f"outputs[{variable.index}] = Result<{variable.rank}>(results.{name}, "
        f"kOutputs[{variable.index}].type);"
        for variable, name in zip(outputs, signature.names.outputs, strict=False)
    ]
    results = f"  {signature.name}_results results;\n" if signature.outputs else ""
    return _filled(
        template,
        {
            "function": signature.name,
            "header": header,
            "results": results,
            "stores": "".join(f"\n  {store}" for store in stores),
            "arguments": ",".join(f"\n      {argument}" for argument in arguments),
            **_common(archive, inputs, outputs, runfile, bisect),
        },
    )


_BY_ABI = {"pointers": generate_by_pointers, "memref": generate_by_memrefs}
"""The tests of libraries, by how these are called."""


def _types(variables: Sequence[_Variable]) -> str:
    return _lines(
        variables,
        lambda v: f"{{plumbline::kElementTypeOf<{v.cpp_type}>, {v.rank}}},",
        4,
    )


def _filled(template: str, values: Mapping[str, str]) -> str:
    try:
        return string.Template(template).substitute(values)
    except KeyError as error:
        raise UserError(f"the template has ${error.args[0]}, which stands for nothing") from error
    except ValueError as error:
        raise UserError(f"the template: {error}") from error


def _generate(given: argparse.Namespace) -> None:
    archive = ReferenceArchive.read(given.reference_tensors)
    template = text_file.read(given.template)
    try:
        if given.description is None:
            text = generate(archive, template, given.runfile, given.bisect)
        else:
            description = LibraryDescription.from_json(
                str(given.description), text_file.read(given.description)
            )
            header = given.description.with_suffix(".h").name
            generate_library_test = _BY_ABI[description.abi]
            # Only programs that are called by pointers load weights.
            loads = {"weights_file": given.weights_file} if given.weights_file else {}
            text = generate_library_test(
                archive, description, template, given.runfile, header, given.bisect, **loads
            )
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
        "--description",
        type=stage.path,
        metavar="JSON",
        help="what describe_library says of a library, whose header has the same name",
    )
    arguments.add_argument(
        "--weights-file",
        metavar="PATH",
        help="where the test finds the file of weights that the library loads, likewise",
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
