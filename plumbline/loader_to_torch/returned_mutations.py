"""A model that returns what it writes in place, in the place of one that writes."""

import contextlib
from collections.abc import Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.random_numbers import draw_from, drawn_from
from plumbline.loader_to_torch.generator import GENERATOR, PortableDraws
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.stand_in import StandIn, identifiers
from plumbline.loader_to_torch.structure import Nested, leaves


class ReturnsMutations(StandIn):
    """A model whose arguments and state are copied before it runs, and returned after it has."""

    state: dict[str, torch.Tensor]
    """The first values of the arguments after the model's own, by its names for them."""
    inout: dict[int, int]
    """For each argument that a compiled function writes, the result that is its new value."""
    _written: tuple[int, ...]

    def __init__(
        self,
        model: torch.nn.Module,
        names: Sequence[str],
        state: dict[str, torch.Tensor],
        written: Sequence[int],
        inout: dict[int, int],
    ) -> None:
        """`names` are those of the model's arguments; `written`, what is returned, in order.

        That is told by numbers of arguments, those of `state` included.
        """
        super().__init__(model, [*names, *identifiers(state, names)])
        self.__dict__.update(state=state, inout=inout, _written=tuple(written))

    def run(self, *given: torch.Tensor) -> tuple[Any, ...]:
        """The model's results, and then the new values."""
        values = [
            value.clone() if place in self._written else value for place, value in enumerate(given)
        ]
        own = len(values) - len(self.state)
        state = dict(zip(self.state, values[own:], strict=True))
        generator = {name: state.pop(name) for name in (GENERATOR,) if name in state}
        drawn = {name: draw_from(value) for name, value in generator.items()}
        # What is traced draws by rules of ours.
        portable = drawn and not torch.compiler.is_exporting()
        with PortableDraws() if portable else contextlib.nullcontext():
            results = leaves(self.call(values[:own], state))
        state.update((name, drawn_from(value)) for name, value in drawn.items())
        values[own:] = (state[name] for name in self.state)
        return (*results, *(values[place] for place in self._written))


def state_of(program: TorchLoaderOutput) -> dict[str, torch.Tensor]:
    """The values of the arguments after those that the program itself has, by name."""
    return program.model.state if isinstance(program.model, ReturnsMutations) else {}


def scalars_of(program: TorchLoaderOutput) -> frozenset[int]:
    """The numbers of the arguments that are numbers of Python's to the program itself."""
    model = program.model
    while isinstance(model, StandIn):
        if isinstance(model, Nested):
            return model.scalars
        model = model.original
    return frozenset()


def inout_of(program: TorchLoaderOutput) -> dict[int, int]:
    """For each argument that a compiled function writes, the result that is its new value."""
    return program.model.inout if isinstance(program.model, ReturnsMutations) else {}
