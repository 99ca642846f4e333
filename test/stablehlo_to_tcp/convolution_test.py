"""Convolutions of StableHLO, compiled and held against its interpreter and PyTorch."""

# ruff: noqa: E501 - lines of MLIR are as long as its types

import sys
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from test.stablehlo_to_tcp.program import Case, check, compiled


def _conv(
    name: str,
    source: str,
    weight: str,
    result: str,
    layout: str,
    window: str = "",
    *,
    groups: int = 1,
    batch_groups: int = 1,
    dtypes: str = "f32 f32 f32",
    sizes: dict[str, int] | None = None,
) -> Case:
    a, b, r = (
        f"tensor<{shape}x{dtype}>"
        for shape, dtype in zip((source, weight, result), dtypes.split(), strict=True)
    )
    # The interpreter multiplies and sums in the type of the operands.
    *_, dtype = dtypes.split()
    dtype = "f64" if "f" in dtype else dtype
    wide = [f"tensor<{shape}x{dtype}>" for shape in (source, weight, result)]

    def convolution(x: str, y: str, types: Sequence[str]) -> str:
        return f"""
  %0 = stablehlo.convolution({x}, {y}) dim_numbers = {layout}, window = {{{window}}}
    {{feature_group_count = {groups} : i64, batch_group_count = {batch_groups} : i64}} : ({types[0]}, {types[1]}) -> {types[2]}"""

    return Case(
        f"{name} {dtypes}",
        f"%a: {a}, %b: {b}",
        r,
        f"{convolution('%a', '%b', (a, b, r))}\n  return %0 : {r}",
        sizes or {},
        as_interpreted=f"""
  %2 = stablehlo.convert %a : ({a}) -> {wide[0]}
  %3 = stablehlo.convert %b : ({b}) -> {wide[1]}{convolution("%2", "%3", wide)}
  %4 = stablehlo.convert %0 : ({wide[2]}) -> {r}
  return %4 : {r}""",
    )


TORCH_2D = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"
JAX_2D = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"

STATIC = [
    _conv("1d", "2x3x9", "4x3x3", "2x4x7", "[b, f, 0]x[o, i, 0]->[b, f, 0]"),
    _conv(
        "3d",
        "1x2x4x5x6",
        "3x2x2x2x2",
        "1x3x3x4x5",
        "[b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2]",
    ),
    *(
        _conv("2d", "2x3x7x8", "4x3x3x2", "2x4x5x7", TORCH_2D, dtypes=dtypes)
        for dtypes in (
            "f32 f32 f32",
            "f64 f64 f64",
            "bf16 bf16 bf16",
            "bf16 bf16 f32",
            "i8 i8 i32",
            "ui8 ui8 ui32",
        )
    ),
    _conv(
        "jax layout",
        "2x7x8x3",
        "3x2x3x4",
        "2x4x5x4",
        JAX_2D,
        "stride = [2, 2], pad = [[1, 1], [0, 3]]",
    ),
    _conv("dilated", "1x2x9x9", "3x2x3x3", "1x3x5x7", TORCH_2D, "rhs_dilate = [2, 1]"),
    _conv("groups", "2x4x5x5", "6x2x3x3", "2x6x3x3", TORCH_2D, groups=2),
    _conv("depthwise", "2x5x5x4", "3x3x1x8", "2x3x3x8", JAX_2D, groups=4),
    _conv("batch groups", "6x4x5x5", "4x4x3x3", "3x4x3x3", TORCH_2D, batch_groups=2),
    _conv(
        "negative padding", "1x2x9x9", "3x2x3x3", "1x3x6x7", TORCH_2D, "pad = [[-1, 0], [-2, 2]]"
    ),
    _conv("reversed", "1x2x5x5", "3x2x3x3", "1x3x3x3", TORCH_2D, "reverse = [true, false]"),
    _conv(
        "transposed",
        "2x3x4x5",
        "4x3x3x3",
        "2x4x9x11",
        TORCH_2D,
        "pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2]",
    ),
    _conv(
        "transposed groups",
        "2x4x4x4",
        "6x2x3x3",
        "2x6x7x7",
        TORCH_2D,
        "pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]",
        groups=2,
    ),
    _conv(
        "transposed wide",
        "1x2x3x3",
        "3x2x2x2",
        "1x3x8x4",
        TORCH_2D,
        "pad = [[2, 2], [0, 0]], lhs_dilate = [2, 2]",
    ),
    _conv(
        "transposed, cut",
        "1x2x4x4",
        "3x2x2x3",
        "1x3x4x8",
        TORCH_2D,
        "pad = [[-1, -1], [0, 0]], lhs_dilate = [2, 3]",
    ),
    _conv(
        "transposed strides",
        "1x2x4x4",
        "3x2x3x3",
        "1x3x3x6",
        TORCH_2D,
        "stride = [3, 2], pad = [[1, 2], [2, 3]], lhs_dilate = [2, 3], rhs_dilate = [1, 2]",
    ),
    _conv("no batch", "0x3x7x8", "4x3x3x2", "0x4x5x7", TORCH_2D),
    _conv("no windows", "2x3x2x8", "4x3x3x2", "2x4x0x7", TORCH_2D),
]

