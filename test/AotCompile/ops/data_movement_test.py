"""Ops that make tensors, or place the elements of tensors anew, against PyTorch."""

import sys

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

import plumbline
from plumbline.tcp.ops import data_movement as tcp
from plumbline.tcp.ops.elementwise import AddOp, SelectOp
from test.AotCompile.ops.op_case import (
    NUMBERS,
    Batch,
    OpCase,
    Sampler,
    each,
    ops_without_case,
)


def _matrix(s: Sampler) -> tuple[torch.Tensor, ...]:
    return (s.tensor(5, 7),)


def _cube(s: Sampler) -> tuple[torch.Tensor, ...]:
    return (s.tensor(5, 7, 4),)


def _two(s: Sampler) -> tuple[torch.Tensor, ...]:
    return s.tensor(5, 7), s.tensor(5, 7)


MADE = [
    OpCase("const", lambda x: x + torch.tensor(3, dtype=x.dtype), _matrix, [tcp.ConstOp]),
    OpCase(
        "const_tensor", lambda x: x + torch.arange(7).to(x.dtype), _matrix, [tcp.IotaOp], static=[7]
    ),
    OpCase(
        "full",
        lambda x: torch.full((x.shape[0], 3), 2, dtype=x.dtype),
        _matrix,
        [tcp.ConstOp, tcp.BroadcastOp],
        kinds=["dynamic"],
    ),
    OpCase(
        "like",
        lambda x: (torch.ones_like(x), torch.zeros_like(x), torch.full_like(x, 1)),
        _matrix,
        [tcp.ConstOp],
    ),
    OpCase("empty_filled", lambda x: torch.empty_like(x).fill_(1), _matrix, [tcp.ConstOp]),
    OpCase(
        "arange",
        lambda x: torch.arange(x.shape[0]) + x[:, 0],
        lambda s: (s.tensor(5, 1),),
        [tcp.IotaOp],
    ),
    OpCase(
        "arange_bounds",
        lambda x: (torch.arange(2, 11, 3) + x, torch.arange(9, -1, -4) + x),
        lambda s: (s.tensor(5, 1),),
        [tcp.IotaOp],
    ),
    OpCase(
        "arange_dynamic",
        lambda x: torch.arange(1, x.shape[0] + 3, dtype=torch.int32),
        _matrix,
        [tcp.IotaOp],
        kinds=["dynamic"],
    ),
    OpCase(
        "arange_floats",
        lambda x: torch.arange(0.5, 2.1, 0.3, dtype=torch.float64) + x,
        lambda s: (s.tensor(5, 1),),
        [tcp.IotaOp],
    ),
    OpCase(
        "linspace",
        lambda x: torch.linspace(-1, 3, 6) + x,
        lambda s: (s.tensor(5, 1),),
        [tcp.IotaOp],
    ),
    OpCase(
        "eye",
        lambda x: torch.eye(7) * x,
        lambda s: (s.tensor(5, 7, 7),),
        [tcp.IotaOp],
        NUMBERS,
        static=[7],
    ),
    OpCase(
        "one_hot",
        lambda i: F.one_hot(i, 4),
        lambda s: (s.index(5, 7, below=4),),
        [tcp.IotaOp],
        [torch.int64],
        static=[4],
    ),
    OpCase(
        "size_as_number",
        lambda x: (x * x.shape[0], x + x.shape[1]),
        _matrix,
        [AddOp],
        NUMBERS,
        kinds=["dynamic"],
    ),
    OpCase(
        "size_as_tensor",
        lambda x: torch.full((), x.shape[0]),
        _matrix,
        [],
        [torch.float32],
        kinds=["dynamic"],
    ),
]

