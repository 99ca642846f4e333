"""Contractions by tiles compute what PyTorch does, and use what a GPU has for them.

Operands are small integers, so that sums are the same in any order and type.
"""

import re
import sys
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

import plumbline
from plumbline.linalg_to_gpu.contraction_tiles import TILES, Instruction, Tile
from test.linalg_to_gpu.emulated_programs import EmulatedProgram, Function, integers
from test.runtime.cuda.stand_in import driver

_ASYNCHRONOUS = "cp.async.cg.shared.global"
"""Copies of 16 bytes to shared memory."""
_BY_FOUR = "cp.async.ca.shared.global"
"""Of 4 or 8."""
_MMA = "mma.sync.aligned"
_TRANSPOSED = "ldmatrix.sync.aligned.m8n8.x4.trans"

_F16, _BF16, _S8 = torch.float16, torch.bfloat16, torch.int8

_LAYOUTS: dict[str, Callable[..., object]] = {
    "nn": lambda x, y: x @ y,
    "nt": lambda x, y: x @ y.t(),
    "tn": lambda x, y: x.t() @ y,
    "tt": lambda x, y: x.t() @ y.t(),
}


def _operands(layout: str, rows: int, columns: int, depth: int) -> list[tuple[int, ...]]:
    left, right = (rows, depth), (depth, columns)
    return [
        left[::-1] if layout[0] == "t" else left,
        right[::-1] if layout[1] == "t" else right,
    ]


@pytest.mark.parametrize("layout", _LAYOUTS)
@pytest.mark.parametrize("sizes", [(72, 136, 64), (71, 133, 45)], ids=["aligned", "odd"])
@pytest.mark.parametrize("dtype", [torch.float32, _F16, _BF16], ids=str)
def test_matrices(dtype: torch.dtype, sizes: tuple[int, int, int], layout: str) -> None:
    shapes = _operands(layout, *sizes)
    operands = [integers(*shape, dtype=dtype) for shape in shapes]
    program = EmulatedProgram(_LAYOUTS[layout], *operands)
    program.check(*operands)
    assert (_MMA in program.ptx) == (dtype != torch.float32)
    if dtype == torch.float32:
        assert "fma.rn.f32" in program.ptx
        assert _BY_FOUR in program.ptx or layout == "tn"
    elif sizes[0] == 72:
        # Rows of 128 bytes or more, whichever way they lie.
        assert _ASYNCHRONOUS in program.ptx
        assert (_TRANSPOSED in program.ptx) == (layout != "nt")


def _parts_of(program: EmulatedProgram, shape: str) -> int:
    """In how many parts the sums of a result are done, by the buffer that takes these."""
    return max(int(parts) for parts in re.findall(rf"memref<(\d+)x{shape}xf32>", program.gpu))


@pytest.mark.parametrize("depth", [1024, 1100, 1500])
@pytest.mark.parametrize("dtype", [torch.float32, _F16], ids=str)
def test_few_tiles_of_long_sums(dtype: torch.dtype, depth: int) -> None:
    """Several blocks do a part of the sums each; the epilogue comes when these are added up."""
    x, y = integers(40, depth, dtype=dtype), integers(depth, 70, dtype=dtype)
    bias = integers(70, dtype=dtype)
    program = EmulatedProgram(lambda x, y, bias: torch.relu(x @ y + bias), x, y, bias)
    program.check(x, y, bias)
    assert _parts_of(program, "1x40x70") > 4
    assert program.gpu.count("gpu.launch_func") == 2


def test_parts_of_convolutions_and_batches() -> None:
    image, kernel = integers(2, 160, 6, 6), integers(32, 160, 3, 3)
    program = EmulatedProgram(functional.conv2d, image, kernel)
    program.check(image, kernel)
    assert _parts_of(program, "1x32x32") > 4
    x, y = integers(3, 20, 2048), integers(3, 2048, 24)
    program = EmulatedProgram(torch.bmm, x, y)
    program.check(x, y)
    assert _parts_of(program, "3x20x24") > 4


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32, torch.int64], ids=str)
def test_other_types(dtype: torch.dtype) -> None:
    operands = integers(40, 37, dtype=dtype), integers(37, 130, dtype=dtype)
    EmulatedProgram(torch.matmul, *operands).check(*operands)


