"""Quantized models of ONNX, which are computed by products of integers."""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

import plumbline
from plumbline.onnx_to_torch.program import OnnxProgram
from test.onnx_to_torch.models import program


def test_products_of_what_is_dequantized_are_of_integers(tmp_path: Path) -> None:
    weight = torch.randint(-128, 128, (4, 48, 3, 3), dtype=torch.int8)
    matrix = torch.randint(-128, 128, (5, 48), dtype=torch.int8)
    model = program(
        tmp_path,
        """(uint8[1,48,6,6] x, uint8[2,48] rows)
            => (float[1,4,6,6] y, float[2,5] z, int32[1,4,6,6] sums) {
          data = DequantizeLinear(x, scale, zero)
          kernels = DequantizeLinear<axis=0>(weight, scales, zeros)
          y = Conv<pads=[1,1,1,1]>(data, kernels)
          left = DequantizeLinear(rows, scale, zero)
          right = DequantizeLinear<axis=0>(matrix, of_rows)
          z = Gemm<transB=1>(left, right, bias)
          sums = ConvInteger<pads=[1,1,1,1]>(x, weight, zero)
        }""",
        {
            "scale": torch.tensor(0.5),
            "zero": torch.tensor(7, dtype=torch.uint8),
            "weight": weight,
            "scales": torch.tensor([0.5, 2.0, 0.25, 4.0]),
            "zeros": torch.tensor([0, 3, -5, 0], dtype=torch.int8),
            "matrix": matrix,
            "of_rows": torch.tensor([0.5, 2.0, 0.25, 4.0, 1.0]),
            "bias": torch.arange(5.0),
        },
    )
    x = torch.randint(0, 256, (1, 48, 6, 6), dtype=torch.uint8)
    rows = torch.randint(0, 256, (2, 48), dtype=torch.uint8)
    compiled = plumbline.compile(model, (x, rows))
    convolved, product, sums = compiled(x, rows)
    offset = x.double() - 7
    zeros = torch.tensor([0, 3, -5, 0]).reshape(-1, 1, 1, 1)
    scales = torch.tensor([0.5, 2.0, 0.25, 4.0]).reshape(-1, 1, 1)
    # All scales are powers of two: not even the last bit differs.
    exact = functional.conv2d(offset, weight.double() - zeros, padding=1) * scales / 2
    assert torch.equal(convolved, exact.float())
    of_rows = torch.tensor([0.5, 2.0, 0.25, 4.0, 1.0])
    exact = (rows.double() - 7) @ matrix.double().T * of_rows / 2 + torch.arange(5)
    assert torch.equal(product, exact.float())
    assert torch.equal(sums, functional.conv2d(offset, weight.double(), padding=1).int())


@pytest.mark.parametrize("channels", [3, 8])
def test_layers_between_what_is_quantized_are_of_bytes(tmp_path: Path, channels: int) -> None:
    weight = torch.randint(-128, 128, (16, channels, 3, 3), dtype=torch.int8)
    scales = 2.0 ** -torch.randint(6, 9, (16,))
    model = program(
        tmp_path,
        f"""(float[1,{channels},11,12] x) => (uint8[1,16,6,6] z) {{
          of_x = QuantizeLinear(x, scale, zero)
          data = DequantizeLinear(of_x, scale, zero)
          kernels = DequantizeLinear<axis=0>(weight, scales, zeros)
          sums = Conv<pads=[1,1,1,1]>(data, kernels)
          of_y = QuantizeLinear(sums, scale, zero)
          y = DequantizeLinear(of_y, scale, zero)
          most = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(y)
          z = QuantizeLinear(most, scale, zero)
        }}""",
        {
            "scale": torch.tensor(0.5),
            "zero": torch.tensor(100, dtype=torch.uint8),
            "weight": weight,
            "scales": scales,
            "zeros": torch.zeros(16, dtype=torch.int8),
        },
    )
    x = 20 * torch.randn(1, channels, 11, 12)
    compiled = plumbline.compile(model, (x,))

    def rounded(x: torch.Tensor) -> torch.Tensor:
        return torch.round(2 * x).clamp(-100, 155) / 2

    # All scales are powers of two: not even the last bit differs.
    sums = functional.conv2d(rounded(x), weight * scales.reshape(-1, 1, 1, 1), padding=1)
    most = functional.max_pool2d(rounded(sums), 3, 2, 1)
    assert torch.equal(compiled(x)[0], (2 * most + 100).to(torch.uint8))
    lines = compiled.stage("torch").splitlines()
    (convolution,) = (line for line in lines if "aten.convolution" in line)
    (pool,) = (line for line in lines if "aten.max_pool2d " in line)
    assert "f32" not in convolution + pool


