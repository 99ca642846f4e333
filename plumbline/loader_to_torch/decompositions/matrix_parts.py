"""Parts of matrices at places that only a run tells, as a loop over panels counts them.

Factorizations multiply such parts between panels: products of whole matrices, of which most is
masked, take three times as long. And a part that lies where a number says is neither looked up
nor put by a list of numbers.
"""

import torch
from torch.library import define, impl, register_fake

_PART = "plumbline::part_of_matrix"
_WITH_PART = "plumbline::with_part_of_matrix"
_LESS_PRODUCT = "plumbline::less_product_of_parts"


def _part(tensor: torch.Tensor, start: torch.Tensor, dim: int, size: int) -> torch.Tensor:
    """Some places along a dimension, from one on that is int64, of one element."""
    first = int(start)
    return tensor.narrow(dim, first, size).clone(memory_format=torch.contiguous_format)


def _with_part(
    tensor: torch.Tensor, part: torch.Tensor, start: torch.Tensor, dim: int
) -> torch.Tensor:
    """A tensor with another one in their place."""
    first = int(start)
    return tensor.slice_scatter(part, dim, first, first + part.shape[dim])


def _less_product(
    matrix: torch.Tensor,
    left: torch.Tensor,
    right: torch.Tensor,
    rows: torch.Tensor | None = None,
    inner: torch.Tensor | None = None,
    columns: torch.Tensor | None = None,
) -> torch.Tensor:
    """A matrix of which a part is less the product of a part of `left` with one of `right`.

    Args:
      matrix: [m, n], or [batch, m, n] as the others then are.
      left: [m, k].
      right: [k, n].
      rows: int64 [2]: the first row of the part, and the one after the last; None: all.
      inner: the same of the columns of `left` and the rows of `right`.
      columns: the same of columns.
    """
    among_rows, among_inner, among_columns = (
        slice(None) if bounds is None else slice(*bounds.tolist())
        for bounds in (rows, inner, columns)
    )
    product = left[..., among_rows, among_inner] @ right[..., among_inner, among_columns]
    result = matrix.clone(memory_format=torch.contiguous_format)
    result[..., among_rows, among_columns] -= product
    return result


def _like_part(tensor: torch.Tensor, _start: torch.Tensor, dim: int, size: int) -> torch.Tensor:
    shape = list(tensor.shape)
    shape[dim] = size
    return tensor.new_empty(shape)


def _like_whole(whole: torch.Tensor, *_: object) -> torch.Tensor:
    return whole.new_empty(whole.shape)


define(_PART, "(Tensor tensor, Tensor start, int dim, SymInt size) -> Tensor")
impl(_PART, "CPU")(_part)
register_fake(_PART, _like_part)

define(_WITH_PART, "(Tensor tensor, Tensor part, Tensor start, int dim) -> Tensor")
impl(_WITH_PART, "CPU")(_with_part)
register_fake(_WITH_PART, _like_whole)

define(
    _LESS_PRODUCT,
    "(Tensor matrix, Tensor left, Tensor right, "
    "Tensor? rows, Tensor? inner, Tensor? columns) -> Tensor",
)
impl(_LESS_PRODUCT, "CPU")(_less_product)
register_fake(_LESS_PRODUCT, _like_whole)

PART = torch.ops.plumbline.part_of_matrix.default
WITH_PART = torch.ops.plumbline.with_part_of_matrix.default
LESS_PRODUCT = torch.ops.plumbline.less_product_of_parts.default

Bounds = tuple[int | torch.Tensor, int | torch.Tensor] | None
"""The first place of a part, and the one after its last; None: all places."""


def part(tensor: torch.Tensor, start: torch.Tensor, dim: int, size: int) -> torch.Tensor:
    """As many places along a dimension, which is counted from the last one, -1."""
    if tensor.is_complex():
        real, imag = torch.real(tensor), torch.imag(tensor)
        return torch.complex(part(real, start, dim, size), part(imag, start, dim, size))
    taken: torch.Tensor = PART(tensor, start, tensor.dim() + dim, size)
    return taken


def with_part(
    tensor: torch.Tensor, other: torch.Tensor, start: torch.Tensor, dim: int
) -> torch.Tensor:
    """The tensor with another one in the place of such a part."""
    if tensor.is_complex():
        real, imag = (
            with_part(take(tensor), take(other), start, dim) for take in (torch.real, torch.imag)
        )
        return torch.complex(real, imag)
    changed: torch.Tensor = WITH_PART(tensor, other, start, tensor.dim() + dim)
    return changed


def less_product(
    matrix: torch.Tensor,
    left: torch.Tensor,
    right: torch.Tensor,
    *,
    rows: Bounds = None,
    inner: Bounds = None,
    columns: Bounds = None,
) -> torch.Tensor:
    """The same of matrices of any batch and of complex numbers."""
    if matrix.is_complex():
        parts = {"rows": rows, "inner": inner, "columns": columns}
        (real, imag), (left_real, left_imag), (right_real, right_imag) = (
            (torch.real(each), torch.imag(each)) for each in (matrix, left, right)
        )
        real = less_product(real, left_real, right_real, **parts)
        real = less_product(real, -left_imag, right_imag, **parts)
        imag = less_product(imag, left_real, right_imag, **parts)
        return torch.complex(real, less_product(imag, left_imag, right_real, **parts))
    operands = [matrix, left, right]
    if matrix.dim() > 3:
        operands = [each.flatten(0, -3) for each in operands]
    result: torch.Tensor = LESS_PRODUCT(*operands, *map(_as_tensor, (rows, inner, columns)))
    return result.reshape(matrix.shape)


def _as_tensor(bounds: Bounds) -> torch.Tensor | None:
    if bounds is None:
        return None
    return torch.stack([torch.zeros((), dtype=torch.int64) + bound for bound in bounds])