@pytest.mark.parametrize("layout", ["nn", "nt"])
def test_bytes(layout: str) -> None:
    """Of which only those that are contiguous along the sums go as they are."""
    operands = [integers(*shape, dtype=_S8) for shape in _operands(layout, 70, 48, 64)]
    program = EmulatedProgram(
        lambda x, y: torch._int_mm(x, y if layout == "nn" else y.t()), *operands
    )
    program.check(*operands)
    assert "mma.sync.aligned.m16n8k32.row.col" in program.ptx
    assert ".s32.s8.s8.s32" in program.ptx


def _linear(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
    return (functional.linear(x, w, bias) * 0.5 + r).relu()


_PROGRAMS: dict[str, tuple[Callable[..., object], list[tuple[int, ...]], torch.dtype]] = {
    "batches": (torch.matmul, [(3, 33, 20), (3, 20, 40)], torch.float32),
    "shared_right": (torch.matmul, [(3, 33, 20), (20, 40)], torch.float32),
    "added_to": (
        lambda c, x, y: torch.addmm(c, x, y, alpha=2, beta=0.5),
        [(70, 50), (70, 40), (40, 50)],
        torch.float32,
    ),
    "epilogue": (_linear, [(70, 40), (50, 40), (50,), (70, 50)], torch.float32),
    "half_epilogue": (_linear, [(70, 40), (50, 40), (50,), (70, 50)], _F16),
    "shared_left": (
        lambda x, w, u: (functional.linear(x, w), functional.linear(x, u)),
        [(70, 40), (50, 40), (50, 40)],
        _F16,
    ),
    "parts": (lambda x, y: x[:, 3:43] @ y[:, ::2], [(77, 50), (40, 132)], torch.float32),
    "half_parts": (lambda x, y: x[:, 8:48] @ y[:, ::2], [(77, 56), (40, 132)], _F16),
    "heads": (
        lambda x, w: functional.linear(x, w).view(2, 30, 4, 16).transpose(1, 2),
        [(2, 30, 64), (64, 64)],
        torch.float32,
    ),
    "strided": (
        lambda x, w, b: functional.conv2d(x, w, b, stride=2, padding=1).relu(),
        [(2, 8, 15, 17), (20, 8, 3, 3), (20,)],
        torch.float32,
    ),
    "dilated": (
        lambda x, w: functional.conv2d(x, w, dilation=2),
        [(2, 8, 15, 17), (20, 8, 3, 3)],
        torch.float32,
    ),
    # Whose weights are read in parts, and backwards.
    "transposed": (
        lambda x, w: functional.conv_transpose2d(x, w, stride=2, padding=1),
        [(1, 24, 8, 8), (24, 20, 4, 4)],
        torch.float32,
    ),
    "grouped": (
        lambda x, w: functional.conv2d(x, w, groups=2, padding=1),
        [(2, 32, 9, 11), (40, 16, 3, 3)],
        torch.float32,
    ),
    # Padded before it is widened.
    "half_convolution": (
        lambda x, w, b: functional.conv2d(x, w, b, padding=1).relu(),
        [(2, 16, 10, 11), (24, 16, 3, 3), (24,)],
        _F16,
    ),
    "pointwise": (functional.conv2d, [(2, 64, 8, 8), (72, 64, 1, 1)], _F16),
    "channels_last": (
        lambda x, w: functional.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2)),
        [(2, 9, 10, 16), (24, 3, 3, 16)],
        _F16,
    ),
    "one_dimension": (
        lambda x, w: functional.conv1d(x, w, padding=2),
        [(2, 16, 40), (24, 16, 5)],
        torch.float32,
    ),
    "three_dimensions": (functional.conv3d, [(1, 4, 6, 7, 8), (16, 4, 3, 3, 3)], torch.float32),
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_programs(name: str) -> None:
    function, shapes, dtype = _PROGRAMS[name]
    operands = [integers(*shape, dtype=dtype) for shape in shapes]
    program = EmulatedProgram(function, *operands)
    program.check(*operands)
    assert (_MMA in program.ptx) == (dtype == _F16)


def _parts_of_turned(x: torch.Tensor) -> torch.Tensor:
    """Of a tensor that is transposed, parts that begin elsewhere than it."""
    x = x.permute(1, 0, 2)
    return x[1:4, :20] @ x[:3, 3:23].transpose(1, 2)


