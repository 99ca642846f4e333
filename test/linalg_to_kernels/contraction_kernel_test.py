"""Runs kernels for contractions, with and without epilogues, at sizes around those of tiles."""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector
from torch_mlir.dialects import math as math_dialect

from plumbline.linalg_to_kernels.contraction_loops import Place
from plumbline.linalg_to_kernels.contraction_plan import RightOperand, Strategy
from plumbline.linalg_to_kernels.vectors import add, cast, masked_load, multiply_add, splat
from test.linalg_to_kernels.kernel import Array, Contraction, Kernel, zeros_like_result

_CPUS = ("native", "baseline", "x86-64")
_PRODUCT = ("d0, d2", "d2, d1", "d0, d1")
_OF_TRANSPOSED = ("d0, d2", "d1, d2", "d0, d1")


def _random(shape: Sequence[int], dtype: str = "float32") -> Array:
    numbers = np.random.default_rng(0).integers(-4, 5, shape)
    return (numbers / 4 if dtype.startswith("float") else numbers).astype(dtype)


def _relu(value: ir.Value) -> ir.Value:
    zero = splat(value.type, 0)
    return arith.select(arith.cmpf(arith.CmpFPredicate.OLT, value, zero), zero, value)


# Quarters: their products and sums are exact, so results have to be equal.
@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("maps", [_PRODUCT, _OF_TRANSPOSED], ids=["product", "of_transposed"])
@pytest.mark.parametrize("constants", [frozenset(), frozenset({1})], ids=["given", "packed"])
def test_sizes_known_when_it_runs(
    maps: tuple[str, str, str], constants: frozenset[int], target_cpu: str
) -> None:
    kernel = Kernel(Contraction(maps, (2,), ((None, None),) * 3), target_cpu, constants=constants)
    sizes = [(0, 5, 7), (5, 0, 7), (5, 7, 0), (197, 77, 71), (3, 1, 1), (64, 64, 64)]
    sizes += [(rows, 13, 1 + 7 * rows) for rows in range(1, 18)]
    for rows, summed, columns in sizes:
        left, right = _random((rows, summed)), _random((summed, columns))
        result = zeros_like_result((rows, columns), "float32")
        kernel(left, right if maps is _PRODUCT else right.T.copy(), result)
        np.testing.assert_array_equal(result, left @ right)


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("rows", [1, 2, 3, 6, 10, 17])
@pytest.mark.parametrize("maps", [_PRODUCT, _OF_TRANSPOSED], ids=["product", "of_transposed"])
def test_few_rows(maps: tuple[str, str, str], rows: int, target_cpu: str) -> None:
    sizes = [(1, 1), (5, 3), (100, 77), (257, 130)]
    # Of these the matrix is larger than a second cache.
    sizes += [(520, 2049), (9999, 7), (2, 40000)]
    for summed, columns in sizes:
        left, right = _random((rows, summed)), _random((summed, columns))
        given = right if maps is _PRODUCT else right.T.copy()
        shapes = (left.shape, given.shape, (rows, columns))
        kernel = Kernel(Contraction(maps, (2,), shapes), target_cpu)
        result = zeros_like_result((rows, columns), "float32")
        kernel(left, given, result)
        np.testing.assert_array_equal(result, left @ right)


