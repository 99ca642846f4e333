"""Products with weights of a few bits that PyTorch has packed for its own kernels on a CPU."""

from typing import Any

import torch

from plumbline.loader_to_torch.decompositions.rule import Rules

aten = torch.ops.aten

_NIBBLE, _LOWER, _MIDDLE = 4, 15, 8

_BLOCKS = {"AVX512": 64, "AVX2": 32, "DEFAULT": 32}
"""How many rows of weights are packed together, by what PyTorch's kernels on this CPU use
(`BLOCK_N` of aten/src/ATen/native/cpu/int4mm_kernel.cpp); what is left is a block of its own."""

_IN_HALVES = ("AVX512", "AVX2")
"""Where a byte of a whole block has a row and, in its upper bits, the one half a block later; else
and in the last block, if it is smaller, the one next to it."""


def _weight_int4pack_mm(
    operand: torch.Tensor, packed: torch.Tensor, group: int, scales_and_zeros: torch.Tensor
) -> Any:
    """The product with integers of 4 bits, of which groups have a scale and what is added.

    Args:
      operand: [m, k], of a float dtype.
      packed: uint8 [n, k / 2]: of each block the bytes [k, rows / 2]; an integer i of them stands
        for (i - 8) * scale + zero.
      group: how many summed elements have a scale in common.
      scales_and_zeros: [k / group, n, 2], of the dtype of `operand`.
    """
    capability = torch.backends.cpu.get_cpu_capability()
    if capability not in _BLOCKS:
        return NotImplemented
    numbers, by = operand.to(torch.float32), scales_and_zeros.to(torch.float32)
    count, block = packed.shape[0], _BLOCKS[capability]
    whole = count // block * block
    parts = []
    for first, end, rows in ((0, whole, block), (whole, count, count - whole)):
        if first < end:
            in_halves = rows == block and capability in _IN_HALVES
            part = packed[first:end].reshape(-1, numbers.shape[1] // group, group, rows // 2)
            parts.append(_of_blocks(numbers, part, by[:, first:end], in_halves=in_halves))
    return torch.cat(parts, 1).to(operand.dtype)


def _of_blocks(
    numbers: torch.Tensor, packed: torch.Tensor, by: torch.Tensor, *, in_halves: bool
) -> torch.Tensor:
    """The product with blocks of rows, which are [blocks, groups, summed elements, bytes].

    Each half of the bytes of a block is multiplied by itself: a kernel reads them as they lie so,
    and of few rows computes the weights as it does (`linalg_to_kernels/dequantized_weights.py`).
    """
    blocks, groups, group, width = packed.shape
    axis = 2 if in_halves else 3
    halves = (2, width) if in_halves else (width, 2)
    # Apart from one another they lie side by side, as what is multiplied with them does.
    scales, zeros = (each.reshape(groups, blocks, *halves) for each in by.unbind(-1))
    products = []
    for half, integers in enumerate((packed & _LOWER, packed >> _NIBBLE)):
        scale, zero = (
            each.select(axis, half).transpose(0, 1).unsqueeze(2) for each in (scales, zeros)
        )
        weights = (integers.to(torch.float32) - _MIDDLE) * scale + zero
        weights = weights.reshape(blocks, groups * group, width)
        products.append(torch.bmm(numbers.expand(blocks, -1, -1), weights).transpose(0, 1))
    return torch.stack(products, axis).reshape(-1, 2 * blocks * width)


RULES: Rules = {aten._weight_int4pack_mm_for_cpu.default: _weight_int4pack_mm}
