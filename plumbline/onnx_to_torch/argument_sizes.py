"""What a model calls the sizes of its arguments that are not known."""

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from onnx import TensorShapeProto, ValueInfoProto

from plumbline.errors import UserError
from plumbline.loader_to_torch.model_nodes import check_sizes


class OtherSize(RuntimeError):
    """A dimension of a tensor is of another size than an op needs it to be."""

    def __init__(self, given: torch.Tensor, axis: int, size: int) -> None:
        """`size` is what that of `given` along `axis` has to be."""
        super().__init__(
            f"dimension {axis} of a tensor is {given.shape[axis]}, and has to be {size}"
        )
        self.given = given
        self.axis = axis
        self.size = size


def hold_size(given: torch.Tensor, axis: int, size: Any) -> None:
    """Has PyTorch take for granted that a dimension of an operand is of a size.

    Raises:
      OtherSize: it is of another.
    """
    is_known = isinstance(given.shape[axis], int) and isinstance(size, int)
    if is_known and given.shape[axis] != size:
        raise OtherSize(given, axis, size)
    torch._check(given.shape[axis] == size)  # type: ignore[no-untyped-call]


class ArgumentSizes:
    """The dynamic sizes of the arguments of a model.

    ONNX calls each by a name, and those of one name are the same. Exporters also write formulas of
    names, `past + 1`; one without a name is called after its argument.
    """

    def __init__(self, who: str, arguments: Sequence[ValueInfoProto]) -> None:
        """Those of `arguments`, of the model that messages call `who`.

        Raises:
          UserError: one of them is no tensor, or its rank is not said.
        """
        self._who = who
        for argument in arguments:
            if argument.type.WhichOneof("value") != "tensor_type":
                raise UserError(f"{who}: argument {argument.name} is no tensor")
            if not argument.type.tensor_type.HasField("shape"):
                raise UserError(f"{who}: of argument {argument.name} no rank is said")
        shapes = [argument.type.tensor_type.shape.dim for argument in arguments]
        plain = {dim.dim_param for shape in shapes for dim in shape if dim.dim_param.isidentifier()}
        self.texts: list[dict[int, str]] = [
            {
                axis: _text(argument.name, axis, dim, plain)
                for axis, dim in enumerate(shape)
                if not dim.HasField("dim_value")
            }
            for argument, shape in zip(arguments, shapes, strict=True)
        ]
        """The names and formulas, by dimension, for each argument."""
        self.names = list(
            dict.fromkeys(
                text for texts in self.texts for text in texts.values() if names_in(text) == [text]
            )
        )
        """Each name once, in the order of the arguments."""

    def check_names(self, sizes: Mapping[str, int]) -> None:
        """Refuses sizes of what no dimension is called.

        Raises:
          UserError: there is one, or a size is none.
        """
        check_sizes(self._who, self.names, sizes)

    def name_of(self, needed: OtherSize, inputs: Sequence[torch.Tensor]) -> str | None:
        """What a dimension of one of `inputs` is called that is to be of another size, if it is."""
        for texts, given in zip(self.texts, inputs, strict=True):
            if given is needed.given:
                name = texts.get(needed.axis)
                return name if name in self.names else None
        return None

    def hold(self, inputs: Sequence[torch.Tensor]) -> None:
        """Has PyTorch take for granted what the model says of the sizes of its arguments.

        Raises:
          RuntimeError: those of `inputs` are others.
        """
        sizes: dict[str, Any] = {}
        for texts, given in zip(self.texts, inputs, strict=True):
            for axis, text in texts.items():
                if text in self.names:
                    sizes.setdefault(text, given.shape[axis])
        for number, (texts, given) in enumerate(zip(self.texts, inputs, strict=True)):
            for axis, text in texts.items():
                expected = self.evaluate(text, sizes)
                message = f"dimension {axis} of argument {number} is to be {text}"
                is_so = given.shape[axis] == expected
                torch._check(is_so, lambda message=message: message)  # type: ignore[no-untyped-call]

    def evaluate(self, text: str, sizes: Mapping[str, Any]) -> Any:
        """The size that a name or a formula stands for.

        Raises:
          UserError: it gives none.
        """
        try:
            return _value(ast.parse(text, mode="eval").body, sizes)
        except ZeroDivisionError as error:
            raise UserError(f"{self._who}: a size is called {text!r}, which gives none") from error


_OPERATORS: Mapping[type[ast.operator], Any] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
}


def _value(node: ast.expr, sizes: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return sizes[name]
        case ast.Constant(value=number):
            return number
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, sizes), _value(right, sizes))
    raise AssertionError("a formula has no other parts")


def names_in(text: str) -> list[str]:
    """The names that a formula is of; none if it is no formula that has a meaning here."""
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except SyntaxError:
        return []
    known = (ast.Expression, ast.BinOp, ast.Name, ast.Load, *_OPERATORS)
    if not all(
        isinstance(node, known) or (isinstance(node, ast.Constant) and type(node.value) is int)
        for node in nodes
    ):
        return []
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def _text(
    argument: str, axis: int, dim: TensorShapeProto.Dimension, others: Collection[str]
) -> str:
    """What a dynamic dimension is called: a name, or a formula of `others`."""
    names = names_in(dim.dim_param)
    if names and names != [dim.dim_param] and set(names) <= set(others):
        return dim.dim_param
    plain = re.sub(r"\W", "_", dim.dim_param or f"{argument}_dim{axis}")
    return plain if plain.isidentifier() else f"dim_{plain}"
