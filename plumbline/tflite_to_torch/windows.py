"""Windows that slide over images, whose channels come last: how they are padded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tflite

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tflite_to_torch.node import Node

_AXES = "DHW"
"""What the schema calls the axes of an image, the last ones if there are fewer."""


@dataclass(frozen=True)
class Windows:
    """Windows of one size, at regular places; a number for each axis of the image."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    is_padded: bool
    """Whether there is a window for each stride of the image, of which the last ones reach out."""

    def padding(self, image: Sequence[int]) -> list[tuple[int, int]]:
        """How many zeros stand before and behind an image of these sizes, along each axis."""
        return [
            _before_and_behind(size, window, stride, dilation) if self.is_padded else (0, 0)
            for size, window, stride, dilation in zip(
                image, self.sizes, self.strides, self.dilations, strict=True
            )
        ]


def _before_and_behind(size: int, window: int, stride: int, dilation: int) -> tuple[int, int]:
    count = -(-size // stride)
    missing = max((count - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return missing // 2, missing - missing // 2


def windows_of(node: Node, sizes: Sequence[int], *, are_dilated: bool = True) -> Windows:
    """The windows of a node, of these sizes.

    Raises:
      Unsupported: its options are none of the schema's.
    """
    strides = _of_axes(node, len(sizes), "Stride{}".format)
    dilations = (1,) * len(sizes)
    if are_dilated:
        dilations = _of_axes(node, len(sizes), "Dilation{}Factor".format)
    if min(*sizes, *strides, *dilations) < 1:
        raise Unsupported(f"its windows have sizes {sizes}, strides {strides}, steps {dilations}")
    return Windows(tuple(sizes), strides, dilations, is_padded(node))


def is_padded(node: Node) -> bool:
    """Whether its option is to pad with zeros.

    Raises:
      Unsupported: it has none.
    """
    padding = node.option("Padding")
    if padding not in (tflite.Padding.SAME, tflite.Padding.VALID):
        raise Unsupported(f"padding {padding} has no meaning")
    return bool(padding == tflite.Padding.SAME)


def _of_axes(node: Node, rank: int, name: Callable[[str], str]) -> tuple[int, ...]:
    return tuple(node.option(name(axis)) for axis in _AXES[-rank:])
