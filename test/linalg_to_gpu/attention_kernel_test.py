"""Attention is one kernel, and computes what PyTorch does."""

import functools
import math
import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim
from torch.nn import functional

from test.linalg_to_gpu.emulated_programs import EmulatedProgram

_Tensor = torch.Tensor
_attention = functional.scaled_dot_product_attention


def _explicit(q: _Tensor, k: _Tensor, v: _Tensor, mask: _Tensor) -> _Tensor:
    """As models spell it that were written before there was a function for it."""
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + mask
    return scores.softmax(-1) @ v


def _with_heads(q: _Tensor, k: _Tensor, v: _Tensor) -> _Tensor:
    batch, length, width = q.shape
    q, k, v = (x.view(batch, -1, 4, width // 4).transpose(1, 2) for x in (q, k, v))
    return _attention(q, k, v).transpose(1, 2).reshape(batch, length, width)


def _put_together(x: _Tensor) -> _Tensor:
    """Of queries, keys and values that one product gives, as vision transformers have them."""
    batch, length, width = x.shape
    q, k, v = x.view(batch, length, 3, 4, width // 12).permute(2, 0, 3, 1, 4).unbind(0)
    return _attention(q, k, v)


def _side_by_side(x: _Tensor) -> _Tensor:
    """Head by head."""
    batch, length, width = x.shape
    q, k, v = x.view(batch, length, 4, width // 4).transpose(1, 2).chunk(3, -1)
    return _attention(q, k, v)


def _divided(q: _Tensor, k: _Tensor, v: _Tensor) -> _Tensor:
    """With a softmax that divides, as is written by hand and in StableHLO."""
    scores = q @ k.transpose(-1, -2)
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return (powers / powers.sum(-1, keepdim=True)) @ v


_CASES: dict[str, tuple[Callable[..., _Tensor], list[tuple[int, ...]]]] = {
    "plain": (_attention, [(2, 3, 70, 32)] * 3),
    "causal": (functools.partial(_attention, is_causal=True), [(1, 2, 130, 64)] * 3),
    "scaled": (functools.partial(_attention, scale=0.3), [(1, 2, 40, 20)] * 3),
    "other_length": (_attention, [(1, 2, 33, 16), (1, 2, 90, 16), (1, 2, 90, 24)]),
    "wide": (_attention, [(1, 2, 65, 128)] * 3),
    "masked": (
        lambda q, k, v, m: _attention(q, k, v, attn_mask=m),
        [(1, 2, 40, 16), (1, 2, 50, 16), (1, 2, 50, 16), (40, 50)],
    ),
    "grouped": (
        functools.partial(_attention, enable_gqa=True),
        [(2, 4, 40, 16), (2, 2, 50, 16), (2, 2, 50, 16)],
    ),
    "explicit": (_explicit, [*[(2, 2, 40, 16)] * 3, (2, 1, 1, 40)]),
    "divided": (_divided, [(2, 2, 40, 16)] * 3),
    "heads": (_with_heads, [(2, 30, 64), (2, 40, 64), (2, 40, 64)]),
    "put_together": (_put_together, [(2, 40, 192)]),
    "side_by_side": (_side_by_side, [(2, 40, 192)]),
}


def _operands(name: str, dtype: torch.dtype = torch.float32) -> list[_Tensor]:
    torch.manual_seed(0)
    return [torch.randn(shape).to(dtype) for shape in _CASES[name][1]]


def _kernels_of_attention(program: EmulatedProgram) -> list[str]:
    return [one.name for one in program.resources if one.name.startswith("attention")]


@pytest.mark.parametrize("name", _CASES)
def test_attention(name: str) -> None:
    operands = _operands(name)
    program = EmulatedProgram(_CASES[name][0], *operands)
    assert len(_kernels_of_attention(program)) == 1
    assert "shfl.sync.bfly" in program.ptx
    assert "cp.async" in program.ptx
    program.check(*operands)


@pytest.mark.parametrize(
    "name", ["plain", "causal", "scaled", "wide", "masked", "grouped", "put_together"]
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision(dtype: torch.dtype, name: str) -> None:
    """Both products are of tensor cores; weights are rounded to half precision for the second."""
    operands = _operands(name, dtype)
    program = EmulatedProgram(_CASES[name][0], *operands)
    assert len(_kernels_of_attention(program)) == 1
    assert "mma.sync" in program.ptx
    assert "ldmatrix" in program.ptx
    assert "ex2.approx" in program.ptx
    rounding = torch.finfo(dtype).eps
    program.check(*operands, rtol=2 * rounding, atol=2 * rounding)


@pytest.mark.parametrize(
    ("function", "shapes", "dtype"),
    [
        (_attention, [(2, 3, 70, 64)] * 3, torch.bfloat16),
        (_attention, [(1, 2, 70, 64), *[(1, 2, 270, 64)] * 2], torch.float16),
        (functools.partial(_attention, is_causal=True), [(1, 2, 150, 64)] * 3, torch.float16),
        (_attention, [(1, 2, 65, 72), (1, 2, 165, 72), (1, 2, 165, 128)], torch.float16),
        (_explicit, [*[(1, 2, 72, 64)] * 3, (72, 72)], torch.float16),
    ],
    ids=["plain", "many_keys", "causal", "wide", "masked"],
)
def test_warp_groups(
    function: Callable[..., _Tensor], shapes: list[tuple[int, ...]], dtype: torch.dtype
) -> None:
    """Queries, keys and values are multiplied where they lie, and weights in registers."""
    torch.manual_seed(0)
    operands = [torch.randn(shape).to(dtype) for shape in shapes]
    program = EmulatedProgram(function, *operands, gpu_arch="sm_90a")
    assert "wgmma.mma_async" in program.ptx
    assert "mma.sync" not in program.ptx
    rounding = torch.finfo(dtype).eps
    program.check(*operands, rtol=2 * rounding, atol=2 * rounding)


def test_attention_without_warp_groups() -> None:
    """What they have no room or no lines for is for single warps."""
    for shapes in ([(1, 2, 65, 32)] * 3, [(1, 1, 65, 192), (1, 1, 65, 192), (1, 1, 65, 64)]):
        operands = [torch.randn(shape).half() for shape in shapes]
        program = EmulatedProgram(_attention, *operands, gpu_arch="sm_90a")
        program.check(*operands, rtol=2e-3, atol=2e-3)
        assert "wgmma" not in program.ptx


def test_blocks_of_many_queries() -> None:
    """There are as many blocks as multiprocessors."""
    torch.manual_seed(0)
    operands = [torch.randn(27, 4, 40, 16).half() for _ in range(3)]
    program = EmulatedProgram(_CASES["causal"][0], *operands)
    assert len(_kernels_of_attention(program)) == 1
    rounding = 2 * torch.finfo(torch.float16).eps
    program.check(*operands, rtol=rounding, atol=rounding)


def test_rows_that_are_masked_as_a_whole() -> None:
    """They are zero where the function says so, and no numbers in a plain softmax."""
    q, k, v = _operands("plain")
    mask = torch.zeros(70, 70)
    mask[3] = -math.inf
    mask[5] = torch.finfo(torch.float32).min
    mask[:, 64:] = -math.inf
    masked = EmulatedProgram(lambda q, k, v, m: _attention(q, k, v, attn_mask=m), q, k, v, mask)
    assert len(_kernels_of_attention(masked)) == 1
    masked.check(q, k, v, mask)
    explicit = EmulatedProgram(lambda q, k, v, m: (_explicit(q, k, v, m),), q, k, v, mask)
    actual = explicit.run(q, k, v, mask)[0]
    assert actual[:, :, 3].isnan().all()
    assert actual[:, :, :3].isfinite().all()


def test_masked_keys_are_left_out() -> None:
    q, k, v = _operands("causal")
    function = _CASES["causal"][0]
    program = EmulatedProgram(lambda q, k, v: (function(q, k, v),), q, k, v)
    expected = function(q, k, v)[:, :, :64]
    # A weight of 0 makes NaN of it.
    v[:, :, 64:] = math.nan
    torch.testing.assert_close(program.run(q, k, v)[0][:, :, :64], expected)


def test_large_scores() -> None:
    """The maximum is taken away before there is an exponential of it."""
    q, k, v = _operands("plain")
    program = EmulatedProgram(_attention, q, k, v)
    program.check(q * 100, k * 100, v)


def test_dynamic_queries() -> None:
    q, k, v = _operands("other_length")
    program = EmulatedProgram(_attention, q, k, v, dims=({2: Dim("queries")}, {}, {}))
    assert len(_kernels_of_attention(program)) == 1
    for count in (33, 64, 1):
        program.check(torch.randn(1, 2, count, 16), k, v)


def test_dynamic_keys() -> None:
    q, k, v = _operands("other_length")
    keys = Dim("keys")
    program = EmulatedProgram(_attention, q, k, v, dims=({}, {2: keys}, {2: keys}))
    for count in (90, 64, 129, 1):
        program.check(q, torch.randn(1, 2, count, 16), torch.randn(1, 2, count, 24))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, torch.float32) for name in ("plain", "causal", "scaled", "masked", "grouped")),
        ("other_length", torch.float32),
        *((name, torch.float16) for name in ("causal", "wide", "masked", "grouped")),
    ],
    ids=str,
)
def test_both_lengths_dynamic(name: str, dtype: torch.dtype) -> None:
    """One kernel, also of batches that differ, which still copies 16 bytes at a time."""
    torch.manual_seed(0)
    function, shapes = _CASES[name]
    batch, queries, keys = Dim("batch"), Dim("queries"), Dim("keys")
    if name in ("plain", "causal", "scaled", "wide"):
        # Queries and keys of one sequence.
        keys = queries
    of_keys = {0: batch, 2: keys}
    dims = [{0: batch, 2: queries}, of_keys, of_keys, {0: queries, 1: keys}][: len(shapes)]

    def drawn(sizes: dict[Dim, int]) -> list[_Tensor]:
        return [
            torch.randn(
                [sizes.get(dim[axis], n) if axis in dim else n for axis, n in enumerate(of)],
                dtype=dtype,
            )
            for dim, of in zip(dims, shapes, strict=True)
        ]

    program = EmulatedProgram(function, *drawn({batch: 2}), dims=tuple(dims))
    assert len(_kernels_of_attention(program)) == 1
    is_half = dtype == torch.float16
    assert not is_half or "cp.async.cg.shared.global" in program.ptx
    rounding = 2 * torch.finfo(dtype).eps if is_half else None
    for first, second in ((150, 50), (1, 129), (64, 64)):
        operands = drawn({batch: 3, keys: second, queries: first})
        program.check(*operands, rtol=rounding, atol=rounding)


def test_what_is_no_softmax_is_several_kernels() -> None:
    """A kernel that goes along keys has no second look at a row."""
    q, k, v = _operands("plain")
    program = EmulatedProgram(
        lambda q, k, v: functional.normalize(q @ k.transpose(-1, -2), dim=-1) @ v, q, k, v
    )
    assert not _kernels_of_attention(program)
    program.check(q, k, v)


def test_a_mask_of_half_precision_for_several() -> None:
    """It is widened by each, rather than once for all, which would be a tensor of its own."""

    def twice(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)
        return x

    half = torch.float16
    x, mask = torch.randn(1, 2, 40, 32, dtype=half), torch.randn(40, 40, dtype=half)
    program = EmulatedProgram(twice, x, mask)
    program.check(x, mask, rtol=2e-2, atol=2e-2)
    assert program.gpu.count("gpu.launch_func") == 2


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
