"""Products of quantized tensors, as PyTorch 2 Export (PT2E) has them in graphs."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

# It is what torchao imports for the ops that it makes models of.
import torch.ao.quantization.fx._decomposed

import plumbline
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput

_OPS = torch.ops.quantized_decomposed

_U8 = (0.05, 100, 0, 255, torch.uint8)
_S8 = (0.05, -3, -128, 127, torch.int8)


def _rounded(x: torch.Tensor, by: Any) -> torch.Tensor:
    """Numbers as they are when they are quantized."""
    integers = _OPS.quantize_per_tensor.default(x, *by)
    numbers: torch.Tensor = _OPS.dequantize_per_tensor.default(integers, *by)
    return numbers


class _Layer(torch.nn.Module):
    """One product of quantized numbers with quantized weights, which have a scale for each row."""

    def __init__(self, *shape: int, zero_points: bool = False) -> None:
        super().__init__()
        made = torch.Generator().manual_seed(0)
        integers = torch.randint(-127, 128, shape, dtype=torch.int8, generator=made)
        rows = shape[0]
        zeros = torch.zeros(rows, dtype=torch.int64)
        if zero_points:
            zeros = torch.randint(-9, 9, (rows,), generator=made)
        self.register_buffer("integers", integers)
        self.register_buffer("scales", torch.rand(rows, generator=made) / 100)
        self.register_buffer("zeros", zeros)
        self.register_buffer("bias", torch.randn(rows, generator=made))

    bias: torch.Tensor

    @property
    def weight(self) -> torch.Tensor:
        weight: torch.Tensor = _OPS.dequantize_per_channel.default(
            self.integers, self.scales, self.zeros, 0, -128, 127, torch.int8
        )
        return weight


class _Linear(_Layer):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(_rounded(x, _U8), self.weight, self.bias).relu()


class _Dynamic(_Layer):
    """With a scale and a zero point that follow from the numbers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale, zero_point = _OPS.choose_qparams.tensor(x, -128, 127, 2.0**-12, torch.int8)
        by = scale, zero_point, -128, 127, torch.int8
        integers = _OPS.quantize_per_tensor.tensor(x, *by)
        numbers = _OPS.dequantize_per_tensor.tensor(integers, *by)
        return torch.nn.functional.linear(numbers, self.weight)


