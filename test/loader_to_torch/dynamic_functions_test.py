"""Functions of which PyTorch's export takes the sizes of the example for all."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch._higher_order_ops.associative_scan import associative_scan
from torch.export import Dim

import plumbline
from plumbline.errors import UserError

_Pair = tuple[torch.Tensor, torch.Tensor]

_WINDOW = torch.hann_window(16)


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *given: torch.Tensor) -> Any:
        return self._function(*given)


def _check(
    function: Callable[..., Any],
    inputs: Callable[..., Sequence[torch.Tensor]],
    *sizes: Sequence[int],
) -> None:
    """Compiles it for inputs of the first sizes, and compares at all of them."""
    program = _Program(function)
    example = tuple(inputs(*sizes[0]))
    dynamic = tuple(dict.fromkeys(range(each.dim()), Dim.AUTO) for each in example)
    compiled = plumbline.compile(program, example, dynamic_shapes=(dynamic,))
    for each in sizes:
        given = inputs(*each)
        expected = program(*given)
        one = isinstance(expected, torch.Tensor)
        torch.testing.assert_close(compiled(*given), (expected,) if one else tuple(expected))


def _points(count: int, others: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(2, count, 3), torch.randn(2, others, 3)


@pytest.mark.parametrize("counts", [(30, 40), (10, 12)])
def test_distances_are_rounded_as_for_as_many_rows(counts: tuple[int, int]) -> None:
    """Of points to themselves they are 0 between few, and else what products leave."""

    def distances(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        of_themselves = torch.cdist(x + 100, x + 100).diagonal(0, 1, 2)
        return torch.cdist(x, y), (of_themselves > 0).any()

    _check(distances, _points, counts, (25, 25), (26, 3), (3, 26), (100, 100))


def test_distances_of_a_kind_ask_for_no_size() -> None:
    def distances(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        exact = torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
        return exact, torch.cdist(x, y, p=1.0)

    _check(distances, _points, (10, 12), (30, 2))


def test_slopes_of_distances_by_functions() -> None:
    """Of which those of one kind or the other are taken, as no branch goes through them."""

    def slopes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.func.grad(lambda x: torch.cdist(x, y).amin(1).sum())(x)
        return result

    _check(slopes, _points, (30, 40), (26, 3))


def _heights(rows: int, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(rows, columns), torch.arange(rows) ** 1.5


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize(
    "slopes",
    [
        lambda x, _, order: torch.gradient(x, edge_order=order),
        lambda x, _, order: torch.gradient(x, spacing=0.5, dim=-2, edge_order=order),
        lambda x, _, order: torch.gradient(x, spacing=(2, 0.5), dim=(1, 0), edge_order=order),
        lambda x, _, order: torch.gradient((9 * x).to(torch.int32), dim=1, edge_order=order),
    ],
)
def test_slopes(slopes: Callable[..., tuple[torch.Tensor, ...]], edge_order: int) -> None:
    def taken(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return slopes(x, y, edge_order)

    _check(taken, _heights, (9, 7), (edge_order + 1, 40), (33, edge_order + 1))


@pytest.mark.parametrize("edge_order", [1, 2])
def test_slopes_between_places(edge_order: int) -> None:
    def taken(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.gradient(x, spacing=(y,), dim=0, edge_order=edge_order)

    _check(taken, _heights, (9, 7), (4, 40), (33, 1))


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_places_in_a_triangle(offset: int) -> None:
    def taken(x: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rows, columns = torch.triu_indices(len(x), len(x), offset)
        below = torch.tril_indices(x.shape[0], x.shape[0], -offset)
        return x[rows, 0] * x[columns, 1], below

    _check(taken, _heights, (9, 2), (3, 2), (40, 2), (2, 2))


@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scans_are_of_any_length(reverse: bool) -> None:
    """Of as many bits as the length of the example has, PyTorch's are."""

    def linear(left: _Pair, right: _Pair) -> _Pair:
        return left[0] * right[0], left[1] * right[0] + right[1]

    def scanned(x: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor, ...]:
        pair = (x.sigmoid(), x)
        result: Any = associative_scan(linear, pair, 1, reverse, combine_mode="generic")
        return tuple(result)

    _check(scanned, _heights, (3, 10), (2, 3), (5, 40))


