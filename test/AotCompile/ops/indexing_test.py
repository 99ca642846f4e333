"""Ops that read or write places which are known at run time only, against PyTorch."""

import math
import sys
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim
from torch.testing import assert_close

import plumbline
from plumbline.errors import UserError
from plumbline.tcp.ops import indexing as tcp
from plumbline.tcp.ops.elementwise import CompareOp
from plumbline.tcp.ops.reduction import ReduceOp
from test.AotCompile.ops.op_case import (
    FLOATS,
    NUMBERS,
    Batch,
    OpCase,
    Sampler,
    each,
    ops_without_case,
)

_Inputs = Callable[[Sampler], tuple[torch.Tensor, ...]]


def _gathered(*sizes: int, below: int, negative: bool = False) -> _Inputs:
    """A matrix and indices into it."""
    return lambda s: (s.tensor(5, 7), s.index(*sizes, below=below, negative=negative))


READ = [
    OpCase("gather", lambda x, i: torch.gather(x, 1, i), _gathered(5, 3, below=7), [tcp.GatherOp]),
    OpCase(
        "gather_first", lambda x, i: torch.gather(x, 0, i), _gathered(4, 7, below=5), [tcp.GatherOp]
    ),
    OpCase(
        "gather_last", lambda x, i: torch.gather(x, -1, i), _gathered(5, 3, below=7), [tcp.GatherOp]
    ),
    OpCase(
        "gather_fewer",
        lambda x, i: torch.gather(x, 1, i),
        _gathered(4, 9, below=7),
        [tcp.GatherOp],
        empty=False,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "gather_rank_0",
        lambda x, i: torch.gather(x, 0, i),
        lambda s: (s.tensor(), s.index(below=1)),
        [tcp.GatherOp],
        kinds=["static"],
    ),
    OpCase(
        "take_along_dim",
        lambda x, i: torch.take_along_dim(x, i, 1),
        _gathered(5, 3, below=7),
        [tcp.GatherOp],
        kinds=["static"],
    ),
    OpCase(
        "index_select", lambda x, i: x.index_select(0, i), _gathered(4, below=5), [tcp.GatherNdOp]
    ),
    OpCase(
        "index_select_last",
        lambda x, i: x.index_select(-1, i),
        _gathered(4, below=7),
        [tcp.GatherOp],
    ),
    OpCase("index", lambda x, i: x[i], _gathered(4, 3, below=5, negative=True), [tcp.GatherNdOp]),
    OpCase(
        "index_second", lambda x, i: x[:, i], _gathered(4, below=7, negative=True), [tcp.GatherNdOp]
    ),
    OpCase(
        "index_both",
        lambda x, i, j: x[i, j],
        lambda s: (s.tensor(5, 7), s.index(4, 1, below=5), s.index(3, below=7, negative=True)),
        [tcp.GatherNdOp],
    ),
    OpCase(
        "index_apart",
        lambda x, i: x[i, :, i],
        lambda s: (s.tensor(3, 7, 3), s.index(4, below=3)),
        [tcp.GatherNdOp],
    ),
    OpCase(
        "index_list",
        lambda x: x[[0, 2, -1]],
        lambda s: (s.tensor(5, 7),),
        [tcp.GatherNdOp],
        static=[5],
    ),
    OpCase("nonzero", torch.nonzero, lambda s: (s.telling(31),), [tcp.NonzeroOp]),
    OpCase(
        "embedding",
        F.embedding,
        lambda s: (s.index(4, 3, below=5), s.tensor(5, 7)),
        [tcp.GatherNdOp],
        NUMBERS,
    ),
    OpCase(
        "embedding_int32",
        F.embedding,
        lambda s: (s.index(4, 3, below=5, dtype=torch.int32), s.tensor(5, 7)),
        [tcp.GatherNdOp],
        NUMBERS,
    ),
]


def _bags(s: Sampler) -> tuple[torch.Tensor, ...]:
    """A matrix, indices into it, and where bags begin; the second bag is empty."""
    indices = s.index(9, below=5)
    return s.tensor(5, 7), indices, torch.tensor([0, 2, 2, 5]).clamp(max=len(indices))


