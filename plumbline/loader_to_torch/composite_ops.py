"""What torch.export does anew in each export for all composite ops that there are, done once.

Composite ops are those that PyTorch makes of others where nothing says otherwise. To keep them
whole, `run_decompositions` asks all ops whether they are such, and registers rules at each of some
hundred, for some twenty dispatch keys, whether a program has the op or not, and takes them away
again: half of the time of a small export. Here the answers, and the rules that an op had and got,
are noted, and taken the next time.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch._subclasses.fake_impls import op_implementations_dict as fake_rules
from torch.export import exported_program

_Op = torch._ops.OperatorBase
_Decomposition = Callable[..., Any]

_register = exported_program._override_composite_implicit_decomp


@dataclass(frozen=True)
class _Rules:
    """The rules of one op."""

    kernels: dict[Any, Any]
    """By dispatch key."""
    fake: Any
    """The one for tensors without data; None: none of its own."""

    @staticmethod
    def of(op: _Op) -> "_Rules":
        return _Rules(op.py_kernels.copy(), fake_rules.get(op))

    def are_of(self, op: _Op) -> bool:
        """Whether `op` has these: told without a copy, of which some hundred wake the collector."""
        return self.fake is fake_rules.get(op) and bool(self.kernels == op.py_kernels)

    def put(self, op: _Op) -> None:
        op.py_kernels.clear()
        op.py_kernels.update(self.kernels)
        op._dispatch_cache.clear()
        if self.fake is None:
            fake_rules.pop(op, None)
        else:
            fake_rules[op] = self.fake


@dataclass(frozen=True)
class _Noted:
    """What registering a decomposition at an op made of its rules."""

    decomposition: _Decomposition
    before: _Rules
    after: _Rules


_NOTED: dict[_Op, _Noted] = {}

_split = exported_program._split_decomp_table_to_cia_and_python_decomp


@dataclass(frozen=True)
class _Split:
    """A table of decompositions, and the composite ops and others that PyTorch makes of it."""

    table: Mapping[_Op, _Decomposition]
    ops: list[str]
    """The names of the composite ops that there were, of PyTorch's and of extensions."""
    composite: Mapping[_Op, _Decomposition]
    others: Mapping[_Op, _Decomposition]


_TABLES = 4
"""Of how many tables the splits are kept: a program that writes in place takes two in turns, and
one with loops has others for their bodies."""

_splits: list[_Split] = []
"""The last ones, the latest at the end."""


@contextlib.contextmanager
def quick_composite_ops() -> Iterator[None]:
    """Has exports within take the rules of composite ops from those before, in one thread."""
    with (
        mock.patch.object(exported_program, _register.__name__, _rules_registered),
        mock.patch.object(exported_program, _split.__name__, _split_as_before),
    ):
        yield


def _split_as_before(
    table: dict[_Op, _Decomposition],
) -> tuple[dict[_Op, _Decomposition], dict[_Op, _Decomposition]]:
    """What the function of PyTorch does whose place it takes: that asks a thousand ops each time.

    What those say depends on their schemas, and on what ops there are. A composite op that the CPU
    has a kernel of, such as `silu_backward`, counts among the others: PyTorch would give its rule
    to the dispatch key of composite ops, where no call of it arrives.
    """
    ops = _composite_ops()
    known = next((split for split in _splits if split.table == table and split.ops == ops), None)
    if known is None:
        given = dict(table)
        composite, others = map(dict, _split(table))
        for op in [op for op in composite if op in given and _has_own_kernel(op)]:
            others[op] = composite.pop(op)
        known = _Split(given, ops, composite, others)
        _splits[:] = [*_splits, known][-_TABLES:]
    return dict(known.composite), dict(known.others)


def _has_own_kernel(op: _Op) -> bool:
    name = op.name()  # type: ignore[no-untyped-call]
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")


def _composite_ops() -> list[str]:
    names: list[str] = torch._C._dispatch_get_registrations_for_dispatch_key(
        "CompositeImplicitAutograd"
    )
    return names


@contextlib.contextmanager
def _rules_registered(decompositions: Mapping[_Op, _Decomposition]) -> Iterator[None]:
    """What the function of PyTorch does whose place it takes."""
    known = {
        op: noted
        for op, decomposition in decompositions.items()
        if (noted := _NOTED.get(op)) is not None
        and noted.decomposition is decomposition
        and noted.before.are_of(op)
    }
    unknown = {op: rule for op, rule in decompositions.items() if op not in known}
    before = {op: _Rules.of(op) for op in unknown}
    try:
        with _register(unknown):
            for op, decomposition in unknown.items():
                _NOTED[op] = _Noted(decomposition, before[op], _Rules.of(op))
            for op, noted in known.items():
                noted.after.put(op)
            yield
    finally:
        # PyTorch's own way back forgets fake rules that there were before.
        for op, rules in before.items():
            rules.put(op)
        for op, noted in known.items():
            noted.before.put(op)