@pytest.mark.parametrize(
    "taken",
    [
        lambda x, _: torch.take_along_dim(x, x.argsort(1), 1),
        lambda x, _: x.take_along_dim(x.sum(1, keepdim=True).argsort(0), 0),
        lambda x, _: torch.take_along_dim(x, (x > 0).long()),
        lambda x, y: (torch.kron(x, y[:, None]), torch.kron(x[0], x), y.kron(y)),
        lambda x, _: torch.nn.functional.one_hot(x.argmax(1), x.shape[1]),
        lambda x, y: (torch.vander(x[0]), torch.vander(y.int(), 3, increasing=True)),
        lambda x, _: (torch.linalg.vander(x), torch.linalg.vander(x, N=3)),
        lambda x, y: (torch.combinations(y), torch.combinations(x[0], 2, with_replacement=True)),
        lambda x, _: x * torch.logspace(0, 1, x.shape[1], 2),
        lambda x, _: x * torch.linspace(0, x.shape[1] - 1, x.shape[1]),
        lambda x, _: (x * torch.as_tensor(x.shape[1]), torch.as_tensor(x.shape) / 2),
        lambda x, _: (x.new_tensor([x.shape[1] / 3, 2.5]), x.int().new_tensor(len(x))),
        lambda x, _: (torch.as_tensor([x.shape[1], x.sum()]), x.new_tensor((len(x), x.max()))),
        lambda x, _: x * torch.linspace(1 / x.shape[1], 2, x.shape[1], dtype=torch.float64),
        lambda x, _: x * torch.linspace(x.min(), x.max(), x.shape[1]),
        lambda x, _: x * torch.linspace(9.5, x.shape[1], x.shape[1], dtype=torch.int32),
        lambda x, _: (torch.fft.fftfreq(x.shape[0]), torch.fft.rfftfreq(x.shape[1], 0.3)),
        lambda x, _: torch.fft.fftfreq(x.shape[1], 1 / x.shape[1], dtype=torch.float64) * x,
        lambda x, _: torch.nn.functional.adaptive_avg_pool1d(x, x.shape[1] // 2 + 1),
        lambda x, _: torch.nn.functional.adaptive_max_pool1d(x, x.shape[1] // 2 + 1),
        lambda x, _: torch.nn.functional.adaptive_max_pool2d(x[None], (len(x) // 2 + 1, 3), True),
        lambda x, _: torch.nn.AdaptiveMaxPool2d((2, None))(x[None]),
    ],
)
def test_functions_of_any_size(taken: Callable[..., Any]) -> None:
    _check(taken, _heights, (5, 4), (3, 7), (9, 2))


def test_integers_are_as_far_apart_as_rounded_steps_say() -> None:
    """Of 11 numbers from -7 to 9 the sixth is 0, five steps of a bit more than 1.6 before 9."""
    counted = lambda x: (torch.linspace(-7, 9, x.shape[1], dtype=torch.int64),)  # noqa: E731
    _check(counted, _signal, (11,), (1,), (2,), (21,), (23,), (100,))


def test_classes_beyond_a_dynamic_number_are_refused() -> None:
    program = _Program(lambda x, y: torch.nn.functional.one_hot(y, x.shape[0]))
    inputs = torch.zeros(5), torch.tensor([4, 0])
    compiled = plumbline.compile(program, inputs, dynamic_shapes=(({0: Dim.AUTO}, {}),))
    torch.testing.assert_close(compiled(*inputs), (program(*inputs),))
    with pytest.raises(UserError, match="class values"):
        compiled(torch.zeros(4), inputs[1])


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize(
    "window",
    [
        torch.bartlett_window,
        torch.blackman_window,
        lambda n, periodic, **named: torch.hamming_window(n, periodic, 0.6, 0.4, **named),
        torch.hann_window,
        lambda n, periodic, **named: torch.kaiser_window(n, periodic, 8.0, **named),
    ],
)
def test_windows_of_any_length(window: Callable[..., torch.Tensor], periodic: bool) -> None:
    def windowed(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        long = window(x.shape[1], periodic, dtype=torch.float64)
        return x * window(x.shape[1], periodic), long

    _check(windowed, _signal, (9,), (2,), (1,), (64,))


def _signal(length: int) -> tuple[torch.Tensor]:
    torch.manual_seed(0)
    return (torch.randn(2, length),)


@pytest.mark.parametrize("center", [True, False])
def test_a_signal_as_long_as_another(center: bool) -> None:
    def filtered(x: torch.Tensor) -> torch.Tensor:
        options: dict[str, Any] = {"window": _WINDOW + 0.1, "center": center}
        spectra = torch.stft(x, 16, 4, return_complex=True, **options)
        return torch.istft(spectra * 0.5, 16, 4, length=x.shape[-1], **options)

    _check(filtered, _signal, (100,), (64,), (201,), (33,))


def test_a_signal_ends_in_zeros_where_frames_are_few() -> None:
    def resynthesized(x: torch.Tensor) -> torch.Tensor:
        spectra = torch.stft(x, 16, 4, window=_WINDOW, return_complex=True)
        return torch.istft(spectra, 16, 4, window=_WINDOW, length=90)

    _check(resynthesized, _signal, (100,), (64,), (200,))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
