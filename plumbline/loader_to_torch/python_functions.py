"""What functions of Python's give of sizes, as numbers that may be dynamic.

`len` and `int` give an integer, and `math.sqrt` and `math.log` a float, so that they fix a dynamic
size at the example's, in programs and in PyTorch's own decompositions, and a number that depends on
values can be none.
"""

import ast
import contextlib
import functools
import inspect
import math
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType, ModuleType
from typing import Any, TypeVar
from unittest import mock

import torch
from torch._export.verifier import Verifier
from torch._ops import HigherOrderOperator, OpOverload

from plumbline.errors import UserError
from plumbline.loader_to_torch.element_counts import element_counts_as_sizes

LOG2: Callable[..., Any] = torch._sym_log2  # type: ignore[attr-defined]
"""The logarithm of a size, as PyTorch traces it."""


def _is_size(number: object) -> bool:
    return isinstance(number, torch.SymInt | torch.SymFloat)


def _power(base: Any, exponent: Any) -> Any:
    number: Any = torch.sym_float(base)  # type: ignore[no-untyped-call]
    return number**exponent


def _log2(number: Any) -> Any:
    return LOG2(number) if _is_size(number) else math.log2(number)


def _log(number: Any, base: Any = math.e) -> Any:
    # PyTorch traces that of one base alone.
    return _log2(number) / _log2(base)


_TRACED: dict[str, Callable[..., Any]] = {
    "exp": lambda number: _power(math.e, number),
    "log": _log,
    "log10": functools.partial(_log, base=10),
    "log2": _log2,
    "pow": _power,
    "sqrt": torch.sym_sqrt,
}
"""What takes the place of each function of `math`."""


def _of_sizes(name: str) -> Callable[..., Any]:
    """The function of that name, which traces what it computes of sizes."""
    function: Callable[..., Any] = getattr(math, name)

    @functools.wraps(function)
    def of_sizes(*numbers: Any) -> Any:
        return (_TRACED[name] if any(map(_is_size, numbers)) else function)(*numbers)

    return of_sizes


_OF_SIZES = {getattr(math, name): _of_sizes(name) for name in _TRACED}


class _IsLogarithm(type):
    def __instancecheck__(cls, function: object) -> bool:
        return function is LOG2


class _Logarithm(metaclass=_IsLogarithm):
    """A type that the logarithm of sizes is of, and nothing else."""


def _allowed_types(_: Verifier) -> tuple[type, ...]:
    return (OpOverload, HigherOrderOperator, _Logarithm)


@contextlib.contextmanager
def functions_of_sizes() -> Iterator[None]:
    """Has functions of `math`, and `x.shape.numel()`, trace meanwhile what they compute of sizes.

    Logarithms PyTorch traces, but torch.export has none in its list of what a program calls.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(Verifier, "allowed_op_types", _allowed_types))
        stack.enter_context(element_counts_as_sizes())
        for function, of_sizes in _OF_SIZES.items():
            stack.enter_context(mock.patch.object(math, function.__name__, of_sizes))
        yield


@contextlib.contextmanager
def lengths_as_sizes(model: torch.nn.Module) -> Iterator[None]:
    """Has `len` give sizes meanwhile, in the files that the classes of a model's modules are in.

    What these have imported from `math` by its name traces what it computes of sizes there.
    """
    with contextlib.ExitStack() as stack:
        for file in _files_of(model):
            if not hasattr(file, "len"):
                stack.enter_context(mock.patch.object(file, "len", _length, create=True))
            for own, value in list(vars(file).items()):
                if isinstance(value, BuiltinFunctionType) and value in _OF_SIZES:
                    stack.enter_context(mock.patch.object(file, own, _OF_SIZES[value]))
        yield


_NOT_OF_PROGRAMS = sys.stdlib_module_names | {"plumbline", "sympy", "torch"}


def _files_of(model: torch.nn.Module) -> Iterator[ModuleType]:
    """The files that the classes of a model's modules are in, but PyTorch's own."""
    names = {cls.__module__ for module in model.modules() for cls in type(module).__mro__}
    for name in names:
        file = sys.modules.get(name)
        if file is not None and _is_of_programs(file):
            yield file


def _is_of_programs(file: ModuleType) -> bool:
    return file.__name__.partition(".")[0] not in _NOT_OF_PROGRAMS


def _length(of: Any) -> Any:
    return of.shape[0] if isinstance(of, torch.Tensor) and _has_dynamic_rows(of) else len(of)


def _has_dynamic_rows(tensor: torch.Tensor) -> bool:
    return tensor.dim() > 0 and isinstance(tensor.shape[0], torch.SymInt)


class _AsInt(type):
    """The type of what stands for `int` where that is called, or in `isinstance`."""

    traced = False
    """Whether a call has given a size, or what depends on values, since this was set."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        if len(arguments) != 1 or options:
            return int(*arguments, **options)
        (number,) = arguments
        if isinstance(number, torch.Tensor):
            known = number.item()
            if isinstance(known, torch.SymFloat | torch.SymBool):
                # Of a tensor's numbers those are computed that are integers.
                known = number.to(torch.int64).item()
            number = known
        if not _is_size(number):
            return int(number)
        _AsInt.traced = True
        return number if isinstance(number, torch.SymInt) else math.trunc(number)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, int)


class _Int(metaclass=_AsInt):
    pass


Integers = contextlib.AbstractContextManager[None]
"""A context in which a model is traced, that says what `int` gives meanwhile."""

