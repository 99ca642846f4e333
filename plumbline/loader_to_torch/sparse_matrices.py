"""Sparse matrices as the rows, columns and numbers of what is in them, while a program is traced.

What they are multiplied with is dense, and so is the product: each number takes a row of what it
multiplies, scaled, to a row of the product. Sparse tensors that are no matrices stay as they are,
which no later stage knows.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch

from plumbline.errors import UserError


@dataclass(frozen=True)
class SparseMatrix:
    """What stands for a sparse tensor that is a matrix of numbers."""

    rows: torch.Tensor
    columns: torch.Tensor
    numbers: torch.Tensor
    shape: torch.Size

    def t(self) -> "SparseMatrix":
        """The transposed matrix."""
        shape = torch.Size([self.shape[1], self.shape[0]])
        return SparseMatrix(self.columns, self.rows, self.numbers, shape)

    def transpose(self, first: int, second: int) -> "SparseMatrix":
        """The transposed matrix, if these are both dimensions."""
        return _transposed(self, first, second)

    def coalesce(self) -> "SparseMatrix":
        """The matrix, of which numbers in one place are still to be added up."""
        return self

    def to_dense(self) -> torch.Tensor:
        """The matrix with all that is 0 in it."""
        zeros = self.numbers.new_zeros(self.shape)
        return zeros.index_put((self.rows, self.columns), self.numbers, accumulate=True)

    def times(self, dense: torch.Tensor) -> torch.Tensor:
        """The product with a dense matrix or vector."""
        torch._check(  # type: ignore[no-untyped-call]
            dense.shape[0] == self.shape[1],
            lambda: f"a {tuple(self.shape)} matrix times a {tuple(dense.shape)} tensor",
        )
        rest = dense.shape[1:]
        scaled = self.numbers.reshape(-1, *[1] * len(rest)) * dense.index_select(0, self.columns)
        zeros = scaled.new_zeros((self.shape[0], *rest))
        return zeros.index_add(0, self.rows, scaled)

    def scaled(self, factor: Any) -> "SparseMatrix":
        """The matrix multiplied by a number."""
        if not isinstance(factor, int | float) and not _is_number(factor):
            raise _refusal("*")
        return dataclasses.replace(self, numbers=self.numbers * factor)

    def __matmul__(self, other: Any) -> Any:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _product(other, self)

    __mul__ = __rmul__ = scaled
    mm = mv = matmul = __matmul__

    def size(self, axis: int | None = None) -> Any:
        """The shape, or one size of it."""
        return self.shape if axis is None else self.shape[axis]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f".{name} {_NOT_COMPILED}")

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func not in _OF_MATRICES or kwargs:
            raise _refusal(func.__name__)
        return _OF_MATRICES[func](*args)


_NOT_COMPILED = (
    "of sparse matrices is not compiled: products with dense matrices and vectors are, t(), "
    "to_dense() and multiplication by a number"
)


def _refusal(what: str) -> UserError:
    return UserError(f"{what} {_NOT_COMPILED}")


def _is_number(factor: Any) -> bool:
    return isinstance(factor, torch.Tensor) and factor.dim() == 0


def sparse_coo_tensor(
    indices: Any, values: Any = None, size: Any = None, **options: Any
) -> SparseMatrix | torch.Tensor:
    """Takes the place of PyTorch's function of that name."""
    is_matrix = (
        isinstance(indices, torch.Tensor)
        and isinstance(values, torch.Tensor)
        and values.dim() == 1
        and size is not None
        and len(size) == 2
    )
    if not is_matrix or not {*options} <= {"dtype", "device"}:
        return torch.sparse_coo_tensor(indices, values, size, **options)
    dtype = options.get("dtype") or values.dtype
    return SparseMatrix(indices[0], indices[1], values.to(dtype), torch.Size(size))


@contextlib.contextmanager
def sparse_tensors_as_matrices(model: torch.nn.Module) -> Iterator[None]:
    """Has the modules of a model hold matrices meanwhile in the place of sparse tensors.

    While it traces, PyTorch takes a sparse tensor that is held to have nothing in it.
    """
    with contextlib.ExitStack() as stack:
        for module in model.modules():
            own = vars(module)
            states: tuple[dict[str, Any], ...] = (module._buffers, module._parameters, own)
            for held in states:
                found = {name: each for name, each in held.items() if _is_sparse_matrix(each)}
                if found:
                    stack.enter_context(mock.patch.dict(held))
                for name, tensor in found.items():
                    del held[name]
                    stack.enter_context(mock.patch.dict(own, {name: _matrix_of(tensor)}))
        yield


def _is_sparse_matrix(of: Any) -> bool:
    layouts = (torch.sparse_coo, torch.sparse_csr)
    is_sparse = isinstance(of, torch.Tensor) and of.layout in layouts
    return is_sparse and of.dim() == 2 and of.dense_dim() == 0


def _matrix_of(tensor: torch.Tensor) -> SparseMatrix:
    held: torch.Tensor = tensor.detach().to_sparse_coo()  # type: ignore[no-untyped-call]
    rows, columns = held._indices()
    return SparseMatrix(rows, columns, held._values(), held.shape)


def _product(one: Any, other: Any) -> Any:
    if isinstance(one, SparseMatrix) and _is_dense(other):
        return one.times(other)
    if isinstance(other, SparseMatrix) and _is_dense(one):
        # A vector is its own transpose.
        return other.t().times(one.t()).t()
    raise _refusal("such a product")


def _turned_product(other: Any, one: Any) -> Any:
    return _product(one, other)


def _is_dense(factor: Any) -> bool:
    return isinstance(factor, torch.Tensor) and 1 <= factor.dim() <= 2


def _transposed(matrix: SparseMatrix, first: int, second: int) -> SparseMatrix:
    return matrix.t() if (first - second) % 2 else matrix


_OF_MATRICES: Mapping[Callable[..., Any], Callable[..., Any]] = {
    torch.Tensor.__matmul__: _product,
    torch.Tensor.__rmatmul__: _turned_product,
    torch.Tensor.matmul: _product,
    torch.Tensor.mm: _product,
    torch.matmul: _product,
    torch.mm: _product,
    torch.mul: SparseMatrix.scaled,
    torch.mv: _product,
    torch.sparse.mm: _product,
    torch.spmm: _product,
    torch.t: SparseMatrix.t,
    torch.transpose: _transposed,
}
"""What is computed of matrices, one of which at least is sparse."""
