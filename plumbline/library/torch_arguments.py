"""How PyTorch's tensors are handed to machine code, and results are made such."""

import importlib.util
import operator
from collections.abc import Collection, Sequence
from typing import Any

import torch

from plumbline.archives.reference_archive import Tensor
from plumbline.archives.torch_tensors import as_numpy, check_tensor, to_torch
from plumbline.errors import UserError
from plumbline.library.call_plan import CallPlan
from plumbline.library.tensor_arguments import (
    Copy,
    Kind,
    Parameter,
    PlainReading,
    Reading,
    ReadPlain,
    Repeats,
    read_array,
)
from plumbline.signature import element_type
from plumbline.signature.axis_orders import inverse
from plumbline.signature.signature import AxisOrder, Signature, TensorSpec

_ELEMENT_TYPES = {getattr(torch, known.torch_name): known for known in element_type.ELEMENT_TYPES}

PLAIN_TYPES = frozenset({torch.Tensor, torch.nn.Parameter})
"""Of tensors that are but their elements."""


def _read(tensor: torch.Tensor, parameter: Parameter) -> Reading:
    if type(tensor) not in PLAIN_TYPES and _is_its_elements(type(tensor)):
        # Its class may do something of its own wherever it is asked.
        plain = tensor.as_subclass(torch.Tensor)
        word, shape, kept = _read(plain, parameter)
        return word, shape, tensor if kept is plain else kept
    if (
        type(tensor) in PLAIN_TYPES
        and tensor.is_cpu
        and tensor.layout is torch.strided
        and not tensor.is_nested
        and _ELEMENT_TYPES.get(tensor.dtype) is parameter.spec.element_type
        and _lies_as(tensor, parameter.spec.order)
        and not tensor.is_neg()
        and not tensor.is_conj()
    ):
        return tensor.data_ptr(), tensor.shape, tensor
    check_tensor(parameter.name, tensor)
    try:
        array = as_numpy(tensor)
    except RuntimeError as error:
        (reason, *_) = str(error).splitlines()
        raise UserError(
            f"{parameter.name} is a {type(tensor).__name__} that cannot be read: {reason}"
        ) from error
    return read_array(array, parameter)


def _is_its_elements(type_: type[torch.Tensor]) -> bool:
    """Whether ops see tensors of a class as they are, as those of a parameter on a manifold."""
    return type_.__torch_dispatch__ is torch.Tensor.__torch_dispatch__


def _lies_as(tensor: torch.Tensor, order: AxisOrder | None) -> bool:
    """Whether a tensor has its axes in an order in memory, without gaps; None: row-major."""
    if order is None:
        return tensor.is_contiguous()
    return tensor.dim() == len(order) and tensor.permute(order).is_contiguous()


def _dtypes(parameters: Sequence[Parameter]) -> list[torch.dtype | None]:
    """Those of the tensors that are taken; numbers have none here."""
    return [
        None if parameter.spec.is_scalar else getattr(torch, parameter.spec.element_type.torch_name)
        for parameter in parameters
    ]


def plain_tensors(parameters: Sequence[Parameter], where: str = "is_cpu") -> ReadPlain:
    """What takes plain tensors that lie where the attribute of that name says."""
    dtypes = _dtypes(parameters)
    orders = [parameter.spec.order for parameter in parameters]
    is_there = operator.attrgetter(where)

    def read(arguments: Sequence[Any]) -> PlainReading:
        words: list[int] = []
        shapes: list[tuple[int, ...]] = []
        for tensor, dtype, order in zip(arguments, dtypes, orders, strict=True):
            if (
                type(tensor) not in PLAIN_TYPES
                or tensor.dtype is not dtype
                or not is_there(tensor)
                or not (tensor if order is None else tensor.permute(order)).is_contiguous()
                or tensor.is_neg()
                or tensor.is_conj()
            ):
                raise TypeError
            # Raises RuntimeError, as the shape does, of layouts that are not strided.
            words.append(tensor.data_ptr())
            shapes.append(tensor.shape)
        return words, shapes

    return read


def copying(parameters: Sequence[Parameter], written: Collection[int]) -> Copy:
    """What copies tensors that would be plain but for how they lie, unless they are `written`."""
    specs = [parameter.spec for parameter in parameters]
    dtypes = _dtypes(parameters)
    for number in written:
        dtypes[number] = None

    def copy(arguments: Sequence[Any]) -> list[Any] | None:
        found: list[Any] = []
        is_copied = False
        for tensor, dtype, spec in zip(arguments, dtypes, specs, strict=True):
            if type(tensor) in PLAIN_TYPES and tensor.dtype is dtype:
                copied = _copied(tensor, spec.sizes, spec.order)
                is_copied = is_copied or copied is not tensor
                tensor = copied
            found.append(tensor)
        return found if is_copied else None

    return copy


def _copied(
    tensor: torch.Tensor, sizes: Sequence[int | None], order: AxisOrder | None
) -> torch.Tensor:
    """A copy of a plain tensor that lies in an order; the tensor itself where it does, or may not.

    One of other sizes may be any that repeats its elements without memory.
    """
    if not tensor.is_cpu or tensor.is_neg() or tensor.is_conj():
        return tensor
    lying = tensor if order is None else tensor.permute(order)
    if lying.is_contiguous() or not all(
        size is None or size == has for size, has in zip(sizes, tensor.shape, strict=True)
    ):
        return tensor
    copy = (lying.detach() if tensor.requires_grad else lying).contiguous()
    return copy if order is None else copy.permute(inverse(order))


def give(array: Tensor, spec: TensorSpec) -> torch.Tensor:
    """A tensor of the same memory."""
    # Nearly all are of types that numpy has, too.
    return torch.from_numpy(array) if array.dtype.kind != "V" else to_torch(array)


def _repeats(signature: Signature, entry: int, plan: CallPlan) -> Repeats:
    # Who only loads libraries need not have LLVM.
    if importlib.util.find_spec("llvmlite") is None:
        return Repeats()
    from plumbline.library.torch_calls import calls_of

    return calls_of(signature, entry, plan)


TENSOR = Kind(_read, give, plain_tensors, _repeats, copying)
