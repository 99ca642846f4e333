"""Arguments of a program of TensorFlow's as its function takes them, nested as `tf.nest` has it."""

from collections.abc import Callable
from typing import Any

from plumbline.errors import UserError


class NestedTensors:
    """What takes the tensors of a module out of the arguments of the function that it is made of.

    TensorFlow itself does, by `tf.nest`. Keyword arguments follow the others, in the order of their
    names. Arguments in which no tensor is are part of the program, and calls have none of them.
    """

    def __init__(self, nest: Any, signature: Any, is_tensor: Callable[[Any], bool]) -> None:
        """`signature` is a tuple of the arguments and a dict of those by keyword.

        In the place of each tensor it has its specification, of which `is_tensor` says that it is
        one. `nest` is `tf.nest`.
        """
        positional, named = signature
        parts = [*positional, *(named[name] for name in sorted(named))]
        self._nest = nest
        self._is_tensor = is_tensor
        self._parts = [part for part in parts if any(map(is_tensor, nest.flatten(part)))]
        self.count = len(self._parts)
        """Of the arguments that a call has."""

    @property
    def are_flat(self) -> bool:
        """Whether each argument is one of the module's, too."""
        return all(self._is_tensor(part) for part in self._parts)

    def check(self, who: str, count: int) -> None:
        """Nothing: the module has been held against the signature when it was made."""

    def flattened(self, what: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """The tensors of the module in the arguments of the function.

        Raises:
          UserError: these are nested in another way; the message begins with `what`.
        """
        if len(arguments) != self.count:
            raise UserError(
                f"{what} is {len(arguments)} arguments, where the function of TensorFlow takes "
                f"{self.count} that hold tensors"
            )
        tensors: list[Any] = []
        for part, argument in zip(self._parts, arguments, strict=True):
            try:
                self._nest.assert_same_structure(part, argument)
            except (TypeError, ValueError) as error:
                raise UserError(
                    f"{what} is not nested as the function takes it: {str(error).splitlines()[0]}"
                ) from error
            leaves = zip(self._nest.flatten(part), self._nest.flatten(argument), strict=True)
            tensors += (leaf for spec, leaf in leaves if self._is_tensor(spec))
        return tuple(tensors)
