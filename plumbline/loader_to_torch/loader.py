"""Loader functions: what they return, and how one is found and called."""

import dataclasses
import difflib
import functools
import importlib
import math
import numbers
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import torch
from torch.export import ExportedProgram

from plumbline.archives.torch_tensors import check_tensor
from plumbline.errors import UserError
from plumbline.loader_to_torch.scalars import as_tensor, is_number
from plumbline.loader_to_torch.source_path import relative_to_import_path
from plumbline.loader_to_torch.structure import Nested, leaves, leaves_with_places
from plumbline.loader_to_torch.symbolic_sizes import entries_of_leaves
from plumbline.signature.function_name import DEFAULT_FUNCTION_NAME, check_function_name

SEED = 0
"""PyTorch's random state before a loader runs, so that its weights are the same every time."""


Mutation: TypeAlias = Literal["refuse", "return"]
"""What becomes of a program that writes in place."""


@dataclass
class TorchLoaderOutput:
    """What a loader function returns: a program, and the inputs that it is tried on."""

    model: torch.nn.Module
    """Its `forward` takes and returns tensors and numbers, also in tuples, lists and dicts, which
    count as what is in them, in order; a None counts as nothing. It is compiled without gradients,
    in the mode that it is in: for inference, `model.eval()`."""
    inputs: Sequence[Any]
    """The sample inputs, one for each argument of `forward`. A number is part of the program,
    unless `dynamic_shapes` says that it may differ."""
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None
    """Which dimensions may differ at run time, as `torch.export.export` takes it:
    `{"x": {0: torch.export.Dim("batch")}, "y": {}}` or one entry for each input. One that is
    `Dim.AUTO` is fixed where PyTorch finds that it is one number, or where the program holds for
    that of the inputs alone, and dynamic otherwise. A number of any type is an argument with
    `{"temperature": torch.export.Dim.DYNAMIC}`."""
    func_name: str | None = None
    """The name of the compiled C function; None: that of the Bazel target, the `name` or the
    `func_name` of its `aot_compile`."""
    rtol: float | Sequence[float] | None = None
    """The relative tolerance of the comparison, for all outputs or one for each; None stands
    for the default of `torch.testing.assert_close` for the output's dtype."""
    atol: float | Sequence[float] | None = None
    """The absolute tolerance, likewise."""
    further_inputs: Sequence[Sequence[Any]] | None = None
    """Inputs of other sizes that the program is also tried on. None: where `dynamic_shapes` says
    that sizes may differ, two such are made up (see `further_cases.py`); with `()`, none."""
    mutation: Mutation = "refuse"
    """What becomes of a program that writes in place into its arguments, buffers or parameters: it
    is refused, or with "return" the new values are results after its own, and the buffers and
    parameters arguments after its own. What is written is then in the reference tensors too, and a
    list of tolerances has entries for it."""
    mutable: Sequence[str] = ()
    """What a call of the compiled function writes in place, as `forward` does, whatever `mutation`
    says of the rest: names of arguments (a nested one means all tensors in it), and of buffers and
    parameters as `state_dict` has them (a module's means all of its own), which become arguments
    after the program's own. `torch.default_generator` is the state of PyTorch's generator of random
    numbers. Their new values stand in the reference tensors after all results."""
    constraints: Sequence[Any] | None = None
    """What older loaders used for dynamic shapes; refused unless empty, since PyTorch has no
    `dynamic_dim` any more."""
    names_of_sizes: Sequence[Mapping[int, str]] | None = None
    """What dimensions are called that `dynamic_shapes` has `Dim.AUTO` for, by their number and for
    each input. None of them is fixed: the program is refused if it is for one size alone."""


@dataclass(frozen=True)
class Front:
    """How those who name a loader speak of what they say beside it."""

    func_name: str
    """What gives the compiled function its name."""
    name: str
    """What it is called without that."""
    where: str
    """What to ask oneself where the loader's module is not found."""


BAZEL = Front(
    "func_name of its aot_compile",
    "the target's name",
    "Is torch_loader_lib the py_library that holds that file, and the path relative to the "
    "workspace?",
)


