"""Modules that are called in the place of others."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch


class StandIn(torch.nn.Module):
    """Base class: calls a model, whose weights and modules it has by the names that those have.

    So the names of weights and the paths of modules are those that the model's author knows.
    """

    _model: torch.nn.Module

    def __init__(self, model: torch.nn.Module) -> None:
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
        )

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
        returned = torch.func.functional_call(self._model, tensors, tuple(arguments))
        replaced.update((name, tensors[name]) for name in replaced)
        for name in own.keys() - replaced.keys():
            if tensors[name] is not own[name]:
                setattr(self, name, tensors[name])
        return returned
