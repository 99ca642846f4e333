"""Sizes of results are told without computing what is in them."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._decomp import decomposition_table

import plumbline
from plumbline.loader_to_torch.decompositions import eigenvalues
from plumbline.loader_to_torch.decompositions.rotations import singular_values_by_rotations

aten = torch.ops.aten


class _Program(torch.nn.Module):
    def __init__(self, forward: Callable[..., Any]) -> None:
        super().__init__()
        self.function = forward

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self.function(*tensors)


def test_frames_are_not_added_up_for_the_size_of_their_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    rule = decomposition_table[aten.unfold_backward.default]

    # PyTorch looks at which module it is of.
    @functools.wraps(rule)
    def noted(*arguments: Any, **options: Any) -> torch.Tensor:
        asked.append(arguments)
        result: torch.Tensor = rule(*arguments, **options)
        return result

    monkeypatch.setitem(decomposition_table, aten.unfold_backward.default, noted)

    def signals(spectra: torch.Tensor) -> torch.Tensor:
        return torch.istft(spectra, 8, window=torch.hann_window(8))

    spectra = torch.stft(torch.randn(3, 32), 8, window=torch.hann_window(8), return_complex=True)
    (actual,) = plumbline.compile(_Program(signals), (spectra,), cache=False)(spectra)
    torch.testing.assert_close(actual, signals(spectra))
    assert not asked


def test_a_decomposition_of_least_squares_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    traced = []

    def noted(matrix: torch.Tensor, *, with_vectors: bool) -> Any:
        traced.append(matrix.shape)
        return singular_values_by_rotations(matrix, with_vectors=with_vectors)

    monkeypatch.setattr(eigenvalues, singular_values_by_rotations.__name__, noted)

    def solution(matrix: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.linalg.lstsq(matrix, right).solution
        return result

    matrix, right = torch.randn(5, 3), torch.randn(5, 2)
    (actual,) = plumbline.compile(_Program(solution), (matrix, right), cache=False)(matrix, right)
    torch.testing.assert_close(actual, solution(matrix, right))
    assert traced == [(3, 3)]


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
