"""What a model holds from one call to the next, such as what a stream has had so far."""

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any

import torch

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.model_nodes import attribute_name
from plumbline.tflite_to_torch import recurrent
from plumbline.tflite_to_torch.model_file import NOTHING, Model, Operator
from plumbline.tflite_to_torch.node import Node, Pattern, option_of
from plumbline.tflite_to_torch.recurrent import StatePattern
from plumbline.tflite_to_torch.tensors import Operand, Tensor


class Variables(torch.nn.Module):
    """The variables of a model, as buffers, which its ops read and write in place."""

    def __init__(self, model: Model) -> None:
        """All zeros, of the sizes that ops read or write them in."""
        super().__init__()
        self._buffer_names: dict[str, str] = {}
        for graph in model.subgraphs:
            for tensor in graph.tensors:
                if tensor.is_variable:
                    self._hold(tensor.name, tensor)
            names: dict[int, str] = {}
            for operator in graph.operators:
                if operator.name == "VAR_HANDLE":
                    # Of what cannot be read the node says so that has it.
                    with contextlib.suppress(Unsupported):
                        names |= {index: _name(operator) for index in operator.outputs}
                elif operator.name in ("ASSIGN_VARIABLE", "READ_VARIABLE"):
                    indices = *operator.inputs, *operator.outputs
                    if len(indices) != 2 or NOTHING in indices:
                        continue
                    name, tensor = names.get(indices[0]), graph.tensors[indices[1]]
                    if name is not None:
                        self._hold(name, tensor)

    def _hold(self, name: str, tensor: Tensor) -> None:
        """Makes a buffer of a variable, which begins with what stands for zeros."""
        if tensor.dtype is not None and name not in self._buffer_names:
            self._buffer_names[name] = attribute_name(self, name)
            zeros = torch.full(tensor.shape, tensor.zero, dtype=tensor.dtype)
            self.register_buffer(self._buffer_names[name], zeros)

    def __len__(self) -> int:
        return len(self._buffer_names)

    @property
    def patterns(self) -> Mapping[str, Pattern]:
        """Those of the ops that have to do with variables, of which these are the ones."""
        return {
            "ASSIGN_VARIABLE": self._assign,
            # What they begin with has been worked out as the model was read.
            "CALL_ONCE": lambda node: (),
            "READ_VARIABLE": self._read,
            "VAR_HANDLE": lambda node: _name(node),
            **{name: self._with_states(each) for name, each in recurrent.PATTERNS.items()},
        }

    def _variable(self, name: object, called: str) -> torch.Tensor:
        held = self._buffer_names.get(name) if isinstance(name, str) else None
        if held is None:
            raise Unsupported(f"there is no variable {called}")
        variable: torch.Tensor = getattr(self, held)
        return variable

    def _of_handle(self, handle: Operand) -> torch.Tensor:
        return self._variable(handle.stored, handle.tensor.name)

    def _with_states(self, compute: StatePattern) -> Pattern:
        """The pattern of an op some of whose operands are its states."""

        def pattern(node: Node, *operands: Operand | None) -> Any:
            # What is written later does not change what has been read.
            before = [
                dataclasses.replace(each, stored=self._state(each.tensor).clone())
                if each is not None and each.tensor.is_variable
                else each
                for each in operands
            ]
            output, after = compute(node, *before)
            states = [
                each.tensor for each in operands if each is not None and each.tensor.is_variable
            ]
            if len(states) != len(after):
                raise Unsupported(f"it has {len(states)} states, where it keeps {len(after)}")
            for tensor, real in zip(states, after, strict=True):
                self._state(tensor).copy_(tensor.stored(real))
            return output

        return pattern

    def _state(self, tensor: Tensor) -> torch.Tensor:
        return self._variable(tensor.name, tensor.name)

    def _read(self, node: Node, handle: Operand) -> torch.Tensor:
        # What is written later does not change what has been read.
        return self._of_handle(handle).clone()

    def _assign(self, node: Node, handle: Operand, value: Operand) -> tuple[()]:
        variable = self._of_handle(handle)
        if variable.shape != value.stored.shape or variable.dtype != value.stored.dtype:
            raise Unsupported(f"the variable has the sizes {list(variable.shape)}, not its value's")
        variable.copy_(value.stored)
        return ()


def _name(operator: Operator | Node) -> str:
    name: bytes | None = option_of(operator.options, "SharedName", b"")
    return (name or b"").decode(errors="replace")