DYNAMIC = [
    _conv("batch", "{n}x3x7x8", "4x3x3x2", "{n}x4x5x7", TORCH_2D, sizes={"n": 3}),
    _conv("jax batch", "{n}x7x8x3", "3x2x3x4", "{n}x5x7x4", JAX_2D, sizes={"n": 3}),
    _conv("images", "{n}x3x{m}x8", "4x3x1x2", "{n}x4x{m}x7", TORCH_2D, sizes={"n": 2, "m": 5}),
    _conv(
        "groups",
        "{n}x4x{m}x5",
        "6x2x3x3",
        "{n}x6x{m}x3",
        TORCH_2D,
        "pad = [[1, 1], [0, 0]]",
        groups=2,
        sizes={"n": 2, "m": 5},
    ),
    _conv(
        "transposed",
        "{n}x3x4x5",
        "4x3x3x3",
        "{n}x4x9x11",
        TORCH_2D,
        "pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2]",
        sizes={"n": 3},
    ),
]


@pytest.mark.parametrize("case", STATIC, ids=lambda case: case.name)
def test_agrees_with_the_interpreter(case: Case) -> None:
    check(case, dynamic=False)


@pytest.mark.parametrize("case", DYNAMIC, ids=lambda case: case.name)
def test_agrees_with_the_interpreter_at_dynamic_sizes(case: Case) -> None:
    check(case, dynamic=True)


def test_no_products_sum_up_to_zero() -> None:
    # The interpreter aborts on those.
    case = _conv("", "2x0x7x8", "4x0x3x2", "2x4x5x7", TORCH_2D)
    source, weight = np.zeros((2, 0, 7, 8), np.float32), np.zeros((4, 0, 3, 2), np.float32)
    (result,) = compiled(case.text({}))(source, weight)
    np.testing.assert_array_equal(result, np.zeros((2, 4, 5, 7)))


def test_any_layout_agrees_with_pytorch() -> None:
    # The interpreter aborts on a layout as odd as this.
    case = _conv("", "7x3x2x8", "3x3x4x2", "4x5x2x7", "[0, f, b, 1]x[0, i, o, 1]->[f, 0, b, 1]")
    source, weight = torch.rand(7, 3, 2, 8), torch.rand(3, 3, 4, 2)
    (result,) = compiled(case.text({}))(source.numpy(), weight.numpy())
    expected = torch.nn.functional.conv2d(source.permute(2, 1, 0, 3), weight.permute(2, 1, 0, 3))
    np.testing.assert_allclose(result, expected.permute(1, 2, 0, 3).numpy(), rtol=1e-5)


def test_groups_agree_with_pytorch() -> None:
    case = next(case for case in STATIC if case.name.startswith("groups"))
    source, weight = torch.rand(2, 4, 5, 5), torch.rand(6, 2, 3, 3)
    (result,) = compiled(case.text({}))(source.numpy(), weight.numpy())
    expected = torch.nn.functional.conv2d(source, weight, groups=2).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-5)


def test_transposed_agrees_with_pytorch() -> None:
    case = next(case for case in STATIC if case.name.startswith("transposed "))
    source, weight = torch.rand(2, 3, 4, 5), torch.rand(4, 3, 3, 3)
    (result,) = compiled(case.text({}))(source.numpy(), weight.numpy())
    turned = weight.flip(2, 3).transpose(0, 1)
    expected = torch.nn.functional.conv_transpose2d(source, turned, stride=2).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-5)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
