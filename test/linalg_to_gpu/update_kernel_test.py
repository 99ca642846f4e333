"""Updates of places that are computed are parted between threads, and done in their order."""

import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim

from test.linalg_to_gpu.emulated_programs import EmulatedProgram

_ONE_THREAD = "known_block_size = array<i32: 1, 1, 1>"


def _places(*shape: int, most: int = 7) -> torch.Tensor:
    """Few of them, so that many updates are of one place."""
    return torch.randint(0, most, shape)


_CASES: dict[str, tuple[Callable[..., torch.Tensor], list[tuple[int, ...]]]] = {
    "scatter": (lambda x, i, y: x.scatter(1, i, y), [(9, 7), (9, 40), (9, 40)]),
    "scatter_add": (lambda x, i, y: x.scatter_add(0, i, y), [(7, 33), (50, 33), (50, 33)]),
    "scatter_add_rows": (
        lambda x, i, y: x.scatter_add(0, i[:, None].expand(-1, 33), y),
        [(7, 33), (50,), (50, 33)],
    ),
    "scatter_amax": (
        lambda x, i, y: x.scatter_reduce(0, i, y, "amax"),
        [(7, 33), (50, 33), (50, 33)],
    ),
    "index_add": (lambda x, i, y: x.index_add(0, i, y), [(7, 70), (300,), (300, 70)]),
    "index_add_of_numbers": (lambda x, i, y: x.index_add(0, i, y), [(7,), (3000,), (3000,)]),
    "index_put": (
        lambda x, i, y: x.index_put((i, i), y, accumulate=True),
        [(7, 64), (300,), (300,)],
    ),
    "index_copy": (lambda x, i, y: x.index_copy(1, i, y), [(5, 9, 8), (7,), (5, 7, 8)]),
}


def _operands(name: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    _, (shape, places, updates) = _CASES[name]
    # Of an order that sums tell: the bits are those of PyTorch's, who adds one after the other.
    distinct = torch.randperm(places[0]) if name == "index_copy" else _places(*places)
    return [torch.randn(shape), distinct, torch.randn(updates)]


@pytest.mark.parametrize("name", _CASES)
def test_updates(name: str) -> None:
    operands = _operands(name)
    program = EmulatedProgram(_CASES[name][0], *operands)
    program.check(*operands, rtol=0, atol=0)
    assert _ONE_THREAD not in program.gpu.partition("gpu.func @loops_kernel")[2]


def test_gradient_of_an_embedding() -> None:
    def function(y: torch.Tensor, places: torch.Tensor) -> object:
        return torch.ops.aten.embedding_dense_backward(y, places, 11, -1, scale_grad_by_freq=False)

    operands = torch.randn(6, 50, 24), _places(6, 50, most=11)
    program = EmulatedProgram(function, *operands)
    program.check(*operands)


def test_dynamic_updates() -> None:
    dims = ({0: Dim("rows")}, {0: Dim("count")}, {0: Dim("count")})
    program = EmulatedProgram(
        lambda x, i, y: x.index_add(0, i, y),
        torch.randn(20, 6),
        _places(30),
        torch.randn(30, 6),
        dims=dims,
    )
    for rows, count in ((20, 30), (7, 1), (9, 0), (7, 700)):
        program.check(torch.randn(rows, 6), _places(count), torch.randn(count, 6), rtol=0, atol=0)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