_CONVOLUTIONS = {
    "ConvInteger": """x = QuantizeLinear(data, one, hundred)
          y = ConvInteger<{}>(x, weight, hundred, zeros)""",
    "ConvInteger of a range": """x, scale, zero = DynamicQuantizeLinear(data)
          y = ConvInteger<{}>(x, weight, zero, zeros)""",
    "QLinearConv": """x = QuantizeLinear(data, one, hundred)
          q = QLinearConv<{}>(x, one, hundred, weight, ones, zeros, large, hundred, bias)
          y = Cast<to=6>(q)""",
    "Conv": """x = QuantizeLinear(data, one, hundred)
          numbers = DequantizeLinear(x, one, hundred)
          kernels = DequantizeLinear<axis=0>(weight, ones, zeros)
          floats = Conv<{}>(numbers, kernels)
          y = Cast<to=6>(floats)""",
}


@pytest.mark.parametrize("op", _CONVOLUTIONS)
@pytest.mark.parametrize(
    ("attributes", "shape", "padding", "options"),
    [
        ("pads=[1,1,1,1], strides=[2,1]", (8, 16, 3, 3), (1, 1, 1, 1), {"stride": (2, 1)}),
        ("pads=[0,1,2,1], dilations=[2,1]", (8, 16, 3, 3), (1, 1, 0, 2), {"dilation": (2, 1)}),
        ("pads=[1,1,1,1], group=16", (16, 1, 3, 3), (1, 1, 1, 1), {"groups": 16}),
        ("strides=[2,2]", (8, 16, 1, 1), (0, 0, 0, 0), {"stride": 2}),
    ],
)
def test_convolutions_are_of_bytes(
    tmp_path: Path,
    op: str,
    attributes: str,
    shape: tuple[int, ...],
    padding: tuple[int, ...],
    options: dict[str, Any],
) -> None:
    """However a model has them; with zero points of an image and of each channel put out."""
    made = torch.Generator().manual_seed(1)
    weight, zeros = (
        torch.randint(-128, 128, size, dtype=torch.int8, generator=made)
        for size in (shape, shape[:1])
    )
    bias = torch.randint(-9999, 9999, shape[:1], dtype=torch.int32, generator=made)
    data = torch.randint(-100, 156, (1, 16, 9, 8), generator=made).float()
    # This range has a step of 1.
    data[0, 0, 0, :2] = torch.tensor([-100.0, 155.0])
    less = weight.double() - zeros.reshape(-1, 1, 1, 1)
    sums = functional.conv2d(functional.pad(data, padding).double(), less, **options)
    expected = sums
    if op == "QLinearConv":
        of_channels = torch.round((sums + bias.reshape(-1, 1, 1)) / 1024)
        expected = (of_channels + 100).clamp(0, 255)
    model = program(
        tmp_path,
        f"""(float[1,16,9,8] data) => (int32[{",".join(map(str, sums.shape))}] y)
          <float one = {{1.0}}, uint8 hundred = {{100}}, float large = {{1024.0}}> {{
          {_CONVOLUTIONS[op].format(attributes)}
        }}""",
        {"weight": weight, "zeros": zeros, "bias": bias, "ones": torch.ones(shape[0])},
    )
    compiled = plumbline.compile(model, (data,))
    assert torch.equal(compiled(data)[0], expected.int())
    lines = compiled.stage("torch").splitlines()
    assert "f32" not in "".join(line for line in lines if "aten.convolution" in line)
    # What has no sign is computed with one.
    assert not any("ui8>" in line for line in lines if "aten.constant_pad_nd" in line)


def test_integers_without_a_sign_are_computed_with_one(tmp_path: Path) -> None:
    made = torch.Generator().manual_seed(1)
    weight = torch.randint(-128, 128, (16, 16, 3, 3), dtype=torch.int8, generator=made)
    planes = torch.randint(-128, 128, (16, 1, 3, 3), dtype=torch.int8, generator=made)
    model = program(
        tmp_path,
        """(float[1,16,12,10] x) => (uint8[1,16,6,5] y)
          <float one = {1.0}, uint8 zero = {130}, int8 none = {0}, float large = {512.0}> {
          q = QuantizeLinear(x, one, zero)
          sums = QLinearConv<pads=[1,1,1,1]>(q, one, zero, weight, one, none, large, zero)
          of_planes = QLinearConv<pads=[1,1,1,1], group=16>
            (sums, one, zero, planes, one, none, large, zero)
          total = com.microsoft.QLinearAdd(of_planes, one, zero, sums, one, zero, one, zero)
          y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(total)
        }""",
        {"weight": weight, "planes": planes},
    )
    x = torch.randint(-130, 126, (1, 16, 12, 10), generator=made).float()
    compiled = plumbline.compile(model, (x,))

    def quantized(sums: torch.Tensor) -> torch.Tensor:
        return torch.round(sums / 512).clamp(-130, 125)

    sums = quantized(functional.conv2d(x, weight.float(), padding=1))
    of_planes = quantized(functional.conv2d(sums, planes.float(), padding=1, groups=16))
    total = (of_planes + sums).clamp(-130, 125)
    expected = functional.max_pool2d(total, 2) + 130
    assert torch.equal(compiled(x)[0], expected.to(torch.uint8))
    assert {*re.findall(r"\[1,[0-9,]*\],ui8", compiled.stage("torch"))} == {"[1,16,6,5],ui8"}


