"""The options of custom ops: of TensorFlow Lite's own a FlexBuffer, of MediaPipe's a C struct.

Format: https://flatbuffers.dev/flexbuffers/, a map by the names of options. The structs are those
of LiteRT's own ops, `TfLiteTransposeConvParams` and `TfLitePoolParams` in its `builtin_op_data.h`.
"""

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from flatbuffers import flexbuffers

from plumbline.errors.unsupported_ops import Unsupported

_DAMAGED = (struct.error, IndexError, ValueError, TypeError, OverflowError)
"""What reading raises where offsets lead outside of the bytes, or to what is no number."""

_INT = struct.Struct("<i")

_OF_WINDOWS = ("Padding", "StrideW", "StrideH", "FilterWidth", "FilterHeight")
"""What the structs begin with, by the names that tables of options have for it."""

_Number = TypeVar("_Number", int, float)


class OptionsOfWindows:
    """Those of a struct, under the names of accessors of a table of options."""

    def __init__(self, content: bytes) -> None:
        """Those of these bytes, which may end before the last."""
        for name, (number,) in zip(_OF_WINDOWS, _INT.iter_unpack(_whole(content)), strict=False):
            # Of paddings the struct has one more, that is unknown.
            setattr(self, name, partial(int, number - 1 if name == "Padding" else number))


def _whole(content: bytes) -> bytes:
    return content[: len(content) // _INT.size * _INT.size]


class CustomOptions:
    """Options by their names."""

    def __init__(self, content: bytes) -> None:
        """Those of these bytes; nothing of them is read yet."""
        self._content = content

    def integer(self, name: str, default: int | None = None) -> int:
        """An option; without a default, one that has to be there.

        Raises:
          Unsupported: it is not, or cannot be read.
        """
        return self._number(name, default, lambda option: int(option.AsInt))

    def real(self, name: str) -> float:
        """Likewise, one that is no integer."""
        return self._number(name, None, lambda option: float(option.AsFloat))

    def _number(
        self, name: str, default: _Number | None, read: Callable[[Any], _Number]
    ) -> _Number:
        try:
            return read(flexbuffers.GetRoot(self._content).AsMap[name])
        except KeyError:
            pass
        except _DAMAGED as error:
            raise Unsupported(f"its options cannot be read: {error}") from error
        if default is None:
            raise Unsupported(f"it has no option {name}")
        return default
