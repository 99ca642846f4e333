"""What embedding_bag is made of, against embedding_bag itself."""

import sys

import pytest
import torch

from plumbline.loader_to_torch.decompositions import decomposition_table
from plumbline.loader_to_torch.decompositions.embedding_bag import embedding_bag

aten = torch.ops.aten

# The second bag is empty; so is the last, where the offsets end it.
_INDICES = (3, 1, 4, 1, 1, 0, 2)
_OFFSETS = (0, 2, 2, 5, 7)


@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("padding_idx", [None, 1, -4, -1])
@pytest.mark.parametrize("include_last_offset", [False, True])
# PyTorch weights samples in sums only.
@pytest.mark.parametrize(("mode", "weighted"), [(0, False), (0, True), (1, False), (2, False)])
def test_agrees_with_pytorch(
    mode: int,
    weighted: bool,
    include_last_offset: bool,
    padding_idx: int | None,
    index_dtype: torch.dtype,
) -> None:
    """For all that it takes."""
    torch.manual_seed(0)
    arguments = (
        torch.randn(5, 3),
        torch.tensor(_INDICES, dtype=index_dtype),
        torch.tensor(_OFFSETS, dtype=index_dtype),
        False,
        mode,
        False,
        torch.randn(len(_INDICES)) if weighted else None,
        include_last_offset,
        padding_idx,
    )
    expected = torch.ops.aten.embedding_bag.padding_idx(*arguments)
    torch.testing.assert_close(embedding_bag(*arguments)[0], expected[0])


@pytest.mark.parametrize("padding_idx", [-1, 1])
@pytest.mark.parametrize("include_last_offset", [False, True])
@pytest.mark.parametrize(("mode", "weighted"), [(0, False), (0, True), (1, False), (2, False)])
def test_gradients(mode: int, weighted: bool, include_last_offset: bool, padding_idx: int) -> None:
    """By the rules of all three ops that a traced step of training has."""
    torch.manual_seed(0)
    weight = torch.randn(5, 3, requires_grad=True)
    indices, offsets = torch.tensor(_INDICES), torch.tensor(_OFFSETS)
    samples = torch.randn(len(_INDICES), requires_grad=True) if weighted else None
    options = (False, mode, False, samples, include_last_offset, padding_idx)
    bags, *_ = aten._embedding_bag.default(weight, indices, offsets, *options)
    grad = torch.randn_like(bags)
    operands = [weight] if samples is None else [weight, samples]
    expected = torch.autograd.grad(bags, operands, grad)

    table, plain = decomposition_table(), weight.detach()
    same, *rest = table[aten._embedding_bag.default](plain, indices, offsets, *options)
    torch.testing.assert_close(same, bags)
    actual = [
        table[aten._embedding_bag_backward.default](
            grad, indices, offsets, *rest, 5, False, mode, False, samples, padding_idx
        )
    ]
    if samples is not None:
        rule = table[aten._embedding_bag_per_sample_weights_backward.default]
        actual.append(rule(grad, plain, indices, offsets, rest[0], mode, padding_idx))
    torch.testing.assert_close(actual, [*expected])


def test_half_precision_is_rounded_once() -> None:
    """Sums are as exact as if made in float32."""
    torch.manual_seed(0)
    weight = torch.randn(5, 3).to(torch.bfloat16)
    indices, offsets = torch.randint(0, 5, (100,)), torch.tensor([0])
    expected = weight.float()[indices].sum(0, keepdim=True).to(torch.bfloat16)
    torch.testing.assert_close(embedding_bag(weight, indices, offsets)[0], expected)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