def test_elements_of_windows_are_copied_once(tmp_path: Path) -> None:
    """Into the place where they are multiplied, where channels of a group are some of them."""
    kernels = torch.randint(-128, 128, (16, 48, 3, 3), dtype=torch.int8)
    model = program(
        tmp_path,
        """(uint8[1,96,6,6] x) => (int32[1,16,6,6] y) <uint8 zero = {7}> {
          y = ConvInteger<pads=[1,1,1,1], group=2>(x, kernels, zero)
        }""",
        {"kernels": kernels},
    )
    x = torch.randint(0, 256, (1, 96, 6, 6), dtype=torch.uint8)
    compiled = plumbline.compile(model, (x,))
    windows = functional.conv2d(x.double() - 7, kernels.double(), padding=1, groups=2)
    assert torch.equal(compiled(x)[0], windows.int())
    assert "aten.convolution" not in compiled.stage("torch")
    # One of each place of a window, and one of what is padded.
    assert compiled.stage("kernels").count("call @copy_kernel") == 10


def test_integers_of_4_bits_are_in_their_range(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[3] x) => (float[3] y) <float one = {1.0}, int4 zero = {1}> {
          q = QuantizeLinear(x, one, zero)
          y = DequantizeLinear(q, one, zero)
        }""",
    )
    (y,) = model(torch.tensor([-100.0, 2.0, 100.0])).values()
    assert y.tolist() == [-9, 2, 6]


def test_sums_and_products_of_onnx_runtime_are_quantized(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(uint8[1,4] x) => (uint8[1,4] y, uint8[1,2] z) {
          y = com.microsoft.QLinearAdd(x, half, zero, x, one, zero, two, zero)
          z = com.microsoft.QGemm(x, half, zero, weight, scales, zeros, bias, two, zero)
        }""",
        {
            "half": torch.tensor(0.5),
            "one": torch.tensor(1.0),
            "two": torch.tensor(2.0),
            "zero": torch.tensor(10, dtype=torch.uint8),
            "weight": torch.tensor([[1, 2], [3, 4], [5, 6], [7, 8]], dtype=torch.int8),
            "scales": torch.tensor([1.0, 2.0]),
            "zeros": torch.tensor([0, 2], dtype=torch.int8),
            "bias": torch.tensor([0, -2], dtype=torch.int32),
        },
    )
    total, product = model(torch.tensor([[10, 14, 12, 11]], dtype=torch.uint8)).values()
    # 0, 6, 3 and 1.5, in steps of 2.
    assert total.tolist() == [[10, 13, 12, 11]]
    # Sums of 29 by 0.5 and 20 by 1.
    assert product.tolist() == [[17, 20]]


_OF_ONE: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "QLinearAveragePool<kernel_shape=[2,2], strides=[2,2]>": lambda x: functional.avg_pool2d(x, 2),
    "QLinearAveragePool<kernel_shape=[2,2], channels_last=1>": lambda x: functional.avg_pool2d(
        x.movedim(-1, 1), 2, 1
    ).movedim(1, -1),
    "QLinearGlobalAveragePool": lambda x: x.mean([2, 3], keepdim=True),
    "QLinearGlobalAveragePool<channels_last=1>": lambda x: x.mean([1, 2], keepdim=True),
    "QLinearLeakyRelu<alpha=0.1>": lambda x: functional.leaky_relu(x, 0.1),
    "QLinearReduceMean<axes=[1], keepdims=0>": lambda x: x.mean(1),
    "QLinearSigmoid": torch.sigmoid,
    "QLinearSoftmax<axis=1, opset=13>": lambda x: x.softmax(1),
    "QLinearSoftmax<axis=2, opset=11>": lambda x: x.flatten(2).softmax(2).reshape(x.shape),
}