def test_strategies_by_sizes() -> None:
    def of(
        maps: tuple[str, str, str],
        rows: int,
        summed: int,
        columns: int,
        constants: frozenset[int] = frozenset(),
        target_cpu: str = "baseline",
    ) -> tuple[Strategy, RightOperand]:
        right = (summed, columns) if maps is _PRODUCT else (columns, summed)
        shapes = ((rows, summed), right, (rows, columns))
        plan = Kernel(Contraction(maps, (2,), shapes), target_cpu, constants=constants).plan
        return plan.strategy, plan.right_operand

    tiles, dots = Strategy.REGISTER_TILES, Strategy.DOT_PRODUCTS
    weighted = Strategy.WEIGHTED_ROWS
    assert of(_PRODUCT, 128, 64, 64) == (tiles, RightOperand.COPIED)
    assert of(_PRODUCT, 128, 64, 64, frozenset({1})) == (tiles, RightOperand.PACKED)
    assert of(_PRODUCT, 1, 64, 64) == (tiles, RightOperand.IN_PLACE)
    assert of(_PRODUCT, 1, 768, 768) == (weighted, RightOperand.IN_PLACE)
    assert of(_PRODUCT, 10, 768, 768)[0] == weighted
    assert of(_PRODUCT, 12, 768, 768)[0] == tiles
    assert of(_PRODUCT, 1, 768, 768, frozenset({1}))[0] == tiles
    assert of(_OF_TRANSPOSED, 64, 64, 64) == (tiles, RightOperand.TRANSPOSED)
    assert of(_OF_TRANSPOSED, 1, 64, 64) == (dots, RightOperand.TRANSPOSED)
    assert of(_OF_TRANSPOSED, 2, 768, 768)[0] == dots
    assert of(_OF_TRANSPOSED, 6, 64, 64)[0] == dots
    assert of(_OF_TRANSPOSED, 7, 64, 64)[0] == tiles
    # A long way down columns is no way to read a left operand.
    assert of(_PRODUCT, 96, 8192, 512) == (tiles, RightOperand.COPIED)
    # Nor is to bring it from memory for each panel, of which few are left if it is transposed.
    assert of(_PRODUCT, 32, 1024, 1024) == (tiles, RightOperand.COPIED)
    # A row of a panel is a cache line, or several.
    assert of(_PRODUCT, 48, 768, 768) == (tiles, RightOperand.COPIED)
    avx512 = partial(of, target_cpu="x86-64-v4")
    assert avx512(_PRODUCT, 48, 768, 768) == (tiles, RightOperand.IN_PLACE)
    assert avx512(_PRODUCT, 128, 768, 768) == (tiles, RightOperand.COPIED)
    # A matrix times a vector reads the matrix as it lies.
    assert of(_PRODUCT, 64, 64, 1)[0] == dots


@pytest.mark.parametrize(("rows", "products"), [(None, 6 * 4 + 3 * 4), (600, 6 * 4)])
def test_few_rows_of_an_unknown_number_are_half_a_tile(rows: int | None, products: int) -> None:
    shapes = ((rows, 64), (64, 128), (rows, 128))
    contraction = Contraction(_PRODUCT, (2,), shapes)
    kernel = Kernel(contraction, "x86-64-v4", constants=frozenset({1}))
    assert kernel.text.count("fmul contract <16 x float>") == products


def test_weights_far_away_are_packed() -> None:
    """Not read row by row as the left operand, though tiles of 6 rows leave less over there."""
    shapes = ((64, 4096), (1024, 4096), (64, 1024))
    contraction = Contraction(_OF_TRANSPOSED, (2,), shapes)
    plan = Kernel(contraction, "x86-64-v4", constants=frozenset({1})).plan
    assert plan.right_operand is RightOperand.PACKED


def test_panels_are_packed_block_by_block_for_one_chunk_of_rows() -> None:
    def packs(maps: tuple[str, str, str], rows: int, summed: int, columns: int) -> bool:
        left, right = _random((rows, summed)), _random((summed, columns))
        given = right if maps is _PRODUCT else right.T.copy()
        if maps is gathered:
            given = np.stack([given, given], axis=-1)
        kernel = Kernel(
            Contraction(maps, (2,), (left.shape, given.shape, (rows, columns))), "baseline"
        )
        result = zeros_like_result((rows, columns), "float32")
        kernel(left, given, result)
        np.testing.assert_array_equal(result, left @ right)
        return kernel.plan.packs_blocks

    gathered = ("d0, d2", "d1, d2, 0", "d0, d1")
    for maps in (_PRODUCT, _OF_TRANSPOSED, gathered):
        assert packs(maps, 50, 1000, 50)
        assert not packs(maps, 50, 100, 50)
    assert not packs(_PRODUCT, 300, 1000, 300)