@pytest.mark.parametrize("dtype", [torch.float32, _F16], ids=str)
def test_parts_of_what_is_copied(dtype: torch.dtype) -> None:
    """They are read where the copy is from, and as many elements at once as lie so for all."""
    for columns in (64, 60):
        x = integers(30, 6, columns, dtype=dtype)
        program = EmulatedProgram(_parts_of_turned, x)
        program.check(x)
        assert program.gpu.count("gpu.launch_func") == 1


def _projected(heads: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """What attention gives, on its way out."""
    return functional.linear(heads.transpose(1, 2).flatten(2), weight)


@pytest.mark.parametrize("dtype", [torch.float32, _F16], ids=str)
@pytest.mark.parametrize("columns", [32, 6])
def test_rows_of_heads_side_by_side(columns: int, dtype: torch.dtype) -> None:
    """What is summed along lies in parts, which are copied as what is contiguous is."""
    x, y = integers(2, 4, 40, columns, dtype=dtype), integers(48, 4 * columns, dtype=dtype)
    program = EmulatedProgram(_projected, x, y)
    program.check(x, y)
    assert program.gpu.count("gpu.launch_func") <= 2
    assert (_MMA in program.ptx) == (dtype != torch.float32)
    # Those of float32 are turned over on their way to shared memory.
    assert (_ASYNCHRONOUS if columns == 32 and dtype == _F16 else _BY_FOUR) in program.ptx


def test_rows_of_heads_of_dynamic_sizes() -> None:
    x, y = integers(2, 4, 40, 8, dtype=_F16), integers(48, 32, dtype=_F16)
    dims: object = ({0: Dim("batch"), 2: Dim("rows")}, {})
    program = EmulatedProgram(_projected, x, y, dims=dims)
    program.check(x, y)
    program.check(integers(3, 4, 17, 8, dtype=_F16), y)
    assert _ASYNCHRONOUS in program.ptx


def test_nothing_is_left_of_an_epilogue() -> None:
    """Bias, scale, residual, activation and the casts of half precision are in one kernel."""
    _, shapes, dtype = _PROGRAMS["half_epilogue"]
    program = EmulatedProgram(_linear, *(integers(*shape, dtype=dtype) for shape in shapes))
    assert len(program.resources) == 1


def _last(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 3, 1, 2)


_COPIES = {_ASYNCHRONOUS: 16, _BY_FOUR: 8, "ld.global.b16": 2}
"""What of PTX copies so many bytes of an operand at a time, or fewer."""


@pytest.mark.parametrize(
    ("function", "shapes", "bytes_"),
    [
        # Weights are contiguous along all that is summed up, of which there are 144; windows lie
        # as they may.
        (functional.conv2d, [(2, 16, 10, 11), (24, 16, 3, 3)], {16, 2}),
        # Of an image without windows all pixels are: 14 by 14 are 392 bytes.
        (functional.conv2d, [(1, 32, 14, 14), (24, 32, 1, 1)], {16, 8}),
        # Nothing is a multiple of anything.
        (functional.conv2d, [(1, 3, 17, 19), (33, 3, 3, 3)], {2}),
        # The channels of both operands are 32 bytes.
        (
            lambda x, w: functional.conv2d(_last(x), _last(w)),
            [(2, 9, 10, 16), (24, 3, 3, 16)],
            {16},
        ),
        # 12 channels are 24 bytes, aligned to 8; 108 of a window's weights too.
        (lambda x, w: functional.conv2d(_last(x), _last(w)), [(2, 9, 9, 12), (24, 3, 3, 12)], {8}),
    ],
    ids=["windows", "pixels", "odd", "channels_last", "channels_of_8_bytes"],
)
def test_convolutions_are_read_by_vectors(
    function: Callable[..., object], shapes: list[tuple[int, ...]], bytes_: set[int]
) -> None:
    """As many elements at a time as are aligned; others go through registers, if they are there."""
    operands = [integers(*shape, dtype=_F16) for shape in shapes]
    program = EmulatedProgram(function, *operands)
    program.check(*operands)
    assert _MMA in program.ptx
    assert {copied for how, copied in _COPIES.items() if how in program.ptx} == bytes_


@pytest.mark.parametrize("dtype", [torch.float32, _F16], ids=str)
def test_dynamic_rows(dtype: torch.dtype) -> None:
    """Weights are read by vectors all the same."""
    rows = Dim("rows")
    operands = integers(70, 64, dtype=dtype), integers(72, 64, dtype=dtype)
    program = EmulatedProgram(functional.linear, *operands, dims=({0: rows}, {}))
    for count in (70, 129, 1):
        program.check(integers(count, 64, dtype=dtype), operands[1])
    assert (_ASYNCHRONOUS in program.ptx) == (dtype == _F16)


@pytest.mark.parametrize("dtype", [torch.float32, _F16], ids=str)
def test_dynamic_sizes(dtype: torch.dtype) -> None:
    sizes = [Dim(name) for name in ("rows", "depth", "columns")]
    dims = ({0: sizes[0], 1: sizes[1]}, {0: sizes[1], 1: sizes[2]})
    operands = integers(70, 64, dtype=dtype), integers(64, 40, dtype=dtype)
    program = EmulatedProgram(torch.matmul, *operands, dims=dims)
    for rows, depth, columns in ((70, 64, 40), (33, 7, 65), (1, 1, 1), (5, 0, 3)):
        program.check(integers(rows, depth, dtype=dtype), integers(depth, columns, dtype=dtype))


@pytest.mark.parametrize(("depth", "stages"), [(320, 4), (64 * 3, 3), (128, 2)])
def test_stages(depth: int, stages: int) -> None:
    """Three are on their way while one is computed of, if there are so many."""
    dims = {0: Dim("rows")}, {0: Dim("columns")}
    operands = integers(130, depth, dtype=_F16), integers(70, depth, dtype=_F16)
    program = EmulatedProgram(functional.linear, *operands, dims=dims)
    program.check(*operands)
    waits = re.findall(r"cp.async.wait_group\s+(\d)", program.ptx)
    assert sorted(waits) == ["0", str(stages - 2)]
    # Of 64 lines of both operands, with 8 elements after each.
    shared = stages * 2 * 64 * (64 + 8) * 2
    is_given = shared > 48 << 10
    assert (f"dynamic_shared_memory_size %c{shared}_i32" in program.gpu) == is_given
    assert (".extern .shared .align 1024" in program.ptx) == is_given


def test_code_for_one_chip_has_the_shared_memory_of_that() -> None:
    """So that large tiles have deep stages."""
    x = torch.zeros(4096, 4096, dtype=_F16)
    # Before the program opens the driver.
    driver()
    for arch, bytes_ in (
        ("sm_90", 3 * (128 * (32 + 8) + 32 * (256 + 8)) * 2),
        ("sm_90a", 4 * (128 + 256) * 64 * 2),
    ):
        program = plumbline.compile(
            Function(torch.matmul), (x, x), target="nvptx", gpu_arch=arch, runtime_checks="off"
        )
        assert f"dynamic_shared_memory_size %c{bytes_}_i32" in program.stage("gpu")


@pytest.mark.parametrize("dtype", [_F16, _S8], ids=str)
@pytest.mark.parametrize(
    "tile",
    [tile for tile in TILES[Instruction.MMA] if tile.rows * tile.columns >= 128 * 128],
    ids=lambda tile: f"{tile.rows}x{tile.columns}",
)
def test_large_tiles(tile: Tile, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are right, and have their sums in registers; for small results others are chosen."""
    monkeypatch.setitem(TILES, Instruction.MMA, (tile,))
    operands = integers(140, 80, dtype=dtype), integers(80, 136, dtype=dtype)
    product = torch._int_mm if dtype == _S8 else torch.matmul
    program = EmulatedProgram(product, *operands)
    program.check(*operands)
    assert f"threads in (%c{tile.threads}," in program.gpu


@pytest.mark.parametrize(
    ("tile", "layout", "dtype"),
    list(
        zip(
            TILES[Instruction.WGMMA], [*_LAYOUTS, "nn", "nt"], [_F16] * 4 + [_BF16] * 2, strict=True
        )
    ),
    ids=str,
)
def test_warp_groups(
    tile: Tile, layout: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Operands lie in shared memory as descriptors say, whichever way they lie elsewhere.

    There are more stages than that has room for, and tiles have parts beyond the result.
    """
    monkeypatch.setitem(TILES, Instruction.MMA, ())
    monkeypatch.setitem(TILES, Instruction.WGMMA, (tile,))
    operands = [integers(*shape, dtype=dtype) for shape in _operands(layout, 136, 264, 328)]
    program = EmulatedProgram(_LAYOUTS[layout], *operands, gpu_arch="sm_90a")
    program.check(*operands)
    kind = "f16" if dtype == _F16 else "bf16"
    assert f"wgmma.mma_async.sync.aligned.m64n{tile.columns}k16.f32.{kind}" in program.ptx
    assert f"threads in (%c{tile.threads}," in program.gpu


@pytest.mark.parametrize(
    ("function", "shapes", "dims"),
    [
        (torch.baddbmm, [(3, 72, 96), (3, 72, 136), (3, 136, 96)], None),
        (torch.addmm, [(72,), (40, 2048), (2048, 72)], None),
        (functional.linear, [(130, 136), (96, 136)], ({0: Dim("rows", max=4000)}, None)),
    ],
    ids=["batches", "parts", "dynamic"],
)
def test_programs_of_warp_groups(
    function: Callable[..., object],
    shapes: list[tuple[int, ...]],
    dims: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(TILES, Instruction.MMA, ())
    operands = [integers(*shape, dtype=_F16) for shape in shapes]
    program = EmulatedProgram(function, *operands, dims=dims, gpu_arch="sm_90a")
    program.check(*operands)
    assert "wgmma.mma_async" in program.ptx


def test_windows_of_warp_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TILES, Instruction.MMA, ())
    convolution = nn.Conv2d(64, 72, 3, padding=1, dtype=_F16).requires_grad_(False)
    convolution.weight.copy_(integers(72, 64, 3, 3).clamp(-1, 1))
    convolution.bias = None
    image = integers(2, 64, 9, 9, dtype=_F16)
    program = EmulatedProgram(convolution, image, gpu_arch="sm_90a")
    program.check(image)
    assert "wgmma.mma_async" in program.ptx


def test_large_products_have_large_tiles() -> None:
    """Where all multiprocessors have such, and so the fewest bytes go through shared memory."""
    x = torch.zeros(4096, 4096, dtype=_F16)
    program = EmulatedProgram(torch.matmul, x, x)
    assert "@matmul_cast blocks in (%c512," in program.gpu


def test_what_goes_through_registers_has_two_stages() -> None:
    operands = integers(71, 133, dtype=_F16), integers(133, 45, dtype=_F16)
    program = EmulatedProgram(torch.matmul, *operands)
    assert "cp.async.ca" not in program.ptx
    assert re.findall(r"cp.async.wait_group\s+(\d)", program.ptx) == ["0", "0"]


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_tf32_on_request(layout: str) -> None:
    operands = [integers(*shape) for shape in _operands(layout, 72, 40, 44)]
    program = EmulatedProgram(_LAYOUTS[layout], *operands, allow_tf32=True)
    program.check(*operands)
    assert "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" in program.ptx


@pytest.mark.parametrize("dtype", [torch.float32, _F16], ids=str)
def test_a_vector_times_a_matrix(dtype: torch.dtype) -> None:
    """It has no tiles: a block reads a row of weights, and adds up by exchanging registers."""
    operands = integers(1, 300, dtype=dtype), integers(200, 300, dtype=dtype)
    program = EmulatedProgram(functional.linear, *operands)
    program.check(*operands)
    assert "shfl.sync.bfly" in program.ptx
    assert "cp.async" not in program.ptx
    # It widens what it reads.
    assert program.gpu.count("gpu.launch_func") == 1


def test_few_rows_times_a_matrix() -> None:
    """They share tiles of weights, each of which is read once, where that is worth it."""
    for rows, dtype, is_tiled in ((5, _F16, True), (3, _F16, False), (5, torch.float32, False)):
        operands = integers(rows, 96, dtype=dtype), integers(200, 96, dtype=dtype)
        program = EmulatedProgram(functional.linear, *operands)
        program.check(*operands)
        assert ("cp.async" in program.ptx) == is_tiled
    # Weights that are no longer in a cache when the next row reads them.
    operands = torch.zeros(8, 2048), torch.zeros(5632, 2048)
    assert "cp.async" in EmulatedProgram(functional.linear, *operands).ptx


def test_chips_without_asynchronous_copies_have_no_tiles() -> None:
    operands = integers(72, 64, dtype=_F16), integers(64, 40, dtype=_F16)
    program = EmulatedProgram(torch.matmul, *operands, gpu_arch="sm_75")
    program.check(*operands)
    assert "cp.async" not in program.ptx
    assert _MMA not in program.ptx


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