BAGS = [
    *(
        OpCase(
            f"embedding_bag_{mode}",
            lambda w, i, o, mode=mode: F.embedding_bag(i, w, o, mode=mode),
            _bags,
            [tcp.GatherNdOp, tcp.ScatterOp],
            FLOATS,
            static=[4],
        )
        for mode in ("sum", "mean", "max")
    ),
    OpCase(
        "embedding_bag_weighted",
        lambda w, i, o, p: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=p),
        lambda s: (*_bags(s), s.tensor(9)),
        [tcp.GatherNdOp, tcp.ScatterOp],
        FLOATS,
        static=[4],
    ),
    OpCase(
        "embedding_bag_rows",
        lambda w, i: F.embedding_bag(i, w),
        lambda s: (s.tensor(5, 7), s.index(4, 3, below=5)),
        [tcp.GatherNdOp, ReduceOp],
        FLOATS,
        static=[3],  # PyTorch refuses length 0.
    ),
]


def _scattered(s: Sampler) -> tuple[torch.Tensor, ...]:
    """A matrix, places along its last dimension of which some come twice, and updates."""
    return s.tensor(5, 7), s.index(5, 9, below=7), s.tensor(5, 9)


def _scattered_once(s: Sampler) -> tuple[torch.Tensor, ...]:
    """The same with no place twice, since PyTorch leaves open which update stays."""
    rows = [s.permutation(7) for _ in range(s.size(5))]
    places = torch.stack(rows) if rows else torch.zeros(0, s.size(7), dtype=torch.int64)
    return s.tensor(5, 7), places, s.tensor(5, 7)


def _reduced(reduce: str, *, include_self: bool) -> Callable[..., torch.Tensor]:
    return lambda x, i, y: x.scatter_reduce(1, i, y, reduce, include_self=include_self)


WRITTEN = [
    OpCase("scatter", lambda x, i, y: x.scatter(1, i, y), _scattered_once, [tcp.ScatterOp]),
    OpCase("scatter_last", lambda x, i, y: x.scatter(-1, i, y), _scattered_once, [tcp.ScatterOp]),
    OpCase(
        "scatter_number",
        lambda x, i: x.scatter(-1, i, 1),
        _gathered(5, 3, below=7),
        [tcp.ScatterOp],
    ),
    OpCase(
        "scatter_fewer",
        lambda x, i, y: x.scatter_add(1, i[:4, :2], y),
        _scattered,
        [tcp.ScatterOp],
        empty=False,
        auto=True,
        kinds=["static", "dynamic"],
    ),
    OpCase("scatter_add", lambda x, i, y: x.scatter_add(1, i, y), _scattered, [tcp.ScatterOp]),
    OpCase(
        "scatter_add_rows",
        lambda x, i, y: x.scatter_add(0, i[:, None].expand(-1, x.shape[1]), y),
        lambda s: (s.tensor(5, 7), s.index(9, below=5), s.tensor(9, 7)),
        [tcp.ScatterOp],
    ),
    *(
        OpCase(
            f"scatter_{reduce}",
            lambda x, i, y, reduce=reduce: x.scatter(1, i, y, reduce=reduce),
            _scattered,
            [tcp.ScatterOp],
            NUMBERS,
        )
        for reduce in ("add", "multiply")
    ),
    *(
        OpCase(
            f"scatter_reduce_{reduce}_{'with' if include_self else 'without'}_self",
            _reduced(reduce, include_self=include_self),
            _scattered,
            [tcp.ScatterOp],
            NUMBERS,
        )
        for reduce in ("sum", "prod", "amax", "amin", "mean")
        for include_self in (True, False)
    ),
    OpCase(
        "scatter_rank_0",
        lambda x, i, y: x.scatter(0, i, y),
        lambda s: (s.tensor(), s.index(below=1), s.tensor()),
        [tcp.ScatterOp],
        kinds=["static"],
    ),
    OpCase(
        "index_put",
        lambda x, i, y: x.index_put((i,), y),
        lambda s: (s.tensor(5, 7), s.permutation(5) - s.size(5), s.tensor(5, 7)),
        [tcp.ScatterNdOp],
    ),
    OpCase(
        "index_put_stretched",
        lambda x, i, y: x.index_put((i,), y),
        lambda s: (s.tensor(5, 7), s.index(4, 3, below=5), s.tensor(7)),
        [tcp.ScatterNdOp],
    ),
    OpCase(
        "index_put_accumulates",
        lambda x, i, y: x.index_put((i,), y, accumulate=True),
        lambda s: (s.tensor(5, 7), s.index(9, below=5), s.tensor(9, 7)),
        [tcp.ScatterNdOp],
        NUMBERS,
    ),
    OpCase(
        "index_put_both",
        lambda x, i, y: x.index_put((i, i), y),
        lambda s: (s.tensor(5, 7), s.permutation(5), s.tensor(5)),
        [tcp.ScatterNdOp],
        static=[5, 7],
    ),
    OpCase(
        "index_put_apart",
        lambda x, i, y: torch.ops.aten.index_put(x, [None, i, None, i], y),
        lambda s: (s.tensor(2, 5, 3, 5), s.permutation(5), s.tensor(5, 2, 3)),
        [tcp.ScatterNdOp],
        static=[5, 2, 3],
    ),
    OpCase(
        "index_add",
        lambda x, i, y: x.index_add(0, i, y),
        lambda s: (s.tensor(5, 7), s.index(9, below=5), s.tensor(9, 7)),
        [tcp.ScatterNdOp],
        NUMBERS,
    ),
    OpCase(
        "index_add_at_a_number",
        lambda x, i, y: (x.index_add(0, i, y), x.T.index_add(1, i, y.T)),
        lambda s: (s.tensor(5, 7), torch.tensor(0), s.tensor(7).unsqueeze(0)),
        [tcp.ScatterNdOp, tcp.ScatterOp],
        (torch.float32, torch.float16),
        # Of nothing there is no place.
        kinds=("static", "dynamic"),
        empty=False,
    ),
    OpCase(
        "index_copy",
        lambda x, i, y: x.index_copy(1, i, y),
        lambda s: (s.tensor(5, 7), s.permutation(7), s.tensor(5, 7)),
        [tcp.ScatterOp],
    ),
    OpCase(
        "index_fill", lambda x, i: x.index_fill(1, i, 1), _gathered(4, below=7), [tcp.ScatterOp]
    ),
    # Of slices that are not the first, elements are scattered: they are no rows of indices each.
    OpCase(
        "index_add_inner",
        lambda x, i, y: x.index_add(1, i, y, alpha=2),
        lambda s: (s.tensor(3, 5, 7), s.index(9, below=5), s.tensor(3, 9, 7)),
        [tcp.ScatterOp],
        (torch.float32, torch.float64, torch.int64, torch.uint8),
    ),
    OpCase(
        "index_put_inner",
        lambda x, i, y: torch.ops.aten.index_put(x, [None, i], y),
        lambda s: (s.tensor(3, 5, 7), s.permutation(5) - s.size(5), s.tensor(5, 1)),
        [tcp.ScatterOp],
    ),
    OpCase(
        "index_put_inner_accumulates",
        lambda x, i, y: torch.ops.aten.index_put(x, [None, i], y, True),
        lambda s: (s.tensor(3, 5), s.index(9, below=5, negative=True), s.tensor(3, 9)),
        [],
    ),
]