def test_images_are_copied_that_each_element_of_brings_a_cache_line_for() -> None:
    def copies(stride: int, channels: int) -> bool:
        image = _random((1, 40, 7 * stride, 7 * stride))
        weight = _random((channels, 40, 1, 1))
        maps = (f"d0, d4, d2*{stride}, d3*{stride}", "d1, d4, 0, 0", "d0, d1, d2, d3")
        shapes = (image.shape, weight.shape, (1, channels, 7, 7))
        kernel = Kernel(Contraction(maps, (4,), shapes), "baseline", constants=frozenset({1}))
        result = zeros_like_result(shapes[2], "float32")
        kernel(image, weight, result)
        taken = image[:, :, ::stride, ::stride]
        expected = np.einsum("ncyx,oc->noyx", taken, weight[:, :, 0, 0])
        np.testing.assert_array_equal(result, expected)
        return kernel.plan.copies_left

    assert copies(2, 300)
    assert not copies(2, 20)
    assert not copies(1, 300)


def test_windows_of_a_chunk_stay_in_the_second_cache() -> None:
    def chunk(stride: int, channels: int, size: int) -> int:
        read = size * stride + 3 - stride
        image, weight = _random((1, channels, read, read)), _random((128, channels, 3, 3))
        maps = (
            f"d0, d4, d2*{stride}+d5, d3*{stride}+d6",
            "d1, d4, d5, d6",
            "d0, d1, d2, d3",
        )
        shapes = (image.shape, weight.shape, (1, 128, size, size))
        kernel = Kernel(Contraction(maps, (4, 5, 6), shapes), "baseline", constants=frozenset({1}))
        result = zeros_like_result(shapes[2], "float32")
        kernel(image, weight, result)
        expected = sum(
            np.einsum(
                "ncyx,oc->noyx",
                image[:, :, y : y + size * stride : stride, x : x + size * stride : stride],
                weight[:, :, y, x],
            )
            for y in range(3)
            for x in range(3)
        )
        np.testing.assert_array_equal(result, expected)
        return kernel.plan.chunk

    usual = chunk(1, 128, 28)
    assert chunk(2, 128, 28) < usual
    # Half of them would not stay there either.
    assert chunk(2, 384, 28) == usual


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("columns", [96, 101])
def test_many_rows_are_outermost_where_panels_are_near(columns: int, target_cpu: str) -> None:
    left, right = _random((2501, 64)), _random((64, columns))

    def kernel(rows: int) -> Kernel:
        shapes = ((rows, 64), right.shape, (rows, columns))
        return Kernel(Contraction(_PRODUCT, (2,), shapes), target_cpu, constants=frozenset({1}))

    # A left operand that stays near, or a few rows for many threads, is gone over panel by panel.
    assert not kernel(200).plan.rows_outermost
    outermost = kernel(2501)
    assert outermost.plan.rows_outermost
    result = zeros_like_result((2501, columns), "float32")
    outermost(left, right, result)
    np.testing.assert_array_equal(result, left @ right)


def test_of_two_far_operands_the_smaller_one_is_gone_over() -> None:
    def rows_outermost(rows: int, summed: int, columns: int) -> bool:
        shapes = ((rows, summed), (summed, columns), (rows, columns))
        contraction = Contraction(_PRODUCT, (2,), shapes)
        return Kernel(contraction, "x86-64-v4", constants=frozenset({1})).plan.rows_outermost

    assert rows_outermost(4096, 1024, 1024)
    # However many panels go over it.
    assert not rows_outermost(512, 2048, 5632)
    assert not rows_outermost(300, 1024, 4096)


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize(
    ("types", "dtypes", "result_type"),
    [
        (("f64", "f64", "f64"), ("float64", "float64"), "float64"),
        (("f16", "f16", "f32"), ("float16", "float16"), "float32"),
        (("i8", "i8", "i32"), ("int8", "int8"), "int32"),
        (("i32", "i32", "i32"), ("int32", "int32"), "int32"),
    ],
)
def test_element_types(
    types: tuple[str, str, str], dtypes: tuple[str, str], result_type: str, target_cpu: str
) -> None:
    if types[0] == "f16" and target_cpu == "x86-64":
        pytest.skip("without F16C it calls functions that only C programs have")
    # Of the last one panels are packed block by block.
    for rows, summed, columns in ((1, 40, 21), (33, 40, 21), (70, 3, 65), (20, 700, 33)):
        for maps in (_PRODUCT, _OF_TRANSPOSED):
            left, right = _random((rows, summed), dtypes[0]), _random((summed, columns), dtypes[1])
            given = right if maps is _PRODUCT else right.T.copy()
            shapes = (left.shape, given.shape, (rows, columns))
            for constants in (frozenset[int](), frozenset({1})):
                kernel = Kernel(
                    Contraction(maps, (2,), shapes, types), target_cpu, constants=constants
                )
                result = zeros_like_result((rows, columns), result_type)
                kernel(left, given, result)
                exact = left.astype(result_type) @ right.astype(result_type)
                np.testing.assert_array_equal(result, exact)


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("type_", ["i8", "i16"])
def test_windows_of_integers(type_: str, target_cpu: str) -> None:
    """Of which several in a row are multiplied at once, or converted, in as many windows each."""
    dtype = type_.replace("i", "int")
    image, weight = _random((6, 40), dtype), _random((70, 6, 4), dtype)
    maps = ("d2, d1+d3", "d0, d2, d3", "d0, d1")
    shapes = (image.shape, weight.shape, (70, 37))
    kernel = Kernel(
        Contraction(maps, (2, 3), shapes, (type_, type_, "i32")),
        target_cpu,
        constants=frozenset({1}),
    )
    result = zeros_like_result(shapes[2], "int32")
    kernel(image, weight, result)
    windows = np.lib.stride_tricks.sliding_window_view(image, 4, axis=1).astype("int32")
    np.testing.assert_array_equal(result, np.einsum("cxk,ock->ox", windows, weight))


