"""Parts of concatenations that kernels of all kinds compute where they are to lie."""

import re
import sys
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn.functional import interpolate, max_pool2d, pad

import plumbline

_Program = Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]


class _Module(nn.Module):
    def __init__(self, program: _Program) -> None:
        super().__init__()
        self._program = program
        torch.manual_seed(0)
        self.window = nn.Conv2d(8, 16, 3, padding=1)
        self.point = nn.Conv2d(8, 16, 1)
        self.plane = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.line = nn.Linear(40, 48)
        self.attention = nn.MultiheadAttention(40, 4, batch_first=True)

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        return self._program(self, *inputs)


def _check(program: _Program, *inputs: torch.Tensor) -> str:
    """Compares with PyTorch, and gives what functions do but kernels."""
    module = _Module(program).eval()
    compiled = plumbline.compile(module, inputs)
    with torch.no_grad():
        expected = module(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    torch.testing.assert_close(compiled(*inputs), expected, rtol=1e-5, atol=1e-5)
    return compiled.stage("kernels").partition("func.func private")[0]


_IMAGES: dict[str, _Program] = {
    "windows": lambda m, x, y, dim: torch.cat([m.window(x).relu(), m.window(y)], dim),
    "points": lambda m, x, y, dim: torch.cat([m.point(x).relu(), m.point(y) * 2], dim),
    "planes": lambda m, x, y, dim: torch.cat([m.plane(x), m.plane(y)], dim),
    "sums": lambda m, x, y, dim: torch.cat([m.point(x) + m.point(y), m.point(y - x)], dim),
    "softmax": lambda m, x, y, dim: torch.cat([x.softmax(-1), y.softmax(1)], dim),
}


# Along the last dimension the rows of a plane are no longer contiguous as one.
@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("program", _IMAGES.values(), ids=_IMAGES)
def test_images(program: _Program, dim: int) -> None:
    x, y = torch.randn(2, 3, 8, 16, 33)
    _check(lambda m, x, y: program(m, x, y, dim), x, y)


_SEQUENCES: dict[str, _Program] = {
    "linear": lambda m, x, y, dim: torch.cat([m.line(x), m.line(y).relu()], dim),
    "products": lambda m, x, y, dim: torch.cat([x @ y.mT, y @ x.mT], dim),
    "attention": lambda m, x, y, dim: torch.cat(
        [m.attention(z, z, z, need_weights=False)[0] for z in (x, y)], dim
    ),
}


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("program", _SEQUENCES.values(), ids=_SEQUENCES)
def test_sequences(program: _Program, dim: int) -> None:
    x, y = torch.randn(2, 3, 36, 40)
    _check(lambda m, x, y: program(m, x, y, dim), x, y)


def test_a_skip_connection() -> None:
    """Which is read before it is put beside what is computed of it."""

    def program(m: _Module, x: torch.Tensor) -> torch.Tensor:
        skip = m.point(x).relu()
        deep = interpolate(m.point(max_pool2d(skip[:, :8], 2)), scale_factor=2)
        return torch.cat([skip, deep], 1)

    assert "call @copy" not in _check(program, torch.randn(1, 8, 16, 16))


def test_layers_of_which_each_reads_all_before() -> None:
    def program(m: _Module, x: torch.Tensor) -> torch.Tensor:
        layers = [m.point(x)]
        for _ in range(3):
            layers.append(m.plane(torch.cat(layers, 1)[:, ::2][:, :8]).sin())
        return torch.cat(layers, 1)

    _check(program, torch.randn(2, 8, 16, 16))


def test_parts_of_parts() -> None:
    def program(m: _Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        above, below = torch.cat([x.exp(), y.sin()], 2), torch.cat([y + 1, x * 2], 2)
        return torch.cat([above, below], 1)

    functions = _check(program, *torch.randn(2, 2, 3, 16, 40))
    assert "call @copy" not in functions


def test_parts_of_what_is_twice_a_part() -> None:
    """Rows that are as long as those around them, until these are put beside one another."""

    def program(m: _Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        wide = torch.cat([torch.cat([x.sin(), x], 1), y])
        return torch.cat([wide, wide], 1)

    _check(program, torch.randn(33, 16), torch.randn(1, 32))


def test_parts_one_after_the_other() -> None:
    """The later one lies over a part of the earlier one, which reads what was there before."""

    def program(m: _Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        once = (x * 2).slice_scatter(y[:, :4].exp(), 1, 2, 6)
        return once.slice_scatter(once[:, :3].sin(), 1, 1, 4)

    _check(program, *torch.randn(2, 3, 8, 64))


class _Padded(nn.Module):
    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return pad(x, (2, 1, 0, 3, 1, 0)[: 2 * x.dim() - 4], mode=self._mode)


@pytest.mark.parametrize("mode", ["circular", "reflect", "replicate"])
@pytest.mark.parametrize("shape", [(2, 3, 6, 40), (2, 2, 3, 6, 40)])
def test_pads_of_any_sizes(mode: str, shape: tuple[int, ...]) -> None:
    """Rows are copied once, to between the elements that are put before and after them.

    All memory of rows is that of the result.
    """
    module = _Padded(mode)
    sizes = dict.fromkeys((0, *range(2, len(shape))), Dim.AUTO)
    compiled = plumbline.compile(module, (torch.ones(shape),), (sizes,))
    for more in (0, 1, 7):
        x = torch.randn([size + more * (axis != 1) for axis, size in enumerate(shape)])
        assert torch.equal(compiled(x)[0], module(x))
    functions = compiled.stage("kernels").partition("func.func private")[0]
    assert len(re.findall(r"= memref\.alloc\(.*: memref<[^>]*x\?xf32>", functions)) == 1


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
