"""What a test of TCP's ops against PyTorch is made of: a case, and how it is compiled and run.

A case is a PyTorch function and the inputs that it is tried on. All its dtypes, and several cases,
are compiled into one program: a compilation of its own costs a small one more than its ops do.
"""

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType

import pytest
import torch
from torch.export import Dim
from torch_mlir import ir

import plumbline
from plumbline.bindings.walk import all_operations, captured_values, defining_operation
from plumbline.context import lent_context
from plumbline.tcp.assembly.module import parse_module
from plumbline.tcp.dialect import TcpOp

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)
INTEGERS = (torch.uint8, *SIGNED)
NUMBERS = (*FLOATS, *INTEGERS)
BOOL = (torch.bool,)
ALL = (*NUMBERS, *BOOL)

KINDS = ("static", "dynamic", "empty")
"""How a case is compiled: all sizes static; all dynamic that may be; all of those 0, and static.

Shapes and dtypes are matters apart: the latter two take one dtype of each category only.
"""

_CATEGORIES = (FLOATS, INTEGERS, BOOL)
_TYPICAL = (torch.float32, torch.int64, torch.bool)

_NOT_FINITE = (float("nan"), float("inf"), float("-inf"))
_SPECIAL_FLOATS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 88.0, -88.0, 1e-3, -1e-3)


