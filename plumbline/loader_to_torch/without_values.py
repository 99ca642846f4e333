"""What PyTorch asks values for that an export does not have, answered without them.

Two kinds of ops end an export although what they are is known: those of which PyTorch says that
the sizes of their results depend on values, where a rule of ours knows them, and composite ones
that look at values to warn, or to raise an error. And there is one whose sizes PyTorch takes half a
minute for, which are among its arguments.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from torch._decomp import meta_table
from torch._subclasses.fake_impls import op_implementations_dict as fake_rules

from plumbline.loader_to_torch.decompositions import (
    data_movement,
    indexing,
    least_squares,
    losses,
    reduction,
)
from plumbline.loader_to_torch.decompositions.rule import Rule

aten = torch.ops.aten


def _geqrf(matrix: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch knows the sizes of its results by computing them."""
    return torch.empty_like(matrix), matrix.new_empty((*matrix.shape[:-2], min(*matrix.shape[-2:])))


def _unfold_backward(
    frames: torch.Tensor, input_sizes: Sequence[int], dim: int, size: int, step: int
) -> torch.Tensor:
    """PyTorch adds up what each place of a frame holds, one after another: 4 ops for each."""
    return frames.new_empty(input_sizes)


_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd

_SIZES_KNOWN: dict[Any, Rule] = {
    aten.geqrf.default: _geqrf,
    aten.linalg_lstsq.default: least_squares.sizes_of_lstsq,
    aten.unfold_backward.default: _unfold_backward,
    **{
        op: family.RULES[op]
        for family, op in (
            (losses, aten._ctc_loss.Tensor),
            (losses, aten._ctc_loss.default),
            (losses, aten._ctc_loss_backward.Tensor),
            (losses, aten._ctc_loss_backward.default),
        )
    },
}
_COMPOSED: dict[Any, Rule] = {
    aten.combinations.default: indexing.combinations,
    aten.cov.default: reduction.cov,
    aten.narrow.Tensor: data_movement.narrow,
}


@contextlib.contextmanager
def without_values() -> Iterator[None]:
    """Has exports within ask rules of ours, in one thread."""
    with contextlib.ExitStack() as changes:
        rules = {op: _by_rule(rule) for op, rule in _SIZES_KNOWN.items()}
        changes.enter_context(mock.patch.dict(fake_rules, rules))
        # Of what is in neither table, it is its own decomposition that PyTorch asks.
        changes.enter_context(mock.patch.dict(meta_table, _SIZES_KNOWN))
        for op, rule in _COMPOSED.items():
            changes.callback(op._dispatch_cache.clear)
            changes.enter_context(mock.patch.dict(op.py_kernels, {_COMPOSITE: rule}))
            op._dispatch_cache.clear()
        yield


def _by_rule(rule: Rule) -> Callable[..., Any]:
    """The tensors without data that `rule` makes of such."""

    def results(mode: Any, op: Any, *arguments: Any, **options: Any) -> Any:
        with mode:
            return rule(*arguments, **options)

    return results
