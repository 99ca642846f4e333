"""The options of custom ops, where they are a FlexBuffer, as those of TensorFlow Lite's own are.

Format: https://flatbuffers.dev/flexbuffers/, a map by the names of options.
"""

import struct
from collections.abc import Callable
from typing import Any, TypeVar

from flatbuffers import flexbuffers

from plumbline.errors.unsupported_ops import Unsupported

_DAMAGED = (struct.error, IndexError, ValueError, TypeError, OverflowError)
"""What reading raises where offsets lead outside of the bytes, or to what is no number."""

_Number = TypeVar("_Number", int, float)


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
