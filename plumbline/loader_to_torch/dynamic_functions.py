"""Functions that PyTorch computes for the sizes of the example, and what computes them for any.

Its own take a number of Python's of a dynamic size, or ask which of two is larger, and so fix it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.nn import functional

from plumbline.loader_to_torch.decompositions.adaptive_pooling import greatest_of_windows, one_each
from plumbline.loader_to_torch.decompositions.contraction import pairs

_EXACT = "donot_use_mm_for_euclid_dist"
_BY_PRODUCTS = "use_mm_for_euclid_dist"

_FEW_ROWS = 25
"""Between no more rows than that, on both sides, PyTorch computes distances exactly."""


def _are_known(*sizes: Any) -> bool:
    return not any(isinstance(size, torch.SymInt) for size in sizes)


def cdist(
    x1: torch.Tensor,
    x2: torch.Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> torch.Tensor:
    """The distance of each row of `x1` from each of `x2`.

    Distances are rounded otherwise by products, which PyTorch takes where there are many rows: each
    call finds out whether there are.
    """
    # torch.cond takes no tensors of torch.func.
    is_transformed = any(map(torch._C._functorch.is_functorch_wrapped_tensor, (x1, x2)))
    if compute_mode in (_EXACT, _BY_PRODUCTS) or p != 2 or is_transformed:
        return torch.cdist(x1, x2, p, compute_mode)
    counts: tuple[Any, ...] = (x1.shape[-2], x2.shape[-2])
    if any(statically_known_true(count > _FEW_ROWS) for count in counts):
        return torch.cdist(x1, x2, p, _BY_PRODUCTS)
    if all(statically_known_true(count <= _FEW_ROWS) for count in counts):
        return torch.cdist(x1, x2, p, _EXACT)
    most: Any = torch.sym_max(*counts)  # type: ignore[no-untyped-call]
    result: torch.Tensor = torch.cond(
        most > _FEW_ROWS,
        lambda one, other: torch.cdist(one, other, p, _BY_PRODUCTS),
        lambda one, other: torch.cdist(one, other, p, _EXACT),
        (x1, x2),
    )
    return result


def gradient(
    input: torch.Tensor,  # noqa: A002 - PyTorch's name
    *,
    spacing: float | Sequence[float | torch.Tensor] = 1,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
) -> tuple[torch.Tensor, ...]:
    """The slopes along each of `dim`, by differences of neighbours.

    Raises:
      ValueError: there is no such order at the edges.
    """
    if _are_known(*input.shape):
        given: dict[str, Any] = {"spacing": spacing, "dim": dim, "edge_order": edge_order}
        return tuple(torch.gradient(input, **given))
    if edge_order not in (1, 2):
        raise ValueError("torch.gradient only supports edge_order=1 and edge_order=2")
    if dim is None:
        dims: Sequence[int] = range(input.dim())
    else:
        dims = (dim,) if isinstance(dim, int) else dim
    spacings = spacing if isinstance(spacing, Sequence) else [spacing] * len(dims)
    return tuple(
        _slopes(input.movedim(axis, -1), of_axis, edge_order).movedim(-1, axis)
        for axis, of_axis in zip(dims, spacings, strict=True)
    )


def _slopes(operand: torch.Tensor, spacing: float | torch.Tensor, edge_order: int) -> torch.Tensor:
    """The slopes along the last dimension, by the distance of neighbours or by where they are."""
    count = operand.shape[-1]
    torch._check(  # type: ignore[no-untyped-call]
        count > edge_order,
        lambda: "torch.gradient expected each dimension size to be at least edge_order+1",
    )

    def at(place: int) -> torch.Tensor:
        return operand.narrow(-1, place % count, 1)

    before, here, after = (operand.narrow(-1, first, count - 2) for first in range(3))
    if not isinstance(spacing, torch.Tensor):
        middle = (after - before) / (2 * spacing)
        if edge_order == 1:
            first, last = (at(1) - at(0)) / spacing, (at(-1) - at(-2)) / spacing
        else:
            first = -(1.5 * at(0) - 2 * at(1) + 0.5 * at(2)) / spacing
            last = (1.5 * at(-1) - 2 * at(-2) + 0.5 * at(-3)) / spacing
        return torch.cat([first, middle, last], -1)
    torch._check(  # type: ignore[no-untyped-call]
        spacing.shape == (count,), lambda: "torch.gradient expected a place for each element"
    )
    places = [spacing.narrow(0, first, count - 2) for first in range(3)]
    step, next_step = places[1] - places[0], places[2] - places[1]
    both = step + next_step
    middle = (
        -next_step / (step * both) * before
        + (next_step - step) / (step * next_step) * here
        + step / (next_step * both) * after
    )
    steps = spacing.diff()
    if edge_order == 1:
        first, last = (at(1) - at(0)) / steps[0], (at(-1) - at(-2)) / steps[-1]
    else:
        first = _edge(at(0), at(1), at(2), steps[0], steps[1])
        last = -_edge(at(-1), at(-2), at(-3), steps[-1], steps[-2])
    return torch.cat([first, middle, last], -1)


def _edge(
    outer: torch.Tensor,
    second: torch.Tensor,
    third: torch.Tensor,
    step: torch.Tensor,
    next_step: torch.Tensor,
) -> torch.Tensor:
    """The slope of a parabola through three points at the first, and inwards."""
    both = step + next_step
    return (
        -(2 * step + next_step) / (step * both) * outer
        + both / (step * next_step) * second
        - step / (next_step * both) * third
    )


def take_along_dim(
    input: torch.Tensor,  # noqa: A002 - PyTorch's name
    indices: torch.Tensor,
    dim: int | None = None,
) -> torch.Tensor:
    """The elements of `input` that `indices` name along `dim`; other sizes are broadcast."""
    if _are_known(*input.shape, *indices.shape) or input.dim() != indices.dim():
        return torch.take_along_dim(input, indices, dim)
    if dim is None:
        return input.reshape(-1).gather(0, indices.reshape(-1))
    dim %= input.dim()
    lines, places = ([*each.shape] for each in (input, indices))
    lines[dim] = places[dim] = 1
    shape: Any = torch.broadcast_shapes(lines, places)  # type: ignore[no-untyped-call]
    sizes = [*shape]

    def broadcast(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.expand([*sizes[:dim], tensor.shape[dim], *sizes[dim + 1 :]])

    return broadcast(input).gather(dim, broadcast(indices))


def kron(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:  # noqa: A002 - PyTorch's name
    """The products of each element of `input` with all of `other`, in the place of the former."""
    if _are_known(*input.shape, *other.shape):
        return torch.kron(input, other)
    rank = max(input.dim(), other.dim())
    shapes = [[1] * (rank - each.dim()) + [*each.shape] for each in (input, other)]
    blocks, elements = (
        each.reshape([size for own in shape for size in (own, 1)[::step]])
        for each, shape, step in zip((input, other), shapes, (1, -1), strict=True)
    )
    return (blocks * elements).reshape([size * own for size, own in zip(*shapes, strict=True)])


def one_hot(tensor: torch.Tensor, num_classes: int = -1) -> torch.Tensor:
    """Ones where elements say, of as many places as a size says, or the greatest element."""
    if tensor.dtype != torch.int64 or (_are_known(num_classes) and num_classes < -1):
        # It says what is wrong.
        return functional.one_hot(tensor, num_classes)
    if _are_known(num_classes) and num_classes == -1:
        num_classes = tensor.max().item() + 1  # type: ignore[assignment]
        torch._check(num_classes >= 0)  # type: ignore[no-untyped-call]
    torch._assert_async(
        ((tensor >= 0) & (tensor < num_classes)).all(),
        "one_hot: class values must be at least 0 and less than num_classes",
    )
    return (tensor.unsqueeze(-1) == torch.arange(num_classes)).to(torch.int64)


def vander(x: torch.Tensor, N: int | None = None, increasing: bool = False) -> torch.Tensor:  # noqa: N803
    """The powers of each of `x` that are below `N`, the highest first."""
    if _are_known(*x.shape, N):
        return torch.vander(x, N, increasing)
    powers: torch.Tensor = vander_of_batches(x, N=N)
    return powers if increasing else powers.flip(-1)


def vander_of_batches(x: torch.Tensor, *, N: int | None = None) -> torch.Tensor:  # noqa: N803
    """The powers of each of `x` that are below `N`, from that of 0 on."""
    if _are_known(*x.shape, N):
        result: torch.Tensor = torch.linalg.vander(x, N=N)
        return result
    count = x.shape[-1] if N is None else N
    factors = x.unsqueeze(-1).expand(*x.shape, count - 1)
    powers: torch.Tensor = torch.cat([torch.ones_like(x).unsqueeze(-1), factors], -1).cumprod(-1)
    return powers


def combinations(
    input: torch.Tensor,  # noqa: A002 - PyTorch's name
    r: int = 2,
    with_replacement: bool = False,
) -> torch.Tensor:
    """The choices of `r` elements."""
    if _are_known(*input.shape) or r != 2:
        return torch.combinations(input, r, with_replacement)
    count = input.shape[0]
    return input[triu_indices(count, count, 0 if with_replacement else 1).T]


def istft(
    input: torch.Tensor,  # noqa: A002 - PyTorch's name
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: torch.Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> torch.Tensor:
    """The signal of which `input` are the spectra of frames, as long as a dynamic size says.

    PyTorch's takes the number of the example.
    """

    def signal(*, center: bool, length: int | None) -> torch.Tensor:
        options: dict[str, Any] = {"onesided": onesided, "return_complex": return_complex}
        options |= {"center": center, "normalized": normalized, "length": length}
        return torch.istft(input, n_fft, hop_length, win_length, window, **options)

    if length is None or _are_known(length, input.shape[-1]):
        return signal(center=center, length=length)
    # All of it is there without a length, if it is not cut at its ends.
    whole = signal(center=False, length=None)
    start = n_fft // 2 if center else 0
    missing: Any = torch.sym_max(start + length - whole.shape[-1], 0)  # type: ignore[no-untyped-call]
    return functional.pad(whole, (0, missing)).narrow(-1, start, length)


def triu_indices(row: int, col: int, offset: int = 0, **options: Any) -> torch.Tensor:
    """The rows and columns of what is on and above a diagonal, of a square of a dynamic size.

    PyTorch's takes the number of the example.
    """
    if not _is_dynamic_square(row, col) or offset < 0 or options:
        return torch.triu_indices(row, col, offset, **options)
    lines: Any = torch.sym_max(row - offset, 0)  # type: ignore[no-untyped-call]
    # A pair of a line and a later place is an element of it, counted from 1.
    line, place = pairs(lines + 1)
    return torch.stack([line, place - 1 + offset])


def tril_indices(row: int, col: int, offset: int = 0, **options: Any) -> torch.Tensor:
    """The same on and below it."""
    if not _is_dynamic_square(row, col) or offset > 0 or options:
        return torch.tril_indices(row, col, offset, **options)
    lines: Any = torch.sym_max(row + offset, 0)  # type: ignore[no-untyped-call]
    k = torch.arange(lines * (lines + 1) // 2, dtype=torch.float64)
    # The first k of a line is line (line + 1) / 2; k, half a step on, never falls on one.
    line = torch.floor(torch.sqrt(2 * k + 0.75) - 0.5)
    place = k - line * (line + 1) / 2
    return torch.stack([line - offset, place]).to(torch.int64)


def _is_dynamic_square(row: int, col: int) -> bool:
    return not _are_known(row) and statically_known_true(row == col)


def linspace(
    start: float | torch.Tensor,
    end: float | torch.Tensor,
    steps: int,
    *,
    dtype: torch.dtype | None = None,
    **options: Any,
) -> torch.Tensor:
    """Numbers from `start` to `end`, as many as a dynamic size says.

    PyTorch's takes the number of the example.
    """
    number = dtype or torch.get_default_dtype()
    is_complex = any(isinstance(bound, complex) for bound in (start, end))
    if _are_known(steps) or is_complex:
        return torch.linspace(start, end, steps, dtype=dtype, **options)
    if not number.is_floating_point:
        return _integers_apart(start, end, steps, number)
    places = torch.arange(steps)
    distance: Any = end - start
    if isinstance(distance, torch.Tensor):
        distance = distance.to(number)
    else:
        # No `as_tensor`, which takes the example's where the ends are computed of sizes.
        distance = torch.full((), distance, dtype=number)
    step = distance / torch.full((), steps - 1).clamp(min=1)
    # The half that is nearer to it is counted from each end, and one place alone from the start.
    from_start = (places == 0) | (places < steps // 2)
    return torch.where(
        from_start, start + places.to(number) * step, end - (steps - 1 - places).to(number) * step
    )


def _integers_apart(
    start: float | torch.Tensor, end: float | torch.Tensor, steps: int, dtype: torch.dtype
) -> torch.Tensor:
    """What is left of the numbers of `linspace` without their fractions."""
    first, last = (
        bound if isinstance(bound, torch.Tensor) else torch.full((), bound, dtype=torch.float64)
        for bound in (start, end)
    )
    first, last = (bound.to(dtype).to(torch.float64) for bound in (first, last))
    step = (last - first) / torch.full((), steps - 1).clamp(min=1)
    places = torch.arange(steps)
    from_start = (places == 0) | (places < steps // 2)
    count = torch.where(from_start, places, places - (steps - 1))
    # PyTorch rounds once, after the sum, so that of a step like 1.6, which is a bit more, five are
    # not 8: the product is the sum of two that need no rounding.
    most = step.to(torch.float32).to(torch.float64)
    nearer = torch.where(from_start, first, last)
    return (nearer + most * count + (step - most) * count).to(dtype)


def logspace(
    start: float | torch.Tensor,
    end: float | torch.Tensor,
    steps: int,
    base: float = 10.0,
    *,
    dtype: torch.dtype | None = None,
    **options: Any,
) -> torch.Tensor:
    """Powers of `base`, as many as a dynamic size says, whose logarithms are as far apart."""
    if _are_known(steps):
        return torch.logspace(start, end, steps, base, dtype=dtype, **options)
    return torch.pow(base, linspace(start, end, steps, dtype=dtype))


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Any:
    """The frequencies of a Fourier transform of `n` elements, a dynamic size, `d` apart.

    PyTorch's takes the number of the example, as `rfftfreq` does.
    """
    if _are_known(n):
        return torch.fft.fftfreq(n, d, **options)
    counted = torch.fft.ifftshift(torch.arange(n) - n // 2)
    return _frequencies(counted, n, d, **options)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Any:
    """Those that are not negative."""
    if _are_known(n):
        return torch.fft.rfftfreq(n, d, **options)
    return _frequencies(torch.arange(n // 2 + 1), n, d, **options)


def _frequencies(
    counted: torch.Tensor, n: int, d: float, *, dtype: torch.dtype | None = None, **_: Any
) -> torch.Tensor:
    factor = torch.full((), 1.0 / (n * d), dtype=torch.float64)
    number = dtype or torch.get_default_dtype()
    return counted.to(number) * factor.to(number)


def adaptive_avg_pool1d(
    input: torch.Tensor,  # noqa: A002 - PyTorch's name
    output_size: Any,
) -> torch.Tensor:
    """The mean of each of as many windows as a size says.

    PyTorch's takes the number of the example, but not that of images.
    """
    (size,) = output_size if isinstance(output_size, Sequence) else (output_size,)
    if _are_known(size):
        return functional.adaptive_avg_pool1d(input, size)
    return functional.adaptive_avg_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


_Pooling = Callable[..., Any]


def _adaptive_max_pool(rank: int, own: _Pooling) -> _Pooling:
    """The greatest of each of as many windows as sizes say, and its place, in `rank` dimensions.

    PyTorch's `own` takes the numbers of the example.
    """

    def pooled(
        input: torch.Tensor,  # noqa: A002 - PyTorch's name
        output_size: Any,
        return_indices: bool = False,
    ) -> Any:
        given = output_size if isinstance(output_size, Sequence) else [output_size]
        counts = [
            size if count is None else count
            for size, count in zip(input.shape[-rank:], one_each(given, rank), strict=True)
        ]
        if _are_known(*counts):
            return own(input, output_size, return_indices)
        return greatest_of_windows(input, counts)

    return pooled


def _greatest_alone(pooled: _Pooling) -> _Pooling:
    return lambda *args, **options: pooled(*args, **options)[0]


_ALONE_AND_WITH_PLACES: Sequence[tuple[Any, Any]] = (
    (functional.adaptive_max_pool1d, functional.adaptive_max_pool1d_with_indices),
    (functional.adaptive_max_pool2d, functional.adaptive_max_pool2d_with_indices),
    (functional.adaptive_max_pool3d, functional.adaptive_max_pool3d_with_indices),
)


def _adaptive_max_pools() -> Iterator[tuple[_Pooling, _Pooling]]:
    for rank, (alone, with_places) in enumerate(_ALONE_AND_WITH_PLACES, 1):
        pooled = _adaptive_max_pool(rank, with_places)
        yield from ((with_places, pooled), (alone, _greatest_alone(pooled)))


ADAPTIVE_MAX_POOLS: Mapping[_Pooling, _Pooling] = dict(_adaptive_max_pools())
"""What takes the place of each of PyTorch's."""


def affine_grid(
    theta: torch.Tensor, size: Sequence[int], align_corners: bool | None = None
) -> torch.Tensor:
    """Where `theta` takes the elements of images or volumes of a dynamic size."""
    if _are_known(*size):
        return functional.affine_grid(theta, list(size), align_corners)
    sizes = size[2:]
    coordinates = []
    for axis, count in enumerate(sizes):
        # From -1 to 1, where the middles of the outermost elements are, or else their edges.
        last = (
            torch.clamp(torch.full((), count - 1), min=1)
            if align_corners
            else torch.full((), count)
        )
        along_axis = (2 * torch.arange(count) + 1 - count).to(theta.dtype) / last.to(theta.dtype)
        shape = [1] * len(sizes)
        shape[axis] = count
        coordinates.append(along_axis.reshape(shape).expand(*sizes))
    # The last axis is x.
    places = torch.stack([*reversed(coordinates), torch.ones_like(coordinates[0])], -1)
    grid = places.reshape(-1, len(sizes) + 1) @ theta.mT
    return grid.reshape(theta.shape[0], *sizes, len(sizes))
