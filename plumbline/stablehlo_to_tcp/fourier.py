"""Fourier transforms, of sizes that are known, by PyTorch's."""

import functools

from torch_mlir import ir

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.signature.element_type import from_mlir_signed
from plumbline.stablehlo_to_tcp.attributes import fourier_type
from plumbline.stablehlo_to_tcp.pattern import integers
from plumbline.stablehlo_to_tcp.torch_functions import TcpFunction, inlined, lowered
from plumbline.tcp.complex_numbers.parts import as_tensor
from plumbline.tcp.complex_numbers.splitting import Replacement, Splitting
from plumbline.tcp.shapes import DYNAMIC


def convert_fft(splitting: Splitting, op: ir.Operation) -> Replacement:
    """A transform along the last dimensions: the inverse one is scaled.

    Raises:
      Unsupported: a dimension that is transformed is dynamic.
    """
    kind, length = fourier_type(op.opview), tuple(integers(op.opview, "fft_length"))
    sizes = tuple(None if size == DYNAMIC else size for size in op.operands[0].type.shape)
    if None in sizes[len(sizes) - len(length) :]:
        raise Unsupported("a Fourier transform along a dimension whose size is not known")
    if 0 in length:
        raise Unsupported("a Fourier transform of no numbers")
    if kind == "IRFFT" and sizes[-1] != length[-1] // 2 + 1:
        raise Unsupported(f"{sizes[-1]} numbers for a transform to {length[-1]} real ones")
    parts = [as_tensor(part) for part in splitting.pair(op.operands[0])]
    operands = parts[:1] if kind == "RFFT" else parts
    try:
        function = _function(kind, length, sizes, operands[0].type.dtype)
    except UserError as error:
        raise Unsupported(f"a Fourier transform that PyTorch has not: {error}") from error
    results = inlined(f"stablehlo.fft {kind}", function, operands)
    return [results[0] if kind == "IRFFT" else (results[0], results[1])]


@functools.cache
def _function(
    kind: str, length: tuple[int, ...], sizes: tuple[int | None, ...], dtype: str
) -> TcpFunction:
    # It imports PyTorch, which few programs need.
    from plumbline.loader_to_torch.fourier_functions import exported_transform

    torch_name = from_mlir_signed(dtype).torch_name
    return lowered(exported_transform(kind, length, sizes, torch_name), kind)