@pytest.mark.parametrize("target_cpu", _CPUS)
def test_batches_of_rows_of_bytes(target_cpu: str) -> None:
    """Each is converted, where the result lies along them."""
    left, right = _random((3, 17, 64), "int8"), _random((333, 64), "int8")
    kernel = Kernel(
        Contraction(
            ("d0, d2, d3", "d1, d3", "d0, d1, d2"),
            (3,),
            (left.shape, right.shape, (3, 333, 17)),
            ("i8", "i8", "i32"),
        ),
        target_cpu,
        constants=frozenset({1}),
    )
    result = zeros_like_result((3, 333, 17), "int32")
    kernel(left, right, result)
    exact = np.einsum("blc,oc->bol", left.astype("int32"), right)
    np.testing.assert_array_equal(result, exact)


def _bias_and_relu(value: ir.Value, place: Place, more: Sequence[ir.Value]) -> ir.Value:
    """Bias along columns, and an addend of the result's own shape."""
    bias, addend = more
    value = add(value, masked_load(value.type, bias, place.index(1), place.mask))
    value = add(value, masked_load(value.type, addend, place.offset, place.mask))
    return _relu(value)


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("maps", [_PRODUCT, _OF_TRANSPOSED], ids=["product", "of_transposed"])
@pytest.mark.parametrize("rows", [1, 29])
def test_epilogue(rows: int, maps: tuple[str, str, str], target_cpu: str) -> None:
    left, right = _random((rows, 50)), _random((50, 37))
    bias, addend = _random((37,)), _random((rows, 37))
    given = right if maps is _PRODUCT else right.T.copy()
    shapes = (left.shape, given.shape, (rows, 37))
    kernel = Kernel(
        Contraction(maps, (2,), shapes),
        target_cpu,
        finish=_bias_and_relu,
        more=["memref<?xf32>"] * 2,
    )
    result = zeros_like_result((rows, 37), "float32")
    kernel(left, given, result, bias, addend.reshape(-1))
    np.testing.assert_array_equal(result, np.maximum(left @ right + bias + addend, 0))


def _bias_and_gelu(value: ir.Value, place: Place, more: Sequence[ir.Value]) -> ir.Value:
    value = add(value, masked_load(value.type, more[0], place.index(1), place.mask))
    scaled = arith.mulf(value, splat(value.type, 0.5**0.5))
    half = arith.mulf(value, splat(value.type, 0.5))
    return multiply_add(half, math_dialect.erf(scaled), half)


@pytest.mark.parametrize("constants", [frozenset(), frozenset({1})], ids=["given", "packed"])
def test_epilogue_with_mathematics(constants: frozenset[int]) -> None:
    left, weight, bias = _random((29, 50)), _random((37, 50)), _random((37,))
    kernel = Kernel(
        Contraction(_OF_TRANSPOSED, (2,), (left.shape, weight.shape, (29, 37))),
        constants=constants,
        finish=_bias_and_gelu,
        more=["memref<?xf32>"],
    )
    result = zeros_like_result((29, 37), "float32")
    kernel(left, weight, result, bias)
    value = (left @ weight.T + bias).astype("float64")
    exact = value / 2 * (1 + np.vectorize(math.erf)(value / 2**0.5))
    np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-6)