class _InBlocks(torch.nn.Module):
    """A linear layer of rows that have a scale each, by weights that have one for 16 elements."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        made = torch.Generator().manual_seed(0)
        integers = torch.randint(-8, largest + 1, (64, 64), dtype=torch.int8, generator=made)
        self.register_buffer("integers", integers)
        self.register_buffer("scales", torch.rand(64, 4, generator=made) / 20)
        self.register_buffer("zeros", torch.zeros(64, 4, dtype=torch.int64))
        self.register_buffer("bias", torch.randn(64, generator=made))

    bias: torch.Tensor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        chosen = _OPS.choose_qparams_per_token_asymmetric.default(x, torch.int8)
        rows = _OPS.quantize_per_token.default(x, *chosen, -128, 127, torch.int8)
        numbers = _OPS.dequantize_per_token.default(
            rows, *chosen, -128, 127, torch.int8, torch.float32
        )
        weight = _OPS.dequantize_per_channel_group.default(
            self.integers, self.scales, self.zeros, -8, 7, torch.int8, 16, torch.float32
        )
        return torch.nn.functional.linear(numbers, weight, self.bias)


class _Convolution(_Layer):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        convolve = (torch.conv1d, torch.conv2d, torch.conv3d)[x.ndim - 3]
        groups = x.shape[1] // self.weight.shape[1]
        y = convolve(_rounded(x, _U8), self.weight, self.bias, stride=2, padding=1, groups=groups)
        other = convolve(_rounded(x, _S8), self.weight, dilation=2, groups=groups)
        return torch.cat([_rounded(y, _S8).flatten(1), other.flatten(1)], 1)


def _numbers(*shape: int) -> torch.Tensor:
    return 5 * torch.randn(shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("model", "x"),
    [
        (_Linear(48, 64), _numbers(3, 5, 64)),
        (_Linear(48, 64, zero_points=True), _numbers(17, 64)),
        (_Dynamic(48, 64), _numbers(3, 5, 64)),
        (_Convolution(24, 16, 3, zero_points=True), _numbers(2, 16, 9)),
        (_Convolution(24, 16, 3, 2), _numbers(3, 16, 7, 8)),
        (_Convolution(8, 4, 3, 1, 2), _numbers(2, 4, 7, 4, 5)),
        (_Convolution(12, 4, 3), _numbers(2, 4, 9)),
        (_Convolution(17, 1, 9, zero_points=True), _numbers(2, 17, 21)),
        (_Convolution(24, 1, 5, 3), _numbers(3, 24, 11, 8)),
        # With one more channel.
        (_Convolution(24, 3, 3, 2), _numbers(3, 3, 7, 8)),
        (_Convolution(12, 7, 3, zero_points=True), _numbers(2, 7, 9)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_integers_are_multiplied(model: _Layer, x: torch.Tensor) -> None:
    program = plumbline.compile(model, (x,), ({0: torch.export.Dim("batch", max=100)},))
    _compare(program, model, x)
    _compare(program, model, torch.cat([x, 2 * x]))
    # What is summed, and the result, is no float.
    assert "f32" not in "".join(_lines(program, "tcp.matmul", "tcp.conv"))
    assert program.weight_bytes < 4 * model.get_buffer("integers").numel()


def test_rows_are_multiplied_with_integers_of_4_bits() -> None:
    """Which are two in a byte then, though they were one; others stay as they are."""
    x = _numbers(3, 5, 64)
    sizes = ({0: torch.export.Dim("batch", max=100)},)
    for largest, is_packed in ((7, True), (8, False)):
        model = _InBlocks(largest)
        program = plumbline.compile(model, (x,), sizes)
        with torch.no_grad():
            for given in (x, x[:1]):
                (made,) = program(given)
                torch.testing.assert_close(made, model(given), rtol=0, atol=1e-5)
        assert (program.weight_bytes < model.get_buffer("integers").nbytes) == is_packed
        # The sums of blocks are in no memory.
        assert "x64xi32" not in program.stage("kernels")


def _compare(run: Callable[..., Any], model: _Layer, x: torch.Tensor) -> None:
    with torch.no_grad():
        expected = model(x)
        (actual,) = (run(x),) if isinstance(run, torch.nn.Module) else run(x)
    # Next to a half, a sum that is rounded otherwise is the next integer.
    is_other = (actual - expected).abs() > 1e-4 * expected.abs().max()
    assert is_other.sum() <= expected.numel() // 1000
    torch.testing.assert_close(actual, expected, rtol=0, atol=0.051)


def _lines(program: plumbline.CompiledProgram, *ops: str) -> list[str]:
    lines = [line for line in program.stage("tcp").splitlines() if any(op in line for op in ops)]
    assert lines
    return lines


@pytest.mark.parametrize("freeze", [False, True])
def test_under_torch_compile(freeze: bool) -> None:
    model, x = _Linear(48, 64), _numbers(3, 5, 64)
    backend = plumbline.Backend(freeze=freeze)
    _compare(torch.compile(model, backend=backend), model, x)
    (program,) = backend.programs
    assert "f32" not in "".join(_lines(program, "tcp.matmul"))


def test_zero_points_that_may_be_others() -> None:
    program = TorchLoaderOutput(model=_Linear(48, 64), inputs=(_numbers(3, 64),))
    for embedded in (False, True):
        assert ("zeros" in export("it", program, embedded=embedded).weights) != embedded


@pytest.mark.parametrize("shape", [(48, 63), (48, 8)], ids=str)
def test_sums_that_no_instruction_takes_are_of_floats(shape: tuple[int, int]) -> None:
    model, x = _Linear(*shape), _numbers(3, shape[1])
    program = plumbline.compile(model, (x,))
    _compare(program, model, x)
    assert "f32" in "".join(_lines(program, "tcp.matmul"))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
