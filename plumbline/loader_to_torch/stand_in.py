"""Modules that are called in the place of others."""

import inspect
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch

from plumbline.loader_to_torch.reached_state import ReachedState


class StandIn(torch.nn.Module):
    """Base class: calls a model, whose weights and modules it has by the names that those have.

    So the names of weights and the paths of modules are those that the model's author knows.
    """

    _model: torch.nn.Module

    def __init__(self, model: torch.nn.Module, parameters: Sequence[str]) -> None:
        """`parameters` are the names of what `run` takes, different ones."""
        super().__init__()
        # The modules are shared. Tables of tensors are not: to torch.export, what the model assigns
        # to its own would be written for good. Hooks are called with the model.
        plain = {name: value for name, value in vars(model).items() if torch.is_tensor(value)}
        self.__dict__.update(
            plain,
            _modules=model._modules,
            _parameters=dict(model._parameters),
            _buffers=dict(model._buffers),
            _non_persistent_buffers_set=set(model._non_persistent_buffers_set),
            training=model.training,
            _model=model,
            # Of this object, as its signature is: by it torch.export names what it is given.
            forward=_with_parameters(self.run, parameters),
        )

    @property
    def original(self) -> torch.nn.Module:
        """The model."""
        return self._model

    def run(self, *given: Any) -> Any:
        """What `forward` does."""
        raise NotImplementedError

    def call(self, arguments: Sequence[Any], replaced: dict[str, torch.Tensor]) -> Any:
        """What the model returns, with some of its parameters and buffers replaced.

        Where it assigns one of these anew, `replaced` then has what it assigned; and this module,
        where it does so to another.
        """
        own: Mapping[str, torch.Tensor] = {
            **dict(self.named_parameters(recurse=False)),
            **dict(self.named_buffers(recurse=False)),
        }
        tensors = {**own, **replaced}
        for name, parameter in self._model.named_parameters():
            if name in replaced and parameter.requires_grad:
                # As the parameter that it stands for, of which gradients may be taken.
                replaced[name].requires_grad_()
        with ReachedState(self._model):
            returned = torch.func.functional_call(self._model, tensors, tuple(arguments))
        replaced.update((name, tensors[name]) for name in replaced)
        for name in own.keys() - replaced.keys():
            if tensors[name] is not own[name]:
                setattr(self, name, tensors[name])
        return returned


def _with_parameters(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """A function that does the same, with parameters of these names."""

    def forward(*given: Any) -> Any:
        return function(*given)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in names]
    forward.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return forward


def identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names as Python can have them, all different from one another and from those `taken`."""
    known = set(taken)
    found = []
    for name in names:
        plain = re.sub(r"\W+", "_", name).strip("_") or "given"
        plain = f"_{plain}" if plain[0].isdigit() or keyword.iskeyword(plain) else plain
        while plain in known:
            plain += "_"
        known.add(plain)
        found.append(plain)
    return found
