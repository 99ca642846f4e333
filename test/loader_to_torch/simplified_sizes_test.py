import math
import sys
from collections.abc import Callable
from typing import Any

import pytest
import sympy
import torch
from torch.export import Dim
from torch.utils._sympy.functions import FloorDiv

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch.pytorch_state import exporting

_AUTO = {0: Dim.AUTO, 1: Dim.AUTO}


def _lacking(size: int, number: int) -> int:
    return (number - size % number) % number


def _lacking_by_sign(size: int, number: int) -> int:
    return -size % number


def _lacking_by_ceil(size: int, number: int) -> int:
    return math.ceil(size / number) * number - size


class _Windows(torch.nn.Module):
    """Softmax of the windows of a picture, which is padded to a whole number of them."""

    def __init__(self, size: int, lacking: Callable[[int, int], int]) -> None:
        super().__init__()
        self._size, self._lacking = size, lacking

    def _padded(self, x: torch.Tensor) -> torch.Tensor:
        height, width = (self._lacking(size, self._size) for size in x.shape)
        return torch.nn.functional.pad(x, (0, width, 0, height))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, padded = self._size, self._padded(x)
        height, width = padded.shape
        windows = padded.view(height // n, n, width // n, n).transpose(1, 2).reshape(-1, n * n)
        windows = windows.softmax(-1)
        pictures = int(windows.shape[0] / (height * width / n / n))
        windows = windows.view(pictures, height // n, width // n, n, n).transpose(2, 3)
        return windows.reshape(pictures, height, width)[:, : x.shape[0], : x.shape[1]]


class _WindowsIfMore(_Windows):
    """The same, where nothing is added to what is a whole number of them."""

    def _padded(self, x: torch.Tensor) -> torch.Tensor:
        if self._lacking(x.shape[0], self._size) == 0 and not self._lacking(x.shape[1], self._size):
            return x
        return super()._padded(x)


class _WindowsIfAbove(_Windows):
    def _padded(self, x: torch.Tensor) -> torch.Tensor:
        if self._lacking(x.shape[0], self._size) > 0 or self._lacking(x.shape[1], self._size) > 0:
            return super()._padded(x)
        return x


def _compiled(program: torch.nn.Module, *shapes: tuple[int, int]) -> plumbline.CompiledProgram:
    compiled = plumbline.compile(program, (torch.randn(shapes[0]),), {"x": _AUTO})
    for shape in shapes:
        x = torch.randn(shape)
        torch.testing.assert_close(compiled(x)[0], program(x))
    return compiled


@pytest.mark.parametrize("lacking", [_lacking, _lacking_by_sign, _lacking_by_ceil])
@pytest.mark.parametrize("size", [4, 7])
def test_windows_of_padded_pictures(size: int, lacking: Callable[[int, int], int]) -> None:
    compiled = _compiled(_Windows(size, lacking), (10, 13), (8, 28), (12, 3), (33, 14))
    # Nor is it asserted that there are whole windows.
    assert "==" not in compiled.stage("torch")


@pytest.mark.parametrize("lacking", [_lacking, _lacking_by_sign])
def test_a_padded_size_is_a_multiple(lacking: Callable[[int, int], int]) -> None:
    class Padded(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            before = lacking(x.shape[0], 8) // 2
            after = lacking(x.shape[0], 8) - before
            return torch.nn.functional.pad(x, (before, after)).view(-1, 8)

    with exporting():
        exported = torch.export.export(
            Padded(), (torch.randn(13),), dynamic_shapes={"x": {0: Dim("n", min=9)}}
        )
    (windows,) = exported.graph.find_nodes(op="call_function", target=torch.ops.aten.view.default)
    (rows, _), size = windows.meta["val"].shape, sympy.Symbol("n", integer=True, positive=True)
    (symbol,) = rows.node.expr.free_symbols
    assert rows.node.expr.xreplace({symbol: size}) == FloorDiv(size + 7, 8)


@pytest.mark.parametrize("kind", [_WindowsIfMore, _WindowsIfAbove])
@pytest.mark.parametrize("lacking", [_lacking, _lacking_by_sign])
def test_windows_of_pictures_that_are_whole_numbers_of_them(
    kind: type[_Windows], lacking: Callable[[int, int], int]
) -> None:
    compiled = _compiled(kind(4, lacking), (12, 8), (16, 28), (4, 20))
    assert "torch.aten.div" not in compiled.stage("torch")
    with pytest.raises(UserError, match=r"exported for sizes where \(x\.shape\[0\] % 4\) == 0"):
        compiled(torch.randn(13, 8))


def test_a_quotient_that_is_not_whole_is_rounded() -> None:
    class Quotients(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            count: Any = x.shape[0] * 6
            added = math.ceil(count / 4) + math.floor(count / 3 / 2 * 1.5)
            return x.mul(int(count / 4)).add(added)

    _compiled(Quotients(), (6, 3), (5, 4), (7, 2), (8, 8))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
