"""What a compiled function returns, writes and leaves as gradients, beside what eager does."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

import plumbline


def assert_same(
    function: Callable[..., Any],
    *inputs: Any,
    dynamic: bool | None = None,
    fullgraph: bool = True,
    further: Sequence[tuple[Any, ...]] = (),
) -> plumbline.Backend:
    """Calls a function and its compiled form, each with copies of the same inputs.

    Where inputs or a module's parameters require gradients, those of all results are taken.

    Args:
      function: a function, or a module, of which each has a copy.
      inputs: which may share memory.
      dynamic: whether sizes and numbers may differ from the first call on.
      fullgraph: whether Dynamo may not divide it, which has more ops be traced, too.
      further: inputs of further calls of the same compiled function.

    Returns:
      What has compiled it.

    Raises:
      AssertionError: a result, an input afterwards, a gradient, or what shares memory differs.
    """
    torch._dynamo.reset()
    backend = plumbline.Backend(threads=1)
    mine, theirs = copy.deepcopy(function), copy.deepcopy(function)
    compiled = torch.compile(mine, backend=backend, fullgraph=fullgraph, dynamic=dynamic)
    for given in (inputs, *further):
        ours = _tensors(compiled, mine, copy.deepcopy(given))
        expected = _tensors(theirs, theirs, copy.deepcopy(given))
        assert len(ours) == len(expected)
        for result, right in zip(ours, expected, strict=True):
            torch.testing.assert_close(result, right, equal_nan=True)
            if isinstance(right, torch.Tensor) and right.layout == torch.strided:
                assert result.stride() == right.stride()
        assert _shared(ours) == _shared(expected)
    return backend


def _tensors(function: Callable[..., Any], module: object, inputs: tuple[Any, ...]) -> list[Any]:
    """Results, inputs and the generator of random numbers as they are left, and gradients."""
    torch.manual_seed(1)
    results = pytree.tree_leaves(function(*inputs))
    leaves = pytree.tree_leaves(inputs)
    if isinstance(module, torch.nn.Module):
        leaves += module.parameters()
    tensors = [result for result in results if isinstance(result, torch.Tensor)]
    squares = [tensor.square().sum() for tensor in tensors if tensor.requires_grad]
    if squares:
        torch.autograd.backward(torch.stack(squares).sum())
    gradients = [leaf.grad for leaf in leaves if isinstance(leaf, torch.Tensor)]
    leaves.append(torch.get_rng_state())
    return [*results, *leaves, *(grad for grad in gradients if grad is not None)]


def _shared(values: Sequence[Any]) -> list[tuple[int, int]]:
    """Which of the tensors lie in the same memory."""
    places = [
        value.untyped_storage().data_ptr()
        if isinstance(value, torch.Tensor) and value.layout == torch.strided and value.numel()
        else None
        for value in values
    ]
    return [
        (one, other)
        for one, place in enumerate(places)
        for other in range(one)
        if place is not None and place == places[other]
    ]