def load(
    path: str, *, func_name: str | None = None, target: str | None = None, front: Front = BAZEL
) -> TorchLoaderOutput:
    """Calls the loader function `path` ("package.module.function") with a fixed random seed.

    The inputs that come back are detached copies, so that two arguments never share memory, which
    the exporter would take for a promise. The working directory is what it was, whatever the loader
    did.

    Args:
      path: the loader function.
      func_name: what the compiled function is called, whatever the loader says.
      target: what it is called where neither `func_name` nor the loader gives a name.
      front: what messages call these.

    Raises:
      UserError: there is no such function, it fails or ends the process, or what it returns breaks
        the contract of `TorchLoaderOutput`.
    """
    folder = os.getcwd()
    try:
        output = _call(path, front)
    finally:
        os.chdir(folder)
    if isinstance(output, ExportedProgram):
        output = _of_exported(f"loader {path}", output)
    if not isinstance(output, TorchLoaderOutput):
        raise UserError(
            f"loader {path} returned a {type(output).__name__}; it returns a "
            "plumbline.TorchLoaderOutput, which tools.aot.torch_loader_utils has too, or what "
            "torch.export.export gives"
        )
    if func_name is not None:
        output.func_name = func_name
    elif output.func_name is None and target is not None:
        try:
            check_function_name(target)
        except UserError as error:
            raise UserError(
                f"loader {path}: {error}, as {front.func_name} or func_name of its "
                f"TorchLoaderOutput: without one, it is {front.name}"
            ) from error
        output.func_name = target
    return checked(f"loader {path}", output)


def _of_exported(who: str, program: ExportedProgram) -> TorchLoaderOutput:
    # It makes programs as they are described here.
    from plumbline.loader_to_torch.exported_programs import of_exported

    return of_exported(who, program, None)


def checked(who: str, program: TorchLoaderOutput) -> TorchLoaderOutput:
    """`program`, which messages call `who`, as the stages after it take it.

    Each tensor in its inputs is an input, and a detached copy.

    Raises:
      UserError: it breaks the contract of `TorchLoaderOutput`.
    """
    check_program(who, program)
    program = with_flat_inputs(who, program)
    program.inputs = _detached(program.inputs)
    if program.further_inputs is not None:
        program.further_inputs = tuple(map(_detached, program.further_inputs))
    return program


def given_program(
    caller: str,
    model: torch.nn.Module | TorchLoaderOutput | ExportedProgram,
    inputs: Sequence[Any] | None,
    *,
    dynamic_shapes: Any,
    func_name: str,
    mutation: Mutation,
    mutable: Sequence[str],
) -> TorchLoaderOutput:
    """The program that a function of Python's, `caller`, is given: by its parts, or as a loader's.

    Raises:
      UserError: it is given both, or a module without inputs.
    """
    if isinstance(model, ExportedProgram):
        _refuse_beside(
            caller,
            "ExportedProgram",
            inputs=inputs is not None,
            dynamic_shapes=dynamic_shapes is not None,
        )
        program = _of_exported(caller, model)
        return dataclasses.replace(program, func_name=func_name, mutation=mutation, mutable=mutable)
    if not isinstance(model, TorchLoaderOutput):
        if inputs is None:
            raise UserError(
                f"{caller}: example_inputs is missing: a tuple of one for each argument"
            )
        return TorchLoaderOutput(
            model,
            inputs,
            dynamic_shapes,
            func_name,
            mutation=mutation,
            mutable=mutable,
        )
    _refuse_beside(
        caller,
        "TorchLoaderOutput",
        inputs=inputs is not None,
        dynamic_shapes=dynamic_shapes is not None,
        mutation=mutation != "refuse",
        mutable=bool(mutable),
    )
    return dataclasses.replace(model, func_name=func_name)


def _refuse_beside(caller: str, given: str, **beside: bool) -> None:
    if twice := [name for name, is_given in beside.items() if is_given]:
        raise UserError(f"{caller}: {', '.join(twice)} is part of the {given} given")


