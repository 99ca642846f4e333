"""Fused ops of ONNX Runtime's own, held against what they are made of."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from plumbline.errors import UserError
from plumbline.onnx_to_torch.program import OnnxProgram
from test.onnx_to_torch.models import program

_TEXT, _IMAGE = "float[2,3,8]", "float[1,4,6,6]"


def _normal(*sizes: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(seed))


_GAMMA, _BETA, _BIAS = (_normal(8, seed=seed) for seed in range(1, 4))
_KERNELS = _normal(8, 4, 3, 3, seed=4)
_CONSTANTS = {
    "gamma": _GAMMA,
    "beta": _BETA,
    "bias": _BIAS,
    "kernels": _KERNELS,
    "matrix": _normal(8, 8, seed=6),
    "four": _normal(4, seed=7),
}


def _layer_norm(x: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, [8], _GAMMA, _BETA, 1e-3)


def _rms_norm(x: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(x, [8], _GAMMA, 1e-3)


def _channels_last(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    return lambda x, *others: function(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


def _groups(x: torch.Tensor) -> torch.Tensor:
    weight, bias = _CONSTANTS["four"], _CONSTANTS["four"]
    return functional.silu(functional.group_norm(x, 2, weight, bias))


_OPS: Sequence[tuple[str, str, Callable[..., torch.Tensor]]] = [
    (_TEXT, "BiasGelu(x, bias)", lambda x: functional.gelu(x + _BIAS)),
    (_TEXT, "FastGelu(x, bias)", lambda x: functional.gelu(x + _BIAS, approximate="tanh")),
    (_TEXT, "QuickGelu(x)", lambda x: x * torch.sigmoid(1.702 * x)),
    (
        _TEXT,
        "BiasSplitGelu(x, bias)",
        lambda x: (x + _BIAS)[..., :4] * functional.gelu((x + _BIAS)[..., 4:]),
    ),
    (_TEXT, "BiasAdd(x, bias, x)", lambda x: x + _BIAS + x),
    (
        _TEXT,
        "SkipLayerNormalization<epsilon=0.001>(x, x, gamma, beta, bias)",
        lambda x: _layer_norm(x + x + _BIAS),
    ),
    (
        _TEXT,
        "SkipSimplifiedLayerNormalization<epsilon=0.001>(x, x, gamma, bias)",
        lambda x: _rms_norm(x + x + _BIAS),
    ),
    (
        _TEXT,
        "FusedMatMul<transB=1, alpha=0.5>(x, matrix)",
        lambda x: 0.5 * x @ _CONSTANTS["matrix"].T,
    ),
    (
        "float[3,2,8]",
        "FusedMatMul<transBatchA=1>(x, matrix)",
        lambda x: x.transpose(0, 1) @ _CONSTANTS["matrix"],
    ),
    (
        "float[3,8]",
        'FusedGemm<activation="LeakyRelu", activation_alpha=0.2>(x, matrix, bias)',
        lambda x: functional.leaky_relu(x @ _CONSTANTS["matrix"] + _BIAS, 0.2),
    ),
    (
        _IMAGE,
        'FusedConv<activation="Clip", activation_params=[-0.5, 0.7]>(x, kernels, bias)',
        lambda x: functional.conv2d(x, _KERNELS, _BIAS).clamp(-0.5, 0.7),
    ),
    (
        _IMAGE,
        'FusedConv<activation="HardSigmoid", activation_params=[0.3, 0.4]>(x, kernels)',
        lambda x: (functional.conv2d(x, _KERNELS) * 0.3 + 0.4).clamp(0, 1),
    ),
    (
        "float[1,6,6,4]",
        "GroupNorm<groups=2, activation=1>(x, four, four)",
        _channels_last(_groups),
    ),
    (
        _IMAGE,
        "SkipGroupNorm<groups=2, activation=1, channels_last=0>(x, four, four, x, four)",
        lambda x: _groups(x + x + _CONSTANTS["four"][:, None, None]),
    ),
]


@pytest.mark.parametrize("op", _OPS, ids=lambda op: op[1].partition("(")[0].partition("<")[0])
def test_fused_ops(tmp_path: Path, op: tuple[str, str, Callable[..., torch.Tensor]]) -> None:
    type_, call, function = op
    sizes = [int(size) for size in type_.removeprefix("float[").removesuffix("]").split(",")]
    x = _normal(*sizes)
    expected = function(x)
    shape = ",".join(map(str, expected.shape))
    text = f"({type_} x) => (float[{shape}] y) {{ y = com.microsoft.{call} }}"
    made = program(tmp_path, text, _CONSTANTS)(x)["y"]
    torch.testing.assert_close(made, expected, rtol=1e-5, atol=1e-6)


def test_a_sum_goes_before_an_activation(tmp_path: Path) -> None:
    model = program(
        tmp_path,
        """(float[1,4,6,6] x, float[1,8,4,4] z) => (float[1,8,4,4] y) {
          y = com.microsoft.FusedConv<activation="Relu">(x, kernels, bias, z)
        }""",
        _CONSTANTS,
    )
    x, z = _normal(1, 4, 6, 6), _normal(1, 8, 4, 4, seed=9)
    expected = (functional.conv2d(x, _KERNELS, _BIAS) + z).relu()
    torch.testing.assert_close(model(x, z)["y"], expected)


def test_all_that_normalizations_give(tmp_path: Path) -> None:
    """In a version in which ONNX has neither, ONNX Runtime's tools write them as if it had."""
    model = program(
        tmp_path,
        f"""({_TEXT} x, {_TEXT} skip) => ({_TEXT} y, {_TEXT} sum, {_TEXT} z, float[2,3,1] mean,
            float[2,3,1] by, {_TEXT} r, float[2,3,1] root) {{
          y, , , sum = com.microsoft.SkipLayerNormalization<epsilon=0.001>(x, skip, gamma, beta)
          z, mean, by = LayerNormalization<epsilon=0.001>(x, gamma, beta)
          r, root = SimplifiedLayerNormalization<epsilon=0.001>(x, gamma)
        }}""",
        _CONSTANTS,
        opset=14,
    )
    x, skip = _normal(2, 3, 8), _normal(2, 3, 8, seed=8)
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    expected = {
        "y": _layer_norm(x + skip),
        "sum": x + skip,
        "z": _layer_norm(x),
        "mean": mean,
        "by": torch.rsqrt(variance + 1e-3),
        "r": _rms_norm(x),
        "root": torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-3),
    }
    for name, value in model(x, skip).items():
        torch.testing.assert_close(value, expected[name], rtol=1e-5, atol=1e-6)