def test_epilogue_casts() -> None:
    left, right = _random((29, 50), "float16"), _random((50, 37), "float16")
    shapes = (left.shape, right.shape, (29, 37))
    kernel = Kernel(
        Contraction(_PRODUCT, (2,), shapes, ("f16", "f16", "f32")),
        "baseline",
        finish=lambda value, place, more: cast(value, ir.F16Type.get()),
        result_type="f16",
    )
    result = zeros_like_result((29, 37), "float16")
    kernel(left, right, result)
    exact = left.astype("float32") @ right.astype("float32")
    np.testing.assert_array_equal(result, exact.astype("float16"))


def _bias_of_channel_and_gate(value: ir.Value, place: Place, more: Sequence[ir.Value]) -> ir.Value:
    bias = vector.broadcast(value.type, memref.load(more[0], [place.index(1)]))
    value = add(value, bias)
    return multiply_add(value, value, splat(value.type, 1))


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("constants", [frozenset(), frozenset({1})], ids=["given", "packed"])
@pytest.mark.parametrize(
    ("channels", "size", "window", "stride"),
    [
        ((5, 20), 9, 3, 1),
        ((3, 33), 12, 3, 2),
        ((40, 64), 7, 1, 1),
        ((64, 32), 9, 1, 2),
    ],
)
def test_windows_with_epilogue(
    channels: tuple[int, int],
    size: int,
    window: int,
    stride: int,
    constants: frozenset[int],
    target_cpu: str,
) -> None:
    out = (size - window) // stride + 1
    image, weight = (
        _random((2, channels[0], size, size)),
        _random((*channels[::-1], window, window)),
    )
    bias = _random((channels[1],))
    maps = (f"d0, d4, d2*{stride} + d5, d3*{stride} + d6", "d1, d4, d5, d6", "d0, d1, d2, d3")
    shapes = (image.shape, weight.shape, (2, channels[1], out, out))
    kernel = Kernel(
        Contraction(maps, (4, 5, 6), shapes),
        target_cpu,
        constants=constants,
        finish=_bias_of_channel_and_gate,
        more=["memref<?xf32>"],
    )
    assert kernel.plan.lanes_along[-1] == 3
    result = zeros_like_result(shapes[2], "float32")
    kernel(image, weight, result, bias)
    windows = np.lib.stride_tricks.sliding_window_view(image, (window, window), (2, 3))
    windows = windows[:, :, ::stride, ::stride]
    value = np.einsum("ncyxij,ocij->noyx", windows, weight) + bias[:, None, None]
    np.testing.assert_array_equal(result, value * value + 1)


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("size", [(9, 9), (17, 40), (3, 7)])
@pytest.mark.parametrize(
    ("window", "stride", "dilation"),
    [((3, 3), (1, 1), (1, 1)), ((3, 3), (2, 2), (1, 1)), ((3, 2), (1, 3), (1, 2))],
)
def test_depthwise(
    window: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    size: tuple[int, int],
    target_cpu: str,
) -> None:
    _check_depthwise(window, stride, dilation, size, target_cpu)


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("constants", [frozenset(), frozenset({1})], ids=["given", "packed"])
def test_planes_of_sizes_known_when_it_runs(constants: frozenset[int], target_cpu: str) -> None:
    image_map, result_map = "d0, d4, d2 + d5, d3 + d6", "d0, d1, d2, d3"
    weight = _random((20, 6, 3, 3))
    shapes = ((None, 6, None, None), weight.shape, (None, 20, None, None))
    many = Kernel(
        Contraction((image_map, "d1, d4, d5, d6", result_map), (4, 5, 6), shapes),
        target_cpu,
        constants=constants,
    )
    plane_weight = _random((6, 3, 3))
    image_map = "d0, d1, d2 + d4, d3 + d5"
    shapes = ((None, 6, None, None), plane_weight.shape, (None, 6, None, None))
    each = Kernel(Contraction((image_map, "d1, d4, d5", result_map), (4, 5), shapes), target_cpu)
    assert each.plan.strategy is Strategy.DEPTHWISE
    for batch, height, width in ((1, 3, 3), (2, 12, 19), (3, 9, 34)):
        image = _random((batch, 6, height, width))
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (2, 3))
        result = zeros_like_result((batch, 20, height - 2, width - 2), "float32")
        many(image, weight, result)
        np.testing.assert_array_equal(result, np.einsum("ncyxij,ocij->noyx", windows, weight))
        result = zeros_like_result((batch, 6, height - 2, width - 2), "float32")
        each(image, plane_weight, result)
        np.testing.assert_array_equal(result, np.einsum("ncyxij,cij->ncyx", windows, plane_weight))