SHAPES = [
    OpCase(
        "expand",
        lambda x: x.expand(3, -1, 7),
        lambda s: (s.tensor(5, 1),),
        [tcp.BroadcastOp],
        static=[7],
    ),
    OpCase(
        "expand_as",
        lambda x, y: x.expand_as(y),
        lambda s: (s.tensor(5, 1), s.tensor(4, 5, 7)),
        [tcp.BroadcastOp],
    ),
    OpCase("repeat", lambda x: (x.repeat(2, 3), x.repeat(2, 1, 1)), _matrix, [tcp.BroadcastOp]),
    OpCase("repeat_interleave", lambda x: x.repeat_interleave(2, 0), _matrix, [tcp.BroadcastOp]),
    OpCase("tile", lambda x: x.tile(3), _matrix, [tcp.BroadcastOp]),
    # Merging dynamic dimensions, which torch-mlir's own lowering takes one of for 1.
    OpCase("flatten", lambda x: (x.flatten(0, 1), x.flatten(1), x.flatten()), _cube, []),
    OpCase(
        "reshape_minus_one",
        lambda x: (x.reshape(-1, 4), x.reshape(x.shape[0], -1)),
        _cube,
        [],
        static=[4],
        empty=False,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "split_heads",
        lambda x: x.view(x.shape[0], x.shape[1], 2, 2).transpose(1, 2),
        _cube,
        [tcp.TransposeOp],
        static=[4],
    ),
    OpCase(
        "merge_heads",
        lambda x: x.transpose(1, 2).reshape(x.shape[0], x.shape[2] * x.shape[1]),
        _cube,
        [tcp.TransposeOp],
    ),
    OpCase("unflatten", lambda x: x.unflatten(2, (2, 2)), _cube, [], static=[4]),
    OpCase(
        "regroup",
        lambda x: x.reshape(4, 6),
        lambda s: (s.tensor(3, 8),),
        [],
        static=[3, 8],
        kinds=["static"],
    ),
    OpCase("unsqueeze", lambda x: (x.unsqueeze(0), x.unsqueeze(1), x.unsqueeze(-1)), _matrix, []),
    OpCase(
        "squeeze",
        lambda x: (x.squeeze(), x.squeeze(1), x.squeeze(-1), x.squeeze(0)),
        lambda s: (s.tensor(5, 1, 7, 1),),
        [],
        # A size of 1 would be squeezed too, so that the range begins at 2.
        empty=False,
    ),
    OpCase(
        "rank_0_and_1",
        lambda x, y: (x.reshape(1, 1), y.reshape(()), y.squeeze(), x.unsqueeze(0)),
        lambda s: (s.tensor(), s.tensor(1, 1)),
        [],
        kinds=["static"],
    ),
]

ORDER = [
    OpCase(
        "transpose", lambda x: (x.transpose(0, -1), x.transpose(1, 2)), _cube, [tcp.TransposeOp]
    ),
    OpCase("t", lambda x: x.t(), _matrix, [tcp.TransposeOp]),
    OpCase(
        "permute", lambda x: (x.permute(2, 0, 1), x.permute(-2, -1, 0)), _cube, [tcp.TransposeOp]
    ),
    OpCase("movedim", lambda x: x.movedim(0, 2), _cube, [tcp.TransposeOp]),
    OpCase("flip", lambda x: (x.flip(0), x.flip(-1, 0), x.flip(1)), _cube, [tcp.ReverseOp]),
    OpCase("rot90", lambda x: torch.rot90(x), _matrix, [tcp.ReverseOp, tcp.TransposeOp]),
    OpCase(
        "roll",
        lambda x: (x.roll(2, 0), x.roll((1, -3), (0, 1)), x.roll(9, 1)),
        _matrix,
        [tcp.SliceOp, tcp.ConcatOp],
        empty=False,
        kinds=["static", "dynamic"],
    ),
    OpCase("roll_flat", lambda x: x.roll(3), _matrix, [tcp.SliceOp, tcp.ConcatOp]),
]

