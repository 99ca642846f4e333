"""Weights of few bits, of which blocks have a scale."""

import sys
from pathlib import Path

import onnx
import pytest
import torch
from onnx import TensorProto, helper

import plumbline
from plumbline.errors import UserError
from plumbline.onnx_to_torch.program import OnnxProgram, load_onnx
from test.onnx_to_torch.models import program

_BLOCK = 16


def _packed(integers: torch.Tensor, bits: int) -> torch.Tensor:
    """Bytes of the integers along the last dimension, the first in the lowest bits."""
    count = 8 // bits
    padded = torch.nn.functional.pad(integers, (0, -integers.shape[-1] % count))
    parts = padded.reshape(*integers.shape[:-1], -1, count) << torch.arange(0, 8, bits)
    return parts.sum(-1).to(torch.uint8)


def _integers(bits: int, *sizes: int) -> torch.Tensor:
    made = torch.Generator().manual_seed(bits)
    return torch.randint(0, 1 << bits, sizes, dtype=torch.int32, generator=made)


def _check(made: torch.Tensor, expected: torch.Tensor) -> None:
    allowed = 2e-6 * float(expected.abs().max())
    torch.testing.assert_close(made, expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", ["none", "packed", "float"])
def test_products_with_integers_of_few_bits(tmp_path: Path, bits: int, zeros: str) -> None:
    """Of 5 columns, which fill no byte, and of 40 rows, which fill no block."""
    columns, rows, blocks = 5, 40, 3
    integers = _integers(bits, columns, blocks * _BLOCK)
    scales = torch.rand(columns, blocks) + 0.5
    constants = {
        "w": _packed(integers.reshape(columns, blocks, _BLOCK), bits),
        "scales": scales,
        "bias": torch.randn(columns),
    }
    zero_points = torch.full((columns, blocks), float(1 << (bits - 1)))
    if zeros == "packed":
        given = _integers(bits, columns, blocks)
        zero_points, constants["zeros"] = given.float(), _packed(given, bits)
    elif zeros == "float":
        constants["zeros"] = zero_points = torch.rand(columns, blocks) * (1 << bits)
    model = program(
        tmp_path,
        f"""(float[2,3,{rows}] x) => (float[2,3,{columns}] y) {{
          y = com.microsoft.MatMulNBits<K={rows}, N={columns}, bits={bits}, block_size={_BLOCK}>
            (x, w, scales, {"zeros" if zeros != "none" else ""}, , bias)
        }}""",
        constants,
    )
    x = torch.randn(2, 3, rows)
    of_blocks = (integers.reshape(columns, blocks, -1) - zero_points[..., None]) * scales[..., None]
    expected = x @ of_blocks.flatten(1)[:, :rows].T + constants["bias"]
    _check(model(x)["y"], expected)


def test_rows_that_are_named_for_groups_have_their_scales(tmp_path: Path) -> None:
    integers = _integers(4, 6, 2 * _BLOCK)
    scales, groups = torch.rand(6, 2), torch.tensor([0, 1] * _BLOCK, dtype=torch.int32)
    model = program(
        tmp_path,
        """(float[3,32] x) => (float[3,6] y) {
          y = com.microsoft.MatMulNBits<K=32, N=6, bits=4, block_size=16>(x, w, scales, , groups)
        }""",
        {"w": _packed(integers.reshape(6, 2, _BLOCK), 4), "scales": scales, "groups": groups},
    )
    x = torch.randn(3, 32)
    expected = x @ ((integers - 8) * scales[:, groups.long()]).T
    _check(model(x)["y"], expected)


def test_weights_of_4_bits_stay_so(tmp_path: Path) -> None:
    """Of one row no matrix of floats is made, and the model's own order of bytes is not kept."""
    columns, rows = 48, 64
    integers, scales = _integers(4, columns, rows), torch.rand(columns, rows // _BLOCK)
    packed = _packed(integers.reshape(columns, -1, _BLOCK), 4)
    model = program(
        tmp_path,
        """(float[1,64] x) => (float[1,48] y) {
          y = com.microsoft.MatMulNBits<K=64, N=48, bits=4, block_size=16>(x, w, scales)
        }""",
        {"w": packed, "scales": scales},
    )
    x = torch.randn(1, rows)
    compiled = plumbline.compile(model, (x,))
    assert compiled.weight_bytes == packed.nbytes + scales.nbytes
    assert f"memref<{rows}x{columns // 2}xf32" not in compiled.stage("kernels")
    expected = x @ ((integers - 8) * scales.repeat_interleave(_BLOCK, 1)).T
    _check(compiled(x)[0], expected)


def test_rows_of_any_number_are_multiplied_with_weights_of_4_bits(tmp_path: Path) -> None:
    """Few of them one by one, each by a kernel that computes the weights as it reads them."""
    integers, scales = _integers(4, 128, 256), torch.rand(128, 256 // _BLOCK)
    model = program(
        tmp_path,
        """(float[rows,256] x) => (float[rows,128] y) {
          y = com.microsoft.MatMulNBits<K=256, N=128, bits=4, block_size=16>(x, w, scales)
        }""",
        {"w": _packed(integers.reshape(128, -1, _BLOCK), 4), "scales": scales},
    )
    x = torch.randn(9, 256)
    compiled = plumbline.compile(load_onnx(tmp_path / "model.onnx"))
    calls, _, _ = compiled.stage("kernels").partition("func.func private")
    assert calls.count("scf.if") == calls.count("scf.for") == 2
    expected = model(x)["y"]
    for count in (9, 3, 1):
        _check(compiled(x[:count])[0], expected[:count])
    assert compiled(x[:0])[0].shape == (0, 128)


@pytest.mark.parametrize(
    ("bits", "has_zeros", "target_cpu"),
    [
        (2, True, "baseline"),
        (4, False, "native"),
        (8, True, "native"),
        (8, False, "baseline"),
    ],
)
def test_rows_are_rounded_to_int8_where_a_model_allows(
    tmp_path: Path, bits: int, has_zeros: bool, target_cpu: str
) -> None:
    """Each block of a row by itself, as ONNX Runtime does; no sum of a block is in memory.

    The columns of each part of a byte fill one panel and a part of another one.
    """
    columns, rows, blocks = 40 * 8 // bits, 40, 3
    integers = _integers(bits, columns, blocks * _BLOCK)
    zeros = torch.full((columns, blocks), 1 << (bits - 1))
    if has_zeros:
        zeros = _integers(bits, columns, blocks)
    scales, bias = torch.rand(columns, blocks) + 0.5, torch.randn(columns)
    model = program(
        tmp_path,
        f"""(float[rows,{rows}] x) => (float[rows,{columns}] y) {{
          y = com.microsoft.MatMulNBits<
            K={rows}, N={columns}, bits={bits}, block_size={_BLOCK}, accuracy_level=4
          > (x, w, scales, {"zeros" if has_zeros else ""}, , bias)
        }}""",
        {
            "w": _packed(integers.reshape(columns, blocks, _BLOCK), bits),
            "scales": scales,
            "zeros": _packed(zeros, bits),
            "bias": bias,
        },
    )
    x = torch.randn(7, rows)
    x[3, 16:32] = 0
    # By 127 / 2.95 it is 86.5, by 127 times 1 / 2.95 a little more.
    x[4, :16] = torch.tensor([2.95, *[2.0092520713806152] * 15])
    of_blocks = torch.nn.functional.pad(x, (0, 8)).reshape(7, blocks, _BLOCK)
    most = of_blocks.abs().amax(-1, keepdim=True)
    per_unit = torch.where(most > 0, torch.full((), 127.0) / most, 0.0)
    rounded, by = (of_blocks * per_unit).round().double(), most / 127
    weights = (integers.reshape(columns, blocks, _BLOCK) - zeros[..., None]).double()
    sums = torch.einsum("mbk,nbk->mbn", rounded, weights)
    expected = ((sums * by * scales.T).sum(1) + bias).float()
    _check(model(x)["y"], expected)
    compiled = plumbline.compile(load_onnx(tmp_path / "model.onnx"), target_cpu=target_cpu)
    for count in (7, 2, 1):
        _check(compiled(x[:count])[0], expected[:count])
    assert compiled(x[:0])[0].shape == (0, columns)
    assert f"x{columns}xi32" not in compiled.stage("kernels")


def test_weights_may_be_arguments(tmp_path: Path) -> None:
    integers, scales = _integers(4, 8, 2 * _BLOCK), torch.rand(8, 2)
    model = program(
        tmp_path,
        """(float[3,32] x, uint8[8,2,8] w, float[8,2] scales) => (float[3,8] y) {
          y = com.microsoft.MatMulNBits<K=32, N=8, bits=4, block_size=16>(x, w, scales)
        }""",
    )
    x = torch.randn(3, 32)
    expected = x @ ((integers - 8) * scales.repeat_interleave(_BLOCK, 1)).T
    made = model(x, _packed(integers.reshape(8, 2, _BLOCK), 4), scales)["y"]
    _check(made, expected)


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_rows_of_embeddings_of_few_bits(tmp_path: Path, bits: int) -> None:
    integers, zeros, scales = _integers(bits, 7, 48), _integers(bits, 7, 3), torch.rand(7, 3)
    model = program(
        tmp_path,
        f"""(int64[2,3] at) => (float[2,3,48] y) {{
          y = com.microsoft.GatherBlockQuantized<bits={bits}, block_size=16>(w, at, scales, zeros)
        }}""",
        {"w": _packed(integers, bits), "scales": scales, "zeros": _packed(zeros, bits)},
    )
    at = torch.tensor([[0, 3, 6], [-1, 2, 2]])
    table = (integers - zeros.repeat_interleave(16, 1)) * scales.repeat_interleave(16, 1)
    _check(model(at)["y"], table[at])


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (1, 1)])
def test_embeddings_of_4_bits_along_any_axis(tmp_path: Path, axes: tuple[int, int]) -> None:
    """Elements of a type of 4 bits, which PyTorch holds in bytes."""
    axis, along = axes
    integers = torch.randint(-8, 8, (32, 48), generator=torch.Generator().manual_seed(1))
    sizes = [32, 48]
    sizes[along] //= 16
    scales = torch.rand(sizes)
    node = helper.make_node(
        "GatherBlockQuantized",
        ["w", "at", "scales"],
        ["y"],
        domain="com.microsoft",
        block_size=16,
        gather_axis=axis,
        quantize_axis=along,
    )
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info("at", TensorProto.INT64, [5])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [
            helper.make_tensor("w", TensorProto.INT4, [32, 48], integers.flatten().tolist()),
            onnx.numpy_helper.from_array(scales.numpy(), "scales"),
        ],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save_model(
        helper.make_model(graph, opset_imports=opsets, ir_version=10), tmp_path / "model.onnx"
    )
    at = torch.tensor([3, 0, 31, -1, 3])
    table = integers * scales.repeat_interleave(16, along)
    made = OnnxProgram(tmp_path / "model.onnx")(at)["y"]
    _check(made, table.index_select(axis, at % table.shape[axis]))


@pytest.mark.parametrize(
    ("attribute", "message"), [("bits=3", "of 3 bits"), ("weight_prepacked=1", "for a GPU")]
)
def test_other_weights_are_refused(tmp_path: Path, attribute: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        program(
            tmp_path,
            f"""(float[3,32] x, uint8[8,2,8] w, float[8,2] scales) => (float[3,8] y) {{
              y = com.microsoft.MatMulNBits<K=32, N=8, block_size=16, {attribute}>(x, w, scales)
            }}""",
        )


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
