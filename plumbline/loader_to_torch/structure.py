"""Nested arguments and results of a program, flattened as torch.export flattens them.

A compiled function takes and returns tensors and numbers. Tuples, lists and dicts of them, and what
else is registered with PyTorch's pytree, count as what is in them, in order; a None counts as
nothing. A number is part of the program, as torch.export has it, unless `dynamic_shapes` says that
it may differ: then it is an argument, a tensor of rank 0 (`scalars.py`).
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

from plumbline.errors import UserError
from plumbline.loader_to_torch.scalars import Number, is_number
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
    if isinstance(structure, torch.Tensor) or is_number(structure) or entry is None:
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


def names_of_results(structure: pytree.TreeSpec) -> list[str] | None:
    """What the leaves are called of a dict that a program returns, or of a dataclass.

    They are called after keys and fields: a tensor in `{"past": (keys, values)}` is `past_0`. None
    where it returns something else, of which the parts have no names in Python.
    """
    if not any(isinstance(key, str) for key in _keys(structure)):
        return None
    return identifiers(_paths(structure))


def _paths(structure: pytree.TreeSpec) -> Iterator[str]:
    if structure.is_leaf():
        yield ""
        return
    for key, part in zip(_keys(structure), structure.children(), strict=True):
        yield from (f"{key}_{path}" for path in _paths(part))


def _keys(structure: pytree.TreeSpec) -> Sequence[str | int]:
    """The keys of a dict, the fields of a dataclass, or the places of what has only such."""
    context = structure.context
    if isinstance(context, list | tuple) and context and isinstance(context[0], list | tuple):
        # The fields, and then those that are None.
        context = context[0]
    count = structure.num_children
    if isinstance(context, list | tuple) and len(context) == count:
        return [key if isinstance(key, str) else place for place, key in enumerate(context)]
    return range(count)


@dataclass(frozen=True)
class _Constant:
    """A leaf that is part of the program: None, or a number."""

    value: Number | None

    def is_same(self, leaf: Any) -> bool:
        """Whether a leaf has this value; one that is no number has itself."""
        return type(leaf) is type(self.value) and (
            leaf == self.value or (leaf != leaf and self.value != self.value)
        )


class Nested(StandIn):
    """A model whose arguments are the leaves of those that it takes."""

    scalars: frozenset[int]
    """Which arguments are numbers of the model's."""
    count: int
    """Of the arguments that the model itself takes."""
    _given: pytree.TreeSpec
    _constants: dict[int, _Constant]
    """The leaves that are none of the arguments, by their places among all leaves."""

    def __init__(self, model: torch.nn.Module, arguments: Any, is_dynamic: Sequence[bool]) -> None:
        """`is_dynamic` says of each leaf that is not None whether, as a number, it may differ."""
        flat, spec = pytree.tree_flatten(tuple(arguments))
        may_differ = iter(is_dynamic)
        constants = {}
        for place, leaf in enumerate(flat):
            differs = leaf is not None and next(may_differ)
            if leaf is None or (is_number(leaf) and not differs):
                constants[place] = _Constant(leaf)
        given = [place for place in range(len(flat)) if place not in constants]
        names = dict(
            zip(
                (place for place, leaf in enumerate(flat) if leaf is not None),
                names_of_leaves(model, arguments),
                strict=True,
            )
        )
        super().__init__(model, [names[place] for place in given])
        self.__dict__.update(
            scalars=frozenset(n for n, place in enumerate(given) if is_number(flat[place])),
            count=len(arguments),
            _given=spec,
            _constants=constants,
        )

    def run(self, *given: torch.Tensor) -> Any:
        """What the model returns."""
        remaining = iter(
            # What is computed of a bool, PyTorch computes of a tensor.
            tensor.item() if number in self.scalars and tensor.dtype != torch.bool else tensor
            for number, tensor in enumerate(given)
        )
        flat = [
            self._constants[place].value if place in self._constants else next(remaining)
            for place in range(self._given.num_leaves)
        ]
        return self.call(pytree.tree_unflatten(flat, self._given), {})

    def flattened(self, what: str, arguments: Any) -> tuple[Any, ...]:
        """The leaves of further arguments that are not part of the program.

        Raises:
          UserError: they are nested in another way than the first ones, or have other numbers where
            these are part of the program; the message begins with `what`.
        """
        flat, spec = pytree.tree_flatten(tuple(arguments))
        if spec != self._given:
            raise UserError(f"{what} is not nested as the first inputs are")
        for place, constant in self._constants.items():
            if constant.is_same(flat[place]):
                continue
            if constant.value is None or not is_number(flat[place]):
                raise UserError(f"{what} is not nested as the first inputs are")
            key, _ = pytree.tree_flatten_with_path(tuple(arguments))[0][place]
            raise UserError(
                f"{what} has {flat[place]!r} at {pytree.keystr(key)}, where the program is "
                f"compiled for {constant.value!r}: a number is part of it, unless "
                "dynamic_shapes has torch.export.Dim.DYNAMIC for it"
            )
        given = [leaf for place, leaf in enumerate(flat) if place not in self._constants]
        if any(leaf is None for leaf in given):
            raise UserError(f"{what} is not nested as the first inputs are")
        return tuple(given)