_Result = TypeVar("_Result")


def with_integers_as_sizes(model: torch.nn.Module, make: Callable[[Integers], _Result]) -> _Result:
    """What `make` makes of a model in whose files `int` gives sizes, where they are dynamic.

    Where the program is refused in a function of another file, `int` gives sizes in that, too, and
    `len` does where it has fixed one, which no refusal says the line of, and a `Dim.AUTO` takes.

    Such an integer may do less than others: it is no key of a dictionary, say. So where one was
    given and the program is refused, it is what `make` makes with Python's own.

    Raises:
      UserError: the program is refused all the same.
    """
    integers = _IntegersAsSizes(_files_of(model))
    of_fixed_sizes: list[_Result] = []
    while True:
        try:
            made = make(integers)
            if not integers.reach_files_of_lengths():
                return made
            of_fixed_sizes.append(made)
        except UserError as refusal:
            if integers.reach_files_of(refusal) or integers.reach_files_of_lengths():
                continue
            if of_fixed_sizes:
                return of_fixed_sizes[-1]
            if not integers.have_been:
                raise
            try:
                return make(contextlib.nullcontext())
            except UserError:
                # What no size does is a TypeError. Of all else this tells more than that
                # integers are not known.
                if isinstance(refusal.__cause__, TypeError):
                    raise
            raise


class _IntegersAsSizes(contextlib.AbstractContextManager[None]):
    """The context, for the functions in some files.

    It leaves those alone that do with `int` what the type itself is for, as in `dtype=int`.
    """

    def __init__(self, files: Iterable[ModuleType]) -> None:
        self._files = {file.__name__: file for file in files if _has_int_for_numbers(file)}
        self._of_lengths: dict[str, ModuleType] = {}
        """Further files than the model's own in which `len` gives sizes."""
        self._fixed_lengths: dict[str, ModuleType] = {}
        """Files in which `len` has fixed a size."""
        self._stack = contextlib.ExitStack()
        self.have_been = False
        """Whether one was given before the context was left."""

    def reach_files_of(self, refusal: UserError) -> bool:
        """Whether there are more files, which the program was in when it was refused."""
        known = len(self._files)
        error: BaseException | None = refusal
        while error is not None:
            for frame, _ in traceback.walk_tb(error.__traceback__):
                file = sys.modules.get(frame.f_globals.get("__name__", ""))
                if file is not None and _is_of_programs(file) and _has_int_for_numbers(file):
                    self._files[file.__name__] = file
            error = error.__cause__ or error.__context__
        return len(self._files) > known

    def reach_files_of_lengths(self) -> bool:
        """Whether there are more files, in which `len` has fixed a size."""
        known = len(self._of_lengths)
        self._of_lengths |= self._fixed_lengths
        return len(self._of_lengths) > known

    def _note_length(self, tensor: torch.Tensor) -> None:
        if _has_dynamic_rows(tensor):
            caller = sys._getframe(2).f_globals
            file = sys.modules.get(caller.get("__name__", ""))
            # Another file of that name, as of a script that is run twice, is not what was called.
            if file is not None and vars(file) is caller and _is_of_programs(file):
                self._fixed_lengths[file.__name__] = file

    def __enter__(self) -> None:
        length: Callable[[torch.Tensor], int] = torch.Tensor.__len__

        def noted(tensor: torch.Tensor) -> int:
            self._note_length(tensor)
            return length(tensor)

        self._stack.enter_context(mock.patch.object(torch.Tensor, "__len__", noted))
        for file in self._of_lengths.values():
            if not hasattr(file, "len"):
                self._stack.enter_context(mock.patch.object(file, "len", _length, create=True))
        _AsInt.traced = False
        for file in self._files.values():
            self._stack.enter_context(mock.patch.object(file, "int", _Int, create=True))

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self.have_been |= _AsInt.traced


def _has_int_for_numbers(file: ModuleType) -> bool:
    return not hasattr(file, "int") and _has_int_called_alone(file)


@functools.lru_cache(maxsize=1 << 10)
def _has_int_called_alone(file: ModuleType) -> bool:
    try:
        return calls_int_alone(inspect.getsource(file))
    except (OSError, SyntaxError, TypeError):  # There is no source, or another one.
        return False


def calls_int_alone(source: str) -> bool:
    """Whether functions of a file have `int` in calls of it, `isinstance` and annotations alone.

    What is outside of functions is computed as the file is imported.
    """
    if "int(" not in source:
        return False
    uses: set[int] = set()
    allowed: list[ast.AST] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
                uses |= {id(use) for line in body for use in _uses_of_int(line)}
                allowed += [use for part in _annotations(node) for use in _uses_of_int(part)]
            case ast.Lambda(body=expression):
                uses |= {id(use) for use in _uses_of_int(expression)}
            case ast.Call(func=ast.Name("isinstance"), args=[_, of]):
                allowed += [of, *(of.elts if isinstance(of, ast.Tuple) else ())]
            case ast.Call():
                allowed.append(node.func)
            case ast.AnnAssign():
                allowed += _uses_of_int(node.annotation)
    return uses <= {id(node) for node in allowed}


def _uses_of_int(of: ast.AST) -> list[ast.AST]:
    return [node for node in ast.walk(of) if isinstance(node, ast.Name) and node.id == "int"]


def _annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """The types of a function's arguments, with what these are by default, and of its result."""
    return [function.args, *([function.returns] if function.returns else ())]
