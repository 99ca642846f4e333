"""What a test of TCP's ops against PyTorch is made of: a case, and how it is compiled and run.

A case is a PyTorch function and the inputs that it is tried on. All its dtypes are compiled into
one program, since most of the time of a compilation is the same for one op and for twenty.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.tcp.dialect import TcpOp
from test.shard import of_this_shard

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


def each(cases: Iterable[OpCase]) -> pytest.MarkDecorator:
    """Runs a test with each case and kind, as its arguments `case` and `kind`.

    Where Bazel runs the file in shards, with those of the shard.
    """
    every = [
        pytest.param(case, kind, id=f"{case.name}-{kind}") for case in cases for kind in case.kinds
    ]
    return pytest.mark.parametrize(("case", "kind"), of_this_shard(every))


def check(case: OpCase, kind: str) -> None:
    """Compiles a case for all its dtypes, and holds what comes out against PyTorch's answers."""

    def emptied(size: int) -> int:
        return 0 if case.is_dynamic(size) else size

    def grown(size: int) -> int:
        return size + 2 if case.is_dynamic(size) else size

    if kind != "static":
        case = dataclasses.replace(case, dtypes=_one_of_each_category(case.dtypes))
    if kind == "empty":
        inputs = _draw(case, emptied)
        _run(case, _compile(case, inputs, dynamic=False), inputs)
        return
    inputs = _draw(case)
    program = _compile(case, inputs, dynamic=kind == "dynamic")
    _check_stages(case, program, dynamic=kind == "dynamic")
    _run(case, program, inputs)
    if kind == "dynamic":
        _run(case, program, _draw(case, grown))
        if case.empty:
            _run(case, program, _draw(case, emptied))


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


def _draw(
    case: OpCase, resize: Callable[[int], int] = lambda size: size
) -> list[tuple[torch.Tensor, ...]]:
    """The inputs of a case, those of each dtype apart."""
    return [tuple(case.inputs(Sampler(dtype, resize))) for dtype in case.dtypes]


class _EveryDtype(torch.nn.Module):
    """Calls the function of a case once for each dtype."""

    def __init__(self, case: OpCase) -> None:
        super().__init__()
        self._case = case

    def forward(self, *flat: torch.Tensor) -> tuple[torch.Tensor, ...]:
        count = len(flat) // len(self._case.dtypes)
        results: list[torch.Tensor] = []
        for begin in range(0, len(flat), count):
            results.extend(_as_tuple(self._case.function(*flat[begin : begin + count])))
        return tuple(results)


def _as_tuple(
    results: torch.Tensor | Sequence[torch.Tensor],
) -> tuple[torch.Tensor, ...]:
    return (results,) if isinstance(results, torch.Tensor) else tuple(results)


def _compile(
    case: OpCase, inputs: Sequence[tuple[torch.Tensor, ...]], *, dynamic: bool
) -> plumbline.CompiledProgram:
    flat = tuple(tensor for group in inputs for tensor in group)
    shapes = None
    if dynamic:
        # One entry, for the one variadic parameter of `forward`.
        dims: dict[int, Any] = {
            size: Dim.AUTO if case.auto else Dim(f"size_{size}")
            for tensor in flat
            for size in tensor.shape
            if case.is_dynamic(size)
        }
        shapes = (tuple({a: dims.get(n) for a, n in enumerate(tensor.shape)} for tensor in flat),)
    return plumbline.compile(_EveryDtype(case), flat, dynamic_shapes=shapes)


def _check_stages(case: OpCase, program: plumbline.CompiledProgram, *, dynamic: bool) -> None:
    """The program went by TCP's own ops, and its sizes are as dynamic as they were meant to be."""
    tcp = program.stage("tcp")
    for op in case.ops:
        count = len(re.findall(rf"{re.escape(op.OPERATION_NAME)}(?![\w.])", tcp))
        assert count, f"{case.name}: no {op.OPERATION_NAME} in\n{tcp}"
    beside = sorted(set(re.findall(r"\b(?:linalg|tm_tensor|scf)\.\w+", tcp)))
    assert not beside, f"{case.name}: {', '.join(beside)} beside TCP in\n{tcp}"
    if dynamic:
        sizes = [size for spec in program.signature.inputs for size in spec.sizes]
        fixed = {size for size in sizes if size is not None and case.is_dynamic(size)}
        assert not fixed, f"{case.name}: PyTorch fixed the sizes {fixed}"


def _run(
    case: OpCase,
    program: plumbline.CompiledProgram,
    inputs: Sequence[tuple[torch.Tensor, ...]],
) -> None:
    results = program(*(tensor for group in inputs for tensor in group))
    failures = []
    begin = 0
    for dtype, group in zip(case.dtypes, inputs, strict=True):
        with torch.no_grad():
            expected = _as_tuple(case.function(*group))
        actual = results[begin : begin + len(expected)]
        begin += len(expected)
        try:
            torch.testing.assert_close(
                actual, expected, rtol=case.rtol, atol=case.atol, equal_nan=True
            )
        except AssertionError as error:
            shapes = ", ".join(str(list(tensor.shape)) for tensor in group)
            failures.append(
                f"{case.name} on {dtype} of shapes {shapes}: {error}\n"
                f"  inputs: {group}\n  actual: {actual}\n  expected: {expected}"
            )
    assert not failures, "\n\n".join(failures)