PARTS = [
    OpCase(
        "slice",
        lambda x: (x[1:3], x[:, 2:], x[:-1, :-2], x[-2:], x[1:-1, 1:3]),
        _matrix,
        [tcp.SliceOp],
        empty=False,
        auto=True,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "slice_step",
        lambda x: (x[::2], x[1::3, ::2], x[:, 1:6:2]),
        _matrix,
        [tcp.SliceOp],
        empty=False,
        auto=True,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "slice_beyond",
        lambda x: (x[3:100], x[-100:2], x[100:], x[3:2]),
        _matrix,
        [tcp.SliceOp],
        static=[5],
        kinds=["static"],
    ),
    OpCase(
        "slice_by_size",
        lambda x: (x[: x.shape[0] - 1], x[x.shape[0] // 2 :]),
        _matrix,
        [tcp.SliceOp],
        empty=False,
        auto=True,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "select",
        lambda x: (x[1], x[:, -1], x.select(0, -2), x[0, 1]),
        _matrix,
        [tcp.SliceOp],
        empty=False,
        kinds=["static", "dynamic"],
    ),
    OpCase("narrow", lambda x: x.narrow(1, 2, 3), _matrix, [tcp.SliceOp], static=[7]),
    OpCase("split", lambda x: torch.split(x, 3), _matrix, [tcp.SliceOp], static=[5]),
    OpCase(
        "split_sizes", lambda x: torch.split(x, [1, 4, 2], 1), _matrix, [tcp.SliceOp], static=[7]
    ),
    OpCase("chunk", lambda x: torch.chunk(x, 3, 1), _matrix, [tcp.SliceOp], static=[7]),
    OpCase("unbind", lambda x: torch.unbind(x, 1), _matrix, [tcp.SliceOp], static=[7]),
    OpCase(
        "tensor_split", lambda x: torch.tensor_split(x, 2, 1), _matrix, [tcp.SliceOp], static=[7]
    ),
    OpCase(
        "diff",
        lambda x: torch.diff(x),
        _matrix,
        [tcp.SliceOp],
        NUMBERS,
        empty=False,
        auto=True,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "slice_scatter",
        lambda x, y: (x.slice_scatter(y, 0, 1, 3), x.slice_scatter(y, 0, 0, 4, 2)),
        lambda s: (s.tensor(5, 7), s.tensor(2, 7)),
        [],
        static=[2, 5],
    ),
    OpCase(
        "select_scatter",
        lambda x, y: (x.select_scatter(y, 0, 1), x.select_scatter(y, 0, -2)),
        lambda s: (s.tensor(5, 7), s.tensor(7)),
        [],
        static=[5],
    ),
    OpCase(
        "triangles",
        lambda x: (x.tril(), x.triu(1), x.tril(-2)),
        _matrix,
        [tcp.IotaOp, SelectOp],
        NUMBERS,
    ),
]

JOINED = [
    OpCase("cat", lambda x, y: (torch.cat([x, y]), torch.cat([x, y, x], -1)), _two, [tcp.ConcatOp]),
    # Of more sizes in turn than one op may have.
    OpCase(
        "cat_of_many",
        lambda x: torch.cat([x[:, : 1 + number % 3] * number for number in range(70)], 1),
        lambda s: (s.tensor(2, 3),),
        [tcp.ConcatOp],
        static=[3],
    ),
    OpCase(
        "cat_sizes",
        lambda x, y: torch.cat([x, y]),
        lambda s: (s.tensor(5, 7), s.tensor(4, 7)),
        [tcp.ConcatOp],
    ),
    OpCase(
        "cat_promotes",
        lambda x, y: torch.cat([x, y]),
        lambda s: (s.tensor(5, 7), s.tensor(5, 7, dtype=torch.int32)),
        [tcp.ConcatOp],
    ),
    OpCase(
        "stack",
        lambda x, y: (torch.stack([x, y]), torch.stack([x, y], 1), torch.stack([x, y], -1)),
        _two,
        [tcp.ConcatOp],
    ),
    OpCase(
        "meshgrid",
        lambda x, y: torch.meshgrid(x, y, indexing="ij"),
        lambda s: (s.tensor(5), s.tensor(7)),
        [tcp.BroadcastOp],
    ),
    OpCase(
        "pad", lambda x: (F.pad(x, (1, 2)), F.pad(x, (0, 3, 2, 1), value=1)), _matrix, [tcp.PadOp]
    ),
    OpCase(
        "pad_negative",
        lambda x: (F.pad(x, (-1, 2)), F.pad(x, (-2, -1, 1, -1), value=1)),
        _matrix,
        [tcp.PadOp, tcp.SliceOp],
        empty=False,
        auto=True,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "pad_replicate",
        lambda x: F.pad(x, (2, 1), mode="replicate"),
        _matrix,
        [tcp.ConcatOp],
        NUMBERS,
        static=[7],
        empty=False,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "pad_reflect",
        lambda x: F.pad(x, (2, 1), mode="reflect"),
        _matrix,
        [tcp.ConcatOp],
        NUMBERS,
        static=[7],
        empty=False,
        kinds=["static", "dynamic"],
    ),
    OpCase(
        "pad_circular",
        lambda x: F.pad(x[None], (2, 1), mode="circular"),
        _matrix,
        [tcp.SliceOp],
        NUMBERS,
        static=[7],
    ),
]

CASES = [*MADE, *SHAPES, *ORDER, *PARTS, *JOINED]


@each(CASES)
def test_against_pytorch(batch: Batch, place: int) -> None:
    """The compiled function answers as PyTorch does."""
    batch.check(place)


def test_every_op_has_a_case() -> None:
    """No op of the family is left out."""
    assert not ops_without_case(tcp, CASES)


class _WrittenAcross(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first = torch.tensor([0])
        filled, moved = x.clone(), x.clone()
        filled.mT.index_fill_(-1, first, 2)
        moved.mT.index_copy_(-1, first, moved.mT[:, -1:].clone())
        filled.flatten()[2:] += 1
        return filled.view(-1, 2), moved.flatten()


def test_views_of_what_is_written_across() -> None:
    """PyTorch makes of them tensors that lie as the written view does, and views these."""
    x = torch.randn(4, 6)
    torch.testing.assert_close(plumbline.compile(_WrittenAcross(), (x,))(x), _WrittenAcross()(x))


def test_lists_hold_constants() -> None:
    """Those of `torch.cat`, say, in which the importer knows no literals."""
    row, places = torch.tensor([1.0, 2.0]), torch.tensor([1, 0])

    class Joined(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return torch.cat([x, row]), torch.stack([row, row]) * x, x.index_put((places,), row)

    x = torch.tensor([3.0, 5.0])
    torch.testing.assert_close(plumbline.compile(Joined(), (x,))(x), Joined()(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_between_two_ends_as_many_as_there_are_columns(dtype: torch.dtype) -> None:
    class Between(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.linspace(-1, 1.5, x.shape[1], dtype=dtype)

    module = Between()
    shapes = ({1: Dim("columns", min=1)},)
    program = plumbline.compile(module, (torch.ones(2, 5, dtype=dtype),), shapes)
    for columns in (5, 1, 2, 100):
        x = torch.ones(2, columns, dtype=dtype)
        torch.testing.assert_close(program(x)[0], module(x))


def test_repeats_of_no_rows_have_columns() -> None:
    """By what is left of no elements, there would be none."""

    class Repeated(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return x.repeat(1, 2), x.repeat(2, 1), x.tile(2)

    rows, columns = Dim("rows"), Dim("columns")
    program = plumbline.compile(Repeated(), (torch.ones(2, 5),), ({0: rows, 1: columns},))
    for sizes in ((2, 5), (0, 3), (3, 0), (0, 1)):
        x = torch.randn(sizes)
        torch.testing.assert_close(program(x), Repeated()(x))


def test_complex_numbers_between_two_ends() -> None:
    class Between(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * torch.linspace(-1, 1 + 2j, 5).real + torch.linspace(0, 2j, 5).imag

    x = torch.ones(5)
    torch.testing.assert_close(plumbline.compile(Between(), (x,))(x)[0], Between()(x))


@pytest.mark.parametrize(
    ("rank", "align_corners", "padding"),
    [(2, True, "zeros"), (2, False, "reflection"), (3, False, "zeros")],
)
def test_grids_of_any_size(rank: int, align_corners: bool, padding: str) -> None:
    class Moved(torch.nn.Module):
        def forward(self, x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
            grid = F.affine_grid(theta, list(x.shape), align_corners=align_corners)
            return F.grid_sample(x, grid, padding_mode=padding, align_corners=align_corners)

    torch.manual_seed(0)
    module, theta = Moved(), torch.randn(2, rank, rank + 1)
    sizes_of_x = {axis: Dim(f"n{axis}", min=2) for axis in range(2, rank + 2)}
    inputs = torch.randn(2, 3, *(5, 6, 7)[:rank]), theta
    program = plumbline.compile(module, inputs, {"x": sizes_of_x, "theta": {}})
    for sizes in ((5, 6, 7), (2, 9, 3)):
        x = torch.randn(2, 3, *sizes[:rank])
        torch.testing.assert_close(program(x, theta)[0], module(x, theta), rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