def with_flat_inputs(who: str, program: TorchLoaderOutput) -> TorchLoaderOutput:
    """`program`, which messages call `who`, with each tensor in its inputs as an input.

    Raises:
      UserError: further inputs are not nested as the inputs are.
    """
    given = (program.inputs, *(program.further_inputs or ()))
    if all(isinstance(each, torch.Tensor) for inputs in given for each in inputs):
        return program
    entries: list[Any] = [None] * len(leaves(program.inputs))
    if program.dynamic_shapes is not None:
        try:
            entries = list(entries_of_leaves(program.model, program.inputs, program.dynamic_shapes))
        except (TypeError, ValueError, AttributeError) as error:
            raise UserError(
                f"{who}: dynamic_shapes is not nested as inputs is: {describe_error(error)}"
            ) from error
    model = Nested(program.model, program.inputs, [*map(_is_dynamic, entries)])

    def flattened(what: str, inputs: Sequence[Any]) -> tuple[torch.Tensor, ...]:
        return tuple(map(as_tensor, model.flattened(what, inputs)))

    further = program.further_inputs
    return dataclasses.replace(
        program,
        model=model,
        inputs=flattened(who, program.inputs),
        dynamic_shapes=None
        if program.dynamic_shapes is None
        else tuple(
            {} if is_number(leaf) else entry
            for entry, leaf in zip(entries, leaves(program.inputs), strict=True)
            if not is_number(leaf) or _is_dynamic(entry)
        ),
        further_inputs=None
        if further is None
        else [
            flattened(f"{who}: further_inputs[{number}]", inputs)
            for number, inputs in enumerate(further)
        ],
    )


def _is_dynamic(entry: Any) -> bool:
    """Whether what `dynamic_shapes` has for a number says that it may be another."""
    return entry in (torch.export.Dim.DYNAMIC, torch.export.Dim.AUTO)


def _call(path: str, front: Front) -> Any:
    function = _find(path, front)
    torch.manual_seed(SEED)
    try:
        return function()
    except (Exception, SystemExit) as error:
        raise UserError(f"loader {path} failed: {describe_error(error)}") from error


def _detached(tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.detach().clone() for tensor in tensors)


def describe_error(error: BaseException) -> str:
    """`error` as one message: type, text, and the places where it was raised.

    These are the last one in the user's source, and the last one that this called in the source of
    a library, such as that of a model in `transformers`.
    """
    text = f"{type(error).__name__}: {str(error).strip()}"
    if isinstance(error, SystemExit):
        text = f"it calls sys.exit({'' if error.code is None else repr(error.code)})"
    return "\n".join([text, *places_of(traceback.extract_tb(error.__traceback__))])


def places_of(stack: traceback.StackSummary) -> list[str]:
    """The last line of a stack that is in the user's source, and that in a library's, if any."""
    places: dict[str, str] = {}
    for frame in stack:
        if not is_of_program(frame.filename):
            continue
        place = f"{relative_to_import_path(frame.filename)}:{frame.lineno}: {frame.line}"
        if "site-packages" in frame.filename:
            places["in"] = place
        else:
            places = {"at": place}
    return [f"  {word} {place}" for word, place in places.items()]


@functools.cache
def is_of_program(file: str) -> bool:
    """Whether a user's mistake may be in a file: in his own, or in a library's that he calls."""
    if relative_to_import_path(file).startswith(_MACHINERY):
        return False
    return "site-packages" in file or not file.startswith(_STANDARD_LIBRARY)


_MACHINERY = (
    *("<", "plumbline/", "tools/aot/", "torch/", "torch_mlir/"),
    # PyTorch calls these, and whoever calls them by himself is to see his own line.
    *("mpmath/", "networkx/", "numpy/", "sympy/"),
)
"""Where files begin that a user's mistake is not in."""

_STANDARD_LIBRARY = tuple(f"{prefix}/lib/python" for prefix in (sys.prefix, sys.base_prefix))


