"""A program as a few lines of Python over tensors, and inputs of several sizes to run it on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import Dim

from plumbline.target.choices import RuntimeChecks
from test.random_graphs import higher_order

NAME = re.compile(r"\b[xvw]\d+\b")
"""What lines call inputs (x), weights (w) and one another (v)."""
_WRITTEN = re.compile(
    r"\b([xw]\d+)(?:\[[^\]]*\]|\.[a-z]\w*\([^()]*\)|\.mT)?\.(?:[a-z]\w*_|__setitem__)\("
)
_FLOAT_DTYPE = re.compile(r"torch\.(float16|bfloat16|float32|float64)\b")
_SCOPE = {"torch": torch, "F": torch.nn.functional}

Case = dict[str, torch.Tensor]
"""Tensors by the names of inputs."""


@dataclass(frozen=True)
class Line:
    """`name = expression`, where the expression yields one tensor."""

    name: str
    expression: str

    @property
    def operands(self) -> set[str]:
        """The names of inputs, of weights and of lines before it that it reads."""
        return set(NAME.findall(self.expression))

    @property
    def written(self) -> set[str]:
        """The names of inputs and of weights that it writes in place."""
        return set(_WRITTEN.findall(self.expression))


@dataclass(frozen=True)
class Options:
    """How a graph is compiled: as `plumbline.compile` takes it, and how its sizes are told."""

    opt_level: int = 2
    target_cpu: str = "native"
    runtime_checks: RuntimeChecks = "values"
    threads: int = 1
    named_dims: bool = True
    """Sizes are symbols with names, or else Dim.AUTO, whose relations PyTorch finds."""

    @property
    def arguments(self) -> dict[str, Any]:
        """Those of `plumbline.compile`, by name."""
        names = ("opt_level", "target_cpu", "runtime_checks", "threads")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Graph:
    """A program, what it is exported with (the first case), and what it is run on."""

    lines: tuple[Line, ...]
    outputs: tuple[str, ...]
    cases: tuple[Case, ...]
    options: Options = Options()
    weights: Case = field(default_factory=dict)
    """Parameters, buffers and other tensors of the module: the same in all cases."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, in order."""
        return tuple(self.cases[0])

    @property
    def written(self) -> list[str]:
        """The names of inputs and of weights that it writes in place."""
        return sorted({name for line in self.lines for name in line.written})

    def dynamic_shapes(self) -> dict[str, dict[int, object]] | None:
        """What `torch.export.export` takes: dims differ where the cases do.

        Sizes that are equal in all cases are one symbol.
        """
        known: dict[str, object] = {}
        shapes = {
            name: {
                axis: known.setdefault(text, eval(text, {"Dim": Dim}))
                for axis, text in dims.items()
            }
            for name, dims in self._dims().items()
        }
        return shapes if any(shapes.values()) else None

    def _dims(self) -> dict[str, dict[int, str]]:
        """What is Python for the dynamic sizes of each input."""
        symbols: dict[tuple[int, ...], str] = {}
        dims: dict[str, dict[int, str]] = {name: {} for name in self.inputs}
        for name in self.inputs:
            for axis in range(self.cases[0][name].ndim):
                sizes = tuple(case[name].shape[axis] for case in self.cases)
                if len(set(sizes)) > 1:
                    symbol = f"Dim('n{len(symbols)}')" if self.options.named_dims else "Dim.AUTO"
                    dims[name][axis] = symbols.setdefault(sizes, symbol)
        return dims

    def module(self) -> torch.nn.Module:
        """The program as a module."""
        scope: dict[str, object] = {**_SCOPE, **higher_order.OPS}
        exec(compile(self.class_text(), "<graph>", "exec"), scope)
        made = scope["Graph"]
        assert callable(made)
        module = made(self.weights)
        assert isinstance(module, torch.nn.Module)
        return module

    def class_text(self) -> str:
        """The source of the module's class."""
        body = [f"{name} = self.{name}" for name in self.weights]
        body += [f"{line.name} = {line.expression}" for line in self.lines]
        body.append(f"return ({', '.join(self.outputs)},)")
        return "\n".join(
            [
                "class Graph(torch.nn.Module):",
                "    def __init__(self, weights):",
                "        super().__init__()",
                "        for name, weight in weights.items():",
                "            setattr(self, name, weight)",
                "",
                f"    def forward(self, {', '.join(self.inputs)}):",
                *(f"        {line}" for line in body),
                "",
            ]
        )

    def source(self) -> str:
        """A program that compiles this one, and compares what comes out in each case."""
        shapes = ", ".join(
            f"{name!r}: {{{', '.join(f'{axis}: {dim}' for axis, dim in dims.items())}}}"
            for name, dims in self._dims().items()
        )
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.arguments.items())
        options += f", mutable={self.written}"
        cases = ",\n".join(
            "    (" + " ".join(f"{_literal(tensor)}," for tensor in case.values()) + ")"
            for case in self.cases
        )
        weights = ", ".join(
            f"{name!r}: {_weight_literal(weight)}" for name, weight in self.weights.items()
        )
        return "\n".join(
            [
                "import copy",
                "",
                "import torch",
                "import torch.nn.functional as F",
                "from torch.export import Dim",
                "from torch import inf, nan",
                *higher_order.IMPORTS,
                "",
                "import plumbline",
                "",
                self.class_text(),
                f"weights = {{{weights}}}",
                f"cases = [\n{cases},\n]",
                f"program = plumbline.compile(Graph(weights), cases[0], {{{shapes}}}, {options})",
                "for case in cases:",
                "    copies = [x.clone() for x in case]",
                "    state = [x.clone() for x in program.state.values()]",
                "    print(program(*copies, *state), copies, state)",
                "    module = Graph(copy.deepcopy(weights))",
                "    print(module(*case), case, [getattr(module, w) for w in program.state])",
                "",
            ]
        )


