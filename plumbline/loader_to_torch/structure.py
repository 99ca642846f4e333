"""Nested arguments and results of a program, flattened as torch.export flattens them.

A compiled function takes and returns tensors. Tuples, lists and dicts of them, and what else is
registered with PyTorch's pytree, count as the tensors in them, in order; a None counts as nothing.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from plumbline.errors import UserError
from plumbline.loader_to_torch.stand_in import StandIn, identifiers


def leaves(structure: Any) -> list[Any]:
    """What stands in `structure`, None left out."""
    return [leaf for leaf in pytree.tree_leaves(structure) if leaf is not None]


def leaves_with_places(structure: Any) -> Iterator[tuple[str, Any]]:
    """The same, each with where it stands: `[1]['mask']`."""
    for path, leaf in pytree.tree_flatten_with_path(structure)[0]:
        if leaf is not None:
            yield pytree.keystr(path), leaf


def dims_of_leaves(structure: Any, entry: Any) -> Iterator[Any]:
    """The part of `entry`, which `dynamic_shapes` has for `structure`, for each of its leaves."""
    if isinstance(structure, torch.Tensor) or entry is None:
        yield from (entry for _ in leaves(structure))
    elif isinstance(structure, Mapping):
        for key, value in structure.items():
            yield from dims_of_leaves(value, entry.get(key))
    elif isinstance(structure, tuple | list):
        for value, part in zip(structure, entry, strict=True):
            yield from dims_of_leaves(value, part)
    elif structure is not None:
        raise TypeError(f"no entry of dynamic_shapes can be about a {type(structure).__name__}")


def names_of_leaves(model: torch.nn.Module, arguments: Sequence[Any]) -> list[str]:
    """What the leaves of a model's arguments are called, as torch.export calls them.

    A tensor in `past = {"layer": (keys, values)}` is `past_layer_0`.
    """
    try:
        given: Any = inspect.signature(model.forward).bind(*arguments).arguments
    except TypeError:
        # forward does not take them, which PyTorch tells better.
        given = {"given": tuple(arguments)}
    return identifiers(place for place, _ in leaves_with_places(dict(given)))


class Nested(StandIn):
    """A model whose arguments are the leaves of those that it takes."""

    _given: pytree.TreeSpec
    _is_none: tuple[bool, ...]
    count: int
    """Of the arguments that the model itself takes."""

    def __init__(self, model: torch.nn.Module, arguments: Any) -> None:
        super().__init__(model, names_of_leaves(model, arguments))
        flat, spec = pytree.tree_flatten(tuple(arguments))
        self.__dict__.update(_given=spec, _is_none=tuple(leaf is None for leaf in flat))
        self.__dict__.update(count=len(arguments))

    def run(self, *given: torch.Tensor) -> Any:
        """What the model returns."""
        remaining = iter(given)
        flat = [None if is_none else next(remaining) for is_none in self._is_none]
        return self.call(pytree.tree_unflatten(flat, self._given), {})

    def flattened(self, what: str, arguments: Any) -> tuple[torch.Tensor, ...]:
        """The leaves of further arguments.

        Raises:
          UserError: they are nested in another way than the first ones; the message begins with
            `what`.
        """
        flat, spec = pytree.tree_flatten(tuple(arguments))
        if spec != self._given or [leaf is None for leaf in flat] != list(self._is_none):
            raise UserError(f"{what} is not nested as the first inputs are")
        return tuple(leaves(flat))
