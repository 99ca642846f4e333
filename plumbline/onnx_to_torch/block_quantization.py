"""Weights of few bits, of which blocks have a scale, as ONNX Runtime's tools make them of matrices.

An integer q stands for (q - zero point) * scale. Several lie in a byte, the first in its lowest
bits; a zero point that is not given is the middle of what there are.
"""

from collections.abc import Mapping
from typing import Any

import torch
from onnx import TensorProto
from torch.nn import functional

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.loader_to_torch.decompositions.block_products import sums_of_blocks
from plumbline.onnx_to_torch.node import Node, Pattern
from plumbline.onnx_to_torch.values import Value, tensor

_WIDTHS = (2, 4, 8)
"""How many bits an integer may have; there is a whole number of them in a byte."""


_OF_INTEGERS = 4
"""The `accuracy_level` that allows to multiply int8."""

_LARGEST = 127.0
"""What the largest number of a block becomes."""


_LEAST = 1e-36
"""What is taken for the largest number of a block of zeros, which others can be divided by."""


def _bits(node: Node) -> int:
    bits = node.attribute("bits", 4)
    if bits not in _WIDTHS:
        raise Unsupported(f"its integers are of {bits} bits: they can be of 2, 4 and 8")
    return bits


def unpacked(packed: torch.Tensor, bits: int) -> torch.Tensor:
    """The integers of the bytes along the last dimension, each in a byte of its own."""
    if bits == 8:
        return packed
    parts = [(packed >> first) & ((1 << bits) - 1) for first in range(0, 8, bits)]
    return torch.stack(parts, -1).flatten(-2)


