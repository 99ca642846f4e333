"""Loader functions: what they return, and how one is found and called."""

import difflib
import importlib
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from plumbline import element_type
from plumbline.errors import UserError
from plumbline.function_name import check_function_name
from plumbline.loader_to_torch.source_path import relative_to_import_path

SEED = 0
"""PyTorch's random state before a loader runs, so that its weights are the same every time."""


@dataclass
class TorchLoaderOutput:
    """What a loader function returns: a program, and the inputs that it is tried on."""

    model: torch.nn.Module
    """Its `forward` takes tensors and returns a tensor, or a tuple or list of tensors. It is
    compiled as for inference, in `eval()` mode and without gradients."""
    inputs: Sequence[torch.Tensor]
    """The sample inputs, one for each argument of `forward`."""
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None
    """Which dimensions may differ at run time, as `torch.export.export` takes it:
    `{"x": {0: torch.export.Dim("batch")}, "y": {}}` or one entry for each input."""
    func_name: str = "func_main"
    """The name of the compiled C function."""
    rtol: float | Sequence[float] | None = None
    """The relative tolerance of the comparison, for all outputs or one for each; None stands
    for the default of `torch.testing.assert_close` for the output's dtype."""
    atol: float | Sequence[float] | None = None
    """The absolute tolerance, likewise."""
    further_inputs: Sequence[Sequence[torch.Tensor]] | None = None
    """Inputs of other sizes that the program is also tried on. None: where `dynamic_shapes` says
    that sizes may differ, two such are made up (see `further_cases.py`); with `()`, none."""
    constraints: Sequence[Any] | None = None
    """What older loaders used for dynamic shapes; refused unless empty, since PyTorch has no
    `dynamic_dim` any more."""


def load(path: str) -> TorchLoaderOutput:
    """Calls the loader function `path` ("package.module.function") with a fixed random seed.

    The model that comes back is in `eval()` mode; the inputs are detached copies, so that two
    arguments never share memory, which the exporter would take for a promise.

    Raises:
      UserError: there is no such function, it fails, or what it returns breaks the contract of
        `TorchLoaderOutput`.
    """
    function = _find(path)
    torch.manual_seed(SEED)
    try:
        output = function()
    except Exception as error:
        raise UserError(f"loader {path} failed: {describe_error(error)}") from error
    if not isinstance(output, TorchLoaderOutput):
        raise UserError(
            f"loader {path} returned a {type(output).__name__}; it returns a "
            "tools.aot.torch_loader_utils.TorchLoaderOutput"
        )
    check_program(f"loader {path}", output)
    output.model.eval()
    output.inputs = _detached(output.inputs)
    if output.further_inputs is not None:
        output.further_inputs = tuple(map(_detached, output.further_inputs))
    return output


def _detached(tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.detach().clone() for tensor in tensors)


def describe_error(error: BaseException) -> str:
    """`error` as one message: type, text, and the place in the user's source."""
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        file = relative_to_import_path(frame.filename)
        if _is_users(frame.filename, file):
            place = f"\n  at {file}:{frame.lineno}: {frame.line}"
    return f"{type(error).__name__}: {str(error).strip()}{place}"


def _is_users(absolute: str, relative: str) -> bool:
    libraries = (sys.prefix, sys.base_prefix)
    return (
        not relative.startswith(("<", "plumbline/", "torch/", "torch_mlir/", "tools/aot/"))
        and "site-packages" not in absolute
        and not absolute.startswith(tuple(f"{library}/lib/python" for library in libraries))
    )


def _find(path: str) -> Callable[[], Any]:
    module_name, _, function_name = path.rpartition(".")
    if not module_name:
        raise UserError(
            f"torch_loader_path {path!r} is not of the form package.module.function, such as "
            "test.AotCompile.model_loader_lib.foo_loader"
        )
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        hint = ""
        if isinstance(error, ModuleNotFoundError) and module_name.startswith(error.name or "\0"):
            hint = (
                "\n  Is torch_loader_lib the py_library that holds that file, and the path "
                "relative to the workspace?"
            )
        raise UserError(
            f"loader {path}: module {module_name} does not import: {describe_error(error)}{hint}"
        ) from error
    function = getattr(module, function_name, None)
    if function is None:
        close = difflib.get_close_matches(function_name, dir(module), n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UserError(f"loader {path}: {module_name} has no function {function_name}{hint}")
    if not callable(function):
        raise UserError(f"loader {path}: it is a {type(function).__name__}, not a function")
    return function  # type: ignore[no-any-return]


def check_program(who: str, program: TorchLoaderOutput) -> None:
    """Holds the fields of `program`, which messages call `who`, against the contract.

    Raises:
      UserError: one of them breaks it.
    """
    if not isinstance(program.model, torch.nn.Module):
        raise UserError(
            f"{who}: model is a {type(program.model).__name__}; it is a torch.nn.Module"
        )
    if program.constraints:
        raise UserError(
            f"{who}: constraints is not empty, but PyTorch {torch.__version__} has no "
            "dynamic_dim; say it with dynamic_shapes instead, for example "
            '{"x": {0: torch.export.Dim("batch")}, "y": {}}'
        )
    _check_inputs(who, "inputs", "input", program.inputs)
    for number, inputs in enumerate(program.further_inputs or ()):
        which = f"further_inputs[{number}]"
        _check_inputs(who, which, f"{which}: input", inputs)
        if len(inputs) != len(program.inputs):
            raise UserError(
                f"{who}: {which} has {len(inputs)} tensors, where inputs has {len(program.inputs)}"
            )
        for index, (tensor, sample) in enumerate(zip(inputs, program.inputs, strict=True)):
            if (tensor.dtype, tensor.ndim) != (sample.dtype, sample.ndim):
                raise UserError(
                    f"{who}: {which}: input {index} is {tensor.dtype} of rank {tensor.ndim}, where "
                    f"that of inputs is {sample.dtype} of rank {sample.ndim}"
                )
    try:
        check_function_name(program.func_name)
    except UserError as error:
        raise UserError(f"{who}: {error}") from error


def _check_inputs(who: str, field: str, one: str, inputs: Any) -> None:
    if isinstance(inputs, torch.Tensor) or not isinstance(inputs, Sequence):
        raise UserError(
            f"{who}: {field} is a {type(inputs).__name__}; it is a tuple or list of tensors, for "
            "one input too: (x,)"
        )
    for index, tensor in enumerate(inputs):
        check_tensor(f"{who}: {one} {index}", tensor)


def check_tensor(what: str, tensor: Any) -> None:
    """Refuses what cannot cross the boundary of a compiled function.

    Raises:
      UserError: `tensor` is not a dense tensor on the CPU of a supported dtype; the message
        begins with `what`.
    """
    if not isinstance(tensor, torch.Tensor):
        raise UserError(
            f"{what} is of type {type(tensor).__name__}, not a tensor; a compiled function takes "
            "and returns tensors only: keep other values in the module, or wrap them in "
            "torch.tensor(...)"
        )
    if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.is_quantized:
        raise UserError(
            f"{what} is a tensor of layout {tensor.layout} on {tensor.device}; it must be dense "
            "and on the CPU"
        )
    try:
        element_type.from_torch_name(str(tensor.dtype))
    except UserError as error:
        raise UserError(f"{what}: {error}") from error
