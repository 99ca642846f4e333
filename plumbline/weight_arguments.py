"""How a module says which arguments of a function are weights.

Weights never stand in a program's text. They are the leading arguments of its function, each with
the attribute `plumbline.weight = "encoder.layer.0.weight"`. The last lowering takes them from
read-only memory of the library; with `plumbline.parameter` in its place they stay arguments of the
C function.
"""

from urllib.parse import quote, unquote

EMBEDDED = "plumbline.weight"
"""The attribute of an argument that the library brings along."""

PARAMETER = "plumbline.parameter"
"""The attribute of an argument that the caller gives."""

_INFIX = ".weight."


def symbol(function: str, weight: str) -> str:
    """What the read-only memory of a function's weight is called in the library.

    Letters that assemblers do not take in a name, as in `größe` or `a@b`, are spelled as in a URL.
    """
    return f"{function}{_INFIX}{quote(weight)}"


def weight_of(name: str) -> str | None:
    """The weight that a symbol stands for, or None if it is not one of a weight."""
    _, infix, weight = name.partition(_INFIX)
    return unquote(weight) if infix else None
