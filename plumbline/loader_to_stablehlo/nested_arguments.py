"""Arguments of a program of JAX's as its functions take them, nested in what JAX calls pytrees."""

from collections.abc import Collection
from typing import Any

from plumbline.errors import UserError


class NestedArguments:
    """What takes the tensors of a module out of the arguments of the function that it is made of.

    JAX itself does, by a `PyTreeDef`, which has the classes that are registered with it. Keyword
    arguments follow the others, in the order of their names.
    """

    def __init__(self, tree: Any, kept: Collection[int] | None) -> None:
        """`tree` is that of a tuple of the arguments and a dict of those by keyword.

        `kept` are the numbers of the leaves that the module has arguments for, unless it has one
        for each: JAX leaves out what a function does not use.
        """
        self._trees = [part for each in tree.children() for part in each.children()]
        self._leaves: int = tree.num_leaves
        self._kept = range(self._leaves) if kept is None else frozenset(kept)
        self.count = len(self._trees)
        """Of the arguments that the function takes."""

    @property
    def are_flat(self) -> bool:
        """Whether each argument is one of the module's, too."""
        return len(self._kept) == self._leaves and all(
            each.num_nodes == 1 == each.num_leaves for each in self._trees
        )

    def check(self, who: str, count: int) -> None:
        """Holds the leaves against the `count` of the module's arguments; messages say `who`.

        Raises:
          UserError: these are others.
        """
        if len(self._kept) != count:
            raise UserError(
                f"{who}: it has {count} arguments, where those of its function hold "
                f"{len(self._kept)} arrays: JAX leaves out what is not used, and a Lowered does "
                "not say which; hand over jax.export.export(jax.jit(f))(...), or have all kept by "
                "jax.jit(f, keep_unused=True)"
            )

    def flattened(self, what: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """The tensors of the module in the arguments of the function.

        Raises:
          UserError: these are nested in another way; the message begins with `what`.
        """
        if len(arguments) != self.count:
            raise UserError(
                f"{what} is {len(arguments)} arguments, where the function of JAX takes "
                f"{self.count}"
            )
        try:
            leaves = [
                leaf
                for tree, argument in zip(self._trees, arguments, strict=True)
                for leaf in tree.flatten_up_to(argument)
            ]
        except (TypeError, ValueError) as error:
            raise UserError(f"{what} is not nested as the function takes it: {error}") from error
        return tuple(leaf for number, leaf in enumerate(leaves) if number in self._kept)
