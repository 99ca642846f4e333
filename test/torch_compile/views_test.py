"""Results and inputs that share memory."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch.nn import functional

import plumbline
from test.torch_compile.beside_eager import assert_same


def test_results_share_memory_as_in_eager() -> None:
    """Parts too, where there is something to share it with."""

    def parts(x: torch.Tensor) -> Sequence[torch.Tensor]:
        y, z = x * 2, x + 1
        return y, y[0], y.t(), z[1:], z[:2], x[1:]

    for requires_grad in (False, True):
        (program, *_) = assert_same(parts, torch.randn(3, 4, requires_grad=requires_grad)).programs
        assert len(program.signature.outputs) == 2


def test_a_part_by_itself_is_copied() -> None:
    """So that the rest is free."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: (x * 2)[1:3], backend=plumbline.Backend(threads=1))
    result = compiled(torch.ones(1000, 2))
    assert result.untyped_storage().nbytes() == result.nbytes


def _half(x: torch.Tensor) -> torch.Tensor:
    return x.chunk(2, 1)[1]


def _half_of_what_is_written(x: torch.Tensor) -> torch.Tensor:
    return _half(x.add_(1))


def _two_parts(x: torch.Tensor) -> Sequence[torch.Tensor]:
    y = x + 1
    return _half(y), y.narrow(0, 2, x.shape[0] - 3), *torch.split(x, [1, x.shape[0] - 1])


@pytest.mark.parametrize("parts", [_half, _half_of_what_is_written, _two_parts])
def test_parts_of_sizes_that_differ_lie_as_in_eager(parts: Callable[..., object]) -> None:
    """PyTorch then looks how a result lies in memory, to make the same part of the input."""
    assert_same(parts, torch.randn(6, 16), dynamic=True, further=[(torch.randn(8, 10),)])


def test_inputs_that_are_parts_of_one_tensor_are_written() -> None:
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * y

    def rows(count: int, start: int) -> Sequence[torch.Tensor]:
        whole = torch.randn(count, 4)
        return whole[:3], whole[start : start + 3]

    # That whole is no argument of theirs, and nothing checks how large it is.
    assert_same(add, *rows(6, 2), further=[(*rows(9, 2),)])


class _AttentionOfGaps(torch.nn.Module):
    """Grouped attention by a tensor whose strides no size tells."""

    def __init__(self) -> None:
        super().__init__()
        self.query = torch.randn(7 * 34).as_strided((7, 1, 17, 1), (34, 34, 2, 2))

    def forward(self, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        query = self.query.expand(-1, 6, -1, -1)
        return functional.scaled_dot_product_attention(query, key, value, enable_gqa=True)


def test_strides_of_what_has_gaps_are_none_of_the_program() -> None:
    operands = (torch.randn(7, 2, 6, 1), torch.randn(7, 2, 6, 8))
    assert_same(_AttentionOfGaps(), *operands, dynamic=True)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
