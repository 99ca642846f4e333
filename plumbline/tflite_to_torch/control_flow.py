"""Branches and loops of TensorFlow Lite, whose bodies are graphs of the model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._higher_order_ops.cond import cond_op
from torch._higher_order_ops.while_loop import while_loop_op
from torch.func import functional_call

from plumbline.tflite_to_torch.graph import GraphPattern
from plumbline.tflite_to_torch.node import Node
from plumbline.tflite_to_torch.tensors import Operand

_Tensors = Sequence[torch.Tensor]


class _Body:
    """A graph as a function of its inputs, and of the constants that it reads."""

    def __init__(self, graph: torch.nn.Module) -> None:
        self._graph = graph
        buffers = dict(graph.named_buffers())
        self._names = [*buffers]
        self.operands = tuple(buffers.values())

    def __call__(self, inputs: _Tensors, operands: _Tensors) -> tuple[torch.Tensor, ...]:
        """Its outputs, which are tensors of their own that lie in order."""
        held = dict(zip(self._names, operands, strict=True))
        outputs = functional_call(self._graph, held, (inputs,))
        return tuple(each.clone(memory_format=torch.contiguous_format) for each in outputs)


def _if(
    node: Node, graphs: Sequence[torch.nn.Module], condition: Operand, *operands: Operand
) -> tuple[torch.Tensor, ...]:
    inputs = [operand.stored for operand in operands]
    bodies = [*map(_Body, graphs)]
    held = [constant for body in bodies for constant in body.operands]

    def branch(number: int) -> Callable[..., tuple[torch.Tensor, ...]]:
        first = sum(len(body.operands) for body in bodies[:number])

        def run(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
            constants = given[len(inputs) + first :][: len(bodies[number].operands)]
            return bodies[number](given[: len(inputs)], constants)

        return run

    holds = condition.stored.reshape(())
    return tuple(cond_op(holds, branch(0), branch(1), (*inputs, *held)))


def _while(
    node: Node, graphs: Sequence[torch.nn.Module], *operands: Operand
) -> tuple[torch.Tensor, ...]:
    condition, body = map(_Body, graphs)
    count, of_condition = len(operands), len(condition.operands)

    def goes_on(*given: torch.Tensor) -> torch.Tensor:
        (holds,) = condition(given[:count], given[count:][:of_condition])
        return holds.reshape(())

    def turn(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return body(given[:count], given[count + of_condition :])

    carried: Any = tuple(
        operand.stored.clone(memory_format=torch.contiguous_format) for operand in operands
    )
    read: Any = (*condition.operands, *body.operands)
    return tuple(while_loop_op(goes_on, turn, carried, read))


PATTERNS: Mapping[str, GraphPattern] = {
    "IF": GraphPattern(_if, ("ThenSubgraphIndex", "ElseSubgraphIndex")),
    "WHILE": GraphPattern(_while, ("CondSubgraphIndex", "BodySubgraphIndex")),
}
