"""Numbers that become integers of a few bits, with a scale and a zero point, and come back."""

import math
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

# Ops of which quantized models are made have no other home: it is what torchao imports.
import torch.ao.quantization.fx._decomposed
from torch.nn import functional as F  # noqa: N812
from torch.utils import _pytree as pytree

import plumbline
from plumbline.errors import UserError

_DTYPES = (torch.quint8, torch.qint8, torch.qint32)
_SCALES, _ZERO_POINTS = torch.tensor([0.137, 0.21, 0.33]), torch.tensor([0, 3, -2])

pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")


class _Of(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *tensors: torch.Tensor) -> Any:
        return self._function(*tensors)


def _check(function: Callable[..., Any], *inputs: torch.Tensor) -> plumbline.CompiledProgram:
    program = plumbline.compile(_Of(function), inputs)
    expected = tuple(pytree.tree_leaves(function(*inputs)))
    torch.testing.assert_close(program(*inputs), expected, rtol=0, atol=0)
    return program


def _numbers(*shape: int) -> torch.Tensor:
    return 20 * torch.randn(shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
def test_of_one_scale(dtype: torch.dtype) -> None:
    def function(x: torch.Tensor) -> Any:
        quantized = torch.quantize_per_tensor(x, 0.137, 3, dtype)
        both = quantized.int_repr(), quantized.dequantize()
        return *both, torch.int_repr(quantized).sum(), torch.dequantize(quantized) * 2

    # Of so many some are so near to a half that it matters in which order they are rounded.
    _check(function, _numbers(3, 100000))


def test_of_a_scale_that_is_a_tensor() -> None:
    def function(x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor) -> torch.Tensor:
        quantized = torch.quantize_per_tensor(x, scale, zero_point, torch.qint8)
        return quantized.int_repr()

    program = _check(function, _numbers(50), torch.tensor(0.3), torch.tensor(4))
    (result,) = program(_numbers(50), torch.tensor(7.0), torch.tensor(-4))
    assert torch.equal(result, function(_numbers(50), torch.tensor(7.0), torch.tensor(-4)))


@pytest.mark.parametrize("axis", [0, 1])
def test_of_a_scale_for_each_channel(axis: int) -> None:
    def function(x: torch.Tensor) -> Any:
        quantized = torch.quantize_per_channel(x, _SCALES, _ZERO_POINTS, axis, torch.qint8)
        return quantized.int_repr(), quantized.dequantize()

    _check(function, _numbers(3, 3, 20000))


def test_numbers_that_are_left_of_it() -> None:
    def function(x: torch.Tensor) -> Any:
        return (
            torch.fake_quantize_per_tensor_affine(x, 0.137, 3, 0, 255),
            torch.fake_quantize_per_channel_affine(x, _SCALES, _ZERO_POINTS.int(), 1, -128, 127),
        )

    _check(function, _numbers(40000, 3))


def _by_channel(w: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Bytes with a sign [n, k], and scales [n, g] of which the first is for a row."""
    return w.to(scales.dtype) * scales[:, :1]


def _by_group(w: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    parts = w.view(*scales.shape, -1).to(scales.dtype) * scales[..., None]
    return parts.view(w.shape)


def _with_zero_points(w: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    return (w.view(torch.uint8).to(scales.dtype) - 128) * scales[:, :1]


def _nibbles(w: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    packed = w.view(torch.uint8)[:, ::2].contiguous()
    both = torch.stack([packed & 15, packed >> 4], -1).view(*scales.shape, -1)
    return ((both.to(scales.dtype) - 8) * scales[..., None]).view(w.shape)


def _eight_at_once(w: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Nibbles of integers, of as many summed elements each, [k / 8, n]: as GPTQ has them."""
    groups, rows = scales.shape
    shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    parts = ((w[:, None] >> shifts[:, None]) & 15).to(torch.int8).view(groups, -1, rows)
    return ((parts - 8).to(scales.dtype) * scales[:, None]).view(-1, rows).t()


class _Dequantized(torch.nn.Module):
    def __init__(self, compute: Callable[..., torch.Tensor], dtype: torch.dtype) -> None:
        super().__init__()
        made = torch.Generator().manual_seed(1)
        weights = torch.randint(-128, 128, (48, 256), dtype=torch.int8, generator=made)
        scales = torch.rand(48, 4, generator=made).to(dtype) / 100
        if compute is _eight_at_once:
            weights = weights[:32, :192].contiguous().view(torch.int32)
            scales = scales.view(4, 48)
        self.w = torch.nn.Parameter(weights, requires_grad=False)
        self.s = torch.nn.Parameter(scales, requires_grad=False)
        self._compute = compute

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self._compute(self.w, self.s))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "compute", [_by_channel, _by_group, _with_zero_points, _nibbles, _eight_at_once]
)
def test_weights_that_are_read_as_they_are_dequantised(
    compute: Callable[..., torch.Tensor], dtype: torch.dtype
) -> None:
    """Of few rows a kernel does all; of more it is given the weights."""
    module = _Dequantized(compute, dtype)
    for rows in (1, 5, 9):
        x = _numbers(rows, 256).to(dtype)
        program = plumbline.compile(module, (x,))
        tolerance = 1e-3 if dtype is torch.float32 else 1.0
        torch.testing.assert_close(program(x)[0], module(x), rtol=1e-2, atol=tolerance)
        is_one = program.stage("kernels").count(" call @") == 1
        assert is_one == (rows <= (8 if dtype is torch.float32 else 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_weights_of_four_bits_that_pytorch_has_packed(dtype: torch.dtype) -> None:
    """Two blocks of rows whole, or one, and one that is smaller; each has another order."""
    made = torch.Generator().manual_seed(1)
    integers = torch.randint(0, 16, (112, 128), dtype=torch.int32, generator=made)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(integers, 1)
    by = torch.randn(2, 112, 2, generator=made).to(dtype)

    class Product(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("packed", packed)
            self.register_buffer("by", by)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            product: torch.Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(
                x, self.packed, 64, self.by
            )
            return product

    x = _numbers(3, 128).to(dtype)
    rows = torch.export.Dim("rows", max=100)
    program = plumbline.compile(Product(), (x,), ({0: rows},))
    assert program.weight_bytes == packed.nbytes + by.nbytes
    for given in (x, x[:1], _numbers(20, 128).to(dtype)):
        expected = Product()(given)
        # Their sums in float32 are rounded once.
        tolerance = 2e-6 if dtype is torch.float32 else 8e-3
        allowed = tolerance * float(expected.abs().max())
        torch.testing.assert_close(program(given)[0], expected, rtol=0, atol=allowed)
    # Of one row they are computed as they are read: nothing has as many floats as there are.
    one = plumbline.compile(Product(), (x[:1],))
    widest = re.findall(r"memref<([0-9x]+)xf32", one.stage("kernels"))
    most = max(math.prod(map(int, sizes.split("x"))) for sizes in widest)
    assert most < integers.numel() // 2


def test_products_of_bytes_without_a_sign_and_such_with_one() -> None:
    """As torchao has them where a CPU multiplies such: kernels have them with a sign both."""
    made = torch.Generator().manual_seed(1)
    weights = torch.randint(-128, 128, (48, 256), dtype=torch.int8, generator=made)

    class Product(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weights", weights)

        weights: torch.Tensor

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            sums = self.weights.sum(1, dtype=torch.int32)
            return torch._int_mm(x, self.weights.t()) - 128 * sums

    x = torch.randint(0, 256, (33, 256), dtype=torch.uint8, generator=made)
    program = plumbline.compile(Product(), (x,))
    assert torch.equal(program(x)[0], Product()(x))
    assert "extui" not in program.stage("linalg")
    # What is read is the weights, once, and sums of them that are known before.
    assert program.weight_bytes <= weights.nbytes + 2 * 4 * 48


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_scales_that_follow_from_values(dtype: torch.dtype) -> None:
    """As models have them that are quantized dynamically by torchao's PT2E."""
    ops = torch.ops.quantized_decomposed

    def function(x: torch.Tensor) -> Any:
        results = []
        for choose, least, greatest, of in (
            (ops.choose_qparams.tensor, 0, 255, torch.uint8),
            (ops.choose_qparams.tensor, -127, 127, torch.int8),
            (ops.choose_qparams_symmetric.tensor, 0, 255, torch.uint8),
            (ops.choose_qparams_symmetric.tensor, -128, 127, torch.int8),
        ):
            scale, zero_point = choose(x, least, greatest, 2.0**-12, of)
            integers = ops.quantize_per_tensor.tensor(x, scale, zero_point, least, greatest, of)
            numbers = ops.dequantize_per_tensor.tensor(
                integers, scale, zero_point, least, greatest, of
            )
            results += [scale, zero_point, integers, numbers]
        limits = torch.tensor(-100), torch.tensor(100)
        integers = ops.quantize_per_tensor.tensor2(x, scale, zero_point, *limits, torch.int8)
        return *results, integers

    program = _check(function, _numbers(3, 1000).to(dtype))
    for x in (_numbers(3, 1000).abs() + 1, -_numbers(3, 1000).abs(), torch.zeros(3, 1000)):
        given = x.to(dtype)
        torch.testing.assert_close(program(given), function(given), rtol=0, atol=0)


@pytest.mark.parametrize(
    "weights",
    [
        lambda: torch.ones(64, 80),
        lambda: torch.full((80, 64), 2.0).t(),
        lambda: torch.arange(64 * 80).view(64, 80) / 80,
    ],
    ids=["ones", "turned", "counted"],
)
def test_weights_that_are_numbers(weights: Callable[[], torch.Tensor]) -> None:
    x = _numbers(1, 64)
    (actual,) = plumbline.compile(_Of(lambda x: x @ weights()), (x,))(x)
    torch.testing.assert_close(actual, x @ weights(), rtol=1e-4, atol=1e-2)


def test_weights_that_many_computations_read() -> None:
    weight, x = torch.full((8, 8), 0.5), torch.ones(1, 8)

    def function(x: torch.Tensor) -> torch.Tensor:
        computed = weight
        # Each reads the one before twice: by now there are a million ways to the weight.
        for _ in range(20):
            computed = computed - computed.relu() / 2
        return x @ computed

    _check(function, x)


def test_a_quantised_tensor_is_no_result() -> None:
    with pytest.raises(UserError, match=r"QuantizedTensor.* in output"):
        plumbline.compile(
            _Of(lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)), (_numbers(3),)
        )


@pytest.mark.parametrize("reduction", ["mean", "none", "sum"])
def test_a_loss_that_looks_at_its_variances(reduction: str) -> None:
    def function(x: torch.Tensor, y: torch.Tensor, variance: torch.Tensor) -> Any:
        return (
            F.gaussian_nll_loss(x, y, variance, full=True, reduction=reduction),
            F.gaussian_nll_loss(x, y, variance[:, :1], reduction=reduction),
            F.gaussian_nll_loss(x, y, variance[:, 0]),
            F.gaussian_nll_loss(x, y, 0.5),
        )

    x, y = _numbers(4, 5), _numbers(5, 4).t().contiguous()
    program = plumbline.compile(_Of(function), (x, y, x.abs()))
    torch.testing.assert_close(program(x, y, x.abs()), function(x, y, x.abs()))
    torch.testing.assert_close(program(x, y, x * 0), function(x, y, x * 0))
    with pytest.raises(UserError, match="gaussian_nll_loss: var has negative entry/entries"):
        program(x, y, -x.abs())
    with pytest.raises(UserError, match="var is of incorrect size"):
        plumbline.compile(_Of(F.gaussian_nll_loss), (x, y, torch.ones(3, 5)))


def test_a_mean_loss_whose_lengths_are_numbers() -> None:
    def function(x: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        lengths: Any = ((7, 6, 3), (3, 2, 0))
        return F.ctc_loss(x.log_softmax(-1), targets, *lengths)

    # Rows are padded by what is no class.
    inputs = _numbers(7, 3, 5), torch.tensor([[1, 2, 2], [4, 3, -1], [-1, -1, -1]])
    program = plumbline.compile(_Of(function), inputs)
    torch.testing.assert_close(program(*inputs), (function(*inputs),))


def test_a_loss_of_targets_one_after_another() -> None:
    def function(x: torch.Tensor, targets: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        labels = targets.masked_select(targets > 0)
        times = torch.full((3,), 7)
        return F.ctc_loss(x.log_softmax(-1), labels, times, lengths, reduction="sum")

    inputs = _numbers(7, 3, 5), torch.tensor([[1, 2, 2], [4, 3, -1], [1, -1, -1]])
    program = plumbline.compile(_Of(function), (*inputs, torch.tensor([3, 2, 1])))
    for lengths in ([3, 2, 1], [2, 2, 2], [1, 4, 1]):
        given = *inputs, torch.tensor(lengths)
        torch.testing.assert_close(program(*given), (function(*given),))


def test_a_mask_that_a_transformer_looks_at() -> None:
    layer = torch.nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    decoder = torch.nn.TransformerDecoder(layer, 1)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5)
    inputs = _numbers(2, 5, 8), _numbers(2, 3, 8)
    program = plumbline.compile(_Of(lambda x, memory: decoder(x, memory, mask)), inputs)
    torch.testing.assert_close(program(*inputs)[0], decoder(*inputs, mask).detach())


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