def _find(path: str, front: Front) -> Callable[[], Any]:
    module_name, _, function_name = path.rpartition(".")
    if not module_name:
        raise UserError(
            f"torch_loader_path {path!r} is not of the form package.module.function, such as "
            "test.AotCompile.model_loader_lib.foo_loader"
        )
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        hint = ""
        if isinstance(error, ModuleNotFoundError) and module_name.startswith(error.name or "\0"):
            hint = f"\n  {front.where}"
        raise UserError(
            f"loader {path}: module {module_name} does not import: {describe_error(error)}{hint}"
        ) from error
    function = getattr(module, function_name, None)
    if function is None:
        known = [name for name in dir(module) if not name.startswith("__")]
        close = difflib.get_close_matches(function_name, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UserError(f"loader {path}: {module_name} has no function {function_name}{hint}")
    if not callable(function):
        raise UserError(f"loader {path}: it is a {type(function).__name__}, not a function")
    return function  # type: ignore[no-any-return]


def name_of_function(program: TorchLoaderOutput) -> str:
    """What the compiled function of `program` is called."""
    return program.func_name or DEFAULT_FUNCTION_NAME


def check_program(who: str, program: TorchLoaderOutput) -> None:
    """Holds the fields of `program`, which messages call `who`, against the contract.

    Raises:
      UserError: one of them breaks it.
    """
    check_module(who, "model", program.model)
    if program.constraints:
        raise UserError(
            f"{who}: constraints is not empty, but PyTorch {torch.__version__} has no "
            "dynamic_dim; say it with dynamic_shapes instead, for example "
            '{"x": {0: torch.export.Dim("batch")}, "y": {}}'
        )
    check_inputs(who, "inputs", program.inputs)
    check_dynamic_shapes(who, program.dynamic_shapes, program.model, program.inputs)
    check_func_name(who, program.func_name)
    check_mutation(who, program.mutation)
    check_mutable(who, program.mutable)
    _check_tolerance(who, "rtol", program.rtol)
    _check_tolerance(who, "atol", program.atol)
    if program.further_inputs is not None:
        _check_further_inputs(who, program.further_inputs, program.inputs)


def check_module(who: str, field: str, module: Any) -> None:
    """Refuses what is no module of Python's; the message names the `field` of `who`.

    Raises:
      UserError: `module` is none, or one of TorchScript.
    """
    if isinstance(module, type) and issubclass(module, torch.nn.Module):
        raise UserError(f"{who}: {field} is the class {module.__name__}; make one: call it")
    if not isinstance(module, torch.nn.Module):
        raise UserError(f"{who}: {field} is a {type(module).__name__}; it is a torch.nn.Module")
    if isinstance(module, torch.jit.ScriptModule):
        raise UserError(
            f"{who}: {field} is of TorchScript ({type(module).__name__}), which torch.export does "
            "not take; hand over the module that it was made of"
        )


def check_inputs(who: str, field: str, inputs: Any) -> None:
    """Refuses what are no inputs of a program; the message names the `field` of `who`.

    Raises:
      UserError: `inputs` is no tuple or list, or has something else in it, however nested, than
        tensors that can cross the boundary of a compiled function.
    """
    if not isinstance(inputs, tuple | list):
        raise UserError(
            f"{who}: {field} is a {type(inputs).__name__}; it is a tuple or list of tensors, for "
            "one input too: (x,)"
        )
    for place, leaf in leaves_with_places(inputs):
        if not is_number(leaf):
            check_tensor(f"{who}: {field}{place}", leaf)


def check_dynamic_shapes(
    who: str, dynamic_shapes: Any, module: torch.nn.Module, inputs: Sequence[Any]
) -> None:
    """Refuses `dynamic_shapes` of which torch.export would not say what is wrong.

    Raises:
      UserError: it is no dict, tuple or list, or names a dimension that an input does not have.
    """
    if not isinstance(dynamic_shapes, dict | tuple | list | None):
        raise UserError(
            f"{who}: dynamic_shapes is a {type(dynamic_shapes).__name__}; it is a dict by the "
            'names of the inputs, {"x": {0: torch.export.Dim("batch")}}, or a tuple or list of one '
            "entry for each"
        )
    try:
        entries = list(entries_of_leaves(module, inputs, dynamic_shapes))
    except (TypeError, ValueError, AttributeError):
        # forward does not take these inputs, or shapes are not nested as they are, which PyTorch
        # tells better.
        return
    for index, (entry, tensor) in enumerate(zip(entries, leaves(inputs), strict=False)):
        if is_number(tensor):
            if entry is not None and entry != torch.export.Dim.STATIC and not _is_dynamic(entry):
                raise UserError(
                    f"{who}: dynamic_shapes has {entry!r} for input {index}, the number "
                    f"{tensor!r}: torch.export.Dim.DYNAMIC makes it an argument, and None part of "
                    "the program"
                )
            continue
        if not isinstance(entry, Mapping | tuple | list | None):
            return  # Nor is it where *inputs have no tuple of their own.
        for axis in entry if isinstance(entry, Mapping) else range(len(entry or ())):
            if not isinstance(axis, int) or not 0 <= axis < tensor.ndim:
                raise UserError(
                    f"{who}: dynamic_shapes has dimension {axis!r} of input {index}, which has "
                    f"rank {tensor.ndim}: dimensions are counted from 0"
                )


def check_func_name(who: str, name: Any) -> None:
    """Refuses what cannot be the name of a compiled function, for `who`.

    Raises:
      UserError: it cannot.
    """
    if name is None:
        return
    if not isinstance(name, str):
        raise UserError(f"{who}: func_name is a {type(name).__name__}; it is a string")
    try:
        check_function_name(name)
    except UserError as error:
        raise UserError(f"{who}: {error}") from error


def check_mutation(who: str, mutation: Any) -> None:
    """Refuses what is no `Mutation`, for `who`.

    Raises:
      UserError: it is none.
    """
    if mutation not in get_args(Mutation):
        names = " or ".join(map(repr, get_args(Mutation)))
        raise UserError(f"{who}: mutation is {mutation!r}; it is {names}")


def check_mutable(who: str, mutable: Any) -> None:
    """Refuses what is no list of names, for `who`.

    Raises:
      UserError: it is none.
    """
    if not isinstance(mutable, tuple | list) or not all(isinstance(name, str) for name in mutable):
        raise UserError(
            f"{who}: mutable is {mutable!r}; it is a list of names of arguments, buffers and "
            'parameters, for one too: ["cache"]'
        )


def _check_tolerance(who: str, field: str, given: Any) -> None:
    values = given if isinstance(given, tuple | list) else [] if given is None else [given]
    for value in values:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise UserError(
                f"{who}: {field} is {given!r}; it is a number, or a list of one for each output"
            )
        if not 0 <= float(value) < math.inf:
            raise UserError(f"{who}: {field} is {given!r}; tolerances are finite and >= 0")


def _check_further_inputs(who: str, further: Any, samples: Sequence[torch.Tensor]) -> None:
    if not isinstance(further, tuple | list):
        raise UserError(
            f"{who}: further_inputs is a {type(further).__name__}; it is a list of tuples like "
            "inputs"
        )
    for number, inputs in enumerate(further):
        field = f"further_inputs[{number}]"
        check_inputs(who, field, inputs)
        given, expected = leaves(inputs), leaves(samples)
        if len(given) != len(expected):
            raise UserError(
                f"{who}: {field} has {len(given)} tensors, where inputs has {len(expected)}"
            )
        for index, (tensor, sample) in enumerate(zip(given, expected, strict=True)):
            tensor, sample = as_tensor(tensor), as_tensor(sample)
            if (tensor.dtype, tensor.ndim) != (sample.dtype, sample.ndim):
                raise UserError(
                    f"{who}: {field}[{index}] is {tensor.dtype} of rank {tensor.ndim}, where "
                    f"inputs[{index}] is {sample.dtype} of rank {sample.ndim}"
                )