def _literal(tensor: torch.Tensor) -> str:
    if 0 in tensor.shape:
        return f"torch.zeros({list(tensor.shape)}, dtype={tensor.dtype})"
    if not tensor.is_contiguous():
        stored = tensor.as_strided((tensor.untyped_storage().nbytes() // tensor.itemsize,), (1,), 0)
        layout = f"{tuple(tensor.shape)}, {tensor.stride()}, {tensor.storage_offset()}"
        return f"{_literal(stored)}.as_strided({layout})"
    values = tensor.to(torch.float32) if tensor.dtype == torch.bfloat16 else tensor
    return f"torch.tensor({values.tolist()}, dtype={tensor.dtype})"


def _weight_literal(weight: torch.Tensor) -> str:
    literal = _literal(weight.detach())
    for kind in ("Parameter", "Buffer"):
        if isinstance(weight, getattr(torch.nn, kind)):
            return f"torch.nn.{kind}({literal})"
    return literal


def evaluate(lines: Sequence[Line], known: Case) -> Case:
    """What PyTorch makes of lines, added to what is known, which stays as it is.

    Raises:
      Exception: what PyTorch raises.
    """
    written = {name for line in lines for name in line.written}
    values = {
        name: value.detach().clone() if name in written else value for name, value in known.items()
    }
    scope = {**_SCOPE, **higher_order.MEANINGS}
    with torch.no_grad():
        for line in lines:
            # One scope, which functions within the expression see as well.
            values[line.name] = eval(line.expression, {**scope, **values})
    return values


def evaluate_in(dtype: torch.dtype, lines: Sequence[Line], known: Case) -> Case:
    """The same with one dtype in place of all that are floats, to tell rounding from mistakes."""
    values = {name: as_float(value, dtype) for name, value in known.items()}
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return evaluate(
            [Line(line.name, _FLOAT_DTYPE.sub(str(dtype), line.expression)) for line in lines],
            values,
        )
    finally:
        torch.set_default_dtype(before)


def as_float(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The tensor itself, or of that dtype if it is of floats."""
    return tensor.detach().to(dtype) if tensor.is_floating_point() else tensor


def is_exact(value: torch.Tensor, others: Sequence[torch.Tensor]) -> bool:
    """Whether a value is the same in narrower and in wider floats: no rounding stands behind it."""
    return all(
        torch.allclose(value.double(), other.double(), rtol=0, atol=0, equal_nan=True)
        for other in others
    )
