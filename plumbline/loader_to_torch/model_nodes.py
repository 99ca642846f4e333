"""What programs share that run the nodes of a model's file, of ONNX or TensorFlow Lite."""

import contextlib
import difflib
import inspect
import itertools
import logging
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from plumbline.errors import UserError


def calls_from(file: str, number: int) -> Callable[..., Any]:
    """A function that calls its first argument from a line of `file`, as far as Python can tell.

    PyTorch takes the places of ops in a user's source from functions on Python's stack that are
    called `forward`; a node's is its number.
    """
    source = "\n" * (number - 1) + "def forward(function, *given): return function(*given)"
    scope: dict[str, types.FunctionType] = {}
    exec(compile(source, file, "exec"), scope)
    return scope["forward"]


def attribute_name(module: torch.nn.Module, name: str) -> str:
    """What `module` can have as the name of a buffer or of a module: `name`, but for its dots."""
    plain = name.replace(".", "_") or "_"
    candidates = itertools.chain([plain], (f"{plain}_{n}" for n in itertools.count(1)))
    return next(each for each in candidates if not hasattr(module, each))


def with_names(function: Any, names: Sequence[str]) -> Any:
    """`function`, which takes any arguments, as one that takes arguments of these names."""

    def forward(*inputs: torch.Tensor) -> Any:
        return function(*inputs)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    forward.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind) for name in names]
    )
    return forward


def check_sizes(who: str, names: Sequence[str], sizes: Mapping[str, int]) -> None:
    """Refuses sizes of what no dimension of a model is called.

    Raises:
      UserError: there is one, or a size is none.
    """
    for name, size in sizes.items():
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            known = ", ".join(names) or "none"
            hint = f"did you mean {close[0]}?" if close else f"there is {known}"
            raise UserError(f"{who}: no dimension is called {name}; {hint}")
        if size < 0:
            raise UserError(f"{who}: {name} is to be {size}; a size is at least 0")


_INPUTS = "the inputs of the reference tensors"


def check_expected(
    who: str, given: Sequence[torch.Tensor], made: Sequence[torch.Tensor], results: int, known: int
) -> None:
    """Refuses reference tensors that are not of a model that messages call `who`.

    Args:
      who: the model.
      given: the inputs of the reference tensors.
      made: inputs that fit the model.
      results: how many it has.
      known: how many the reference tensors have.

    Raises:
      UserError: there are others than those.
    """
    if len(given) != len(made):
        raise UserError(f"{who}: it has {len(made)} arguments, where {_INPUTS} are {len(given)}")
    for number, (one, other) in enumerate(zip(given, made, strict=True)):
        if (one.dtype, one.ndim) != (other.dtype, other.ndim):
            raise UserError(
                f"{who}: argument {number} is {other.dtype} of rank {other.ndim}, where that of "
                f"{_INPUTS} is {one.dtype} of rank {one.ndim}"
            )
    if results != known:
        counts = f"{results} results, where the reference tensors have {known} outputs"
        raise UserError(f"{who}: it has {counts}")


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Has PyTorch print no tracebacks of ops that find fake tensors of wrong sizes."""
    logger = logging.getLogger(FakeTensorMode.__module__)
    was_disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was_disabled
