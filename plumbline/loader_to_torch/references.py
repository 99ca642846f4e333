"""Runs a program in PyTorch and records what it was given and what it answered."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from plumbline.archives.reference_archive import Case, ReferenceArchive, Tensor
from plumbline.archives.torch_tensors import check_tensor, to_numpy, to_torch
from plumbline.errors import UserError
from plumbline.loader_to_torch.further_cases import (
    Sizes,
    further_sizes,
    refused_size,
    resized,
)
from plumbline.loader_to_torch.loader import (
    SEED,
    TorchLoaderOutput,
    describe_error,
    name_of_function,
)
from plumbline.loader_to_torch.reached_state import ReachedState
from plumbline.loader_to_torch.returned_mutations import inout_of, state_of
from plumbline.loader_to_torch.scalars import as_tensor
from plumbline.loader_to_torch.structure import leaves
from plumbline.signature import element_type
from plumbline.signature.argument_shapes import ArgumentShapes


def record_references(who: str, program: TorchLoaderOutput) -> ReferenceArchive:
    """The reference tensors of `program`, which messages call `who`.

    Raises:
      UserError: the program fails on its inputs, or returns something other than tensors.
    """
    try:
        outputs = _run(who, program, program.inputs)
    except _ModelError as error:
        raise UserError(f"{who}: the model fails on its own inputs in PyTorch: {error}") from error
    return ReferenceArchive(
        func_name=name_of_function(program),
        inputs=tuple(map(to_numpy, program.inputs)),
        outputs=tuple(map(to_numpy, outputs)),
        rtol=_tolerances(who, "rtol", program.rtol, outputs),
        atol=_tolerances(who, "atol", program.atol, outputs),
        inout=tuple(inout_of(program).items()),
    )


def check_repeatable(who: str, program: TorchLoaderOutput, references: ReferenceArchive) -> None:
    """Runs `program` again, and holds its answers against those that `references` has.

    What a loader's program draws by other means than PyTorch's, or keeps from call to call, no
    export shows: the compiled function would be blamed for it.

    Raises:
      UserError: they differ.
    """
    try:
        outputs = _run(who, program, program.inputs)
    except _ModelError as error:
        raise UserError(f"{who}: the model fails when it is called again: {error}") from error
    advice = (
        "for the same inputs and the same torch.manual_seed; a compiled function's cannot: what it "
        "draws at random or keeps between calls has to be one of its inputs"
    )
    former = [to_torch(array) for array in references.outputs]
    if len(outputs) != len(former):
        raise UserError(
            f"{who}: the number of outputs differs from call to call, {len(former)} and then "
            f"{len(outputs)}, {advice}"
        )
    for index, (one, other) in enumerate(zip(former, outputs, strict=True)):
        kinds = [f"{tensor.dtype} of shape {list(tensor.shape)}" for tensor in (one, other)]
        if kinds[0] != kinds[1]:
            raise UserError(
                f"{who}: output {index} differs from call to call, {kinds[0]} and then {kinds[1]}, "
                f"{advice}"
            )
        # Two numbers that are not the same, nor both NaN.
        different = ~((one == other) | (one.isnan() & other.isnan()))
        if different.any():
            place = different.nonzero()[0].tolist()
            values = [tensor[tuple(place)].item() for tensor in (one, other)]
            raise UserError(
                f"{who}: output {index} differs from call to call, {values[0]} and then "
                f"{values[1]} at {place}, {advice}"
            )


def record_further_cases(
    who: str, program: TorchLoaderOutput, shapes: ArgumentShapes, references: ReferenceArchive
) -> ReferenceArchive:
    """`references` with further cases, and with a size that is to be refused.

    Args:
      who: what messages call the program.
      program: as for `record_references`.
      shapes: of its inputs, as they were exported.
      references: what `record_references` made of it.

    Raises:
      UserError: the program fails at sizes that its ranges allow, or the inputs that its loader
        gives are outside of them.
    """
    if program.further_inputs is None:
        made_up = further_sizes(shapes, program.inputs)
        cases = [_made_up_case(who, program, sizes) for sizes in made_up]
    else:
        cases = []
        for number, inputs in enumerate(program.further_inputs):
            which = f"{who}: further_inputs[{number}]"
            shapes.check(which, [tensor.shape for tensor in inputs])
            try:
                cases.append(_case(who, program, inputs))
            except _ModelError as error:
                raise UserError(f"{which}: the model fails on it in PyTorch: {error}") from error
    for case in cases:
        if [_kind(tensor) for tensor in case.outputs] != [_kind(t) for t in references.outputs]:
            raise UserError(
                f"{who}: on inputs of the sizes {_spelled(case.inputs)} the model returns tensors "
                "of another number, dtype or rank than on its own inputs"
            )
    return dataclasses.replace(
        references,
        further_cases=tuple(cases),
        refused=refused_size(shapes, program.inputs),
    )


class _ModelError(Exception):
    """The model failed; the message says how and where."""


def _run(
    who: str, program: TorchLoaderOutput, inputs: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, ...]:
    model = program.model
    # Of its own for each run, so that none sees what another left in them. A forward that writes to
    # its buffers is refused for that, when it is exported.
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    copies = tuple(tensor.clone() for tensor in inputs)
    torch.manual_seed(SEED)
    try:
        with torch.no_grad(), ReachedState(model):
            returned = (
                torch.func.functional_call(model, buffers, copies) if buffers else model(*copies)
            )
    except (Exception, SystemExit) as error:
        raise _ModelError(describe_error(error)) from error
    return _outputs(who, returned)


def _made_up_case(who: str, program: TorchLoaderOutput, sizes: Sizes) -> Case:
    first: _ModelError | None = None
    # What a program has as state stays: it holds no indices.
    own = len(program.inputs) - len(state_of(program))
    least = min((size for shape in sizes for size in shape if size > 0), default=1)
    for indices_below in (None, least):
        generator = torch.Generator().manual_seed(SEED)
        inputs = [
            resized(sample, shape, generator, indices_below if place < own else None)
            for place, (sample, shape) in enumerate(zip(program.inputs, sizes, strict=True))
        ]
        try:
            return _case(who, program, inputs)
        except _ModelError as error:
            first = first or error
    spelled = ", ".join(map(str, sizes))
    raise UserError(
        f"{who}: the model fails in PyTorch on inputs of the sizes {spelled}, which dynamic_shapes "
        f"allows: {first}\n  If it does not work for all sizes, say so with the min and max of its "
        "torch.export.Dim; if it does, but not for any values, give further_inputs in the loader."
    ) from first


def _case(who: str, program: TorchLoaderOutput, inputs: Sequence[torch.Tensor]) -> Case:
    outputs = _run(who, program, inputs)
    return Case(tuple(map(to_numpy, inputs)), tuple(map(to_numpy, outputs)))


def _kind(tensor: Tensor) -> tuple[np.dtype[Any], int]:
    return tensor.dtype, tensor.ndim


def _spelled(tensors: Sequence[Tensor]) -> str:
    return ", ".join(str(list(tensor.shape)) for tensor in tensors)


def _outputs(who: str, returned: Any) -> tuple[torch.Tensor, ...]:
    tensors = [as_tensor(leaf) for leaf in leaves(returned)]
    if not tensors:
        raise UserError(f"{who}: forward returned no tensor, so there is nothing to compute")
    for index, tensor in enumerate(tensors):
        check_tensor(f"{who}: output {index}", tensor)
    return tuple(tensors)


def _tolerances(
    who: str,
    name: str,
    given: float | Sequence[float] | None,
    outputs: Sequence[torch.Tensor],
) -> tuple[float, ...]:
    if given is None:
        types = [element_type.from_torch_name(str(tensor.dtype)) for tensor in outputs]
        return tuple(type_.rtol if name == "rtol" else type_.atol for type_ in types)
    values = list(given) if isinstance(given, Sequence) else [given] * len(outputs)
    if len(values) != len(outputs):
        raise UserError(f"{who}: {name} has {len(values)} values for {len(outputs)} outputs")
    return tuple(float(value) for value in values)
