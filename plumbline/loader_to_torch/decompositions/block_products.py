"""Products of rows of int8 with integers of few bits, of which blocks have a scale.

A kernel reads the bytes that these are kept in as they lie, and scales the sums of a block where
they are (`linalg_to_kernels/block_products.py`).
"""

from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

_MIDDLE = 8
"""What is added to an integer of 4 bits with a sign, which is kept so."""


def sums_of_blocks(
    rows: torch.Tensor, bytes_: torch.Tensor, bits: int, zeros: torch.Tensor | int
) -> torch.Tensor:
    """The sums of products of each block, int32 [blocks, m, n].

    Args:
      rows: int8 [blocks, m, elements of a block].
      bytes_: uint8 [blocks, elements of a block, n / integers in a byte]: a byte has those of
        columns that are far apart, the first in its lowest bits.
      bits: of an integer.
      zeros: what each is less: int32 [blocks, 1, n], or a number.
    """
    if bits == 8:
        integers, zeros = (bytes_ ^ 128).view(torch.int8), zeros - 128
    else:
        firsts = torch.arange(0, 8, bits, dtype=torch.uint8)
        parts = bytes_[:, :, None, :] >> firsts[:, None] & ((1 << bits) - 1)
        integers = parts.reshape(*bytes_.shape[:2], -1).to(torch.int8)
    sums = torch.bmm(rows.to(torch.int32), integers.to(torch.int32))
    if isinstance(zeros, int) and zeros == 0:
        return sums
    # They are taken off the sums rather than off what is multiplied.
    return sums - rows.sum(-1, keepdim=True, dtype=torch.int32) * zeros


def packed_in_blocks(
    weight: torch.Tensor, scale: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What `linear_of_blocks` takes as its weights.

    Args:
      weight: int8 [n, k], from -8 to 7; n is even.
      scale: [n, blocks].
    """
    columns, blocks = scale.shape
    of_blocks = weight.reshape(columns, blocks, -1)
    first, second = (of_blocks + _MIDDLE).view(torch.uint8).permute(1, 2, 0).chunk(2, -1)
    of_columns = (of_blocks.sum(-1, dtype=torch.int32) * scale.double()).sum(-1)
    scales = scale.t().contiguous().to(torch.float32)
    return first | second << 4, scales, of_columns.to(torch.float32)


def _linear(
    x: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    bytes_: torch.Tensor,
    weight_scale: torch.Tensor,
    of_columns: torch.Tensor,
    bias: torch.Tensor | None,
) -> torch.Tensor:
    """What `F.linear` makes of rows of integers by integers of 4 bits, in float32.

    Args:
      x: int8 [..., k].
      scale: of each row, floats, of as many elements.
      zero_point: likewise, of integers.
      bytes_: uint8 [blocks, elements of a block, n / 2], of integers that 8 has been added to.
      weight_scale: float32 [blocks, n].
      of_columns: float32 [n], what the weights of a column come to in all.
      bias: float32 [n].
    """
    blocks, block, _ = bytes_.shape
    rows = x.reshape(-1, blocks, block).transpose(0, 1)
    sums = sums_of_blocks(rows, bytes_, 4, _MIDDLE).to(torch.float32)
    product = (sums * weight_scale[:, None, :]).sum(0)
    product = product - zero_point.reshape(-1, 1).to(torch.float32) * of_columns
    product = product * scale.reshape(-1, 1).to(torch.float32)
    product = product.reshape(*x.shape[:-1], product.shape[-1])
    return product if bias is None else product + bias


def _shape(x: torch.Tensor, *others: Any) -> torch.Tensor:
    return x.new_empty((*x.shape[:-1], others[4].shape[0]), dtype=torch.float32)


linear_of_blocks = torch.library.custom_op("plumbline::linear_of_blocks", _linear, mutates_args=())
linear_of_blocks.register_fake(_shape)

RULES: Rules = {torch.ops.plumbline.linear_of_blocks.default: _linear}
