"""What functions of Python's give of sizes, as numbers that may be dynamic.

`len` and `int` give an integer, and `float`, `math.sqrt` and `math.log` a float, so that they fix a
dynamic size at the example's, in programs and in PyTorch's own decompositions, and a number that
depends on values can be none. Of what is no number of Python's, NumPy's functions call methods.
"""

import ast
import contextlib
import functools
import inspect
import math
import re
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


_GCD = math.gcd


def _gcd(*numbers: Any) -> Any:
    sizes = [number for number in numbers if _is_size(number)]
    known = _GCD(*(number for number in numbers if not _is_size(number)))
    if len(sizes) > 1 or not 0 < known <= _MOST_DIVIDED:
        return _GCD(*numbers)
    (size,) = sizes
    common = [
        divisor * (1 - torch.sym_min(size % divisor, 1))  # type: ignore[no-untyped-call]
        for divisor in range(1, known + 1)
        if known % divisor == 0
    ]
    return functools.reduce(torch.sym_max, common)


_MOST_DIVIDED = 256
"""Up to which a number's divisors are few enough to ask of each whether it divides a size."""

_TRACED: dict[str, Callable[..., Any]] = {
    "exp": lambda number: _power(math.e, number),
    "fabs": lambda number: abs(torch.sym_float(number)),  # type: ignore[no-untyped-call]
    "gcd": _gcd,
    # Of fewer than 2^52, none of which has a root that f64 rounds up to an integer.
    "isqrt": lambda number: math.floor(torch.sym_sqrt(number)),
    "log": _log,
    "log10": lambda number: _log(number, 10),
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

_OF_NUMPY = ("exp", "log", "log10", "log2", "sqrt")
"""What of these NumPy has, too, and computes of other objects by their methods of that name."""


def _divided(number: Any, divisor: Any) -> tuple[Any, Any]:
    return number // divisor, number % divisor


def _bit_length(size: Any) -> Any:
    # The logarithm of 0 is no number.
    doubled: Any = torch.sym_max(2 * size, 1)  # type: ignore[no-untyped-call]
    return math.floor(_log2(doubled))


_METHODS: dict[str, Callable[..., Any]] = {
    "__divmod__": _divided,
    "__rdivmod__": lambda divisor, number: _divided(number, divisor),
    "bit_length": _bit_length,
    **{name: _TRACED[name] for name in _OF_NUMPY},
}
"""What integers of Python's do, and sizes do not, or fix one by it."""


class _IsLogarithm(type):
    def __instancecheck__(cls, function: object) -> bool:
        return function is LOG2


class _Logarithm(metaclass=_IsLogarithm):
    """A type that the logarithm of sizes is of, and nothing else."""


def _allowed_types(_: Verifier) -> tuple[type, ...]:
    return (OpOverload, HigherOrderOperator, _Logarithm)


@contextlib.contextmanager
def functions_of_sizes() -> Iterator[None]:
    """Has functions of `math`, `divmod` and `x.shape.numel()` trace what they give of sizes.

    Logarithms PyTorch traces, but torch.export has none in its list of what a program calls.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(Verifier, "allowed_op_types", _allowed_types))
        stack.enter_context(element_counts_as_sizes())
        for function, of_sizes in _OF_SIZES.items():
            stack.enter_context(mock.patch.object(math, function.__name__, of_sizes))
        for name, method in _METHODS.items():
            for kind in (torch.SymInt, torch.SymFloat):
                stack.enter_context(mock.patch.object(kind, name, method, create=True))
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
        return isinstance(instance, int | torch.SymInt)


class _Int(metaclass=_AsInt):
    pass


class _AsFloat(type):
    """The type of what stands for `float` where that is called, or in `isinstance`."""

    def __call__(cls, *arguments: Any) -> Any:
        if not any(map(_is_size, arguments)):
            return float(*arguments)
        _AsInt.traced = True
        return torch.sym_float(*arguments)  # type: ignore[no-untyped-call]

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, float | torch.SymFloat)


class _Float(metaclass=_AsFloat):
    pass


_AS_SIZES: dict[str, Any] = {"float": _Float, "int": _Int, "len": _length}
"""What stands for each function of Python's that fixes a size."""

Integers = contextlib.AbstractContextManager[None]
"""A context in which a model is traced, that says what `int` and `float` give meanwhile."""

_Result = TypeVar("_Result")


def with_integers_as_sizes(model: torch.nn.Module, make: Callable[[Integers], _Result]) -> _Result:
    """What `make` makes of a model in whose files `int` and `float` trace sizes that are dynamic.

    Where the program is refused in a function of another file, `int` gives sizes in that, too. So
    do `int`, `float` and `len` where they have fixed one, which no refusal says the line of, and a
    `Dim.AUTO` takes.

    Such a number may do less than others: it is no key of a dictionary, say. So where one was given
    and the program is refused, it is what `make` makes with Python's own.

    Raises:
      UserError: the program is refused all the same.
    """
    integers = _IntegersAsSizes(_files_of(model))
    of_fixed_sizes: list[_Result] = []
    while True:
        try:
            made = make(integers)
            if not integers.reach_files_that_fix():
                return made
            of_fixed_sizes.append(made)
        except UserError as refusal:
            if integers.reach_files_of(refusal) or integers.reach_files_that_fix():
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

    It leaves those alone that do with `int` or `float` what the type itself is for, as in
    `dtype=int`.
    """

    def __init__(self, files: Iterable[ModuleType]) -> None:
        self._files: dict[str, dict[str, ModuleType]] = {name: {} for name in _AS_SIZES}
        """The files in which each function of Python's gives sizes, by their names."""
        self._fixing: dict[str, dict[str, ModuleType]] = {name: {} for name in _AS_SIZES}
        """Those in which it has fixed a size."""
        for file in files:
            for name in ("float", "int"):
                self._reach(name, file)
        self._stack = contextlib.ExitStack()
        self.have_been = False
        """Whether one was given before the context was left."""

    def _reach(self, name: str, file: ModuleType) -> None:
        if _may_give_sizes(name, file):
            self._files[name][file.__name__] = file

    def reach_files_of(self, refusal: UserError) -> bool:
        """Whether there are more files, which the program was in when it was refused."""
        known = len(self._files["int"])
        error: BaseException | None = refusal
        while error is not None:
            for frame, _ in traceback.walk_tb(error.__traceback__):
                file = sys.modules.get(frame.f_globals.get("__name__", ""))
                if file is not None and _is_of_programs(file):
                    self._reach("int", file)
            error = error.__cause__ or error.__context__
        return len(self._files["int"]) > known

    def reach_files_that_fix(self) -> bool:
        """Whether there are more files, in which a function of Python's has fixed a size."""
        more = False
        for name, files in self._files.items():
            more |= not self._fixing[name].keys() <= files.keys()
            files |= self._fixing[name]
        return more

    def _note(self, name: str, caller: dict[str, Any]) -> None:
        file = sys.modules.get(caller.get("__name__", ""))
        # Another file of that name, as of a script that is run twice, is not what was called.
        if file is None or vars(file) is not caller:
            return
        if _is_of_programs(file) and _may_give_sizes(name, file):
            self._fixing[name][file.__name__] = file

    def _noting(self, name: str, fixes: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """What does what `fixes` does, and notes the file in which that fixes a size."""

        def noted(number: Any) -> Any:
            if _is_size(number) or _has_dynamic_rows(number):
                self._note(name, sys._getframe(1).f_globals)
            return fixes(number)

        return noted

    def __enter__(self) -> None:
        def patch(of: Any, attribute: str, value: Any) -> None:
            self._stack.enter_context(mock.patch.object(of, attribute, value, create=True))

        size, share = torch.SymInt, torch.SymFloat
        patch(torch.Tensor, "__len__", self._noting("len", torch.Tensor.__len__))
        patch(size, "__int__", self._noting("int", size.__int__))
        patch(share, "__int__", self._noting("int", share.__int__))
        # Without one of its own, a size is a float by the integer that it is.
        patch(size, "__float__", self._noting("float", lambda number: float(number.node.int_())))
        patch(share, "__float__", self._noting("float", share.__float__))
        _AsInt.traced = False
        for name, files in self._files.items():
            for file in files.values():
                patch(file, name, _AS_SIZES[name])

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self.have_been |= _AsInt.traced


def _may_give_sizes(name: str, file: ModuleType) -> bool:
    """Whether a function of Python's, by its name, can be another one in all of a file."""
    return not hasattr(file, name) and (name == "len" or _has_called_alone(name, file))


@functools.lru_cache(maxsize=1 << 10)
def _has_called_alone(name: str, file: ModuleType) -> bool:
    try:
        return calls_alone(name, inspect.getsource(file))
    except (OSError, SyntaxError, TypeError):  # There is no source, or another one.
        return False


def calls_alone(name: str, source: str) -> bool:
    """Whether a file's functions have that type in calls of it, `isinstance` and annotations alone.

    What is outside of functions is computed as the file is imported.
    """
    if not re.search(rf"\b{name}\(|\bisinstance\(.*\b{name}\b", source):
        return False

    def uses_in(part: ast.AST) -> list[ast.AST]:
        return [use for use in ast.walk(part) if isinstance(use, ast.Name) and use.id == name]

    uses: set[int] = set()
    allowed: list[ast.AST] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
                uses |= {id(use) for line in body for use in uses_in(line)}
                allowed += [use for part in _annotations(node) for use in uses_in(part)]
            case ast.Lambda(body=expression):
                uses |= {id(use) for use in uses_in(expression)}
            case ast.Call(func=ast.Name("isinstance"), args=[_, of]):
                allowed += [of, *(of.elts if isinstance(of, ast.Tuple) else ())]
            case ast.Call():
                allowed.append(node.func)
            case ast.AnnAssign():
                allowed += uses_in(node.annotation)
    return uses <= {id(node) for node in allowed}


def _annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """The types of a function's arguments, with what these are by default, and of its result."""
    return [function.args, *([function.returns] if function.returns else ())]
