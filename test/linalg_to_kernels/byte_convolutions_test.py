"""Checks convolutions of bytes against PyTorch, as CPUs multiply several at once."""

import re
import sys
from typing import Any

import pytest
import torch

# It is what torchao imports for the ops that it makes models of.
import torch.ao.quantization.fx._decomposed
from torch_mlir import ir
from torch_mlir.dialects import arith, vector

import plumbline
from plumbline.linalg_to_kernels.dot_instructions import DotInstruction
from plumbline.target import probe

_OPS = torch.ops.quantized_decomposed


_WIDE = r"memref.view .* to memref<(?:\d+x)+i32>"
"""Memory for sums, or for what is multiplied as such."""


def _rounded(x: torch.Tensor, zero_point: int = -3) -> torch.Tensor:
    by: Any = (0.05, zero_point, -128, 127, torch.int8)
    numbers: torch.Tensor = _OPS.dequantize_per_tensor.default(
        _OPS.quantize_per_tensor.default(x, *by), *by
    )
    return numbers


class _Convolution(torch.nn.Module):
    zeros: torch.Tensor

    def __init__(self, *shape: int, **options: Any) -> None:
        super().__init__()
        self._options: Any = options
        self.register_buffer("integers", torch.randint(-127, 128, shape, dtype=torch.int8))
        self.register_buffer("scales", torch.rand(shape[0]) / 2000)
        self.register_buffer("zeros", torch.zeros(shape[0], dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = _OPS.dequantize_per_channel.default(
            self.integers, self.scales, self.zeros, 0, -128, 127, torch.int8
        )
        number_of_axes = weight.ndim - 2
        convolve = getattr(torch.nn.functional, f"conv{number_of_axes}d")
        result: torch.Tensor = convolve(x, weight, **self._options)
        return result


class _Residual(torch.nn.Module):
    """Convolutions one after the other, one of which is added to what comes before it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = _Convolution(channels, channels, 3, 3, padding=1)
        self.second = _Convolution(channels, channels, 3, 3, padding=2, dilation=2)
        self.wider = _Convolution(channels + 5, channels, 1, 1)
        self.smaller = _Convolution(12, channels, 3, 3, stride=2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = _rounded(x)
        y = _rounded(self.first(x).relu())
        y = _rounded((self.second(y) + x).relu())
        return self.wider(y), self.smaller(y)


class _Pooled(torch.nn.Module):
    """The first layers of a classifier of pictures, of three colours, and what comes of a pool."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.stem = _Convolution(channels, 3, 7, 7, stride=2, padding=3)
        self.rest = _Residual(channels)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = _rounded(self.stem(_rounded(x)).relu())
        result: tuple[torch.Tensor, torch.Tensor] = self.rest(
            _rounded(torch.nn.functional.max_pool2d(x, 3, 2, 1))
        )
        return result


class _Separable(torch.nn.Module):
    """A convolution of planes with windows of their own, between such of single places."""

    def __init__(
        self, channels: int, window: int, zero_point: int, rank: int, **options: Any
    ) -> None:
        super().__init__()
        of_places = [1] * rank
        self.first = _Convolution(channels, 8, *of_places)
        self.planes = _Convolution(channels, 1, *[window] * rank, groups=channels, **options)
        self.last = _Convolution(12, channels, *of_places)
        self._zero_point = zero_point

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = _rounded(self.first(_rounded(x)).relu(), self._zero_point)
        x = _rounded(self.planes(x).relu(), -128)
        result: torch.Tensor = self.last(x)
        return result


def _kernels(target_cpu: str) -> str:
    """Those of such a program, whose results are PyTorch's."""
    torch.manual_seed(0)
    return _checked(_Residual(20), 2 * torch.randn(2, 20, 9, 11), target_cpu)


def _checked(module: torch.nn.Module, x: torch.Tensor, target_cpu: str) -> str:
    """The kernels of a program, whose results are PyTorch's."""
    program = plumbline.compile(module, (x,), target_cpu=target_cpu)
    torch.testing.assert_close(program(x), module(x))
    kernels: str = program.stage("kernels")
    return kernels


@pytest.mark.parametrize("target_cpu", ["native", "baseline", "x86-64"])
def test_results(target_cpu: str) -> None:
    kernels = _kernels(target_cpu)
    # What multiplies bytes takes no image that is wider than it needs, and does to sums what is
    # done to them: none lie in memory.
    lies_wide = re.search(_WIDE, kernels) is not None
    assert lies_wide == (target_cpu == "x86-64")


@pytest.mark.parametrize("target_cpu", ["native", "baseline", "x86-64"])
def test_pools_have_channels_last(target_cpu: str) -> None:
    torch.manual_seed(0)
    kernels = _checked(_Pooled(20), 2 * torch.randn(2, 3, 30, 34), target_cpu)
    pools = re.findall(r"call @max\w* ?\(.*: \((.*)\)", kernels)
    assert ["x20xi8" in each or "x20xi16" in each for each in pools] == [target_cpu != "x86-64"]
    # Not even what three colours are made of is wider than an instruction takes it.
    assert re.search(r"memref.view .* to memref<(?:\d+x)+f32>", kernels) is None
    assert (re.search(_WIDE, kernels) is not None) == (target_cpu == "x86-64")


@pytest.mark.parametrize(
    ("channels", "window", "sizes", "options"),
    [
        (33, 3, (14, 13), {"padding": 1, "stride": 2}),
        (16, 5, (12, 12), {"padding": (2, 1), "stride": (2, 1)}),
        (24, 3, (9, 11), {"padding": 2, "dilation": 2}),
        (24, 1, (9, 11), {}),
        (24, 7, (7, 7), {}),
        (4, 3, (10, 11), {"padding": 1}),
        # Of so many terms no code is made for each.
        (16, 11, (12, 11), {"padding": 5}),
        (16, 3, (50,), {"padding": 1}),
        (16, 3, (6, 7, 8), {"padding": 1}),
    ],
)
def test_planes_with_windows_of_their_own(
    channels: int, window: int, sizes: tuple[int, ...], options: Any
) -> None:
    _check_planes(channels, window, sizes, options, "native")


@pytest.mark.parametrize("target_cpu", ["native", "baseline", "x86-64"])
def test_planes_between_bytes(target_cpu: str) -> None:
    kernels = _check_planes(20, 3, (9, 11), {"padding": 1}, target_cpu)
    # They come of bytes, and bytes come of them. Only SSE2 does not widen them as it loads them.
    assert re.search(r"memref.view .* to memref<(?:\d+x)+f32>", kernels) is None
    lies_wide = re.search(_WIDE, kernels) is not None
    assert lies_wide == (target_cpu == "x86-64")


def _check_planes(
    channels: int, window: int, sizes: tuple[int, ...], options: Any, target_cpu: str
) -> str:
    """The kernels of such planes, whose results are PyTorch's. What stands for 0 is not 0."""
    torch.manual_seed(0)
    module = _Separable(channels, window, 5, len(sizes), **options).eval()
    x = 2 * torch.randn(2, 8, *sizes)
    program = plumbline.compile(module, (x,), target_cpu=target_cpu)
    torch.testing.assert_close(program(x)[0], module(x))
    kernels: str = program.stage("kernels")
    return kernels


class _Other(torch.nn.Module):
    """What is quantized in other ways than those of the quantizers."""

    def __init__(self, zeros: int, outputs: int) -> None:
        super().__init__()
        self.planes = _Convolution(16 * outputs, 1, 3, 3, groups=16, padding=1)
        torch.randint(-zeros, zeros + 1, (16 * outputs,), out=self.planes.zeros)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        by: Any = (0.05, 131, 0, 255, torch.uint8)
        x = _OPS.dequantize_per_tensor.default(_OPS.quantize_per_tensor.default(x, *by), *by)
        result: torch.Tensor = self.planes(x)
        return result


@pytest.mark.parametrize(("zeros", "outputs"), [(0, 1), (5, 1), (0, 2), (5, 2)])
def test_planes_quantized_otherwise(zeros: int, outputs: int) -> None:
    """Bytes without a sign, zero points of weights, and several windows for a plane."""
    torch.manual_seed(0)
    module, x = _Other(zeros, outputs).eval(), 2 * torch.randn(2, 16, 9, 11)
    torch.testing.assert_close(plumbline.compile(module, (x,))(x)[0], module(x))


def test_bytes_without_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a CPU with VNNI does, in instructions that others have."""
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", "")
    monkeypatch.setattr(probe, "_dots_of_integers", lambda *_: ("vpdpbusd",))
    monkeypatch.setattr(DotInstruction, "add_products", _bytes_added)
    probe.vector_unit_of.cache_clear()
    try:
        kernels = _kernels("baseline")
    finally:
        probe.vector_unit_of.cache_clear()
    # The image is turned about where it is rounded, and sums begin with what that is taken off by.
    assert "arith.extui" in kernels
    assert "arith.xori" in kernels
    # What is added to what comes of it reads that image, too, so that each kernel has one result.
    assert re.search(_WIDE, kernels) is None


def _bytes_added(self: DotInstruction, left: ir.Value, right: ir.Value, sums: ir.Value) -> ir.Value:
    """What `vpdpbusd` does: `left` is of bytes without a sign, `right` of such with one."""
    assert "vpdpbusd" in self.mnemonic
    (lanes,) = ir.VectorType(left.type).shape
    of_bytes, wide = (
        ir.VectorType.get([4 * lanes], ir.IntegerType.get_signless(bits)) for bits in (8, 32)
    )
    products = arith.muli(
        arith.extui(wide, vector.bitcast(of_bytes, left)),
        arith.extsi(wide, vector.bitcast(of_bytes, right)),
    )
    for place in range(4):
        part = [4 * lane + place for lane in range(lanes)]
        sums = arith.addi(sums, vector.shuffle(products, products, part))
    return sums


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
