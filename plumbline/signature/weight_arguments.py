"""How a module says which arguments of a function are weights.

Weights never stand in a program's text. They are the leading arguments of its function, each with
the attribute `plumbline.weight = "encoder.layer.0.weight"`. The last lowering takes them from
read-only memory of the library; with `plumbline.parameter` in its place they stay arguments of the
C function, after those. A weight that lies there in another order than PyTorch keeps it in has
`plumbline.layout` as well, which says in which (`weight_layout.py`).
"""

from dataclasses import dataclass
from urllib.parse import quote, unquote

from plumbline.signature.weight_layout import WeightLayout

EMBEDDED = "plumbline.weight"
"""The attribute of an argument that the library brings along."""

LAYOUT = "plumbline.layout"
"""The attribute of such an argument that says how it lies."""

PARAMETER = "plumbline.parameter"
"""The attribute of an argument that the caller gives."""

_INFIX = ".weight."


@dataclass(frozen=True)
class EmbeddedWeight:
    """A weight as it lies in the library."""

    name: str
    layout: WeightLayout | None = None
    """None: as PyTorch keeps it, row-major."""

    def symbol(self, function: str) -> str:
        """What its read-only memory is called in the library of a function.

        Letters that assemblers do not take in a name, as in `größe` or `a@b`, are spelled as in a
        URL.
        """
        layout = "" if self.layout is None else f".{self.layout}"
        return f"{function}{layout}{_INFIX}{quote(self.name)}"

    @staticmethod
    def of_symbol(symbol: str) -> "EmbeddedWeight | None":
        """The weight that a symbol stands for, or None if it is not one of a weight."""
        before, infix, name = symbol.partition(_INFIX)
        _, dot, text = before.partition(".")
        layout = WeightLayout.parse(text)
        if not infix or bool(dot) != (layout is not None):
            return None
        return EmbeddedWeight(unquote(name), layout)
