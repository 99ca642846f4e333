"""Parameters and buffers that a model reaches by another way than by their modules.

A cache of keys and values, say, whose tensors are buffers too so that they count as state.
"""

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree


class ReachedState(TorchFunctionMode):
    """Has functions take what modules have as parameters and buffers, wherever they come from.

    Whoever traces a model, or calls it with other tensors in their place, sets them in its modules
    alone: what it holds elsewhere would be a constant, or written without anybody's knowing.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        """The tensors that `model` has now are those that it may hold elsewhere."""
        super().__init__()
        # With the tensors, for no other is to have the identity of one meanwhile.
        self._tables = {
            id(tensor): (table, name, tensor)
            for module in model.modules()
            for table in (module._parameters, module._buffers)
            for name, tensor in table.items()
            if tensor is not None
        }

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Calls a function on the tensors that modules have now."""
        if self._tables and any(
            id(leaf) in self._tables for leaf in pytree.tree_leaves((args, kwargs))
        ):
            args, kwargs = pytree.tree_map_only(torch.Tensor, self._current, (args, kwargs))
        return func(*args, **(kwargs or {}))

    def _current(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self._tables:
            return tensor
        table, name, _ = self._tables[id(tensor)]
        current = table[name]
        return tensor if current is None else current
