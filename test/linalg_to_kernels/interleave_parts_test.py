"""Parts that are interleaved: in how many kernels, and that their numbers are PyTorch's."""

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> object:
        return self._function(*operands)


def _real(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def _complex(*shape: int, dtype: torch.dtype = torch.complex64) -> torch.Tensor:
    return torch.view_as_complex(_real(*shape, 2)).to(dtype)


def _parts(count: int) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    return lambda x, y: torch.stack([x + y, x - y, x * y, y][:count], dim=-1)


def _pairs(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(x * y)


def _rotated(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    """Rotary embeddings as Llama of Meta has them."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * by).flatten(3).type_as(x)


def _quotient_and_parts(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    quotient = x / y
    return quotient, quotient.real, quotient.imag * 2


def _asked_for_places(x: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """One part of each pair, in order and at places that are computed."""
    part = torch.view_as_real(x)[:, 1]
    return torch.complex(part[places], part)


_HALF, _BRAIN = torch.float16, torch.bfloat16

_CASES: dict[str, tuple[Callable[..., object], tuple[torch.Tensor, ...], int]] = {
    # Whole vectors, and what is left of them.
    **{
        f"product_of_{size}": (torch.mul, (_complex(size), _complex(size)), 1)
        for size in (1, 3, 64, 77)
    },
    "doubles": (torch.mul, (_complex(5, 7).to(torch.complex128), _complex(7)), 1),
    **{
        f"{count}_parts_of_{dtype}".replace("torch.", ""): (
            _parts(count),
            (_real(7, 33, dtype=dtype), _real(7, 33, dtype=dtype)),
            1,
        )
        for count in (2, 3, 4)
        for dtype in (torch.float32, torch.float64, _HALF, _BRAIN, torch.int8, torch.int64)
    },
    "booleans": (lambda x, y: torch.stack([x > y, x < y], -1), (_real(37), _real(37)), 1),
    "of_arguments": (torch.complex, (_real(37), _real(37)), 1),
    "exchanged": (lambda x: torch.stack([x[..., 2], x[..., 0]], -1), (_real(37, 3),), 1),
    "of_no_axes": (torch.mul, (_complex(1)[0], _complex(1)[0]), 4),
    "rotated": (_rotated, (_real(1, 5, 3, 18), _complex(1, 5, 1, 9)), 1),
    "rotated_half": (_rotated, (_real(1, 5, 3, 18, dtype=_HALF), _complex(1, 5, 1, 9)), 1),
    "rotated_brain": (_rotated, (_real(1, 5, 3, 18, dtype=_BRAIN), _complex(1, 5, 1, 9)), 1),
    # Parts that are read elsewhere too.
    "parts_as_well": (_quotient_and_parts, (_complex(77), _complex(77)), 2),
    # Along other axes than others: in pieces.
    "transposed": (lambda x, y: x.T * y, (_complex(70, 51), _complex(51, 70)), 1),
    # Row by row, with sums and extremes between them.
    "rows": (
        lambda x, y: torch.stack([x.softmax(-1), y.softmax(-1)], -1),
        (_real(7, 33), _real(7, 33)),
        1,
    ),
    "contiguous_rows": (
        lambda x, y: torch.stack([x.softmax(0), y.softmax(0)], -1),
        (_real(33, 70), _real(33, 70)),
        1,
    ),
    "row_of_lengths": (lambda x: x / x.abs().sum(-1, keepdim=True), (_complex(7, 33),), 1),
    # What is interleaved is read on: by pairs, along another axis, in rows, and added up.
    "pairs": (lambda x, y: _pairs(x, y) + 1, (_complex(7, 33), _complex(33)), 1),
    "pairs_as_well": (
        lambda x, y: ((pairs := _pairs(x, y)), pairs + 1, pairs.exp() * 2),
        (_complex(7, 33), _complex(33)),
        2,
    ),
    "planes": (
        lambda x, y: _pairs(x, y).permute(2, 0, 1) * 2 + 1,
        (_complex(7, 33), _complex(33)),
        1,
    ),
    "in_rows": (
        lambda x, y: _pairs(x, y).flatten(1).exp() + 1,
        (_complex(7, 33), _complex(33)),
        1,
    ),
    "softmax_of_pairs": (
        lambda x, y: _pairs(x, y).softmax(-1),
        (_complex(7, 33), _complex(33)),
        1,
    ),
    "softmax_of_rows": (lambda x, y: _pairs(x, y).softmax(1), (_complex(7, 33), _complex(33)), 1),
    "sums_of_pairs": (lambda x, y: _pairs(x, y).sum(-1), (_complex(7, 33), _complex(33)), 1),
    "sum": (lambda x, y: _pairs(x, y).sum(), (_complex(7, 33), _complex(33)), 3),
    "multiplied": (
        lambda x, y, w: _pairs(x, y).flatten(1) @ w,
        (_complex(70, 11), _complex(11), _real(22, 30)),
        2,
    ),
    # Parts of what is interleaved, and of two that are.
    "apart_again": (
        lambda x, y: torch.view_as_complex(_pairs(x, y) + 1) * x,
        (_complex(7, 33), _complex(33)),
        1,
    ),
    "pairs_of_pairs": (
        lambda x, y: torch.stack([_parts(2)(x, y), _parts(2)(y, x)], -1),
        (_real(37), _real(37)),
        1,
    ),
    "one_for_both": (
        lambda x, y: _parts(2)(x, y) * _parts(3)(x, y)[..., 2:],
        (_real(37), _real(37)),
        1,
    ),
    # Each part is a product of matrices itself.
    "matrices": (torch.matmul, (_complex(33, 20), _complex(20, 17)), 2),
    # What a body asks elements of has to be there.
    "asked_for": (_asked_for_places, (_complex(9), torch.arange(9).flip(0)), 2),
}


@pytest.mark.parametrize("case", _CASES)
def test_kernels(case: str) -> None:
    function, operands, kernels = _CASES[case]
    program = plumbline.compile(_Function(function), operands)
    found = re.findall(r"func.func private @(?!plumbline_)(\w+)", program.stage("kernels"))
    assert len(found) == kernels, found
    _check(program, function, operands)


@pytest.mark.parametrize("case", _CASES)
def test_two_threads(case: str) -> None:
    function, operands, _ = _CASES[case]
    _check(plumbline.compile(_Function(function), operands, threads=2), function, operands)


@pytest.mark.parametrize(
    ("function", "made", "kernel"),
    [
        (torch.mul, lambda n: (_complex(n, 3), _complex(n, 3)), "mul_sub_add_interleave"),
        (_parts(3), lambda n: (_real(n, dtype=_HALF), _real(n, dtype=_HALF)), "interleave"),
        (
            _rotated,
            lambda n: (_real(1, n, 3, 18, dtype=_BRAIN), _complex(1, n, 1, 9)),
            "cast_mul_sub_add_interleave",
        ),
    ],
    ids=["product", "parts", "rotated"],
)
def test_dynamic_sizes(
    function: Callable[..., torch.Tensor], made: Callable[[int], Any], kernel: str
) -> None:
    operands = made(5)
    axis = int(operands[0].dim() > 2)
    sizes = tuple({axis: Dim("n")} for _ in operands)
    program = plumbline.compile(_Function(function), operands, dynamic_shapes=(sizes,))
    (found,) = re.findall(r"func.func private @(?!plumbline_)(\w+)", program.stage("kernels"))
    assert kernel in found
    for size in (1, 2, 64, 77):
        _check(program, function, made(size))


@pytest.mark.parametrize("threads", [1, 2])
def test_many(threads: int) -> None:
    operands = _complex(300_001), _complex(300_001)
    program = plumbline.compile(_Function(torch.mul), operands, threads=threads)
    _check(program, torch.mul, operands)


def _check(
    program: Any, function: Callable[..., object], operands: tuple[torch.Tensor, ...]
) -> None:
    expected = function(*operands)
    results = expected if isinstance(expected, tuple) else (expected,)
    for actual, result in zip(program(*operands), results, strict=True):
        torch.testing.assert_close(actual, result)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