# What the Torch dialect has no op for, or lowers wrongly: by gathers and counts.
DECOMPOSED = [
    OpCase("combinations", torch.combinations, lambda s: (s.tensor(5),), [], kinds=("static",)),
    OpCase(
        "searchsorted",
        lambda x, v: (torch.searchsorted(x, v), torch.searchsorted(x, v, right=True)),
        lambda s: (s.tensor(5, 7).sort(-1).values, s.tensor(5, 4)),
        [CompareOp],
        NUMBERS,
    ),
    OpCase(
        "searchsorted_in_many",
        lambda x, v: (torch.searchsorted(x, v), torch.searchsorted(x[0], v, right=True)),
        lambda s: (s.tensor(2, 200).sort(-1).values, s.tensor(2, 70)),
        [tcp.GatherOp],
        (torch.float32, torch.int64),
        kinds=["static"],
    ),
    OpCase(
        "row_starts",
        lambda x: (
            torch._convert_indices_from_coo_to_csr(x, 5),
            torch._convert_indices_from_coo_to_csr(x, 5, out_int32=True),
        ),
        lambda s: ((torch.arange(s.size(6)) ** 2 // 7).clamp(max=3),),
        [CompareOp],
    ),
    OpCase(
        "isin",
        lambda x, y: (torch.isin(x, y), torch.isin(x, y, invert=True), torch.isin(3, y)),
        lambda s: (s.tensor(5, 7), s.tensor(2, 4)),
        [CompareOp],
        (torch.int32, torch.float32),
    ),
    *(
        OpCase(
            f"grid_sample_{mode}_{padding}",
            lambda x, g, mode=mode, padding=padding: F.grid_sample(
                x, g, mode=mode, padding_mode=padding, align_corners=False
            ),
            lambda s: (s.tensor(2, 3, 6, 7), s.tensor(2, 4, 5, 2, low=-1.3, high=1.3)),
            [tcp.GatherOp],
            (torch.float32, torch.float64),
            kinds=["static"],
        )
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border")
    ),
    OpCase(
        "take",
        torch.take,
        lambda s: (s.tensor(5, 7), s.index(4, below=7)),
        [tcp.GatherNdOp],
        # Of no elements nothing can be taken, which is all that sizes one by one tell.
        empty=False,
    ),
]

CASES = [*READ, *BAGS, *WRITTEN, *DECOMPOSED]


@each(CASES)
def test_against_pytorch(batch: Batch, place: int) -> None:
    """The compiled function answers as PyTorch does."""
    batch.check(place)


class _Combined(torch.nn.Module):
    def forward(self, x: torch.Tensor, ones: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rows = torch.zeros_like(ones[:, 0], dtype=torch.int64)
        places = rows[:, None].expand(-1, 2)
        return (
            x.index_add(0, rows, ones),
            x.scatter_add(0, places, ones),
            x.scatter_reduce(0, places, ones, "mean"),
        )


def test_half_precision_is_combined_in_f32() -> None:
    """Of bfloat16, 256 and 1 are 256."""
    inputs = (torch.zeros(3, 2, dtype=torch.bfloat16), torch.ones(1000, 2, dtype=torch.bfloat16))
    actual = plumbline.compile(_Combined(), inputs)(*inputs)
    torch.testing.assert_close(actual, _Combined()(*inputs))


class _Searched(torch.nn.Module):
    def forward(self, x: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.searchsorted(x, values), torch.bucketize(values, x[0], right=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda z, i, x: z.index_add(0, i, x),
        lambda z, i, x: z.T.index_add(1, i, x.T),
        lambda z, i, x: z.index_copy(0, i, x),
        lambda z, i, x: z.scatter_add(0, i[:, None].expand(-1, 4), x),
    ],
)
def test_places_below_0_are_refused(function: Callable[..., torch.Tensor]) -> None:
    """They count from the end in brackets, and for a few functions such as `index_fill`."""

    class Scattered(torch.nn.Module):
        def forward(self, z: torch.Tensor, i: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return function(z, i, x)

    operands = (torch.zeros(10, 4), torch.tensor([3, 0, 9]), torch.randn(3, 4))
    shapes = {"z": {0: Dim("n")}, "i": {0: Dim("count")}, "x": {0: Dim("count")}}
    for program in (
        plumbline.compile(Scattered(), operands),
        plumbline.compile(Scattered(), operands, shapes),
    ):
        assert_close(program(*operands)[0], function(*operands))
        with pytest.raises(UserError, match=r"index -5 is out of range for dimension . of size 10"):
            program(operands[0], torch.tensor([3, -5, 9]), operands[2])


def test_rows_in_a_row_are_added_one_after_another() -> None:
    """Where several that go to one place are added at once, all sums are rounded as they were."""
    runs = torch.tensor([1, 4, 3, 9, 0, 2, 8, 5, 1, 1, 4])
    places = torch.repeat_interleave(torch.randperm(len(runs)), runs)
    operands = (torch.randn(11, 20), places, 100 * torch.randn(len(places), 20))

    class Added(torch.nn.Module):
        def forward(self, z: torch.Tensor, i: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            return z.index_add(0, i, x).index_reduce(0, i, x, "amax")

    dims = {"z": {}, "i": {0: Dim("count")}, "x": {0: Dim("count")}}
    for program in (
        plumbline.compile(Added(), operands),
        plumbline.compile(Added(), operands, dims),
    ):
        assert_close(program(*operands)[0], Added()(*operands), rtol=0, atol=0)


def test_sequences_of_any_size_are_searched() -> None:
    """By their blocks of 32, of which there are none, one, or some and a part."""
    dims = ({1: Dim.AUTO}, {1: Dim.AUTO})
    program = plumbline.compile(_Searched(), _sequences(50), dims)
    for size in (0, 1, 31, 32, 33, 64, 300):
        inputs = _sequences(size)
        assert_close(program(*inputs), _Searched()(*inputs))


def _sequences(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    numbers = torch.arange(size, dtype=torch.float32) // 2
    ends = torch.tensor([math.nan, math.inf, -math.inf])
    return numbers.repeat(2, 1), torch.cat([torch.arange(-1, size / 2 + 1), ends]).repeat(2, 1)


def test_every_op_has_a_case() -> None:
    """No op of the family is left out."""
    assert not ops_without_case(tcp, CASES)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