class _MatMul(torch.nn.Module):
    """A product with a matrix of integers, which are kept in another order if they are constant.

    In a byte are those of columns that are far apart: a kernel reads a row of bytes as it lies, and
    of each part of their bits makes a row of weights. The matrix of few rows is never written so
    (`linalg_to_kernels/dequantized_weights.py`).
    """

    integers: torch.Tensor | None
    scales: torch.Tensor | None
    zeros: torch.Tensor | None

    def __init__(self, node: Node) -> None:
        """The product that `node` describes.

        Raises:
          Unsupported: its integers lie as a GPU wants them, or are of another number of bits.
        """
        super().__init__()
        if node.attribute("weight_prepacked", 0):
            raise Unsupported("its weights are packed for a GPU")
        self._bits = _bits(node)
        self._node = node
        constants: list[torch.Tensor | None] = [*node.constants, None, None, None][1:4]
        packed, scales, zeros = constants
        self.register_buffer("integers", None if packed is None else self._reordered(packed))
        self.register_buffer("scales", None if scales is None else self._of_columns(scales))
        self.register_buffer("zeros", None if zeros is None else self._zeros_of_columns(zeros))

    @property
    def _columns(self) -> int:
        """How many there are, with some of zeros so that each byte is full."""
        parts, count = 8 // self._bits, int(self._node.required("N"))
        return -(-count // parts) * parts

    def _filled(self, rows: torch.Tensor) -> torch.Tensor:
        """A row for each column of the matrix, with rows of zeros behind them."""
        missing = self._columns - self._node.required("N")
        if not missing:
            return rows
        return torch.cat([rows, torch.zeros(missing, *rows.shape[1:], dtype=rows.dtype)])

    def _reordered(self, packed: torch.Tensor) -> torch.Tensor:
        """uint8 [blocks, block, columns / parts], of [N, blocks, bytes of a block]."""
        rows = self._filled(unpacked(packed, self._bits)).permute(1, 2, 0)
        if self._bits == 8:
            return rows.contiguous()
        parts = rows.chunk(8 // self._bits, -1)
        joined = parts[0]
        for number, part in enumerate(parts[1:], start=1):
            joined = joined | (part << (number * self._bits))
        return joined.contiguous()

    def _of_columns(self, by: torch.Tensor) -> torch.Tensor:
        """[blocks, columns], of [N, blocks], or of as many in one dimension."""
        return self._filled(by.reshape(self._node.required("N"), -1)).t().contiguous()

    def _zeros_of_columns(self, zeros: torch.Tensor) -> torch.Tensor:
        """Likewise, of bytes along blocks, or of a float each."""
        if zeros.dtype != torch.uint8:
            return self._of_columns(zeros)
        blocks = -(-self._node.required("K") // self._node.required("block_size"))
        rows = unpacked(zeros.reshape(self._node.required("N"), -1), self._bits)
        return self._of_columns(rows[:, :blocks])

    def forward(
        self,
        node: Node,
        data: Value,
        packed: Value,
        scales: Value,
        zero_points: Value = None,
        groups: Value = None,
        bias: Value = None,
    ) -> torch.Tensor:
        x = tensor(data)
        bytes_ = self._reordered(tensor(packed)) if self.integers is None else self.integers
        by = self._of_columns(tensor(scales)) if self.scales is None else self.scales
        zeros: Any = 1 << (self._bits - 1)
        if zero_points is not None:
            zeros = self.zeros
            zeros = self._zeros_of_columns(tensor(zero_points)) if zeros is None else zeros
        if self._rounds_rows(zeros, groups):
            product = self._product_of_integers(x.to(torch.float32), bytes_, by, zeros)
        else:
            product = self._product(x.to(torch.float32), bytes_, by, zeros, groups)
        if self._columns != node.required("N"):
            product = product[..., : node.required("N")]
        product = product.to(x.dtype)
        return product if bias is None else product + tensor(bias)

    def _rounds_rows(self, zeros: Any, groups: Value) -> bool:
        """Whether blocks of a row are rounded to int8, as ONNX Runtime does where a model allows.

        It does not for weights that are arguments, or have zero points that are no integers.
        """
        if self._node.attribute("accuracy_level", 0) != _OF_INTEGERS or groups is not None:
            return False
        are_integers = isinstance(zeros, int) or zeros.dtype == torch.uint8
        return are_integers and self.integers is not None

    def _product_of_integers(
        self, x: torch.Tensor, bytes_: torch.Tensor, scales: torch.Tensor, zeros: Any
    ) -> torch.Tensor:
        """The product of rows of which each block is of integers with a scale of its own."""
        blocks, block, _ = bytes_.shape
        if blocks * block != x.shape[-1]:
            x = functional.pad(x, (0, blocks * block - x.shape[-1]))
        rows = x.reshape(-1, blocks, block).transpose(0, 1)
        most = rows.abs().amax(-1, keepdim=True)
        # A quotient, not a product with 1 / most: roundings are to fall as in ONNX Runtime.
        per_unit = torch.full((), _LARGEST) / most.clamp_min(_LEAST)
        q = torch.round(rows * per_unit).to(torch.int8)
        offset = zeros if isinstance(zeros, int) else zeros[:, None, :].to(torch.int32)
        sums = sums_of_blocks(q, bytes_, self._bits, offset)
        by = (most / _LARGEST) * scales[:, None, :].to(torch.float32)
        product = (sums.to(torch.float32) * by).sum(0)
        return product.reshape(*x.shape[:-1], product.shape[-1])

    def _product(
        self,
        x: torch.Tensor,
        bytes_: torch.Tensor,
        scales: torch.Tensor,
        zeros: Any,
        groups: Value,
    ) -> torch.Tensor:
        blocks, block, width = bytes_.shape
        parts = 8 // self._bits
        if groups is not None:
            # Each row of the matrix is of a group that is named for it.
            of_rows = tensor(groups).to(torch.int64)[: x.shape[-1]]
            bytes_ = bytes_.flatten(0, 1)[: x.shape[-1], None]
            scales = scales[of_rows]
            zeros = zeros if isinstance(zeros, int) else zeros[of_rows]
            blocks, block = bytes_.shape[:2]
        elif blocks * block != x.shape[-1]:
            x = functional.pad(x, (0, blocks * block - x.shape[-1]))
        products = []
        for part in range(parts):
            columns = slice(part * width, (part + 1) * width)
            q = bytes_ >> (part * self._bits) if part else bytes_
            q = q & ((1 << self._bits) - 1) if part + 1 < parts else q
            zero = zeros if isinstance(zeros, int) else zeros[:, None, columns].to(torch.float32)
            weight = (q.to(torch.float32) - zero) * scales[:, None, columns].to(torch.float32)
            products.append(x @ weight.reshape(blocks * block, width))
        return torch.cat(products, -1) if parts > 1 else products[0]


def _gather(
    node: Node, data: Value, indices: Value, scales: Value, zero_points: Value = None
) -> torch.Tensor:
    """Rows of an embedding, which are dequantized as they are taken."""
    q, by, at = tensor(data), tensor(scales), tensor(indices)
    if q.dtype.is_floating_point:
        raise Unsupported("it is of floats of 8 bits")
    axis = node.attribute("gather_axis", 0) % by.ndim
    along = node.attribute("quantize_axis", 1) % by.ndim
    # Integers of less than 8 bits lie in bytes, or are of a type of such.
    is_packed = node.element_type(0) in (TensorProto.UNDEFINED, TensorProto.UINT8)
    bits = _bits(node) if is_packed else 8
    tables = [by] if zero_points is None else [by, tensor(zero_points)]
    block = node.attribute("block_size", 128)
    if axis == along:
        if is_packed:
            raise Unsupported("its bytes are to be taken along the axis that they are packed along")
        tables = [_spread(table, block, along, q.shape[along]) for table in tables]
    places = at.reshape(-1).to(torch.int64)
    places = torch.where(places < 0, places + q.shape[axis], places)
    q, by, *zeros = (each.index_select(axis, places) for each in (q, *tables))
    if is_packed:
        q = unpacked(q, bits)
        zeros = [unpacked(zero, bits).narrow(-1, 0, by.shape[-1]) for zero in zeros]
    if axis != along:
        by, *zeros = (_spread(each, block, along, q.shape[along]) for each in (by, *zeros))
    offset = q.to(torch.float32)
    if zeros:
        offset = offset - zeros[0].to(torch.float32)
    elif is_packed:
        offset = offset - (1 << (bits - 1))
    made = (offset * by.to(torch.float32)).to(by.dtype)
    return made.reshape(*made.shape[:axis], *at.shape, *made.shape[axis + 1 :])


def _spread(by: torch.Tensor, block: int, axis: int, size: Any) -> torch.Tensor:
    """What blocks have, for each of their elements."""
    return by.repeat_interleave(block, axis).narrow(axis, 0, size)


PATTERNS: Mapping[str, Pattern] = {
    "GatherBlockQuantized": _gather,
    "MatMulNBits": _MatMul,
}
