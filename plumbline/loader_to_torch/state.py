"""What a program writes in place, as further arguments and results of it."""

import dataclasses

import torch
from torch.export.graph_signature import ConstantArgument, OutputKind

from plumbline.loader_to_torch.export import functional_graph
from plumbline.loader_to_torch.generator import GENERATOR
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.mutations import Mutation, mutable_ones, mutations
from plumbline.loader_to_torch.returned_mutations import ReturnsMutations
from plumbline.loader_to_torch.symbolic_sizes import dims_of_inputs


def with_mutations_returned(who: str, program: TorchLoaderOutput) -> TorchLoaderOutput:
    """A program that writes nothing, in the place of one with `mutation = "return"` or `mutable`.

    Buffers and parameters that forward writes are arguments after its own. The new values of
    arguments, and then those of buffers and parameters, are results after its own; those of what is
    `mutable` come last. What is neither mutable nor to be returned is still written.

    Raises:
      UserError: torch.export refuses the program, which messages call `who`, or it does not write
        what `mutable` says.
    """
    if program.mutation != "return" and not program.mutable:
        return program
    functional = functional_graph(who, program)
    written = mutations(functional)
    inout = mutable_ones(who, written, program.mutable)
    returned = [each for each in written if each not in inout and program.mutation == "return"]
    if not inout and not returned:
        return program
    signature = functional.graph_signature
    names = [*map(str, signature.user_inputs)]
    tensors = {
        **dict(program.model.named_parameters()),
        **dict(program.model.named_buffers()),
        GENERATOR: torch.get_rng_state(),
    }
    state = {
        each.name: tensors[each.name].detach().clone()
        for each in written
        if each.kind != "input" and (each in inout or each in returned)
    }
    places = [*((True, name) for name in names), *((False, name) for name in state)]

    def numbers(of: list[Mutation]) -> list[int]:
        return sorted(places.index((each.kind == "input", each.name)) for each in of)

    own = [spec.arg for spec in signature.output_specs if spec.kind is OutputKind.USER_OUTPUT]
    # A number is a result, too.
    nones = [arg for arg in own if isinstance(arg, ConstantArgument) and arg.value is None]
    first = len(own) - len(nones) + len(numbers(returned))
    held = tuple(state.values())
    shapes = program.dynamic_shapes
    if shapes is not None:
        entries = dims_of_inputs(program.model, program.inputs, shapes)
        shapes = (*entries, *({} for _ in held))
    further = program.further_inputs
    return dataclasses.replace(
        program,
        model=ReturnsMutations(
            program.model,
            names,
            state,
            [*numbers(returned), *numbers(inout)],
            {argument: first + place for place, argument in enumerate(numbers(inout))},
        ),
        inputs=(*program.inputs, *held),
        dynamic_shapes=shapes,
        further_inputs=None if further is None else [(*inputs, *held) for inputs in further],
    )
