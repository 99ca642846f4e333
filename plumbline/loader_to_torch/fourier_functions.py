"""Fourier transforms as StableHLO has them, of parts of complex numbers, by PyTorch's."""

import torch
from torch.export import Dim

from plumbline.loader_to_torch.exported_function import ExportedFunction, exported_function

_BATCH = 4
"""What a dimension that is dynamic has as a transform is exported."""


def exported_transform(
    kind: str, length: tuple[int, ...], sizes: tuple[int | None, ...], dtype: str
) -> ExportedFunction:
    """A transform along the last dimensions, whose `length` is that of the result if it is real.

    It takes a real and an imaginary part, or a real one, and gives such.

    Args:
      kind: "FFT", "IFFT", "RFFT" or "IRFFT"; the inverse ones are scaled.
      length: of each dimension that is transformed.
      sizes: those of a part, with None for what is dynamic, of dimensions that are not transformed.
      dtype: of a part, as PyTorch calls it: "float32".

    Raises:
      UserError: PyTorch cannot export it.
    """
    axes = list(range(-len(length), 0))

    def compute(*parts: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if kind == "RFFT":
            result = torch.fft.rfftn(parts[0], dim=axes)
            return result.real, result.imag
        numbers = torch.complex(*parts)
        if kind == "IRFFT":
            return (torch.fft.irfftn(numbers, s=length, dim=axes),)
        transform = torch.fft.fftn if kind == "FFT" else torch.fft.ifftn
        result = transform(numbers, dim=axes)
        return result.real, result.imag

    example = torch.zeros(
        [_BATCH if size is None else size for size in sizes], dtype=getattr(torch, dtype)
    )
    dims = {axis: Dim(f"batch{axis}") for axis, size in enumerate(sizes) if size is None}
    count = 1 if kind == "RFFT" else 2
    return exported_function(kind, compute, [example.clone() for _ in range(count)], [dims] * count)
