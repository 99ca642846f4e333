"""Runs a program in PyTorch and records what it was given and what it answered."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from plumbline import element_type
from plumbline.errors import UserError
from plumbline.loader_to_torch.loader import SEED, TorchLoaderOutput, check_tensor, describe_error
from plumbline.reference_archive import ReferenceArchive, Tensor


def record_references(who: str, program: TorchLoaderOutput) -> ReferenceArchive:
    """The reference tensors of `program`, which messages call `who`.

    Raises:
      UserError: the program fails on its inputs, or returns something other than tensors.
    """
    inputs = tuple(tensor.clone() for tensor in program.inputs)
    torch.manual_seed(SEED)
    try:
        with torch.no_grad():
            returned = program.model(*inputs)
    except Exception as error:
        raise UserError(
            f"{who}: the model fails on its own inputs in PyTorch: {describe_error(error)}"
        ) from error
    outputs = _outputs(who, returned)
    return ReferenceArchive(
        func_name=program.func_name,
        inputs=tuple(to_numpy(tensor) for tensor in program.inputs),
        outputs=tuple(to_numpy(tensor) for tensor in outputs),
        rtol=_tolerances(who, "rtol", program.rtol, outputs),
        atol=_tolerances(who, "atol", program.atol, outputs),
    )


def to_numpy(tensor: torch.Tensor) -> Tensor:
    """`tensor` as the reference archive stores it; bfloat16 as its raw bytes."""
    dtype = element_type.from_torch_name(str(tensor.dtype)).numpy_dtype
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(dtype)
    array: Tensor = tensor.numpy()
    assert array.dtype == dtype
    return array


def _outputs(who: str, returned: Any) -> tuple[torch.Tensor, ...]:
    if isinstance(returned, torch.Tensor):
        returned = (returned,)
    if not isinstance(returned, tuple | list):
        raise UserError(
            f"{who}: forward returned a {type(returned).__name__}; it returns a tensor, "
            "or a tuple or list of tensors"
        )
    if not returned:
        raise UserError(f"{who}: forward returned no tensor, so there is nothing to compute")
    for index, tensor in enumerate(returned):
        check_tensor(f"{who}: output {index}", tensor)
    return tuple(returned)


def _tolerances(
    who: str,
    name: str,
    given: float | Sequence[float] | None,
    outputs: Sequence[torch.Tensor],
) -> tuple[float, ...]:
    if given is None:
        types = [element_type.from_torch_name(str(tensor.dtype)) for tensor in outputs]
        return tuple(type_.rtol if name == "rtol" else type_.atol for type_ in types)
    values = [given] * len(outputs) if isinstance(given, int | float) else list(given)
    if len(values) != len(outputs):
        raise UserError(f"{who}: {name} has {len(values)} values for {len(outputs)} outputs")
    if not all(isinstance(value, int | float) and 0 <= value < np.inf for value in values):
        raise UserError(f"{who}: {name} is {given!r}; tolerances are finite and >= 0")
    return tuple(float(value) for value in values)
