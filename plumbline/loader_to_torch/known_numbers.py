"""Numbers in tensors that are known, of which a program computes sizes and decides branches.

PyTorch itself knows them in a tensor of one element that the program makes, `torch.tensor(3)`.
Where a program writes one, it is known as far as to there. What it computes of sizes that may
differ is in `numbers_of_sizes.py`.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
import torch.export._trace
from torch._export.utils import _fakify_params_buffers
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export.graph_signature import InputKind
from torch.fx.experimental import proxy_tensor
from torch.utils._mode_utils import no_dispatch

from plumbline.loader_to_torch.numbers_of_sizes import follow

_MOST_HELD = 64
"""Of larger tensors that a model holds the numbers are weights, not what decides on sizes."""

MOST_COMPUTED = 1 << 16
"""The elements of a tensor that a program makes of numbers, such as the places of the patches of a
picture, sorted by windows. Numbers of larger ones are not known."""

_WITHOUT_NUMBERS = (
    torch.ops.aten.empty_like.default,
    torch.ops.aten.new_empty.default,
    torch.ops.aten.new_empty_strided.default,
)
"""Ops that make tensors like one whose numbers may be known, and that hold any. PyTorch's rules for
sizes of results, such as that of an element of a table, make these by them."""


@contextlib.contextmanager
def known_numbers(*, in_buffers: bool) -> Iterator[None]:
    """Has what is exported meanwhile know the numbers in small tensors that it makes of numbers.

    And those in small tensors that the model holds: schedulers of diffusers have steps in such.

    Args:
      in_buffers: whether those may be buffers: convolutions of EnCodec keep their stride in one,
        and pad by what they compute of it.
    """
    with contextlib.ExitStack() as changes:
        dispatch = _without_any_numbers(FakeTensorMode._dispatch_impl)
        changes.enter_context(mock.patch.object(FakeTensorMode, "_dispatch_impl", dispatch))
        following = _following_sizes(FakeTensorMode.dispatch)
        changes.enter_context(mock.patch.object(FakeTensorMode, "dispatch", following))
        for module in (fake_tensor, proxy_tensor):
            changes.enter_context(mock.patch.object(module, "CONSTANT_NUMEL_LIMIT", MOST_COMPUTED))
        name = "validate_and_convert_non_fake_tensors"
        met = _with_numbers_where_met(getattr(FakeTensorMode, name))
        changes.enter_context(mock.patch.object(FakeTensorMode, name, met))
        if in_buffers:
            changes.enter_context(
                mock.patch.object(torch.export._trace, "_fakify_params_buffers", _with_numbers)
            )
        yield


def know_constants(exported: torch.export.ExportedProgram) -> None:
    """Has what stands for small constants of a program have their numbers as it is traced anew."""
    placeholders = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    for spec in exported.graph_signature.input_specs:
        if spec.kind is InputKind.CONSTANT_TENSOR:
            tensor = placeholders[spec.arg.name].meta["val"]
            _know(tensor.fake_mode, exported.constants[spec.target], tensor)


def _without_any_numbers(dispatch: Callable[..., Any]) -> Callable[..., Any]:
    """What computes tensors without data, which knows no numbers of what nothing is in yet."""

    def dispatched(mode: FakeTensorMode, func: Any, *given: Any) -> Any:
        result = dispatch(mode, func, *given)
        if func in _WITHOUT_NUMBERS and isinstance(result, FakeTensor):
            result.constant = None
        return result

    return dispatched


def _following_sizes(dispatch: Callable[..., Any]) -> Callable[..., Any]:
    """What computes tensors without data, and notes which numbers in them follow from sizes."""

    def dispatched(
        mode: FakeTensorMode, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = dispatch(mode, func, types, args, kwargs)
        follow(func, args, kwargs or {}, result)
        return result

    return dispatched


def _with_numbers(mode: FakeTensorMode, module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The tensors without data that stand for the parameters and buffers of a module, by name."""
    # Modes of ours have functions of the program to look at, and each tensor is asked fifty things.
    with torch._C.DisableTorchFunction():
        tensors = _fakify_params_buffers(mode, module)
    for name, buffer in module.named_buffers(remove_duplicate=False):
        _know(mode, buffer, tensors[name])
    return tensors


def _with_numbers_where_met(convert: Callable[..., Any]) -> Callable[..., Any]:
    """What has tensors without data stand for those that ops are given, being no buffers.

    Their numbers are those that they have where they are met first: later they may be written.
    """
    # With the tensors, for no other is to have the identity of one meanwhile.
    met: dict[int, FakeTensor] = {}

    def converted(
        mode: FakeTensorMode, func: Any, converter: Any, given: Sequence[Any], spec: Any
    ) -> Any:
        result = convert(mode, func, converter, given, spec)
        for held, tensor in zip(given, result[0], strict=True):
            if held is not tensor and id(tensor) not in met:
                met[id(tensor)] = tensor
                _know(mode, held, tensor)
        return result

    return converted


def _know(
    mode: FakeTensorMode, held: torch.Tensor, tensor: torch.Tensor, most: int = _MOST_HELD
) -> None:
    """Has a tensor without data that stands for `held` have the numbers of that, if few."""
    is_small = held.layout == torch.strided and held.numel() <= most
    # Known already is what is a buffer by two names.
    if is_small and isinstance(tensor, FakeTensor) and tensor.constant is None:
        # A copy, for what writes into the one is carried out on the other.
        tensor.constant = held.detach().clone()
        mode.fake_tensor_converter.add_constant_storage_mapping(tensor)


def knowing_numbers(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A function that makes tensors of numbers, and has those know what they hold, if it is few."""

    @functools.wraps(make)
    def made(*given: Any, **options: Any) -> torch.Tensor:
        tensor = make(*given, **options)
        told = (*given, *options.values())
        follows = any(
            isinstance(each, torch.Tensor | torch.SymInt | torch.SymFloat) for each in told
        )
        if isinstance(tensor, FakeTensor) and not follows and tensor.numel() <= MOST_COMPUTED:
            with no_dispatch():
                _know(tensor.fake_mode, make(*given, **options), tensor, MOST_COMPUTED)
        return tensor

    return made
