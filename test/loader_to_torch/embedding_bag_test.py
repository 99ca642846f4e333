"""What embedding_bag is made of, against embedding_bag itself."""

import sys
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.loader_to_torch.decompositions import decomposition_table
from plumbline.loader_to_torch.decompositions.embedding_bag import bags_of_one_length, embedding_bag

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


_ROWS = [[3, 1, 4, 1], [1, 1, 1, 1], [0, 2, 2, 1]]
"""Bags of one length: of the second, no index counts where 1 is padding."""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("padding_idx", [None, 1, -4])
@pytest.mark.parametrize(
    ("mode", "weighted"), [("sum", False), ("sum", True), ("mean", False), ("max", False)]
)
def test_rows_of_a_matrix_are_bags(
    mode: str,
    weighted: bool,
    padding_idx: int | None,
    index_dtype: torch.dtype,
    dtype: torch.dtype,
) -> None:
    torch.manual_seed(0)
    indices, weight = torch.tensor(_ROWS, dtype=index_dtype), torch.randn(5, 3).to(dtype)
    samples = torch.randn(3, 4).to(dtype) if weighted else None
    options: dict[str, Any] = {"per_sample_weights": samples, "padding_idx": padding_idx}
    expected = torch.nn.functional.embedding_bag(indices, weight, mode=mode, **options)
    actual = bags_of_one_length(indices, weight, mode=mode, **options)
    torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_any_number_and_length(mode: str) -> None:
    bags = torch.nn.EmbeddingBag(5, 3, mode=mode)
    dynamic = {"input": {0: Dim.AUTO, 1: Dim.AUTO}}
    program = plumbline.compile(bags, (torch.tensor(_ROWS),), dynamic_shapes=dynamic)
    # No bag of a row is looked for.
    assert "tcp.scatter" not in program.stage("tcp")
    for sizes in ((3, 4), (1, 4), (7, 1), (2, 9)):
        indices = torch.randint(0, 5, sizes)
        torch.testing.assert_close(program(indices), (bags(indices).detach(),))


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
