"""Programs whose tensors have as many elements as values say, against PyTorch.

Each is compiled for sizes that may differ, and called with several inputs, those among them for
which nothing, or everything, is counted.
"""

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError

_MASKS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    lambda x: x > 0,
    lambda x: x == x,
    lambda x: x != x,
)
"""What is true in some places, everywhere, and nowhere."""


class _Module(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self._function(*tensors)


def _compiled(
    function: Callable[..., Any],
    inputs: Sequence[torch.Tensor],
    dims: Sequence[dict[int, Any]] | None = None,
    **options: Any,
) -> plumbline.CompiledProgram:
    shapes = None if dims is None else (tuple(dims),)
    return plumbline.compile(_Module(function), tuple(inputs), dynamic_shapes=shapes, **options)


def _check(
    function: Callable[..., Any],
    cases: Sequence[Sequence[torch.Tensor]],
    dims: Sequence[dict[int, Any]] | None = None,
) -> plumbline.CompiledProgram:
    """Compiles `function` for the first of `cases`, and holds all against PyTorch."""
    program = _compiled(function, cases[0], dims)
    for inputs in cases:
        expected = function(*inputs)
        actual = program(*inputs)
        if isinstance(expected, torch.Tensor):
            expected = (expected,)
        torch.testing.assert_close(actual, tuple(expected), equal_nan=True)
    return program


def _matrices(*sizes: tuple[int, int]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*size, generator=generator) for size in sizes]


_N, _M = Dim("n"), Dim("m")

_SIZES = ((5, 7), (2, 3), (9, 1), (0, 4), (3, 0))


@pytest.mark.parametrize(
    "function",
    [
        torch.nonzero,
        torch.argwhere,
        lambda m: torch.nonzero(m, as_tuple=True),
        lambda m: m.nonzero().shape[0] + torch.zeros(2),
        lambda m: m.reshape(-1).nonzero(),
        lambda m: torch.where(m)[1] * 2,
    ],
    ids=["nonzero", "argwhere", "tuple", "count", "vector", "where"],
)
def test_places(function: Callable[[torch.Tensor], Any]) -> None:
    cases = [(holds(x),) for holds in _MASKS for x in _matrices(*_SIZES)]
    _check(function, cases, [{0: _N, 1: _M}])


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.float64,
        torch.int8,
        torch.uint8,
        torch.int64,
        torch.bool,
        torch.complex64,
    ],
    ids=str,
)
def test_places_of_every_dtype(dtype: torch.dtype) -> None:
    x = torch.tensor([[0.0, 1.0, -2.0], [3.0, 0.0, 0.0]]).abs().to(dtype)
    if dtype.is_floating_point:
        x[1, 1] = torch.nan
        x[1, 2] = -0.0
    _check(lambda x: (x.nonzero(), x[x != 0], torch.masked_select(x, x == 0)), [(x,)])


def test_places_in_what_has_as_many_elements_as_values_say() -> None:
    def masked_twice(x: torch.Tensor) -> torch.Tensor:
        ended = torch.cat([x[x > 0], torch.ones(3)])
        return ended[ended > 0.5] * 2

    _check(masked_twice, [(x,) for x in (torch.randn(20), torch.ones(20), -torch.ones(20))])


def test_places_in_a_number() -> None:
    _check(torch.nonzero, [(torch.tensor(2.0),), (torch.tensor(0.0),)])
    _check(lambda x: x.reshape(1, 1, 2, 1).nonzero(), [(torch.tensor([0.0, 3.0]),)])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, m: x[m],
        lambda x, m: torch.masked_select(x, m),
        lambda x, m: x[m].sum(),
        lambda x, m: (x[m] * 2 + 1).relu(),
        lambda x, m: x[m.any(1)],
        lambda x, m: x[:, m.any(0)] + 1,
        lambda x, m: x[m[:, 0], 0],
        lambda x, m: x[m].cumsum(0),
        lambda x, m: torch.cat([x[m], x[m] * 2]),
        lambda x, m: x[m.any(1)] @ torch.ones(x.shape[1], 3),
        lambda x, m: x[m].sort()[0],
        lambda x, m: x.unsqueeze(2).expand(-1, -1, 3)[m],
        lambda x, m: torch.softmax(x[:, m.any(0)], 1),
        lambda x, m: (x[m].logsumexp(0), m[m].int().logsumexp(0)),
        lambda x, m: torch.logsumexp(x[m.any(1)], (-1, 0), keepdim=True),
    ],
    ids=[
        "index", "masked_select", "sum", "elementwise", "rows", "columns", "mask and number",
        "cumsum", "cat", "matmul", "sort", "slices", "softmax", "logsumexp",
        "logsumexp of rows",
    ],
)  # fmt: skip
def test_selection(function: Callable[[torch.Tensor, torch.Tensor], Any]) -> None:
    sizes = [size for size in _SIZES if 0 not in size]
    cases = [(x, holds(x)) for holds in _MASKS for x in _matrices(*sizes)]
    _check(function, cases, [{0: _N, 1: _M}, {0: _N, 1: _M}])


