"""The text of a program in the Torch dialect, and its weights, as bytes."""

import zlib

import torch

from plumbline.cache.record import packed, unpacked
from plumbline.loader_to_torch.export import DialectText

_LEVEL = 1
"""How hard zlib tries: a text then takes a tenth, and 10 ms for each megabyte."""


def to_bytes(exported: DialectText) -> bytes:
    """What `from_bytes` undoes."""
    said = {
        name: {"dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}
        for name, value in exported.weights.items()
    }
    parts = {name: _elements(value) for name, value in exported.weights.items()}
    # No name of a weight is empty.
    return packed(said, {**parts, "": zlib.compress(exported.text.encode(), _LEVEL)})


def from_bytes(content: bytes) -> DialectText:
    """Reads what `to_bytes` gave in a process of the same version of Plumbline."""
    said, parts = unpacked(content)
    text = zlib.decompress(parts.pop("")).decode()
    weights = {}
    for name, elements in parts.items():
        dtype = getattr(torch, said[name]["dtype"])
        flat = torch.frombuffer(bytearray(elements), dtype=torch.uint8) if elements else None
        shape = said[name]["shape"]
        weights[name] = (
            torch.empty(shape, dtype=dtype) if flat is None else flat.view(dtype).reshape(shape)
        )
    return DialectText(text, weights)


def _elements(tensor: torch.Tensor) -> bytes:
    """Row-major."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
