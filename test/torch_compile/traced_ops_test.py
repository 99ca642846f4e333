"""Ops that graphs of torch.compile have, and programs of torch.export do not, or otherwise."""

from typing import Any

import pytest
import torch
from torch._higher_order_ops import scan
from torch.nn import functional
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint

from plumbline.errors import UserError
from test.torch_compile.beside_eager import assert_same


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def _matrix(rows: int, columns: int) -> torch.Tensor:
    return torch.randn(rows, columns, requires_grad=True)


def _numbers(end: int, *sizes: int) -> torch.Tensor:
    return torch.randint(0, end, sizes)


@pytest.mark.parametrize(
    "options", [{"mode": "sum"}, {"mode": "mean"}, {"mode": "max", "include_last_offset": True}]
)
def test_embedding_bags_are_trained(options: dict[str, Any]) -> None:
    """What the forward hands to the backward has the sizes that PyTorch says."""
    bags = torch.nn.EmbeddingBag(5, 2, **options)
    assert_same(bags, _numbers(5, 6), torch.tensor([0, 2, 5]))


@pytest.mark.parametrize("options", [{"max_norm": 1.0}, {"sparse": True}])
def test_embeddings_are_trained(options: dict[str, Any]) -> None:
    """Rows that are made shorter in place; gradients of the rows that are read alone."""
    assert_same(torch.nn.Embedding(5, 2, **options), _numbers(5, 2, 3))


class _Lstm(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.LSTM(2, 3, bidirectional=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.layer(x)


def test_recurrent_layers_are_trained() -> None:
    """By one op for the gradients of all steps in a direction."""
    with torch._dynamo.config.patch(allow_rnn=True):
        assert_same(_Lstm(), torch.randn(4, 2, 2))


def test_what_raises_keeps_its_place() -> None:
    """By a token, which the graph takes and returns."""
    regular = torch.eye(2) * 4 + torch.randn(2, 2)
    with pytest.raises(UserError, match="singular"):
        assert_same(torch.linalg.inv, regular, further=[(torch.zeros(2, 2),)])


def test_labels_end_at_the_first_minus_one() -> None:
    """Where PyTorch's own rule goes on."""
    labels = torch.tensor([[3, 0, -1, 1], [1, 2, -1, 0]])
    assert_same(functional.multilabel_margin_loss, _matrix(2, 4), labels)


def test_fourier_transforms_bring_tables() -> None:
    assert_same(lambda x: torch.fft.rfft(x).abs(), _matrix(2, 8))


def test_gradients_may_be_known_to_be_zero() -> None:
    assert_same(lambda x: torch.sgn(x) * x, _matrix(2, 3))


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_power_is_a_number_of_the_call(dynamic: bool) -> None:
    x = torch.randn(3).abs()
    assert_same(lambda x, n: x**n, x, 2, dynamic=dynamic, further=[(x, 3), (x, -4)])


class _Masked(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 3)
        self.instead = torch.nn.Parameter(torch.randn(3))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.layer(x)
        hidden[mask] = self.instead
        return hidden.tanh()


def test_gradients_of_as_many_elements_as_values_say() -> None:
    """Also where Dynamo may divide a program before ops of such results, which this has none of."""
    mask = torch.tensor([[True, False, True, False], [False, False, True, False]])
    backend = assert_same(_Masked(), torch.randn(2, 4, 2), mask, fullgraph=False)
    assert len(backend.programs) == 2


def _rows_of_jagged(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    jagged = torch.nested.as_nested_tensor([one, other], layout=torch.jagged)
    return jagged.sin().to_padded_tensor(0.5)


def test_jagged_tensors_become_rows_of_one_length() -> None:
    """By one program, and another for gradients: no op is left to PyTorch."""
    backend = assert_same(_rows_of_jagged, _matrix(3, 2), _matrix(5, 2))
    assert len(backend.programs) == 2


def test_a_part_of_what_is_written_is_a_result() -> None:
    """Of a size that values decide on, as rows of a batch of graphs that are padded."""

    def padded(x: torch.Tensor, graph: torch.Tensor) -> torch.Tensor:
        counts = torch.bincount(graph)
        most = int(counts.max())
        places = torch.arange(x.shape[0]) - (counts.cumsum(0) - counts)[graph] + graph * most
        rows = counts.shape[0] * most
        result = x.new_full([rows + 1, x.shape[1]], 0.5)
        result[places] = x
        return result[:rows].view(counts.shape[0], most, x.shape[1])

    graphs = [torch.tensor(graph) for graph in ([0, 0, 1, 3], [0, 0, 0, 0], [0, 1, 2, 3])]
    first, *further = ((torch.randn(4, 3), graph) for graph in graphs)
    with torch._dynamo.config.patch(
        capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True
    ):
        assert_same(padded, *first, further=further)


def test_a_number_of_values_is_a_result() -> None:
    def ones(x: torch.Tensor) -> tuple[Any, ...]:
        count = x.max().item()
        return x * count, count

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        assert_same(ones, torch.tensor([3, 2]))


def test_numbers_are_rounded_as_if_quantised() -> None:
    def rounded(x: torch.Tensor) -> Any:
        return torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 15)

    assert_same(rounded, _matrix(2, 5))


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_scan_is_trained(dynamic: bool) -> None:
    def step(state: torch.Tensor, row: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (state + row).tanh(), state * row

    assert_same(lambda x: scan(step, torch.zeros(2), x), _matrix(4, 2), dynamic=dynamic)


def test_what_a_checkpoint_draws_is_drawn_again() -> None:
    """Where the backward draws too, from where the forward left the generator."""

    def layer(x: torch.Tensor) -> torch.Tensor:
        return functional.dropout(x.sin(), 0.5).sin()

    def run(x: torch.Tensor) -> Any:
        kept = checkpoint(layer, x, use_reentrant=False)
        return checkpoint(layer, kept * torch.rand(4), use_reentrant=False)

    assert_same(run, _matrix(3, 4))


def test_numbers_that_are_tensors_are_multiplied_with_in_place() -> None:
    """As optimizers do whose rates are such."""

    def step(x: torch.Tensor, y: torch.Tensor, rate: Any) -> None:
        x.add_(y, alpha=rate).addcdiv_(y, y + 4, value=rate)

    assert_same(step, torch.ones(3), torch.rand(3), torch.tensor(0.1))


@pytest.mark.parametrize("dynamic", [False, True])
def test_flexible_attention(dynamic: bool) -> None:
    def nearby(score: torch.Tensor, b: Any, h: Any, q: Any, k: Any) -> torch.Tensor:
        return torch.where(q >= k, score + (k - q) * 0.1, -float("inf"))

    x = torch.randn(1, 2, 8, 16)
    assert_same(lambda x: flex_attention(x, x, x, score_mod=nearby), x, dynamic=dynamic)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
