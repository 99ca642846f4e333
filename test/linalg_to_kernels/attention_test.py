"""Runs attention as one kernel: at sizes around those of blocks, and as models write it."""

import re
import sys
from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional
from torch.nn.attention import flex_attention

import plumbline


class _Attention(nn.Module):
    """PyTorch's own, with options."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = options

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        return functional.scaled_dot_product_attention(query, key, value, mask, **self._options)


class _Heads(nn.Module):
    """Between linear layers, with heads side by side in memory, and written back so."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        query, key, value = (
            layer(x).view(batch, length, self._heads, -1).transpose(1, 2)
            for layer in self.layers[:3]
        )
        scores = query @ key.transpose(-1, -2) * 0.25
        result = scores.softmax(-1) @ value
        joined: torch.Tensor = result.transpose(1, 2).reshape(batch, length, width)
        return cast("torch.Tensor", self.layers[3](joined))


class _Masked(nn.Module):
    """Scores that are replaced where `hides` says so, of the places of queries and keys."""

    def __init__(self, hides: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self._hides = hides

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        scores = query @ key.transpose(-1, -2)
        places = torch.arange(scores.shape[-1])
        hidden = self._hides(places.unsqueeze(-1), places)
        return torch.where(hidden, -torch.inf, scores).softmax(-1) @ value


class _Flex(nn.Module):
    """Scores that functions change by their places, and by a parameter for each head."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.slopes = nn.Parameter(torch.rand(heads))

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        def change(score: torch.Tensor, _: Any, head: Any, row: Any, column: Any) -> torch.Tensor:
            return cast("torch.Tensor", score - self.slopes[head] * (row - column))

        def shows(_: Any, head: Any, row: Any, column: Any) -> torch.Tensor:
            return cast("torch.Tensor", (row >= column) & (row - column < 9))

        sizes = query.shape[-2], key.shape[-2]
        mask = flex_attention.create_block_mask(shows, None, None, *sizes, device="cpu")
        return flex_attention.flex_attention(
            query, key, value, score_mod=change, block_mask=mask, enable_gqa=True
        )


_MASKS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "key > query": lambda query, key: key > query,
    "query < key": lambda query, key: query < key,
    "not key <= query": lambda query, key: ~(key <= query),
    "key >= query": lambda query, key: key >= query,
    "key < query": lambda query, key: key < query,
    "query > key": lambda query, key: query > key,
    "key > query + 1": lambda query, key: key > query + 1,
    "key > 2 query": lambda query, key: key > 2 * query,
    "key > key": lambda query, key: (key > key) & (query == query),
}


def _check(
    module: nn.Module, operands: tuple[torch.Tensor, ...], target_cpu: str = "native"
) -> str:
    """Compares with PyTorch, and gives the kernels' text."""
    program = plumbline.compile(module, operands, target_cpu=target_cpu)
    (actual,) = program(*operands)
    with torch.no_grad():
        torch.testing.assert_close(actual, module(*operands), rtol=1e-4, atol=1e-5)
    return program.stage("kernels")


def _kernels(text: str) -> list[str]:
    return re.findall(r"func\.func private @(\w+)\(.*no_inline", text)


_SHAPES = [
    # Query and key; blocks have 24 to 96 queries.
    ((1, 3, 24, 64), (1, 3, 128, 64)),
    ((2, 3, 97, 33), (2, 3, 50, 33)),
    ((2, 2, 23, 16), (2, 2, 301, 16)),
    ((1, 1, 200, 64), (1, 1, 197, 64)),
]


@pytest.mark.parametrize("target_cpu", ["native", "baseline"])
@pytest.mark.parametrize(("queries", "keys"), _SHAPES)
def test_sizes(queries: tuple[int, ...], keys: tuple[int, ...], target_cpu: str) -> None:
    torch.manual_seed(0)
    operands = (torch.randn(queries), torch.randn(keys), torch.randn(keys))
    names = _kernels(_check(_Attention(), operands, target_cpu))
    assert [name for name in names if "attention" in name], names
    # Scores are scaled in it: neither products nor scaled operands are kernels of their own.
    assert len(names) == 1, names


def test_heads_of_one_number() -> None:
    """Whose scores are products that nothing is added up of."""
    query, key, value = (
        torch.randn(2, 4, 64, 1),
        torch.randn(2, 4, 50, 1),
        torch.randn(2, 4, 50, 24),
    )
    program = plumbline.compile(_Attention(), (query, key, value))
    torch.testing.assert_close(program(query, key, value)[0], _Attention()(query, key, value))


def test_masks() -> None:
    torch.manual_seed(0)
    operands = tuple(torch.randn(2, 3, 70, 32) for _ in range(3))
    mask = torch.rand(2, 1, 70, 70) < 0.7
    # A query that sees no key gets zeros.
    mask[0, 0, 5] = False
    for given in (mask, torch.randn(70, 70), torch.randn(2, 3, 70, 70)):
        assert any(
            "attention" in name for name in _kernels(_check(_Attention(), (*operands, given)))
        )


@pytest.mark.parametrize("options", [{"is_causal": True}, {"scale": 0.3}, {"enable_gqa": True}])
def test_options(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    heads = 2 if "enable_gqa" in options else 8
    operands = (torch.randn(1, 8, 65, 64), *(torch.randn(1, heads, 65, 64) for _ in range(2)))
    assert any("attention" in name for name in _kernels(_check(_Attention(**options), operands)))


def test_causal() -> None:
    """A mask told by where elements are is computed where it is needed, and laid over scores."""
    torch.manual_seed(0)
    module = _Attention(is_causal=True)
    operands = tuple(torch.randn(1, 3, 70, 32) for _ in range(3))
    assert len(_kernels(_check(module, operands))) == 1
    # What is not looked at may be anything, as PyTorch has it.
    operands[1][:, :, 40] = torch.nan
    (actual,) = plumbline.compile(module, operands)(*operands)
    expected = module(*operands)
    assert not expected[:, :, :40].isnan().any()
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize(
    ("queries", "keys"),
    [
        *_SHAPES,
        ((2, 2, 150, 32), (2, 2, 150, 32)),
        ((1, 2, 1, 32), (1, 2, 40, 32)),
        # More queries than keys, and more keys than the last block's queries see.
        ((1, 2, 260, 16), (1, 2, 100, 16)),
        ((1, 2, 100, 16), (1, 2, 260, 16)),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_causal_sizes(queries: tuple[int, ...], keys: tuple[int, ...], threads: int) -> None:
    torch.manual_seed(0)
    module = _Attention(is_causal=True)
    operands = (torch.randn(queries), torch.randn(keys), torch.randn(keys))
    (actual,) = plumbline.compile(module, operands, threads=threads)(*operands)
    torch.testing.assert_close(actual, module(*operands), rtol=1e-4, atol=1e-5)


def test_masked_keys_are_left_out() -> None:
    torch.manual_seed(0)
    module = _Attention(is_causal=True)
    operands = tuple(torch.randn(1, 2, 512, 32) for _ in range(3))
    expected = module(*operands)
    # A weight of 0 makes NaN of it, as PyTorch's does.
    operands[2][:, :, 511] = torch.nan
    (actual,) = plumbline.compile(module, operands)(*operands)
    torch.testing.assert_close(actual[:, :, :256], expected[:, :, :256], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("hides", _MASKS)
def test_masks_told_by_place(hides: str) -> None:
    """As a mask is seen to be causal: of others no key is left out that is looked at."""
    torch.manual_seed(0)
    operands = tuple(torch.randn(1, 2, 130, 32) for _ in range(3))
    module = _Masked(_MASKS[hides])
    (actual,) = plumbline.compile(module, operands)(*operands)
    expected = module(*operands)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


def test_scores_that_a_function_changes() -> None:
    module = _Flex(4)
    query, key, value = (torch.randn(2, heads, 37, 16) for heads in (4, 2, 2))
    program = plumbline.compile(module, (query, key, value))
    (actual,) = program(query, key, value)
    # Which PyTorch computes so too, in 2 s.
    distance = torch.arange(37).unsqueeze(1) - torch.arange(37)
    bias = (-module.slopes.detach()[:, None, None] * distance).masked_fill(
        (distance < 0) | (distance > 8), -torch.inf
    )
    expected = functional.scaled_dot_product_attention(query, key, value, bias, enable_gqa=True)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)
    assert any(name.startswith("attention") for name in _kernels(program.stage("kernels")))


@pytest.mark.parametrize("batch", [1, 3])
def test_between_layers(batch: int) -> None:
    torch.manual_seed(0)
    text = _check(_Heads(96, 3), (torch.randn(batch, 50, 96),))
    assert sum("attention" in name for name in _kernels(text)) == 1
    # The layers' weights are packed all the same.
    assert text.count("plumbline.layout") == 4


class _Windows(nn.Module):
    """Einsums over five axes, between whose products PyTorch moves axes of one element."""

    def forward(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        scores = torch.einsum("BWHQD, BWHKD -> BWHQK", query, key) + bias
        return torch.einsum("BWHQK, BWHKD -> BWHQD", scores.softmax(-1), value)


@pytest.mark.parametrize("batch", [1, 2])
def test_einsums(batch: int) -> None:
    torch.manual_seed(0)
    operands = tuple(torch.randn(batch, 4, 2, 49, 32) for _ in range(3))
    names = _kernels(_check(_Windows(), (*operands, torch.randn(2, 49, 49))))
    assert sum("attention" in name for name in names) == 1


@pytest.mark.parametrize("batch", [1, 2])
def test_a_size_that_is_not_known(batch: int) -> None:
    torch.manual_seed(0)
    length = Dim("length", min=1, max=500)
    query, key, value = (torch.randn(batch, 3, size, 32) for size in (40, 70, 70))
    module = _Attention()
    shapes = {"query": {2: length}, "key": None, "value": None}
    program = plumbline.compile(module, (query, key, value), shapes)
    assert any("attention" in name for name in _kernels(program.stage("kernels")))
    for size in (1, 24, 40, 97, 150):
        given = torch.randn(batch, 3, size, 32)
        (actual,) = program(given, key, value)
        torch.testing.assert_close(actual, module(given, key, value), rtol=1e-4, atol=1e-5)


class _FirstKeys(nn.Module):
    """Attention to a part of the keys that lie in memory."""

    def forward(self, query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        key = keys[:, :, :50]
        return functional.scaled_dot_product_attention(query, key, key)


@pytest.mark.parametrize("target_cpu", ["native", "baseline"])
@pytest.mark.parametrize("is_causal", [False, True], ids=["all", "causal"])
def test_a_single_query_of_any_number(target_cpu: str, *, is_causal: bool) -> None:
    """Keys and values are then read where they lie, and not packed for it."""
    torch.manual_seed(0)
    module = _Attention(is_causal=is_causal)
    sizes = {0: Dim.AUTO, 2: Dim.AUTO}
    shapes = {"query": sizes, "key": sizes, "value": sizes}

    def operands(batch: int, queries: int, keys: int) -> tuple[torch.Tensor, ...]:
        return tuple(torch.randn(batch, 3, size, 20) for size in (queries, keys, keys))

    program = plumbline.compile(module, operands(2, 30, 40), shapes, target_cpu=target_cpu)
    for batch, queries, keys in ((1, 1, 1), (3, 1, 37), (2, 1, 300), (2, 2, 5), (1, 70, 33)):
        given = operands(batch, queries, keys)
        torch.testing.assert_close(program(*given)[0], module(*given), rtol=1e-4, atol=1e-5)
    text = program.stage("kernels")
    kernel = text[text.index("private @attention") :]
    # Whether there is one is asked once before keys are packed, and for each product.
    single = re.search(r"(%\w+) = arith\.cmpi eq, %\w+, %c1 : index", kernel)
    assert single is not None, kernel
    assert kernel.count(f"scf.if {single[1]} ") == 3, kernel


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("queries", [2, 100])
def test_half_precision(queries: int, dtype: torch.dtype) -> None:
    """It is one kernel, but where queries are so few that nothing need be packed."""
    operands = tuple(torch.randn(2, 3, size, 40, dtype=dtype) for size in (queries, 100, 100))
    module = _Attention(is_causal=True)
    for target_cpu in ("x86-64-v3", "x86-64-v4", "cooperlake", "sapphirerapids"):
        there = plumbline.compile(module, operands, target_cpu=target_cpu)
        assert ("@attention_" in there.stage("kernels")) == (queries > 2), target_cpu
    (actual,) = plumbline.compile(module, operands)(*operands)
    exact = module(*(operand.double() for operand in operands))
    # Weights are rounded as PyTorch rounds them, if they are.
    unit = torch.finfo(dtype).eps
    torch.testing.assert_close(actual.double(), exact, rtol=2 * unit, atol=2 * unit)


@pytest.mark.parametrize("target_cpu", ["x86-64-v3", "sapphirerapids"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_no_keys_are_turned_for_their_number(dtype: torch.dtype, target_cpu: str) -> None:
    """Where they are narrow, the kernel that reads them turns them itself."""
    operands = tuple(torch.randn(2, 3, 9, 64, dtype=dtype) for _ in range(3))
    sizes = {2: Dim.AUTO}
    shapes = {"query": sizes, "key": sizes, "value": sizes}
    program = plumbline.compile(
        _Attention(is_causal=False), operands, shapes, target_cpu=target_cpu
    )
    assert "copy" not in program.stage("kernels")


class _WithCache(nn.Module):
    """Keys and values are kept, and those of these queries are put behind them."""

    def forward(
        self, new: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        batch, length, _ = new.shape
        parts = new.view(batch, length, 3, 2, 16).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        keys, values = torch.cat([keys, key], 2), torch.cat([values, value], 2)
        result = functional.scaled_dot_product_attention(query, keys, values)
        return result.transpose(1, 2).reshape(batch, length, 32), keys, values


def test_kept_keys_of_any_number() -> None:
    """How many there are with those that are new is a sum of sizes."""

    def operands(batch: int, new: int, kept: int) -> tuple[torch.Tensor, ...]:
        cache = (batch, 2, kept, 16)
        return torch.randn(batch, new, 96), torch.randn(cache), torch.randn(cache)

    torch.manual_seed(0)
    module = _WithCache()
    kept = {0: Dim.AUTO, 2: Dim.AUTO}
    dims = {"new": {0: Dim.AUTO, 1: Dim.AUTO}, "keys": kept, "values": kept}
    program = plumbline.compile(module, operands(2, 3, 40), dims)
    for sizes in ((2, 3, 40), (1, 1, 1), (3, 1, 37), (1, 61, 7)):
        given = operands(*sizes)
        for actual, expected in zip(program(*given), module(*given), strict=True):
            torch.testing.assert_close(actual, expected)
    text = program.stage("kernels")
    assert re.search(r"@attention\w*\(", text) is not None, text
    # The keys are read as they are kept.
    assert "memref<?x2x16x?xf32>" not in text, text


def test_a_part_of_the_keys() -> None:
    torch.manual_seed(0)
    _check(_FirstKeys(), (torch.randn(2, 3, 70, 32), torch.randn(2, 3, 90, 32)))


def test_not_a_number_stays_in_its_query() -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(1, 2, 60, 32) for _ in range(3))
    query[0, 1, 7, 3] = torch.nan
    (actual,) = plumbline.compile(_Attention(), (query, key, value))(query, key, value)
    assert actual[0, 1, 7].isnan().all()
    assert actual.isnan().sum() == 32


@pytest.mark.parametrize(
    ("queries", "keys", "is_one_kernel"),
    [
        ((2, 3, 5, 16), (2, 3, 5, 16), True),
        ((2, 3, 16, 8), (2, 3, 11, 8), True),
        # So few queries leave little of a tile to fill.
        ((2, 3, 4, 16), (2, 3, 9, 16), False),
        # What is done in no time as it is.
        ((2, 3, 6, 6), (2, 3, 6, 6), False),
    ],
)
def test_few_queries(
    queries: tuple[int, ...], keys: tuple[int, ...], *, is_one_kernel: bool
) -> None:
    tensors = (torch.randn(queries), torch.randn(keys), torch.randn(keys))
    program = plumbline.compile(_Attention(), tensors)
    torch.testing.assert_close(program(*tensors)[0], _Attention()(*tensors))
    # With AVX2 alone, tiles have fewer columns to fill.
    kernels = plumbline.compile(_Attention(), tensors, target_cpu="x86-64-v4").stage("kernels")
    assert ("@attention_" in kernels) == is_one_kernel


def test_layers_with_something_to_each_element_are_no_attention() -> None:
    layers = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))
    names = _kernels(_check(layers, (torch.randn(50, 64),)))
    assert not [name for name in names if "attention" in name]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
