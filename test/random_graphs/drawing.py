"""Draws a graph, line by line, while PyTorch runs each line on all its cases."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

from test.random_graphs.graph import (
    Case,
    Graph,
    Line,
    Options,
    as_float,
    evaluate,
    evaluate_in,
    is_exact,
)

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
DTYPES = (*FLOATS, *INTEGERS, torch.bool)

_SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0)
# What tells whether a value is rounded: one that is the same in both is not.
_ROUNDED = (torch.float64, torch.float32)
_MOST_ELEMENTS = 40_000
_GREATEST = {torch.float16: 1e3}

Sizes = tuple[int, ...]
"""What one dimension measures in each case."""


class Unsuitable(Exception):
    """A line that the graph is better off without."""


@dataclass
class Drawing:
    """A graph in the making."""

    random: random.Random
    sizes: Sequence[Sizes]
    """Dimensions to make inputs of; the first case has no size below 2 that others have not."""
    special: bool = False
    """Whether inputs hold infinities and NaN."""
    lines: list[Line] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    given: list[Case] = field(default_factory=list)
    """What inputs and weights are before any line writes into them."""
    cases: list[Case] = field(default_factory=list)
    """What PyTorch computes, by name, as far as it does not raise."""
    rounded: dict[torch.dtype, list[Case]] = field(default_factory=dict)
    """The same in floats of one dtype."""

    def __post_init__(self) -> None:
        self.given = [{} for _ in self.sizes[0]]
        self.cases = [{} for _ in self.sizes[0]]
        self.rounded = {dtype: [{} for _ in self.cases] for dtype in _ROUNDED}

    def value(self, name: str) -> torch.Tensor:
        """What `name` is in the first case."""
        return self.cases[0][name]

    def shape(self, name: str) -> list[Sizes]:
        """The sizes of `name` by dimension; 1 in cases where it is not, or of another rank."""
        rank = self.value(name).ndim
        shapes = [
            case[name].shape if name in case and case[name].ndim == rank else (1,) * rank
            for case in self.cases
        ]
        return list(zip(*shapes, strict=True))

    def is_exact(self, name: str) -> bool:
        """Whether no rounding stands behind a value, so that it may be compared or truncated."""
        return all(
            is_exact(case[name], [self.rounded[dtype][number][name] for dtype in _ROUNDED])
            for number, case in enumerate(self.cases)
            if name in case
        )

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self.random.random() < probability

    def any_size(self) -> Sizes:
        """A dimension's sizes."""
        return self.random.choice(self.sizes)

    def tensor(
        self,
        dtypes: Sequence[torch.dtype] = FLOATS,
        suits: Callable[[torch.Tensor], bool] = lambda tensor: True,
        *,
        exact: bool = False,
        rank: Sequence[int] = (1, 2, 2, 3),
    ) -> str:
        """The name of a value of such a dtype that suits, often the latest; else a new input."""
        found = [
            name
            for name, value in self.cases[0].items()
            if value.dtype in dtypes and suits(value) and (not exact or self.is_exact(name))
        ]
        if found and self.chance(0.9):
            computed = [name for name in found if name.startswith("v")]
            if computed and self.chance(0.7):
                return computed[-1]
            return self.random.choice(found)
        dtype = self.random.choice((*[dtypes[0]] * 3, *dtypes))
        for _ in range(20):
            draw = self.operand if self.inputs and self.chance(0.3) else self.input
            name = draw(dtype, [self.any_size() for _ in range(self.random.choice(rank))])
            if suits(self.value(name)):
                return name
            self._forget(name)
        raise Unsuitable

    def exact(self, dtypes: Sequence[torch.dtype] = DTYPES, rank: Sequence[int] = (1, 2, 3)) -> str:
        """The name of a value that no rounding stands behind."""
        return self.tensor(dtypes, exact=True, rank=rank)

    def operand(
        self, dtype: torch.dtype, shape: Sequence[Sizes], below: Sizes | None = None
    ) -> str:
        """The name of a new input or weight; with `below`, of indices less than that."""
        is_static = all(len(set(size)) == 1 for size in (*shape, below or (0,)))
        if is_static and self.chance(0.5):
            return self.weight(dtype, [size[0] for size in shape], below[0] if below else None)
        return self.input(dtype, shape, below)

    def input(self, dtype: torch.dtype, shape: Sequence[Sizes], below: Sizes | None = None) -> str:
        """The name of a new input; with `below`, of indices less than that."""
        layout = self._layout(len(shape), 0.05)
        made = []
        for number in range(len(self.cases)):
            sizes = [size[number] for size in shape]
            elements = self._elements(dtype, sizes, None if below is None else below[number])
            made.append(layout(elements))
        return self._know(f"x{len(self.inputs)}", self.inputs, made)

    def weight(
        self,
        dtype: torch.dtype,
        shape: Sequence[int],
        below: int | None = None,
        kind: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> str:
        """The name of a new parameter, buffer or other tensor of the module, or of that kind."""
        made = self._layout(len(shape), 0.3)(self._elements(dtype, shape, below))
        kinds = (torch.Tensor.detach, torch.nn.Buffer, torch.nn.Parameter)
        kind = kind or self.random.choice(kinds[: 2 + dtype.is_floating_point])
        values = [kind(made)] * len(self.cases)
        return self._know(f"w{len(self.weights)}", self.weights, values)

    def _know(self, name: str, names: list[str], values: Sequence[torch.Tensor]) -> str:
        names.append(name)
        for number, value in enumerate(values):
            self.given[number][name] = self.cases[number][name] = value
            for dtype, rounded in self.rounded.items():
                rounded[number][name] = as_float(value, dtype)
        return name

    def _layout(self, rank: int, probability: float) -> Callable[[torch.Tensor], torch.Tensor]:
        """What lays a tensor out in another way than densely, row after row, so often."""
        if rank == 0 or not self.chance(probability):
            return torch.Tensor.contiguous
        axis = self.random.randrange(rank)
        order = self.random.sample(range(rank), rank)
        back = [order.index(axis) for axis in range(rank)]
        return self.random.choice(
            (
                lambda tensor: tensor.permute(order).contiguous().permute(back),
                lambda tensor: tensor.narrow(axis, 0, min(1, tensor.shape[axis])).expand_as(tensor),
                lambda tensor: torch.stack((tensor, tensor), -1)[..., 1],
            )
        )

    def _forget(self, name: str) -> None:
        (self.inputs if name in self.inputs else self.weights).remove(name)
        for case in self._all_cases():
            del case[name]

    def _all_cases(self) -> list[Case]:
        return [
            *self.given,
            *self.cases,
            *(case for cases in self.rounded.values() for case in cases),
        ]

    def _elements(
        self, dtype: torch.dtype, sizes: Sequence[int], below: int | None
    ) -> torch.Tensor:
        if math.prod(sizes) > _MOST_ELEMENTS:
            raise Unsuitable
        generator = torch.Generator().manual_seed(self.random.getrandbits(32))
        if below is not None:
            return torch.randint(max(below, 1), sizes, generator=generator).to(dtype)
        if dtype == torch.bool:
            return torch.rand(sizes, generator=generator) < 0.5
        if not dtype.is_floating_point:
            low = -9 if dtype.is_signed else 0
            return torch.randint(low, 20, sizes, generator=generator).to(dtype)
        # Few digits, so that sums and products are exact.
        made = torch.randint(-32, 33, sizes, generator=generator).to(dtype) / 8
        if self.special:
            chosen = torch.randint(len(_SPECIAL), sizes, generator=generator)
            taken = torch.rand(sizes, generator=generator) < 0.2
            made = torch.where(taken, torch.tensor(_SPECIAL, dtype=dtype)[chosen], made)
        return made

    def add(self, expression: str) -> None:
        """Adds a line.

        Raises:
          Unsuitable: PyTorch refuses it for the first case, or its values are too large.
        """
        line = Line(f"v{len(self.lines)}", expression)
        made: list[dict[torch.dtype | None, Case]] = []
        for number, case in enumerate(self.cases):
            values: dict[torch.dtype | None, Case] = {}
            made.append(values)
            if line.operands - case.keys():
                continue
            try:
                values[None] = evaluate([line], case)
                for dtype, rounded in self.rounded.items():
                    values[dtype] = evaluate_in(dtype, [line], rounded[number])
            except Exception as error:
                if number == 0:
                    raise Unsuitable from error
                values.clear()
                continue
            value = values[None][line.name]
            if not isinstance(value, torch.Tensor) or not self._is_sane(value):
                raise Unsuitable
            if any(other[line.name].shape != value.shape for other in values.values()):
                raise Unsuitable
        self.lines.append(line)
        for number, values in enumerate(made):
            for which, case in values.items():
                cases = self.cases if which is None else self.rounded[which]
                for name in (line.name, *line.written):
                    cases[number][name] = case[name]

    def _is_sane(self, value: torch.Tensor) -> bool:
        if value.numel() > _MOST_ELEMENTS or value.ndim > 5 or value.dtype not in DTYPES:
            return False
        if not value.is_floating_point() or self.special or value.numel() == 0:
            return True
        # NaN is not less either.
        return bool(value.double().abs().max() < _GREATEST.get(value.dtype, 1e5))

    def graph(self, options: Options) -> Graph:
        """The graph, whose results are the values that no line reads."""
        read = {name for line in self.lines for name in line.operands}
        inputs, weights = (
            [name for name in names if name in read] for names in (self.inputs, self.weights)
        )
        return Graph(
            tuple(self.lines),
            tuple(line.name for line in self.lines if line.name not in read),
            tuple({name: case[name] for name in inputs} for case in self.given),
            options,
            {name: self.given[0][name] for name in weights},
        )