def test_extremes_of_what_is_selected() -> None:
    def extremes(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x[x > 0]
        return y.argmax(0), y.median(0).values, y.norm(math.inf)

    program = _check(extremes, [(torch.randn(20),), (torch.ones(1).expand(20),)])
    with pytest.raises(UserError, match="the program asserts"):
        program(-torch.ones(20))


def _attention(y: torch.Tensor) -> torch.Tensor:
    heads = y[None, None]
    return torch.nn.functional.scaled_dot_product_attention(heads, heads, heads)


@pytest.mark.parametrize(
    "function",
    [
        lambda y: y.roll(1, 0),
        lambda y: torch.cdist(y, y),
        lambda y: y.cummax(0),
        lambda y: y[:, 0].unique(),
        _attention,
    ],
    ids=["roll", "cdist", "cummax", "unique", "attention"],
)
def test_pytorch_asks_whether_there_are_elements(
    function: Callable[[torch.Tensor], Any],
) -> None:
    (x,) = _matrices((9, 3))
    alone = torch.where(torch.arange(9)[:, None] == 2, x.abs(), -x.abs())
    program = _check(lambda x: function(x[x.sum(1) > 0]), [(x,), (alone,)])
    with pytest.raises(UserError, match="the program asserts that"):
        program(-x.abs())


def test_determinants_of_as_many_matrices_as_there_are() -> None:
    def determinants(x: torch.Tensor) -> torch.Tensor:
        y = x[x.sum(1) > 0]
        found: torch.Tensor = torch.linalg.det(y[:, None] * y[:, :, None])
        return found

    (x,) = _matrices((9, 3))
    _check(determinants, [(x,), (-x.abs(),)])


@pytest.mark.parametrize(
    "function",
    [lambda y: y if y.numel() == 0 else -y, lambda y: y if y.shape[0] else -y],
    ids=["comparison", "number"],
)
def test_a_program_that_asks_it_itself_is_refused(
    function: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    with pytest.raises(UserError, match=r"(?s)Its control flow depends on.*torch._check\(n > 0\)"):
        _compiled(lambda x: function(x[x > 0]), _matrices((4, 3)))


def test_a_program_may_say_that_there_are_elements() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        chosen = x[x > 0]
        torch._check(len(chosen) > 0)  # type: ignore[no-untyped-call]
        return x if len(chosen) == 0 else chosen

    program = _check(function, [_matrices((4, 3))])
    with pytest.raises(UserError, match=r"the program asserts that nonzero.shape\[0\] >= 1"):
        program(-torch.ones(4, 3))


def test_selection_of_what_is_stretched() -> None:
    x, mask = torch.randn(5), torch.randn(4, 5) > -1
    _check(torch.masked_select, [(x, mask), (x, torch.ones(4, 5, dtype=torch.bool))])
    _check(lambda m, x: torch.masked_select(x, m), [(mask[0], torch.randn(4, 5))])


def _put(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[m] = y[m] * 10
    return y


def _put_number(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[m] = 3.0
    return y


def _put_rows(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[m[:, 0]] = x[0]
    return y


def _put_columns(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[:, m[0]] = 7.0
    return y


def _added(x: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    return x.index_put((m,), x[m], accumulate=True)


@pytest.mark.parametrize("function", [_put, _put_number, _put_rows, _put_columns, _added])
def test_writing_where_a_mask_is_true(
    function: Callable[[torch.Tensor, torch.Tensor], Any],
) -> None:
    cases = [(x, holds(x)) for holds in _MASKS for x in _matrices((5, 7), (2, 3), (9, 2))]
    _check(function, cases, [{0: _N, 1: _M}, {0: _N, 1: _M}])


def _experts(x: torch.Tensor, chosen: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Each row goes to the expert that is chosen for it, as mixtures of experts do it."""
    out = torch.zeros_like(x)
    for number in range(weights.shape[0]):
        mask = chosen == number
        out[mask] = torch.nn.functional.gelu(x[mask] @ weights[number])
    return out


def test_rows_go_to_experts() -> None:
    generator = torch.Generator().manual_seed(0)

    def case(rows: int, most: int) -> tuple[torch.Tensor, ...]:
        return (
            torch.randn(rows, 8, generator=generator),
            torch.randint(most, (rows,), generator=generator),
            torch.randn(3, 8, 8, generator=generator),
        )

    # In the last two cases some experts have no row.
    _check(_experts, [case(6, 3), case(11, 3), case(4, 1), case(2, 2)], [{0: _N}, {0: _N}, {}])


def test_rows_of_a_table_that_are_found() -> None:
    def found(x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return table[x.nonzero().squeeze(1)]

    table = torch.randn(5, 2)
    _check(found, [(torch.tensor(x), table) for x in ([0, 3, 0, 1, 1], [0, 0, 0, 0, 0])])


_UNIQUE = [
    lambda x: torch.unique(x),
    lambda x: torch.unique(x, return_inverse=True),
    lambda x: torch.unique(x, return_counts=True),
    lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    lambda x: torch.unique_consecutive(x),
    lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
]


@pytest.mark.parametrize("function", _UNIQUE, ids=range(len(_UNIQUE)))
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8, torch.bool], ids=str)
def test_unique(function: Callable[[torch.Tensor], Any], dtype: torch.dtype) -> None:
    cases = [((x * 1.5).round().abs().to(dtype),) for x in _matrices((5, 7), (2, 3), (1, 4))]
    same = torch.ones(4, 4).to(dtype)
    _check(function, [*cases, (same,)], [{0: _N, 1: _M}])


def test_unique_of_nan() -> None:
    x = torch.tensor([torch.nan, 1.0, torch.nan, 1.0, 0.0])
    _check(lambda x: torch.unique(x, return_counts=True), [(x,)])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_slices_that_are_not_as_the_one_before(dim: int) -> None:
    x = torch.tensor([[1, 1, 2], [1, 1, 2], [0, 0, 2], [1, 1, 2]])
    _check(
        lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=dim),
        [(x,)],
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool], ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_unique_slices(dtype: torch.dtype, dim: int) -> None:
    cases = [((x > 0).to(dtype),) for x in _matrices((5, 2), (9, 3), (1, 4), (30, 3))]
    _check(
        lambda x: torch.unique(x, return_inverse=True, return_counts=True, dim=dim),
        [*cases, (torch.ones(4, 4).to(dtype),)],
        [{0: _N, 1: _M}],
    )


def test_unique_slices_of_more_dimensions() -> None:
    x = (torch.arange(3 * 8 * 2).reshape(3, 8, 2) % 5 % 3) - 1
    _check(lambda x: torch.unique(x, dim=1, return_inverse=True), [(x,), (x * 0,), (-x,)])


def _repeated(x: torch.Tensor, repeats: torch.Tensor) -> torch.Tensor:
    out = torch.repeat_interleave(x, repeats, dim=0)
    torch._check(out.shape[0] <= 12)  # type: ignore[no-untyped-call]
    return out


def test_repeats() -> None:
    x = torch.randn(4, 3)
    cases = [(x, torch.tensor(repeats)) for repeats in ([1, 0, 2, 3], [0, 0, 0, 0], [3, 3, 3, 3])]
    program = _check(_repeated, cases)
    with pytest.raises(UserError, match="the program asserts that"):
        program(x, torch.tensor([9, 9, 9, 9]))


def test_repeats_of_a_known_sum() -> None:
    def repeated(x: torch.Tensor, repeats: torch.Tensor) -> torch.Tensor:
        return torch.repeat_interleave(x, repeats, dim=1, output_size=6)

    _check(repeated, [(torch.randn(2, 3), torch.tensor([1, 2, 3]))])


def _padded_and_back(values: torch.Tensor, offsets: torch.Tensor) -> tuple[torch.Tensor, ...]:
    rows = torch.ops.aten._jagged_to_padded_dense_forward(values, [offsets], [4], 0.5)
    back = torch.ops.aten._padded_dense_to_jagged_forward(rows, [offsets], values.shape[0])
    return rows, back


def test_sequences_of_lengths_become_rows_and_are_such_again() -> None:
    """As jagged tensors do, where others take rows of one length."""
    cases = [
        (torch.randn(offsets[-1], 2), torch.tensor(offsets))
        for offsets in ([0, 3, 3, 7], [0, 1, 2], [0, 0, 4, 4, 5], [0, 0, 0])
    ]
    program = _check(_padded_and_back, cases, [{0: Dim("places")}, {0: Dim("ends")}])
    for offsets in ([0, 5, 7], [0, 4, 8], [0, 4, 6]):  # Of a row's length 4, and of 7 places.
        with pytest.raises(UserError, match="out of range"):
            program(torch.randn(7, 2), torch.tensor(offsets))


def _histogram(x: torch.Tensor) -> torch.Tensor:
    counts = torch.bincount(x, minlength=3)
    torch._check(counts.shape[0] <= 16)  # type: ignore[no-untyped-call]
    return counts


def _weighted(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    counts = torch.bincount(x, weights)
    torch._check(counts.shape[0] <= 16)  # type: ignore[no-untyped-call]
    return counts


def test_bincount() -> None:
    cases = [(torch.tensor(x),) for x in ([0, 5, 5, 2], [0, 0], [15])]
    program = _check(_histogram, cases, [{0: _N}])
    with pytest.raises(UserError, match="the program asserts that"):
        program(torch.tensor([16]))
    _check(_weighted, [(torch.tensor([1, 4, 1]), torch.tensor([0.5, 2.0, 0.25]))])
    _check(_weighted, [(torch.tensor([1, 4, 1]), torch.tensor([1, 2, 3]))])


def _within(number: torch.Tensor, least: int, most: Any) -> Any:
    n = number.item()
    torch._check(n >= least)  # type: ignore[no-untyped-call]
    torch._check(n <= most)  # type: ignore[no-untyped-call]
    return n


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: torch.arange(_within(n, 0, 10)) * 2,
        lambda x, n: torch.arange(-1, 2 * _within(n, 0, 10), 3, dtype=torch.float32),
        lambda x, n: torch.zeros(_within(n, 0, 10), 2) + x[0, 0],
        lambda x, n: torch.full((3, _within(n, 0, 10)), 2.5),
        lambda x, n: x[: _within(n, 0, x.shape[0])],
        lambda x, n: x[_within(n, 0, x.shape[0]) :],
        lambda x, n: x[:, : _within(n, 0, x.shape[0])].sum(1),
        lambda x, n: x[0].expand(_within(n, 0, 10), -1) * 2,
        lambda x, n: (x[0, 0] + _within(n, 0, 10), x[: _within(n, 0, x.shape[0])].sum()),
    ],
    ids=["arange", "floats", "zeros", "full", "first", "last", "columns", "expand", "number"],
)
def test_numbers_as_sizes(function: Callable[[torch.Tensor, torch.Tensor], Any]) -> None:
    x = torch.randn(6, 5)
    cases = [(x, torch.tensor(n)) for n in (4, 0, 5, 1)]
    program = _check(function, cases, [{0: _N}, {}])
    with pytest.raises(UserError, match=r"data_dependent_sizes_test.py:\d+.*the program asserts"):
        program(x, torch.tensor(99))
    with pytest.raises(UserError, match="the program asserts"):
        program(x, torch.tensor(-1))


def test_what_is_asserted_is_told_in_the_names_of_dims() -> None:
    def first(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return torch.arange(_within(n, 0, 2 * x.shape[0]))

    program = _compiled(first, [torch.zeros(3), torch.tensor(6)], [{0: Dim("rows")}, {}])
    assert program(torch.zeros(3), torch.tensor(6))[0].tolist() == list(range(6))
    with pytest.raises(UserError, match=r"the program asserts that .*\.item\(\) <= 2\*rows"):
        program(torch.zeros(3), torch.tensor(7))


def test_results_of_no_bound_are_in_memory_of_the_programs() -> None:
    def counted(x: torch.Tensor, n: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.arange(n.item()), 2 * x, x.sum()

    x = torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    cases = [(x, torch.tensor(n)) for n in (3, 0, 100_000)]
    program = _check(counted, cases)
    numbers, doubled, _ = program(x, torch.tensor(2))
    assert doubled.stride() == x.stride()
    del program
    assert numbers.tolist() == [0, 1]


def test_results_of_no_bound_are_of_the_sizes_and_numbers_of_each_call() -> None:
    def scaled(x: torch.Tensor, n: torch.Tensor, scale: int) -> tuple[Any, ...]:
        count = int(n)
        return torch.arange(count) * scale, 2 * x.t(), count + scale

    x, n = torch.randn(2, 3), torch.tensor(4)
    program = plumbline.compile(
        _Module(scaled),
        (x, n, 2),
        dynamic_shapes=(({0: Dim("rows"), 1: Dim("columns")}, None, Dim.DYNAMIC),),
    )
    other = torch.randn(5, 7)
    for inputs in [(x, n, 2), (other, n, -3), (x, n - 1, 5), (other.t().contiguous(), n, 2)]:
        numbers, doubled, last = program(*inputs)
        expected = scaled(*inputs)
        torch.testing.assert_close((numbers, doubled), expected[:2])
        assert last == expected[2]
        assert isinstance(last, int)


def test_graphs_of_a_batch_are_pooled() -> None:
    def pooled(x: torch.Tensor, graph: torch.Tensor) -> torch.Tensor:
        count = int(graph.max()) + 1
        return x.new_zeros(count, x.shape[1]).index_add(0, graph, x)

    graphs = [torch.tensor(graph) for graph in ([0, 0, 1, 3], [0, 0, 0, 0], [2, 500, 2, 1])]
    _check(pooled, [(torch.randn(4, 3), graph) for graph in graphs])


def test_results_are_parts_of_what_is_written() -> None:
    def dense(x: torch.Tensor, graph: torch.Tensor) -> tuple[torch.Tensor, ...]:
        counts = torch.bincount(graph)
        most = int(counts.max())
        places = torch.arange(x.shape[0]) - (counts.cumsum(0) - counts)[graph] + graph * most
        rows = counts.shape[0] * most
        padded = torch.tensor(0.5).repeat([rows + 1, x.shape[1]])
        padded[places] = x
        return padded[:rows].view(counts.shape[0], most, x.shape[1]), padded[rows:]

    graphs = [torch.tensor(graph) for graph in ([0, 0, 1, 3], [0, 0, 0, 0], [0, 1, 2, 3])]
    _check(dense, [(torch.randn(4, 3), graph) for graph in graphs])


def test_what_is_counted_is_a_size_of_an_argument() -> None:
    def scaled(x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        nodes = torch.arange(x.shape[0])
        source, target = torch.cat([edges[:, edges[0] != edges[1]], nodes.expand(2, -1)], 1)
        weights = x[source]
        weights[source == target] += 2 * x
        return x.new_zeros(x.shape[0]).index_add(0, target, weights)

    inputs = torch.randn(6), torch.randint(0, 6, (2, 20))
    others = torch.randn(40), torch.randint(0, 40, (2, 5))
    _check(scaled, [inputs, others], [{0: Dim("n", min=2)}, {1: Dim("e", min=2)}])


@pytest.mark.parametrize("count", [-1, 4])
def test_classes_are_counted(count: int) -> None:
    one_hot = torch.nn.functional.one_hot
    labels = torch.tensor([[0, 3], [1, 1]])
    program = _check(lambda x: one_hot(x, count), [(labels,), (labels - 1 + (labels == 0),)])
    with pytest.raises(UserError, match="class values must be at least 0"):
        program(torch.tensor([[0, 3], [-1, 1]]))
    if count == 4:
        with pytest.raises(UserError, match="and less than num_classes"):
            program(torch.tensor([[0, 4], [1, 1]]))


def test_results_of_no_bound_are_refused_where_they_are_put() -> None:
    program = _compiled(lambda n: torch.arange(n.item()), [torch.tensor(3)])
    with pytest.raises(UserError, match="out needs results of bounded sizes"):
        program(torch.tensor(3), out=torch.zeros(3, dtype=torch.int64))


def test_results_of_no_bound_are_refused_on_a_gpu() -> None:
    with pytest.raises(UserError) as caught:
        _compiled(lambda n: torch.arange(n.item()), [torch.tensor(3)], target="nvptx")
    assert "data_dependent_sizes_test.py" in str(caught.value)
    assert "say how large that can be, with torch._check" in str(caught.value)


def test_temporaries_need_no_bound() -> None:
    def mean(n: torch.Tensor) -> torch.Tensor:
        return torch.arange(n.item(), dtype=torch.float32).mean()

    _check(mean, [(torch.tensor(n),) for n in (3, 1000, 1)])


def test_results_are_put_where_the_caller_says() -> None:
    program = _compiled(torch.nonzero, [torch.ones(2, 3)])
    place = torch.full((6, 2), -1)
    (result,) = program(torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), out=place)
    assert result.tolist() == [[0, 1], [1, 0]]
    assert result.data_ptr() == place.data_ptr()
    assert place[2:].eq(-1).all()
    with pytest.raises(UserError, match=r"out 0 is i64\[2, 2\]"):
        program(torch.ones(2, 3), out=torch.zeros(2, 2, dtype=torch.int64))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
