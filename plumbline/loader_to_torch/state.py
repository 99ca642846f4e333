"""What a program writes in place, as further arguments and results of it."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.export import functional_graph
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.mutations import mutations
from plumbline.loader_to_torch.stand_in import StandIn
from plumbline.loader_to_torch.structure import leaves
from plumbline.loader_to_torch.symbolic_sizes import dims_of_inputs


def with_mutations_returned(who: str, program: TorchLoaderOutput) -> TorchLoaderOutput:
    """A program that writes nothing, in the place of one with `mutation = "return"`.

    Buffers and parameters that forward writes are arguments after its own. The new values of
    arguments, and then those of buffers and parameters, are results after its own.

    Raises:
      UserError: torch.export refuses the program, which messages call `who`.
    """
    if program.mutation != "return":
        return program
    functional = functional_graph(who, program)
    written = mutations(functional)
    if not written:
        return program
    given = functional.graph_signature.user_inputs
    arguments = sorted(given.index(each.name) for each in written if each.kind == "input")
    tensors = {**dict(program.model.named_parameters()), **dict(program.model.named_buffers())}
    state = {
        each.name: tensors[each.name].detach().clone() for each in written if each.kind != "input"
    }
    held = tuple(state.values())
    shapes = program.dynamic_shapes
    if shapes is not None:
        entries = dims_of_inputs(program.model, program.inputs, shapes)
        # One entry, for the one variadic parameter.
        shapes = ((*entries, *({} for _ in held)),)
    further = program.further_inputs
    return dataclasses.replace(
        program,
        model=_ReturnsMutations(program.model, arguments, state),
        inputs=(*program.inputs, *held),
        dynamic_shapes=shapes,
        further_inputs=None if further is None else [(*inputs, *held) for inputs in further],
    )


def state_of(program: TorchLoaderOutput) -> dict[str, torch.Tensor]:
    """The values of the arguments that `with_mutations_returned` added, by name and in order."""
    return program.model.state if isinstance(program.model, _ReturnsMutations) else {}


class _ReturnsMutations(StandIn):
    """A model whose arguments and state are copied before it runs, and returned after it has."""

    state: dict[str, torch.Tensor]
    _written: tuple[int, ...]

    def __init__(
        self, model: torch.nn.Module, written: Sequence[int], state: dict[str, torch.Tensor]
    ) -> None:
        super().__init__(model)
        self.__dict__.update(_written=tuple(written), state=state)

    def forward(self, *given: torch.Tensor) -> tuple[Any, ...]:
        arguments = list(given[: len(given) - len(self.state)])
        for place in self._written:
            arguments[place] = arguments[place].clone()
        values = given[len(arguments) :]
        state = {name: value.clone() for name, value in zip(self.state, values, strict=True)}
        results = leaves(self.call(arguments, state))
        return (*results, *(arguments[place] for place in self._written), *state.values())