@pytest.mark.parametrize("image", [56, 7])
def test_a_batch_that_is_not_known_is_planned_for_like_one_that_is(image: int) -> None:
    maps = ("d0, d4, d2 + d5, d3 + d6", "d1, d4, d5, d6", "d0, d1, d2, d3")
    known, not_known = (
        Kernel(
            Contraction(
                maps,
                (4, 5, 6),
                ((batch, 64, image + 2, image + 2), (64, 64, 3, 3), (batch, 64, image, image)),
            ),
            constants=frozenset({1}),
        ).plan
        for batch in (2, None)
    )
    assert known.right_operand is not_known.right_operand is RightOperand.PACKED
    assert (known.rows, known.columns) == (not_known.rows, not_known.columns)


def test_signals_that_are_not_known_are_planned_for_like_long_ones() -> None:
    """However many there are, other than images, of which both sizes are not known."""
    maps = ("d0, d3, d2 + d4", "d1, d3, d4", "d0, d1, d2")
    known, not_known = (
        Kernel(
            Contraction(
                maps,
                (3, 4),
                ((batch, 16, length and length + 1), (64, 16, 2), (batch, 64, length)),
            ),
            "x86-64-v4",
            constants=frozenset({1}),
        ).plan
        for batch, length in ((8, 1024), (None, None))
    )
    assert known.stores_columns
    assert not_known.stores_columns


@pytest.mark.parametrize("target_cpu", ["baseline", "x86-64-v4"])
def test_windows_along_columns_are_read_where_they_are(target_cpu: str) -> None:
    """Copied, an image would be nine times as large."""
    maps = ("d0, d4, d2 + d5, d3 + d6", "d1, d4, d5, d6", "d0, d1, d2, d3")
    shapes = ((4, 16, 66, 66), (32, 16, 3, 3), (4, 32, 64, 64))
    contraction = Contraction(maps, (4, 5, 6), shapes)
    plan = Kernel(contraction, target_cpu, constants=frozenset({1})).plan
    assert plan.stores_columns == (target_cpu == "x86-64-v4")
    assert plan.right_operand is not RightOperand.COPIED


def test_depthwise_of_large_windows() -> None:
    _check_depthwise((7, 7), (1, 1), (1, 1), (20, 25), "native")
    _check_depthwise((5, 13), (2, 1), (1, 1), (20, 25), "native")
    # One that only moves across, and a result of one row.
    _check_depthwise((1, 5), (1, 1), (1, 1), (8, 25), "native")
    _check_depthwise((3, 3), (1, 1), (1, 1), (3, 25), "native")


_AROUND = ((1, 1), (1, 1))