@pytest.mark.parametrize("op", _OF_ONE)
def test_quantized_ops_of_onnx_runtime(tmp_path: Path, op: str) -> None:
    x = torch.randint(0, 256, (2, 4, 6, 6), dtype=torch.uint8)
    exact = _OF_ONE[op]((x.float() - 120) * 0.03125)
    expected = (torch.round(exact / 0.015625) + 100).clamp(0, 255)
    shape = ",".join(map(str, exact.shape))
    model = program(
        tmp_path,
        f"""(uint8[2,4,6,6] x) => (uint8[{shape}] y) <float from = {{0.03125}},
          uint8 zero = {{120}}, float to = {{0.015625}}, uint8 place = {{100}}> {{
            y = com.microsoft.{op}(x, from, zero, to, place)
        }}""",
    )
    # What is next to a half may go either way.
    assert (model(x)["y"].float() - expected).abs().max() <= 1


def test_quantized_parts_are_joined_and_chosen(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(uint8[1,2] x, bool[1,2] which) => (uint8[1,4] y, uint8[1,2] z) <float half = {0.5},
          uint8 ten = {10}, float one = {1.0}, uint8 none = {0}> {
            y = com.microsoft.QLinearConcat<axis=1>(one, none, x, half, ten, x, one, ten)
            z = com.microsoft.QLinearWhere(which, x, half, ten, x, one, ten, one, none)
        }""",
    )
    y, z = model(
        torch.tensor([[14, 30]], dtype=torch.uint8), torch.tensor([[True, False]])
    ).values()
    assert y.tolist() == [[2, 10, 4, 20]]
    assert z.tolist() == [[2, 20]]


def test_products_of_integers_become_floats(tmp_path: Path) -> None:
    """A zero point and a scale of each column; floats are quantized by their range, 0 to 255."""
    weight = torch.randint(-128, 128, (16, 4), dtype=torch.int8)
    zeros, scales = torch.tensor([1, -2, 0, 3], dtype=torch.int8), torch.tensor([0.5, 1, 2, 0.25])
    bias = torch.tensor([1.0, 0.0, -1.0, 2.0])
    model = program(
        tmp_path,
        """(uint8[3,16] x, float[3,16] data) => (float[3,4] y, float[3,4] z)
          <float half = {0.5}, uint8 ten = {10}> {
            y = com.microsoft.MatMulIntegerToFloat(x, weight, half, scales, ten, zeros, bias)
            z = com.microsoft.DynamicQuantizeMatMul(data, weight, scales, zeros, bias)
        }""",
        {"weight": weight, "zeros": zeros, "scales": scales, "bias": bias},
    )
    x = torch.randint(0, 256, (3, 16), dtype=torch.uint8)
    data = torch.randint(0, 256, (3, 16)).float()
    data[0, :2] = torch.tensor([0.0, 255.0])
    y, z = model(x, data).values()
    columns = (weight.double() - zeros) * scales
    assert torch.equal(y, ((x.double() - 10) / 2 @ columns + bias).float())
    assert torch.equal(z, (data.double() @ columns + bias).float())


@pytest.mark.parametrize("by_channel", [False, True])
def test_weights_of_an_lstm_are_dequantized(tmp_path: Path, by_channel: bool) -> None:
    made = torch.Generator().manual_seed(1)
    integers = [
        torch.randint(-128, 128, (1, count, 32), dtype=torch.int8, generator=made)
        for count in (5, 8)
    ]
    sizes = (1, 32) if by_channel else (1,)
    scales = [torch.rand(sizes, generator=made) / 200 for _ in integers]
    zeros = [torch.full(sizes, number, dtype=torch.int8) for number in (3, -2)]
    names = ("w", "r", "w_scale", "r_scale", "w_zero", "r_zero")
    program(
        tmp_path,
        """(float[6,2,5] x) => (float[6,1,2,8] y, float[6,1,2,8] z) {
          y = com.microsoft.DynamicQuantizeLSTM<hidden_size=8>
            (x, w, r, , , , , , w_scale, w_zero, r_scale, r_zero)
          z = LSTM<hidden_size=8>(x, of_input, of_state)
        }""",
        {
            **dict(zip(names, [*integers, *scales, *zeros], strict=True)),
            **{
                name: ((each - zero.reshape(1, 1, -1).float()) * scale.reshape(1, 1, -1)).mT
                for name, each, scale, zero in zip(
                    ("of_input", "of_state"), integers, scales, zeros, strict=True
                )
            },
        },
    )
    y, z = OnnxProgram(tmp_path / "model.onnx")(torch.randn(6, 2, 5)).values()
    torch.testing.assert_close(y, z)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