def _embedding(folder: Path, *, quantized: bool) -> tuple[OnnxProgram, list[torch.Tensor]]:
    """A model, and the tables that it has: of words, places and segments, weight and bias."""
    names = ("words", "places", "segments", "gamma", "beta")
    sizes = ((9, 8), (6, 8), (2, 8), (8,), (8,))
    if not quantized:
        tables = {
            name: _normal(*size, seed=seed)
            for seed, (name, size) in enumerate(zip(names, sizes, strict=True))
        }
        call = "EmbedLayerNormalization(at, of, words, places, segments, gamma, beta, mask)"
        constants, held = tables, list(tables.values())
    else:
        integers = [
            torch.randint(
                0, 256, size, dtype=torch.uint8, generator=torch.Generator().manual_seed(1)
            )
            for size in sizes
        ]
        constants, held = {}, []
        for number, (name, table) in enumerate(zip(names, integers, strict=True)):
            scale, zero = torch.tensor(0.01 * (number + 1)), torch.tensor(120 + number)
            constants[name] = table
            constants[f"{name}_scale"] = scale
            constants[f"{name}_zero"] = zero.to(torch.uint8)
            held.append((table.float() - zero) * scale)
        more = [f"{name}_{part}" for part in ("scale", "zero") for name in names]
        call = f"QEmbedLayerNormalization(at, of, {', '.join(names)}, mask, {', '.join(more)})"
    text = f"""(int32[2,5] at, int32[2,5] of, int32[2,5] mask)
      => (float[2,5,8] y, int32[2] lengths) {{ y, lengths = com.microsoft.{call} }}"""
    return program(folder, text, constants), held


@pytest.mark.parametrize("quantized", [False, True])
def test_embeddings_are_normalized(tmp_path: Path, quantized: bool) -> None:
    model, (words, places, segments, gamma, beta) = _embedding(tmp_path, quantized=quantized)
    at = torch.tensor([[0, 8, 3, 3, 1], [5, 5, 2, 0, 0]], dtype=torch.int32)
    of = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]], dtype=torch.int32)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], dtype=torch.int32)
    y, lengths = model(at, of, mask).values()
    expected = functional.layer_norm(words[at] + places[:5] + segments[of], [8], gamma, beta, 1e-12)
    torch.testing.assert_close(y, expected, rtol=1e-5, atol=1e-5)
    assert lengths.tolist() == [5, 3]


def test_an_activation_that_there_is_not_is_refused(tmp_path: Path) -> None:
    text = """(float[3,8] x) => (float[3,8] y) {
      y = com.microsoft.FusedGemm<activation="Sparkle">(x, matrix)
    }"""
    model = program(tmp_path, text, _CONSTANTS)
    with pytest.raises(UserError, match=r"FusedGemm.*its activation is Sparkle"):
        model(_normal(3, 8))


if __name__ == "__main__":
    sys.exit(pytest.main([__file__]))
