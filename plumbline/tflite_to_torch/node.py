"""A node of a graph of TensorFlow Lite, as the patterns see it."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import tflite
import torch

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.tensors import Operand, Tensor

_BOUNDS = {
    tflite.ActivationFunctionType.NONE: (-torch.inf, torch.inf),
    tflite.ActivationFunctionType.RELU: (0.0, torch.inf),
    tflite.ActivationFunctionType.RELU_N1_TO_1: (-1.0, 1.0),
    tflite.ActivationFunctionType.RELU6: (0.0, 6.0),
    # Its result is within these anyway.
    tflite.ActivationFunctionType.TANH: (-torch.inf, torch.inf),
}
"""What activations keep within."""


@dataclass(frozen=True, eq=False)
class Node:
    """An op, its options, and what the model says of its tensors."""

    op: str
    """As the schema's `BuiltinOperator` has it."""
    options: Any
    """A table of the schema's, or None."""
    inputs: tuple[Tensor | None, ...]
    """None for one that is left out."""
    outputs: tuple[Tensor, ...]
    known: tuple[Sequence[Any] | None, ...]
    """The elements of each input, in order, which the model says; None: it does not."""
    read_as_numbers: set[int] = field(default_factory=set)
    """The inputs of which it has been asked so far what they are."""

    def option(self, name: str, default: Any = None) -> Any:
        """An option, by the name of its accessor, or else the default.

        Raises:
          Unsupported: there is neither, or it cannot be read.
        """
        return option_of(self.options, name, default)

    def option_numbers(self, name: str) -> list[int]:
        """An option that is a list of numbers; none, where it is not there."""
        if not self.option(f"{name}Length", 0):
            return []
        return [*map(int, self.option(f"{name}AsNumpy"))]

    def numbers(self, index: int) -> list[Any]:
        """The elements of an input, in order, which the model says.

        Raises:
          Unsupported: it is not.
        """
        tensor = self.inputs[index] if index < len(self.inputs) else None
        if tensor is None:
            raise Unsupported(f"input {index} is left out")
        numbers = self.known[index]
        if numbers is None:
            raise Unsupported(f"input {index}, {tensor.name}, is computed as the program runs")
        self.read_as_numbers.add(index)
        return list(numbers)

    def number(self, index: int) -> Any:
        """Likewise, of an input of one element."""
        numbers = self.numbers(index)
        if len(numbers) != 1:
            raise Unsupported(f"input {index} has {len(numbers)} elements, where it takes one")
        return numbers[0]

    def store(self, real: torch.Tensor, index: int = 0) -> torch.Tensor:
        """How an output stores what numbers stand for, after the activation that the node has.

        Raises:
          Unsupported: there is no such activation, or the output cannot store them.
        """
        activation = self.option("FusedActivationFunction", tflite.ActivationFunctionType.NONE)
        if activation not in _BOUNDS:
            raise Unsupported(f"activation {activation} has no meaning here")
        if activation == tflite.ActivationFunctionType.TANH:
            real = real.tanh()
        return self.outputs[index].stored(real, *_BOUNDS[activation])

    def activated(self, stored: torch.Tensor) -> torch.Tensor:
        """A result that is stored as the output is, after the activation that the node has."""
        none = tflite.ActivationFunctionType.NONE
        if self.option("FusedActivationFunction", none) == none:
            return stored
        return self.store(Operand(self.outputs[0], stored).real)

    def converted(self, operand: Operand) -> torch.Tensor:
        """An operand, stored as the output is."""
        if operand.tensor.quantization == self.outputs[0].quantization:
            return operand.stored
        return self.outputs[0].stored(operand.real)


def option_of(options: Any, name: str, default: Any = None) -> Any:
    """An option of a table of the schema's, by the name of its accessor, or else the default.

    Raises:
      Unsupported: there is neither, or it cannot be read.
    """
    if (accessor := getattr(options, name, None)) is not None:
        try:
            return accessor()
        except (struct.error, TypeError) as error:
            raise Unsupported(f"its option {name} is not in the file: {error}") from error
    if default is None:
        raise Unsupported(f"it has no option {name}")
    return default


Pattern: TypeAlias = Callable[..., Any]
"""Takes a `Node` and an `Operand`, or None, for each of its inputs; gives its output as it is
stored, or a tuple of all. It raises `Unsupported` where it cannot."""


def of_reals(compute: Callable[..., torch.Tensor]) -> Pattern:
    """The pattern of an op that computes with what its operands stand for, and all alike."""

    def pattern(node: Node, *operands: Operand) -> torch.Tensor:
        return node.store(compute(*(operand.real for operand in operands)))

    return pattern


def of_reals_and_options(compute: Callable[..., torch.Tensor]) -> Pattern:
    """Likewise, of one whose options matter, or inputs that are known: it takes the node, too."""

    def pattern(node: Node, *operands: Operand | None) -> torch.Tensor:
        reals = (None if operand is None else operand.real for operand in operands)
        return node.store(compute(node, *reals))

    return pattern


def of_moves(move: Callable[..., Any]) -> Pattern:
    """The pattern of an op that moves the elements of its first operand, whatever these are.

    What `move` takes is the node and that operand as the output is stored; it gives one tensor or a
    tuple.
    """

    def pattern(node: Node, *operands: Operand) -> Any:
        return move(node, node.converted(operands[0]))

    return pattern


def axes_of(numbers: Sequence[int], rank: int) -> list[int]:
    """Axes, of which some may count from the last.

    Raises:
      Unsupported: there is no such axis.
    """
    for number in numbers:
        if not -rank <= number < rank:
            raise Unsupported(f"there is no axis {number}, of {rank}")
    return [number % rank for number in numbers]
