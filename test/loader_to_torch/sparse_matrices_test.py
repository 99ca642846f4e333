"""Sparse matrices that a model holds or makes, against PyTorch."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError

_Of = Callable[[Any, torch.Tensor], torch.Tensor]


class _Held(torch.nn.Module):
    """Computes something of a sparse matrix and a dense one, as graph networks do."""

    weight: torch.Tensor
    matrix: torch.Tensor
    bias: torch.Tensor

    def __init__(self, function: _Of, layout: torch.layout, *, is_buffer: bool = True) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1)
        numbers = torch.randn(5, 7, generator=generator)
        matrix = (numbers * (numbers > 0)).to_sparse(layout=layout)
        self._function = function
        # The order of buffers stays what it is.
        self.register_buffer("weight", torch.tensor([2.0]))
        if is_buffer:
            self.register_buffer("matrix", matrix)
        else:
            self.matrix = matrix
        self.register_buffer("bias", torch.tensor([3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(self.matrix, x) * self.weight + self.bias


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
@pytest.mark.parametrize(
    "function",
    [
        lambda matrix, x: matrix @ x,
        lambda matrix, x: torch.sparse.mm(matrix, x).relu(),
        lambda matrix, x: torch.mm(matrix, x) + matrix.matmul(x),
        lambda matrix, x: torch.mv(matrix, x[:, 0]),
        lambda matrix, x: x.t() @ matrix.t(),
        lambda matrix, x: torch.matmul(x[:, 1], matrix.transpose(0, 1)),
        lambda matrix, x: matrix.to_dense() @ x,
        lambda matrix, x: (0.5 * matrix * x[0, 0]) @ x,
    ],
)
def test_products_of_a_sparse_matrix(function: _Of, layout: torch.layout) -> None:
    x = torch.randn(7, 3)
    model = _Held(function, layout)
    program = plumbline.compile(model, (x,), ({1: Dim("features", min=2)},))
    for features in (3, 2, 8):
        x = torch.randn(7, features)
        torch.testing.assert_close(program(x)[0], model(x))


def test_a_model_keeps_its_sparse_matrices() -> None:
    for is_buffer in (True, False):
        model = _Held(torch.matmul, torch.sparse_coo, is_buffer=is_buffer)
        before, x = dict(model.named_buffers()), torch.randn(7, 2)
        torch.testing.assert_close(plumbline.compile(model, (x,))(x)[0], model(x))
        assert model.matrix.layout is torch.sparse_coo
        assert list(model.named_buffers()) == [*before.items()]


def test_what_is_not_compiled_of_sparse_matrices_is_named() -> None:
    functions: dict[str, _Of] = {
        r"such a product": lambda matrix, x: (matrix @ matrix.t()).to_dense(),
        r"relu": lambda matrix, x: torch.relu(matrix) @ x,
        r"\.values": lambda matrix, x: matrix.coalesce().values(),
        r"\*": lambda matrix, x: (matrix * x[:, 0]) @ x,
    }
    for what, function in functions.items():
        model = _Held(function, torch.sparse_coo)
        with pytest.raises(UserError, match=rf": {what} of sparse matrices is not compiled"):
            plumbline.compile(model, (torch.randn(7, 3),))


def test_a_product_of_sizes_that_do_not_fit_is_refused() -> None:
    model = _Held(torch.matmul, torch.sparse_coo)
    with pytest.raises(UserError, match=r"a \(5, 7\) matrix times a \(8, 3\) tensor"):
        plumbline.compile(model, (torch.randn(8, 3),))


class _Convolution(torch.nn.Module):
    """The mean of the nodes that edges lead from, of which some are there twice."""

    def forward(self, edges: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        count = x.shape[0]
        weights = torch.ones(edges.shape[1])
        neighbours = torch.sparse_coo_tensor(edges, weights, (count, count)).coalesce()
        degrees = neighbours @ torch.ones(count)
        return (neighbours @ x) / degrees.clamp(min=1)[:, None]


def test_a_sparse_matrix_is_made_of_edges() -> None:
    def inputs(edges: int, nodes: int) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.randint(nodes, (2, edges)), torch.randn(nodes, 4)

    sizes = ({1: Dim("edges")}, {0: Dim("nodes")})
    program = plumbline.compile(_Convolution(), inputs(30, 6), sizes)
    for edges, nodes in ((30, 6), (5, 9), (100, 3)):
        given = inputs(edges, nodes)
        torch.testing.assert_close(program(*given)[0], _Convolution()(*given))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