class Sampler:
    """Draws the inputs of a case, the same ones each time, at the sizes that are asked for."""

    def __init__(
        self, dtype: torch.dtype, resize: Callable[[int], int] = lambda size: size, seed: int = 0
    ) -> None:
        self.dtype = dtype
        """The one of the case's dtypes that the inputs are drawn for."""
        self._resize = resize
        self._generator = torch.Generator().manual_seed(seed)

    def size(self, size: int) -> int:
        """What a size of the case is in this run."""
        return self._resize(size)

    def tensor(
        self, *sizes: int, dtype: torch.dtype | None = None, low: float = -4, high: float = 4
    ) -> torch.Tensor:
        """Finite numbers between `low` and `high`, and truth values for bool."""
        dtype = dtype or self.dtype
        shape = [self.size(size) for size in sizes]
        if dtype == torch.bool:
            return torch.rand(shape, generator=self._generator) < 0.5
        if dtype.is_floating_point:
            drawn = torch.rand(shape, generator=self._generator, dtype=torch.float64)
            return (low + (high - low) * drawn).to(dtype)
        if not dtype.is_signed:
            low = max(low, 0)
        drawn = torch.randint(int(low), int(high) + 1, shape, generator=self._generator)
        return drawn.to(dtype)

    def telling(self, *sizes: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Numbers at which functions go wrong: zeros, halves, extremes, infinities and NaN."""
        dtype = dtype or self.dtype
        tensor = self.tensor(*sizes, dtype=dtype)
        special: tuple[float, ...] = ()
        if dtype.is_floating_point:
            special = (*_SPECIAL_FLOATS, *_NOT_FINITE)
        elif dtype != torch.bool:
            limits = torch.iinfo(dtype)
            special = (0, 1, limits.max, limits.min, limits.max - 1, limits.min + 1)
        if not special or tensor.numel() == 0:
            return tensor
        chosen = torch.randint(len(special), tensor.shape, generator=self._generator)
        # Two thirds of the elements, so that each special value meets ordinary ones too.
        taken = torch.rand(tensor.shape, generator=self._generator) < 0.67
        return torch.where(taken, torch.tensor(special, dtype=dtype)[chosen], tensor)

    def index(
        self, *sizes: int, below: int, negative: bool = False, dtype: torch.dtype = torch.int64
    ) -> torch.Tensor:
        """Places along a dimension that has the size `below` in the case."""
        shape = [self.size(size) for size in sizes]
        count = self.size(below)
        if 0 in shape:
            return torch.zeros(shape, dtype=dtype)
        low = -count if negative else 0
        return torch.randint(low, count, shape, generator=self._generator).to(dtype)

    def permutation(self, size: int) -> torch.Tensor:
        """All places along a dimension that has that size in the case, in some order."""
        return torch.randperm(self.size(size), generator=self._generator)


@dataclass(frozen=True)
class OpCase:
    """A PyTorch function that ops of TCP compute."""

    name: str
    function: Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]
    inputs: Callable[[Sampler], Sequence[torch.Tensor]]
    ops: Sequence[type[TcpOp]]
    """The ops that the function becomes; other ones may stand beside them."""
    dtypes: Sequence[torch.dtype] = ALL
    static: Sequence[int] = ()
    """Sizes that are not to be dynamic, besides 1, which never is. Equal sizes of a case all are
    dynamic or none is."""
    kinds: Sequence[str] = KINDS
    """A subset of KINDS, and a reason beside it for what is left out."""
    empty: bool = True
    """Whether the program that is compiled for dynamic sizes can be run on sizes of 0 too."""
    auto: bool = False
    """Whether PyTorch is to find the range of the dynamic sizes itself, since not all are right:
    windows want room."""
    rtol: float | None = None
    """The relative tolerance; None stands for the default of `torch.testing.assert_close`."""
    atol: float | None = None

    def is_dynamic(self, size: int) -> bool:
        """Whether dimensions of that size are dynamic, where sizes are."""
        return size != 1 and size not in self.static


@dataclass(frozen=True)
class _Call:
    """The function of a case, called for one dtype."""

    place: int
    """The case's, in its batch."""
    case: OpCase
    dtype: torch.dtype
    inputs: tuple[torch.Tensor, ...]

    @functools.cached_property
    def expected(self) -> tuple[torch.Tensor, ...]:
        """PyTorch's answers."""
        with torch.no_grad():
            return _as_tuple(self.case.function(*self.inputs))


def each(cases: Iterable[OpCase]) -> pytest.MarkDecorator:
    """Runs a test with each case and kind, as its arguments `batch` and `place` in that."""
    return pytest.mark.parametrize(
        ("batch", "place"),
        [
            pytest.param(batch, place, id=f"{case.name}-{batch.kind}")
            for batch in _batches(cases)
            for place, case in enumerate(batch.cases)
        ],
    )


class Batch:
    """Cases that are compiled into one program, in which they share nothing but sizes.

    However small a program is, it costs a tenth of a second.
    """

    def __init__(self, cases: Sequence[OpCase], kind: str) -> None:
        self.cases = cases
        self.kind = kind

    def check(self, place: int) -> None:
        """Holds what becomes of the case at a place, in all its dtypes, against PyTorch's answers.

        What is compiled is the whole batch, by the first that asks.
        """
        if failure := self._failures.get(place):
            raise failure

    @functools.cached_property
    def _failures(self) -> dict[int, Exception]:
        """What is wrong with cases, by their places."""
        try:
            return self._tried()
        except Exception as error:
            if len(self.cases) == 1:
                return {0: error}
            alone = {
                place: failure
                for place, case in enumerate(self.cases)
                for failure in Batch([case], self.kind)._failures.values()
            }
            # Where each can be compiled alone, all that cannot be together are at fault.
            return alone or dict.fromkeys(range(len(self.cases)), error)

    def _tried(self) -> dict[int, Exception]:
        def emptied(case: OpCase, size: int) -> int:
            return 0 if case.is_dynamic(size) else size

        def grown(case: OpCase, size: int) -> int:
            return size + 2 if case.is_dynamic(size) else size

        if self.kind == "empty":
            calls = self._calls(emptied)
            return _run(_compile(calls, self.kind), calls)
        calls = self._calls()
        program = _compile(calls, self.kind)
        failures = _check_stages(program, calls, self.kind) | _run(program, calls)
        if self.kind == "dynamic":
            failures |= _run(program, self._calls(grown))
            if all(case.empty for case in self.cases):
                failures |= _run(program, self._calls(emptied))
        return failures

    def _calls(self, resize: Callable[[OpCase, int], int] = lambda case, size: size) -> list[_Call]:
        return [
            _Call(
                place,
                case,
                dtype,
                tuple(case.inputs(Sampler(dtype, functools.partial(resize, case)))),
            )
            for place, case in enumerate(self.cases)
            for dtype in _dtypes(case, self.kind)
        ]


def ops_without_case(family: ModuleType, cases: Iterable[OpCase]) -> set[str]:
    """The ops that a module of `plumbline.tcp.ops` defines and no case has among its ops."""
    defined = {
        value.OPERATION_NAME
        for value in vars(family).values()
        if isinstance(value, type)
        and issubclass(value, TcpOp)
        and value.__module__ == family.__name__
        and getattr(value, "OPERATION_NAME", None)
    }
    return defined - {op.OPERATION_NAME for case in cases for op in case.ops}


def _one_of_each_category(dtypes: Sequence[torch.dtype]) -> list[torch.dtype]:
    """The typical dtype of each category that there is one of, or else the first."""
    groups = ([dtype for dtype in dtypes if dtype in category] for category in _CATEGORIES)
    return [
        typical if typical in group else group[0]
        for group, typical in zip(groups, _TYPICAL, strict=True)
        if group
    ]


def _dtypes(case: OpCase, kind: str) -> Sequence[torch.dtype]:
    return case.dtypes if kind == "static" else _one_of_each_category(case.dtypes)


_MOST_CALLS = 36
"""How many calls one program makes: of more, each costs as much as alone, for programs grow dearer
than their ops."""


def _batches(cases: Iterable[OpCase]) -> list[Batch]:
    """The cases of each kind, together as far as they have the same sizes.

    A case that does not hold for sizes of 0 would forbid these to others. Where PyTorch is to find
    the ranges, each case has sizes of its own, each of which is tried on the whole program.
    """
    batches: list[Batch] = []
    for kind in KINDS:
        alike: defaultdict[object, list[OpCase]] = defaultdict(list)
        for case in cases:
            if kind in case.kinds:
                dynamic = kind == "dynamic"
                alike[(dynamic and case.auto, dynamic and case.empty)].append(case)
        for group in alike.values():
            batch: list[OpCase] = []
            count = 0
            for case in group:
                calls = len(_dtypes(case, kind))
                if batch and count + calls > _MOST_CALLS:
                    batches.append(Batch(batch, kind))
                    batch, count = [], 0
                batch.append(case)
                count += calls
            batches.append(Batch(batch, kind))
    return batches


class _EveryCall(torch.nn.Module):
    """Makes all calls of a batch, each with its part of the arguments."""

    def __init__(self, calls: Sequence[_Call]) -> None:
        super().__init__()
        self._calls = calls

    def forward(self, *flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
        arguments = iter(flat)
        results: list[torch.Tensor] = []
        for call in self._calls:
            own = itertools.islice(arguments, len(call.inputs))
            results.extend(_as_tuple(call.case.function(*own)))
        return tuple(results)


def _as_tuple(
    results: torch.Tensor | Sequence[torch.Tensor],
) -> tuple[torch.Tensor, ...]:
    return (results,) if isinstance(results, torch.Tensor) else tuple(results)


def _flat(calls: Sequence[_Call]) -> tuple[torch.Tensor, ...]:
    return tuple(tensor for call in calls for tensor in call.inputs)


def _compile(calls: Sequence[_Call], kind: str) -> plumbline.CompiledProgram:
    shapes = None
    if kind == "dynamic":
        sizes = {size for tensor in _flat(calls) for size in tensor.shape if size > 1}
        dims = {size: Dim(f"size_{size}") for size in sizes}
        # One entry, for the one variadic parameter of `forward`.
        shapes = (
            tuple(
                {
                    place: Dim.AUTO if call.case.auto else dims[size]
                    for place, size in enumerate(tensor.shape)
                    if call.case.is_dynamic(size)
                }
                for call in calls
                for tensor in call.inputs
            ),
        )
    # To optimise takes LLVM nine tenths of its time. What it makes of each op and dtype is seen
    # with static sizes; of dynamic sizes, in the programs of test/AotCompile.
    level = 2 if kind == "static" else 0
    return plumbline.compile(
        _EveryCall(calls), _flat(calls), dynamic_shapes=shapes, opt_level=level
    )


def _check_stages(
    program: plumbline.CompiledProgram, calls: Sequence[_Call], kind: str
) -> dict[int, Exception]:
    """The program went by TCP's own ops, and its sizes are as dynamic as they were meant to be.

    Raises:
      AssertionError: there are ops beside TCP's, whichever case they are of.
    """
    tcp = program.stage("tcp")
    names = ", ".join(dict.fromkeys(call.case.name for call in calls))
    beside = sorted(set(re.findall(r"\b(?:linalg|tm_tensor|scf)\.\w+", tcp)))
    assert not beside, f"{names}: {', '.join(beside)} beside TCP in\n{tcp}"
    failures: dict[int, Exception] = {}
    with lent_context(torch=True) as context:
        module = parse_module(tcp, context, names)
        (returned,) = (op for op in all_operations(module) if op.name == "func.return")
        results = iter(returned.operands)
        specs = iter(program.signature.inputs)
        for place, group in itertools.groupby(calls, lambda call: call.place):
            own = list(group)
            case = own[0].case
            ops = _ops_behind(itertools.islice(results, sum(len(call.expected) for call in own)))
            lacking = {op.OPERATION_NAME for op in case.ops} - ops
            inputs = itertools.islice(specs, len(_flat(own)))
            sizes = {size for spec in inputs for size in spec.sizes if size is not None}
            fixed = {size for size in sizes if kind == "dynamic" and case.is_dynamic(size)}
            if lacking:
                failures[place] = AssertionError(
                    f"{case.name}: no {', '.join(sorted(lacking))} in\n{tcp}"
                )
            elif fixed:
                failures[place] = AssertionError(f"{case.name}: PyTorch fixed the sizes {fixed}")
        # A context is lent again with no module in it alone.
        del module, returned, results
    return failures


def _ops_behind(values: Iterable[ir.Value]) -> set[str]:
    """The names of all ops that values are computed by, and of those in their regions."""
    names: set[str] = set()
    seen: set[ir.Operation] = set()
    waiting = list(values)
    while waiting:
        operation = defining_operation(waiting.pop())
        if operation is not None and operation not in seen:
            seen.add(operation)
            names.update(inner.name for inner in all_operations(operation))
            waiting += captured_values(operation)
    return names


def _run(program: plumbline.CompiledProgram, calls: Sequence[_Call]) -> dict[int, Exception]:
    """Compares what a program answers with what PyTorch does; what is wrong, by places of cases."""
    results = iter(program(*_flat(calls)))
    differences: defaultdict[int, list[str]] = defaultdict(list)
    for call in calls:
        case = call.case
        actual = tuple(itertools.islice(results, len(call.expected)))
        try:
            torch.testing.assert_close(
                actual, call.expected, rtol=case.rtol, atol=case.atol, equal_nan=True
            )
        except AssertionError as error:
            shapes = ", ".join(str(list(tensor.shape)) for tensor in call.inputs)
            differences[call.place].append(
                f"{case.name} on {call.dtype} of shapes {shapes}: {error}\n"
                f"  inputs: {call.inputs}\n  actual: {actual}\n  expected: {call.expected}"
            )
    return {place: AssertionError("\n\n".join(texts)) for place, texts in differences.items()}
