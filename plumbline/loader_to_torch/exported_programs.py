"""Programs that `torch.export` has made, and files of them, as what a loader function returns."""

import inspect
import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.export import Dim, ExportedProgram
from torch.utils._pytree import tree_unflatten
from torch.utils._sympy.numbers import int_oo
from torch.utils._sympy.value_ranges import ValueRanges

from plumbline.errors import UserError
from plumbline.loader_to_torch.loader import TorchLoaderOutput, checked, describe_error
from plumbline.loader_to_torch.stand_in import StandIn


def load_exported(
    program: ExportedProgram | str | os.PathLike[str], *, func_name: str | None = None
) -> TorchLoaderOutput:
    """What `torch.export.export` gives, or a .pt2 file of it, as a loader function returns it.

    Sizes that differ in it differ at run time, within their bounds. Arguments by keyword come after
    the others, in the order in which the program was exported with them.

    Args:
      program: it has the inputs that it was exported with, which it is tried on.
      func_name: what the compiled function is called.

    Raises:
      UserError: PyTorch cannot read the file, or the program has no inputs, or others than a
        compiled function can have.
    """
    who = "plumbline.load_exported"
    if not isinstance(program, ExportedProgram):
        who = f"model {os.fspath(program)}"
        program = _read(who, program)
    return checked(who, of_exported(who, program, func_name))


def of_exported(who: str, program: ExportedProgram, func_name: str | None) -> TorchLoaderOutput:
    """The same, unchecked, of a program that messages call `who`.

    Raises:
      UserError: it has no inputs.
    """
    if program.example_inputs is None:
        raise UserError(
            f"{who}: the ExportedProgram has no example_inputs; set them: (args, kwargs)"
        )
    # What it was guarded by is found anew.
    module: torch.nn.Module = program.module(check_guards=False)
    args, kwargs = program.example_inputs
    in_args, in_kwargs = tree_unflatten(_entries(program), program.call_spec.in_spec)
    if kwargs:
        module = _ByPosition(module, [*inspect.signature(module.forward).parameters], [*kwargs])
    return TorchLoaderOutput(
        module,
        (*args, *kwargs.values()),
        (*in_args, *(in_kwargs[name] for name in kwargs)),
        func_name,
    )


def _read(who: str, file: str | os.PathLike[str]) -> ExportedProgram:
    if not os.path.isfile(file):
        raise UserError(f"{who}: there is no such file")
    # PyTorch logs a traceback of the first of the two ways in which it tries.
    log = logging.getLogger("torch.export")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        return torch.export.load(file)
    except Exception as error:
        raise UserError(
            f"{who}: torch.export.load does not read it: {describe_error(error)}"
        ) from error
    finally:
        log.setLevel(level)


class _ByPosition(StandIn):
    """Takes what a model takes by keyword after all others."""

    def __init__(
        self, model: torch.nn.Module, parameters: Sequence[str], keywords: Sequence[str]
    ) -> None:
        super().__init__(model, parameters)
        self._keywords = keywords

    def run(self, *given: Any) -> Any:
        """As `StandIn` says."""
        first = len(given) - len(self._keywords)
        return self._model(*given[:first], **dict(zip(self._keywords, given[first:], strict=True)))


def _entries(program: ExportedProgram) -> list[dict[int, Any] | None]:
    """For each leaf of the inputs which of its sizes differ, as `dynamic_shapes` says it."""
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    tensors = {
        name: value
        for name in program.graph_signature.user_inputs
        if isinstance(name, str)
        and isinstance(value := placeholders[name].meta.get("val"), torch.Tensor)
    }
    dims = _Dims(tensors, program.range_constraints, are_named=not _has_conditions(program))
    return [
        dims.of(tensors[name]) if name in tensors else None
        for name in program.graph_signature.user_inputs
    ]


def _has_conditions(program: ExportedProgram) -> bool:
    """Whether its sizes have to meet conditions that a range does not tell, such as to be even."""
    return any(_CONDITION.search(guard) for guard in program._guards_code or ())


_CONDITION = re.compile(r"[%*/]|!=")


class _Dims:
    """What `dynamic_shapes` calls sizes: by a name, or what PyTorch is to find out about."""

    def __init__(
        self,
        tensors: Mapping[str, torch.Tensor],
        ranges: Mapping[sympy.Symbol, ValueRanges[Any]],
        *,
        are_named: bool,
    ) -> None:
        self._ranges, self._are_named = ranges, are_named
        self._dims: dict[sympy.Symbol, Any] = {}
        for name, tensor in tensors.items():
            for axis, size in enumerate(_sizes(tensor)):
                if isinstance(size, sympy.Symbol) and size not in self._dims:
                    self._dims[size] = Dim(f"{name}_{axis}", **self._bounds(size))

    def of(self, tensor: torch.Tensor) -> dict[int, Any]:
        """For each axis that differs."""
        return {
            axis: self._of_size(size)
            for axis, size in enumerate(_sizes(tensor))
            if not size.is_Integer
        }

    def _of_size(self, size: sympy.Expr) -> Any:
        if not self._are_named:
            return Dim.AUTO(**self._bounds(size))
        return self._derived(size)

    def _derived(self, size: sympy.Expr) -> Any:
        """A size that is computed of another: `a * dim + b`."""
        symbols = size.free_symbols
        if len(symbols) != 1 or not symbols <= self._dims.keys():
            return Dim.AUTO
        (symbol,) = symbols
        polynomial = sympy.Poly(size, symbol)
        if polynomial.degree() != 1:
            return Dim.AUTO
        factor, term = map(int, polynomial.all_coeffs())
        dim = self._dims[symbol]
        dim = dim if factor == 1 else factor * dim
        return dim if term == 0 else dim + term

    def _bounds(self, size: sympy.Expr) -> dict[str, int]:
        known = self._ranges.get(size)
        if known is None:
            return {}
        bounds = {"min": known.lower, "max": known.upper}
        return {
            name: int(bound) for name, bound in bounds.items() if bound not in (int_oo, -int_oo)
        }


def _sizes(tensor: torch.Tensor) -> Iterable[sympy.Expr]:
    return [
        size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)
        for size in tensor.shape
    ]
