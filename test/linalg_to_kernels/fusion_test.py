"""What is fused into how many kernels, and that their numbers are PyTorch's, at awkward sizes."""

import cProfile
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional
from torch_mlir import ir

import plumbline
from plumbline.context import make_context
from plumbline.linalg_to_kernels import computations, dequantized_weights
from plumbline.linalg_to_kernels.computations import Computation, computation_of
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.linalg_to_kernels.merge_axes import merge_axes
from plumbline.linalg_to_kernels.split_sums import split_sums


class _Function(nn.Module):
    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> object:
        return self._function(*operands)


def _norm_and_sum(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    total = x + y
    return functional.layer_norm(total, total.shape[-1:]), total


def _group_norm_and_silu(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return functional.silu(functional.group_norm(x, 2, w, b)) + x


def _matmul(epilogue: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    return lambda x, w, *more: epilogue(x @ w, *more)


def _taps(x: torch.Tensor, axis: int) -> torch.Tensor:
    """Sums of three neighbours along an axis, which costs more than to be done again."""
    size = x.shape[axis] - 2
    left, middle, right = (x.narrow(axis, start, size) for start in range(3))
    return left * 0.25 + middle * 0.5 + right * 0.3 + middle.abs()


def _read_on_the_way(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A result that is read for each channel before what is computed of its powers is."""
    scale = torch.rsqrt(x.var((2, 3), correction=0, keepdim=True) + 1e-5)
    total = (x.sum(3, keepdim=True) * y).sum(2, keepdim=True)
    factor = total * (scale * scale * scale)
    return scale, (scale * y + factor * x) - (factor * total + total * scale)


def _read_before_parts(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """What both parts of a stack are made of, and what is computed of these, part by part."""
    each = x.exp().sin()
    parts = torch.stack([each + z, each * y], -1)
    both = parts.exp().tanh()
    return (both * parts.exp()).sum(-1) * both.amax(-1) * each


_CASES: dict[str, tuple[Callable[..., object], tuple[tuple[int, ...], ...], int]] = {
    # Each step beside the others, row by row.
    "softmax": (lambda x: x.softmax(-1), ((5, 7, 33),), 1),
    # Rows that are contiguous, in pieces of 64 and what is left.
    "softmax_of_columns": (lambda x: x.softmax(0), ((9, 70),), 1),
    "softmax_of_channels": (lambda x: x.softmax(1), ((2, 5, 3, 67),), 1),
    "of_no_axes": (lambda x: x.sum(1).reshape(()) * 2, ((1, 5),), 2),
    # Of rows of one element these are not pieces, though they are contiguous too.
    "rows_of_one": (lambda x: (x.exp() > 1, (x.exp() > 1).to(x.dtype) * x), ((4, 5, 1),), 1),
    "read_before_stack": (_read_before_parts, ((9,), (9,), (9,)), 1),
    "log_softmax": (lambda x: x.log_softmax(-1), ((4, 19),), 1),
    "variance": (lambda x: x.var(1), ((6, 37),), 1),
    # A result that another result is computed of.
    "norm_and_sum": (_norm_and_sum, ((6, 37), (6, 37)), 1),
    "read_on_the_way": (_read_on_the_way, ((2, 3, 2, 5), (1, 3, 2, 1)), 1),
    # The groups' statistics are each channel's, and what follows is no reshape away.
    "group_norm": (_group_norm_and_silu, ((2, 6, 5, 7), (6,), (6,)), 1),
    # What is broadcast is computed once for all that it is broadcast to.
    "broadcast": (lambda x, y: x.exp()[None] * y, ((65,), (3, 65)), 1),
    "transposed": (lambda x, y: x.t() + y, ((35, 18), (18, 35)), 1),
    # Rows are written as they lie, and turned by a kernel that does so in pieces.
    "transposed_rows": (lambda x: x.softmax(-1).transpose(-1, -2).clone(), ((3, 35, 18),), 2),
    # Sums read what is turned where it lies; what writes as much as it reads turns it in pieces.
    "sum_of_transposed": (lambda x: x.t().sum(0), ((35, 18),), 1),
    "sums_of_transposed_parts": (
        lambda x: torch.stack([x[..., 0].t().sum(1), x[..., 1].t().sum(1)], -1),
        ((35, 18, 2),),
        1,
    ),
    "sum_of_transposed_rows": (lambda x: x.transpose(1, 2).mean(2), ((3, 35, 18),), 1),
    # What steps hand on is contiguous along the rows that are, whatever the order of its axes.
    "softmax_there_and_back": (
        lambda x: x.transpose(1, 2).softmax(2).transpose(1, 2).clone(),
        ((3, 70, 35),),
        1,
    ),
    "softmax_of_transposed": (lambda x: x.t().softmax(1), ((35, 18),), 2),
    "reshaped": (lambda x: (x.tanh().view(6, 4) * 2).view(2, 12), ((2, 3, 4),), 1),
    # Rows in blocks, with the rows around them that other steps read: none, two, and four of them.
    "rows_of_blocks": (lambda x: _taps(_taps(x, 2), 1) - x[:, 1:-1, 1:-1], ((2, 150, 311),), 1),
    "blocks": (lambda x: _taps(_taps(_taps(x, 1), 2), 1), ((2, 150, 311),), 1),
    "blocks_of_a_plane": (lambda x: _taps(_taps(x, 1).exp(), 0).tanh(), ((133, 311),), 1),
    # Of a part only, and where another result is to be all of it.
    "part": (lambda x: x.exp()[:, 3:] * 2, ((9, 70),), 1),
    "part_and_all": (lambda x: (x.exp()[:, 3:].sum(1), x.exp()), ((9, 70),), 1),
    "part_of_rows_and_all": (lambda x: (x.exp()[:5].sum(1), x.exp()), ((9, 70),), 2),
    "part_of_a_product": (_matmul(lambda y: y[:, :40].relu()), ((19, 45), (45, 83)), 2),
    "product_of_a_part": (lambda x, w: x.exp()[:, :40] @ w, ((19, 45), (40, 83)), 2),
    # Epilogues, at sizes that are no multiple of any tile.
    "bias_gelu": (_matmul(lambda y, b: functional.gelu(y + b)), ((19, 45), (45, 83), (83,)), 1),
    "addend": (_matmul(lambda y, z: (y + z).relu()), ((19, 45), (45, 83), (19, 83)), 1),
    "addend_of_planes": (
        lambda x, w, y: functional.conv2d(x, w) + y,
        ((2, 16, 5, 7), (24, 16, 1, 1), (2, 24, 5, 7)),
        1,
    ),
    "row_scale": (_matmul(lambda y, s: y * s), ((19, 45), (45, 83), (19, 1)), 1),
    "one_row": (_matmul(lambda y, b: y + b), ((1, 300), (300, 70), (70,)), 1),
    # Behind a reshape of one row, what the operand is computed by is no part of it.
    "one_row_of_one": (lambda x, w: x.exp()[0] @ w, ((1, 1, 300), (300, 70)), 2),
    "cast": (_matmul(lambda y: y.to(torch.float64)), ((19, 45), (45, 83)), 1),
    # The second is no part of the first, whose result it reads many times.
    "two_products": (lambda x, w, v: (x @ w).relu() @ v, ((19, 45), (45, 83), (83, 31)), 2),
}


# Where a part of a tensor lies is known if its sizes are.
_OF_PARTS = [name for name in _CASES if "block" in name or "part" in name]


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", _CASES)
def test_fused(name: str, is_dynamic: bool) -> None:
    function, shapes, kernels = _CASES[name]
    own = ("reshaped", "one_row", "one_row_of_one", "of_no_axes", "group_norm", *_OF_PARTS)
    if is_dynamic and name in own:
        pytest.skip("its sizes are its own")
    torch.manual_seed(0)
    operands = tuple(torch.randn(shape) for shape in shapes)
    dims = None
    if is_dynamic:
        sizes = {size: Dim(f"n{size}") for shape in shapes for size in shape if size > 1}
        places = [{at: sizes[n] for at, n in enumerate(shape) if n > 1} for shape in shapes]
        dims = {"operands": tuple(places)}
    module = _Function(function)
    program = plumbline.compile(module, operands, dims)
    expected = module(*operands)
    actual = program(*operands)
    for one, other in zip(
        actual, expected if isinstance(expected, tuple) else (expected,), strict=True
    ):
        torch.testing.assert_close(one, other)
    text = program.stage("kernels")
    assert len(re.findall(r"func\.func private @\w+\(.*no_inline", text)) == kernels, text


def test_group_norm_of_images_of_any_size_is_one_kernel() -> None:
    """It is channel by channel, not through a reshape of images that are normalized already."""
    torch.manual_seed(0)
    weight, bias = torch.randn(6), torch.randn(6)
    module = _Function(lambda x: functional.group_norm(x, 2, weight, bias))
    dims = {"operands": ({0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},)}
    program = plumbline.compile(module, (torch.randn(2, 6, 5, 7),), dims)
    for shape in ((2, 6, 5, 7), (1, 6, 1, 3), (3, 6, 29, 31)):
        x = torch.randn(shape)
        torch.testing.assert_close(program(x)[0], module(x))
    text = program.stage("kernels")
    assert len(re.findall(r"func\.func private @\w+\(.*no_inline", text)) == 1, text


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: functional.max_pool2d(x, 3, 2, 1),
        lambda x: functional.avg_pool2d(x, 2),
        lambda x: functional.interpolate(x, scale_factor=2.0, mode="bilinear"),
        lambda x: functional.avg_pool2d(x * 2, 3, 2, 1, count_include_pad=False),
        lambda x: functional.adaptive_avg_pool2d(x, 3),
        lambda x: functional.adaptive_max_pool2d(x[:, :, 1:, ::2].exp(), (3, 1)),
    ],
    ids=["padded", "pool", "bilinear", "counted", "adaptive", "adaptive_maximum"],
)
def test_images_that_have_channels_last_are_not_turned(
    function: Callable[[torch.Tensor], torch.Tensor], is_dynamic: bool
) -> None:
    """Between what turns them to and fro are pads, windows, parts, and reads anywhere."""
    torch.manual_seed(0)
    x = torch.randn(2, 7, 11, 18)
    module = _Function(lambda x: function(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).contiguous())
    dims = {"operands": ({1: Dim.AUTO, 2: Dim.AUTO},)} if is_dynamic else None
    program = plumbline.compile(module, (x,), dims)
    torch.testing.assert_close(program(x)[0], module(x))
    assert "memref<2x18x" not in program.stage("kernels")


@pytest.mark.parametrize(
    ("layer", "sizes", "rows"),
    [
        (nn.MaxPool2d(3, 2, 1), (3, 45, 57), 23),
        (nn.MaxPool2d((5, 4), (2, 1), (2, 1), (2, 3), ceil_mode=True), (3, 31, 29), 14),
        (nn.AvgPool2d(5, 3, 2), (3, 105, 107), 18),
        (nn.MaxPool3d(3, 2, 1), (2, 9, 11, 13), 6),
    ],
    ids=["maximum", "dilated", "average", "3d"],
)
def test_columns_of_windows_are_combined_for_blocks_of_short_rows(
    layer: nn.Module, sizes: tuple[int, ...], rows: int
) -> None:
    x = torch.randn(2, *sizes, generator=torch.Generator().manual_seed(0))
    x[0, 0, 1, 2] = torch.nan
    program = plumbline.compile(layer, (x,))
    torch.testing.assert_close(program(x)[0], layer(x), equal_nan=True)
    assert f"memref.alloca() {{alignment = 64 : i64}} : memref<{rows}x" in program.stage("kernels")


def test_what_is_widened_is_read_as_it_was_by_all_who_read_it() -> None:
    x = torch.randn(100, 300, generator=torch.Generator().manual_seed(0))
    program = plumbline.compile(_Function(torch.std), (x,))
    torch.testing.assert_close(program(x)[0], x.std())
    assert "100x300xf64" not in program.stage("kernels")


def test_buffers_are_contiguous_along_the_rows_that_are() -> None:
    function, shapes, _ = _CASES["softmax_there_and_back"]
    text = plumbline.compile(_Function(function), (torch.ones(shapes[0]),)).stage("kernels")
    # Of 64 columns at once, 70 exponentials each.
    assert "memref<70x64xf32>" in text, text


_DEPTHWISE: dict[str, dict[str, Any]] = {
    "padded": {"kernel_size": 3, "padding": 1},
    "strided": {"kernel_size": 3, "stride": 2, "padding": 1, "bias": False},
    "dilated": {"kernel_size": (3, 2), "dilation": 2},
    "small": {"kernel_size": (4, 1), "padding": (2, 0)},
    "large": {"kernel_size": 5, "padding": 2},
    "very_large": {"kernel_size": 11, "padding": 5},
    "of_several": {"kernel_size": 3, "out_channels": 36},
}


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", _DEPTHWISE)
def test_depthwise_convolutions_of_images_that_have_channels_last(
    name: str, is_dynamic: bool
) -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(**{"in_channels": 18, "out_channels": 18, "groups": 18, **_DEPTHWISE[name]})
    x = torch.randn(2, 9, 11, 18).permute(0, 3, 1, 2)
    dims = ({0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},) if is_dynamic else None
    program = plumbline.compile(nn.Sequential(conv, nn.ReLU6()).eval(), (x,), dims)
    for given in (x, torch.randn(3, 7, 8, 18).permute(0, 3, 1, 2)) if is_dynamic else (x,):
        torch.testing.assert_close(program(given)[0], nn.functional.relu6(conv(given)))
    # Else the weights of a channel would be contiguous, as they are for planes.
    assert ("memref<18x1x" in program.stage("kernels")) == (name == "very_large")


def test_weights_of_depthwise_convolutions_that_are_no_models_are_turned_once() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(2, 9, 11, 18).permute(0, 3, 1, 2), torch.randn(18, 1, 3, 3)
    module = _Function(lambda x, weight: functional.conv2d(x, weight, groups=18))
    program = plumbline.compile(module, (x, weight))
    torch.testing.assert_close(program(x, weight)[0], module(x, weight))
    assert "memref<1x3x3x18xf32>" in program.stage("kernels")


def test_depthwise_convolutions_whose_weights_no_cache_holds_are_done_by_channels() -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(200, 200, 7, padding=3, groups=200)
    x = torch.randn(1, 7, 7, 200).permute(0, 3, 1, 2)
    program = plumbline.compile(conv.eval(), (x,))
    torch.testing.assert_close(program(x)[0], conv(x))
    loops = re.findall(r"scf.for .* to %c(\d+) step %c(\d+) {", program.stage("kernels"))
    # Pieces of channels, and rows, of which four and three points are computed at once.
    assert loops[:2] == [("200", "64"), ("7", "1")], loops


def test_what_a_shared_copy_copies_is_computed_once() -> None:
    """A transposition that mean, variance and norm read, of a convolution."""

    class _Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(16, 16, 3, padding=1)
            self.norm = nn.LayerNorm(16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = self.norm(self.conv(x).permute(0, 2, 3, 1))
            return y

    torch.manual_seed(0)
    module, x = _Block().eval(), torch.randn(1, 16, 12, 12)
    program = plumbline.compile(module, (x,))
    torch.testing.assert_close(program(x)[0], module(x))
    text = program.stage("kernels")
    assert len(re.findall(r"call @\w*(conv|product|loops)", text)) == 1, text


def test_a_model_keeps_its_temporaries_in_one_arena() -> None:
    """Of four equal ones, of which two live at once."""
    layers = [layer for _ in range(5) for layer in (nn.Linear(64, 64), nn.ReLU())]
    program = plumbline.compile(nn.Sequential(*layers), (torch.ones(32, 64),))
    text = program.stage("kernels")
    plan = re.search(r"memory_plan = \{lower_bound = (\d+) .*, peak = (\d+) .*, sum = (\d+)", text)
    assert plan is not None, text
    one = 32 * 64 * 4
    assert [int(size) for size in plan.groups()] == [2 * one, 2 * one, 4 * one]


def test_steps_in_a_row_are_several_kernels_where_they_are_many() -> None:
    """Each inlined step costs calls of Python's, of which there may be a thousand at a time."""

    def function(x: torch.Tensor) -> torch.Tensor:
        y = x
        for _ in range(120):
            y = y * 0.99 + x
        return y

    x = torch.randn(4, 8)
    program = plumbline.compile(_Function(function), (x,))
    torch.testing.assert_close(program(x)[0], function(x))
    # 240 steps, of which each kernel takes a hundred and one.
    assert len(re.findall(r"call @\w+", program.stage("kernels"))) == 3


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Computation]:
    """Members of groups, each as often as it is looked at."""
    reads, members = Computation.reads, []

    def noted(member: Computation, *arguments: Any) -> Any:
        members.append(member)
        return reads(member, *arguments)

    monkeypatch.setattr(Computation, "reads", noted)
    return members


def test_a_group_of_twice_as_many_is_formed_of_about_twice_as_many_looks(
    looks: list[Computation],
) -> None:
    """It grows by a member at a time, and is not formed anew with each."""

    def function(x: torch.Tensor, count: int) -> torch.Tensor:
        y = x
        # A place in the middle is taken in last: two read it, and it costs much.
        for number in range(count):
            y = y * 0.99 + x if number != count // 2 else y.exp().softmax(-1)
        return y

    found = []
    for count in (10, 20, 40):
        looks.clear()
        x = torch.randn(4, 8)
        program = plumbline.compile(_Function(lambda x, count=count: function(x, count)), (x,))
        assert len(re.findall(r"call @\w+", program.stage("kernels"))) == 1
        found.append(len(looks))
    first, second, third = found
    assert third - second < 3 * (second - first), found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((8, 6, 5), (2, 4, 30)),
        ((6, 4), (4, 6)),
        ((1, 6, 1, 4), (2, 1, 12)),
        ((4, 1, 6, 5), (2, 2, 30)),
        ((2, 3, 4, 5), (6, 10, 2)),
        ((7,), (1, 7, 1)),
        ((1,), (1, 1)),
    ],
)
def test_what_is_reshaped_between(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    def function(x: torch.Tensor, scale: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
        return (x * scale).view(after) + offset

    generator = torch.Generator().manual_seed(0)
    shapes = before, before[-1:], after[-1:]
    operands = tuple(torch.randn(shape, generator=generator) for shape in shapes)
    program = plumbline.compile(_Function(function), operands)
    torch.testing.assert_close(program(*operands)[0], function(*operands))


@pytest.mark.parametrize("repeats", [1, 40])
def test_clamps_keep_the_signs_of_zeros(repeats: int) -> None:
    """Alone in a loop, in vectors, and on the tiles of a product."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        row = x[None] * -1.0
        tile = (row.T @ row.new_ones(1, 1)).relu()
        return x.relu(), functional.relu6(x), x.clamp(-0.0, 1.0), x.clamp(max=-0.0), tile

    x = torch.tensor([-0.0, 0.0, -1.0, 2.0, 7.0, float("inf"), float("nan")]).repeat(repeats)
    for ours, theirs in zip(
        plumbline.compile(_Function(function), (x,))(x), function(x), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)
        is_zero = ours == 0
        assert torch.equal(ours[is_zero].signbit(), theirs[is_zero].signbit())


@pytest.mark.parametrize(("steps", "lanes"), [(2, 64), (6, 16)])
def test_contiguous_rows_are_fewer_at_once_where_much_is_kept(steps: int, lanes: int) -> None:
    def normalised(x: torch.Tensor) -> torch.Tensor:
        for _ in range(steps // 2):
            x = torch.exp(x - x.amax(0))
        return x / x.sum(0)

    kernels = plumbline.compile(_Function(normalised), (torch.ones(10000, 512),)).stage("kernels")
    assert f"to %c512 step %c{lanes} " in kernels


def test_states_of_many_steps_are_computed_in_loops_of_one() -> None:
    """Each is computed where the next one reads it, which is some calls of Python's deeper."""

    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        states = [x]
        for _ in range(140):
            states.append(states[-1] * 0.5 + x)
        return states[-1].sum(1), *states[1:]

    x = torch.randn(32, 8)
    program = plumbline.compile(_Function(function), (x,))
    for result, expected in zip(program(x), function(x), strict=True):
        torch.testing.assert_close(result, expected)


def test_what_is_read_anywhere_is_a_kernel_of_its_own() -> None:
    def function(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        y = x * 2 + 1
        return y.flip(0) * y[index]

    for rows in (5, 0):
        x, index = torch.randn(rows, 3), torch.arange(rows).flip(0)
        program = plumbline.compile(_Function(function), (x, index))
        torch.testing.assert_close(program(x, index)[0], function(x, index))


def test_what_is_read_at_places_is_not_left_to_who_looks_at_none() -> None:
    """A constant is the same at all of them, so that who reads it first does not compute them."""

    def function(image: torch.Tensor, place: torch.Tensor, height: torch.Tensor) -> torch.Tensor:
        grid = torch.stack([place + height, height - place], -1)
        inside = functional.grid_sample(torch.ones_like(image), grid, align_corners=True)
        return functional.grid_sample(image, grid, align_corners=True) + (1 - inside)

    torch.manual_seed(0)
    operands = torch.rand(2, 1, 9, 11), torch.rand(2, 1, 7) - 0.5, torch.rand(2, 8, 1) - 0.5
    program = plumbline.compile(_Function(function), operands)
    torch.testing.assert_close(program(*operands)[0], function(*operands))


def test_a_long_recurrence_is_grouped() -> None:
    # Of more steps than calls may be nested, in seconds.
    steps = 1200
    sums = "\n".join(
        f"""%x{step} = linalg.generic {{indexing_maps = [#map, #map, #map],
            iterator_types = ["parallel"]}}
            ins(%x{step - 1}, %x{step - 2} : tensor<8xf32>, tensor<8xf32>)
            outs(%empty : tensor<8xf32>) {{
          ^bb0(%a: f32, %b: f32, %old: f32):
            %sum = arith.addf %a, %b : f32
            linalg.yield %sum : f32
          }} -> tensor<8xf32>"""
        for step in range(2, steps)
    )
    text = f"""
    #map = affine_map<(i) -> (i)>
    func.func @recurrence(%x0: tensor<8xf32>, %x1: tensor<8xf32>) -> tensor<8xf32> {{
      %empty = tensor.empty() : tensor<8xf32>
      {sums}
      return %x{steps - 1} : tensor<8xf32>
    }}"""
    with make_context(torch=True):
        module = ir.Module.parse(text)
        convert_linalg_to_kernels(module)
    assert str(module).count("func.func private") < 5


def test_weights_of_which_each_is_read_twice_are_each_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = 0

    def counted(value: ir.Value) -> Computation | None:
        nonlocal looks
        looks += 1
        assert looks < 1000
        return computation_of(value)

    monkeypatch.setattr(dequantized_weights, "computation_of", counted)

    class _Recurrence(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(8, 30))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            older: torch.Tensor = self.weight
            newer = older.tanh()
            for _ in range(30):
                older, newer = newer, (newer - older).tanh()
            return x @ newer

    module, x = _Recurrence(), torch.randn(1, 8)
    torch.testing.assert_close(plumbline.compile(module, (x,))(x)[0], module(x))
    assert looks


def _calls(run: Callable[[], object]) -> int:
    """How many calls of Python's functions something takes."""
    with cProfile.Profile() as profile:
        run()
    return sum(entry.callcount for entry in profile.getstats())


_SUMS_OF_STATES = """
#id = affine_map<(n, c, y, x) -> (n, c, y, x)>
#channel = affine_map<(n, c, y, x) -> (c)>
#each = {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
#sum = {indexing_maps = [#id, #channel], iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
func.func @sums(%state0: tensor<2x4x8x8xf32>, %zeros: tensor<4xf32>) {
  %empty = tensor.empty() : tensor<2x4x8x8xf32>
"""  # noqa: E501

_STATE = """
  %state{next} = linalg.generic #each ins(%state{last} : tensor<2x4x8x8xf32>)
      outs(%empty : tensor<2x4x8x8xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %0 = math.sin %a : f32
    linalg.yield %0 : f32
  }} -> tensor<2x4x8x8xf32>
  %sum{next} = linalg.generic #sum ins(%state{next} : tensor<2x4x8x8xf32>)
      outs(%zeros : tensor<4xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %0 : f32
  }} -> tensor<4xf32>
"""


def test_sums_of_a_long_chain_are_looked_at_once() -> None:
    def calls(steps: int) -> int:
        states = (_STATE.format(last=step, next=step + 1) for step in range(steps))
        text = "\n".join([_SUMS_OF_STATES, *states, "  return\n}"])
        with make_context():
            module = ir.Module.parse(text)
            return _calls(lambda: split_sums(module.operation))

    few, many = calls(20), calls(60)
    assert many < 3.3 * few, "a cost that is quadratic is 6 times as high"


_SUM_OF_POINTS = """
  %sum{number} = linalg.generic {{
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, k)>],
      iterator_types = ["reduction", "parallel", "parallel"]
  }} ins(%x : tensor<9x100x3xf32>) outs(%zeros : tensor<100x3xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %0 : f32
  }} -> tensor<100x3xf32>
"""


def test_axes_of_many_sums_are_merged_in_time_that_grows_with_their_number() -> None:
    def calls(count: int) -> int:
        sums = "\n".join(_SUM_OF_POINTS.format(number=number) for number in range(count))
        arguments = "%x: tensor<9x100x3xf32>, %zeros: tensor<100x3xf32>"
        with make_context():
            module = ir.Module.parse(f"func.func @sums({arguments}) {{{sums}  return\n}}")
            made = _calls(lambda: merge_axes(module.operation))
        assert str(module).count("tensor<9x300xf32>) outs") == count
        return made

    few, many = calls(20), calls(60)
    assert many < 3.5 * few, "a cost that is quadratic is 9 times as high"


def test_kernels_of_a_recurrence_take_time_that_grows_with_its_steps() -> None:
    """Of a selective scan: all steps read parts of the same tensors, and each adds up its state."""

    def function(x: torch.Tensor, a: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = x @ w
        d, b, c = functional.softplus(y[..., :1]), y[..., 1:9], y[..., 9:]
        h, sums = x.new_zeros(2, 16, 8), []
        for t in range(x.shape[1]):
            h = torch.exp(d[:, t, None] * a) * h + d[:, t, None] * b[:, t, None] * x[:, t, :, None]
            sums.append((h * c[:, t, None]).sum(-1))
        return torch.stack(sums, 1)

    def calls(steps: int) -> int:
        operands = torch.randn(2, steps, 16), torch.randn(16, 8), torch.randn(16, 17)
        text = plumbline.compile(_Function(function), operands).stage("linalg")
        with make_context():
            module = ir.Module.parse(text)
            return _calls(lambda: convert_linalg_to_kernels(module))

    few, many = calls(8), calls(24)
    assert many < 3 * few, "a cost that is quadratic is 4 times as high"


def test_a_recurrence_by_factors_of_one_number_is_not_formed_anew_with_each_step(
    looks: list[Computation],
) -> None:
    """All steps read the factors, which are members before the steps are."""

    def function(x: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
        last = before = x[:, 0]
        outputs = []
        for t in range(x.shape[1]):
            last, before = a[0] * last + a[1] * before + x[:, t], last
            outputs.append(last)
        return torch.stack(outputs, 1)

    def looks_at(steps: int) -> int:
        looks.clear()
        operands = torch.randn(16, steps), torch.tensor([0.5, 0.25])
        program = plumbline.compile(_Function(function), operands)
        torch.testing.assert_close(program(*operands)[0], function(*operands))
        return len(looks)

    few, many = looks_at(8), looks_at(24)
    assert many < 3.5 * few, "a cost that is quadratic is 8 times as high"


@pytest.mark.parametrize("target_cpu", ["native", "x86-64"])
def test_steps_with_factors_of_their_own_share_kernels(target_cpu: str) -> None:
    weight = nn.Parameter(torch.randn(24, 24) / 5)

    def function(x: torch.Tensor) -> torch.Tensor:
        for step in range(1, 6):
            x = (x - 0.3 / step * torch.tanh(x @ weight)) / (1.1 + step)
            x = (x * (0.7 + step)).softmax(-1)
        return x

    x = torch.randn(17, 24)
    program = plumbline.compile(_Function(function), (x,), target_cpu=target_cpu)
    torch.testing.assert_close(program(x)[0], function(x).detach())
    kernels = re.findall(r"func.func private @(\w+)", program.stage("kernels"))
    calls = re.findall(r"call @(\w+)\(", program.stage("kernels"))
    assert len(kernels) <= 3
    assert len(calls) >= 10


def test_no_context_stays_for_what_is_known_of_its_loops() -> None:
    plumbline.compile(_Function(_norm_and_sum), (torch.randn(3, 5), torch.randn(3, 5)))
    assert not computations._loops.cache_info().currsize


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