# Planes of one strip and of several; windows that begin in each phase; zeros of which a strip is
# full, or that no window gets to; strips with fewer columns than a vector has lanes.
@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize(
    ("window", "stride", "dilation", "size", "pads"),
    [
        ((3, 3), (1, 1), (1, 1), (14, 14), _AROUND),
        ((3, 3), (1, 1), (1, 1), (7, 7), _AROUND),
        ((3, 3), (1, 1), (1, 1), (3, 2), ((2, 1), (0, 3))),
        ((3, 3), (2, 2), (1, 1), (15, 16), _AROUND),
        ((3, 3), (2, 2), (1, 1), (70, 150), ((0, 1), (0, 1))),
        ((3, 2), (1, 3), (1, 2), (12, 40), ((0, 0), (2, 4))),
        ((2, 3), (3, 4), (2, 3), (30, 61), ((3, 0), (5, 6))),
        ((7, 7), (1, 1), (1, 1), (14, 15), ((3, 3), (3, 3))),
        ((5, 13), (2, 2), (1, 1), (20, 25), ((2, 2), (6, 6))),
        ((3, 3), (1, 1), (1, 1), (90, 300), _AROUND),
        ((1, 3), (1, 2), (1, 1), (9, 9), ((0, 0), (1, 1))),
        ((3, 1), (1, 2), (1, 1), (9, 33), ((1, 1), (1, 0))),
        ((3, 3), (1, 1), (1, 1), (2, 5), ((40, 50), (150, 300))),
        ((3, 3), (2, 2), (1, 1), (2, 5), ((40, 50), (151, 300))),
        ((3, 3), (1, 1), (1, 1), (1, 9), ((1, 1), (1, 1))),
    ],
)
def test_depthwise_pads_what_it_reads(
    window: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    size: tuple[int, int],
    pads: tuple[tuple[int, int], ...],
    target_cpu: str,
) -> None:
    _check_depthwise(window, stride, dilation, size, target_cpu, pads)


@pytest.mark.parametrize("target_cpu", _CPUS)
def test_padded_planes_of_sizes_known_when_it_runs(target_cpu: str) -> None:
    weight, pads = _random((6, 3, 3)), ((0, 0), (0, 0), (1, 2), (2, 1))
    image_map, result_map = "d0, d1, d2*2 + d4, d3*2 + d5", "d0, d1, d2, d3"
    shapes = ((None, 6, None, None), weight.shape, (None, 6, None, None))
    contraction = Contraction((image_map, "d1, d4, d5", result_map), (4, 5), shapes, pads=pads)
    kernel = Kernel(contraction, target_cpu)
    for shape in ((0, 6, 4, 4), (1, 6, 1, 1), (2, 6, 13, 29), (3, 6, 40, 130)):
        image = _random(shape)
        windows = _windows(np.pad(image, pads), (3, 3))[:, :, ::2, ::2]
        result = zeros_like_result(windows.shape[:4], "float32")
        kernel(image, weight, result)
        np.testing.assert_array_equal(result, np.einsum("ncyxij,cij->ncyx", windows, weight))


@pytest.mark.parametrize("target_cpu", _CPUS)
def test_padded_volumes(target_cpu: str) -> None:
    # Zeros are before planes and after them too, and around planes of one row.
    for size, window in (((5, 6, 19), (3, 3, 3)), ((5, 1, 19), (3, 3, 2)), ((1, 4, 9), (3, 1, 3))):
        image, weight = _random((2, 3, *size)), _random((3, *window))
        pads = ((0, 0), (0, 0), (1, 1), (1, 1), (2, 1))
        padded = np.pad(image, pads)
        windows = np.lib.stride_tricks.sliding_window_view(padded, window, (2, 3, 4))
        shapes = (padded.shape, weight.shape, windows.shape[:5])
        maps = ("d0, d1, d2 + d5, d3 + d6, d4 + d7", "d1, d5, d6, d7", "d0, d1, d2, d3, d4")
        kernel = Kernel(Contraction(maps, (5, 6, 7), shapes, pads=pads), target_cpu)
        result = zeros_like_result(shapes[2], "float32")
        kernel(image, weight, result)
        np.testing.assert_array_equal(result, np.einsum("nczyxkij,ckij->nczyx", windows, weight))


@pytest.mark.parametrize("target_cpu", ["native", "baseline"])
@pytest.mark.parametrize(
    ("types", "dtype", "result_dtype"),
    [
        (("f64", "f64", "f64"), "float64", "float64"),
        (("f16", "f16", "f32"), "float16", "float32"),
        (("i8", "i8", "i32"), "int8", "int32"),
    ],
)
@pytest.mark.parametrize("stride", [1, 2])
def test_element_types_of_depthwise(
    stride: int, types: tuple[str, str, str], dtype: str, result_dtype: str, target_cpu: str
) -> None:
    for size, pads in (((5, 5), ()), ((9, 41), ()), ((5, 5), _AROUND), ((9, 41), _AROUND)):
        image, weight = _random((2, 5, *size), dtype), _random((5, 3, 3), dtype)
        whole = ((0, 0), (0, 0), *pads) if pads else ()
        padded = np.pad(image, whole) if whole else image
        windows = _windows(padded, (3, 3))[:, :, ::stride, ::stride].astype(result_dtype)
        maps = (f"d0, d1, d2*{stride} + d4, d3*{stride} + d5", "d1, d4, d5", "d0, d1, d2, d3")
        shapes = (padded.shape, weight.shape, windows.shape[:4])
        kernel = Kernel(Contraction(maps, (4, 5), shapes, types, pads=whole), target_cpu)
        assert kernel.plan.strategy is Strategy.DEPTHWISE
        result = zeros_like_result(shapes[2], result_dtype)
        kernel(image, weight, result)
        exact = np.einsum("ncyxij,cij->ncyx", windows, weight.astype(result_dtype))
        np.testing.assert_array_equal(result, exact)


@pytest.mark.parametrize("target_cpu", _CPUS)
def test_padded_axes_that_windows_do_not_cover(target_cpu: str) -> None:
    """Planes and rows that are all zeros, of which there are more than the image has."""
    weight, pads = _random((6, 3)), ((1, 0), (2, 1), (1, 3), (1, 1))
    maps = ("d0, d1, d2, d3 + d4", "d1, d4", "d0, d1, d2, d3")
    shapes = ((None, 6, None, None), weight.shape, (None, 6, None, None))
    kernel = Kernel(Contraction(maps, (4,), shapes, pads=pads), target_cpu)
    # Several rows are computed at once nonetheless.
    assert kernel.plan.rows == (2,)
    assert kernel.plan.tile.rows > 1
    image = _random((2, 3, 7, 20))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, pads), 3, 3)
    result = zeros_like_result(windows.shape[:4], "float32")
    kernel(image, weight, result)
    np.testing.assert_array_equal(result, np.einsum("ncyxj,cj->ncyx", windows, weight))


def _windows(image: Array, extent: tuple[int, int]) -> Array:
    return np.lib.stride_tricks.sliding_window_view(image, extent, (2, 3))


def test_large_windows_are_read_where_they_are() -> None:
    """A strip with them would be too large for the stack: they are not padded on the way."""
    size = 150
    image, weight = _random((1, 3, size, size + 20)), _random((3, size - 3, size - 3))
    windows = _windows(image, weight.shape[1:])
    maps = ("d0, d1, d2 + d4, d3 + d5", "d1, d4, d5", "d0, d1, d2, d3")
    contraction = Contraction(maps, (4, 5), (image.shape, weight.shape, windows.shape[:4]))
    kernel = Kernel(contraction)
    assert kernel.plan.right_operand is RightOperand.IN_PLACE
    result = zeros_like_result(windows.shape[:4], "float32")
    kernel(image, weight, result)
    exact = np.einsum("ncyxij,cij->ncyx", windows, weight, optimize=True)
    np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-3)
    with pytest.raises(AssertionError):
        Kernel(replace(contraction, pads=((0, 0), (0, 0), *_AROUND)))


def _check_depthwise(
    window: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    size: tuple[int, int],
    target_cpu: str,
    pads: tuple[tuple[int, int], ...] = (),
) -> None:
    image, weight, bias = _random((2, 5, *size)), _random((5, *window)), _random((5,))
    whole = ((0, 0), (0, 0), *pads) if pads else ()
    padded = np.pad(image, whole) if whole else image
    extent = [(count - 1) * by + 1 for count, by in zip(window, dilation, strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, extent, (2, 3))
    windows = windows[:, :, :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]
    value = np.einsum("ncyxij,cij->ncyx", windows, weight) + bias[:, None, None]
    axes = [f"d{2 + at}*{stride[at]} + d{4 + at}*{dilation[at]}" for at in range(2)]
    kernel = Kernel(
        Contraction(
            (f"d0, d1, {axes[0]}, {axes[1]}", "d1, d4, d5", "d0, d1, d2, d3"),
            (4, 5),
            (padded.shape, weight.shape, value.shape),
            pads=whole,
        ),
        target_cpu,
        finish=_bias_of_channel_and_gate,
        more=["memref<?xf32>"],
    )
    assert kernel.plan.strategy is Strategy.DEPTHWISE
    result = zeros_like_result(value.shape, "float32")
    kernel(image, weight, result, bias)
    np.testing.assert_array_equal(result, value * value + 1)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
