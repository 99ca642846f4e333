"""Runs kernels over register tiles at sizes around the tiles' own, and around those of blocks."""

import itertools
import re
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.target.cpu import cpu_target
from plumbline.target.probe import vector_unit_of

_CPUS = ("native", "baseline", "x86-64")
"""Vectors of this machine's size, of 32 and of 16 bytes."""


class _Function(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, *operands: torch.Tensor) -> torch.Tensor:
        return self._function(*operands)


def _random(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_floating_point:
        return torch.rand(shape, dtype=torch.float64).sub(0.5).to(dtype)
    return torch.randint(-9, 9, shape, dtype=dtype)


def _check(
    program: plumbline.CompiledProgram,
    function: Callable[..., torch.Tensor],
    operands: tuple[torch.Tensor, ...],
) -> None:
    (actual,) = program(*operands)
    assert re.search(r"@(matmul|conv)\w*\(", program.stage("kernels"))
    dtype = operands[0].dtype
    if not dtype.is_floating_point:
        torch.testing.assert_close(actual, function(*operands), rtol=0, atol=0)
        return
    exact = function(*(operand.double() for operand in operands))
    # Each of the sums, at most 300 long, is off by no more than a unit for each of its terms
    # (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.1), and is rounded
    # in the end.
    magnitude = function(*(operand.double().abs() for operand in operands))
    unit = torch.finfo(torch.float32 if dtype == torch.bfloat16 else dtype).eps / 2
    bound = 301 * unit * magnitude + torch.finfo(dtype).eps / 2 * exact.abs()
    assert ((actual.double() - exact).abs() <= bound).all()


_SIZES = [(0, 5, 7), (5, 0, 7), (1, 1, 1), (6, 256, 16), (7, 257, 17), (193, 300, 49), (5, 3, 2065)]


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.bfloat16])
def test_products_of_matrices(dtype: torch.dtype, target_cpu: str) -> None:
    rows, summed, columns = (Dim(name, min=0, max=4000) for name in ("rows", "summed", "columns"))
    program = plumbline.compile(
        _Function(torch.matmul),
        (_random((8, 9), dtype), _random((9, 10), dtype)),
        dynamic_shapes={"operands": ({0: rows, 1: summed}, {0: summed, 1: columns})},
        target_cpu=target_cpu,
    )
    for m, k, n in _SIZES:
        _check(program, torch.matmul, (_random((m, k), dtype), _random((k, n), dtype)))


@pytest.mark.parametrize(
    "equation",
    [
        "ik,jk->ij",
        "ki,kj->ij",
        "ki,jk->ij",
        "ik,kj->ji",
        "bik,bjk->bij",
        "bik,jk->bij",
        # Runs of summed elements, whose ends are no end of a vector.
        "aik,ajk->ij",
        "aki,ajk->ij",
    ],
)
def test_operands_that_lie_otherwise(equation: str) -> None:
    sizes = {"a": 4, "b": 3, "i": 23, "j": 37, "k": 50}
    left, right = (
        _random(tuple(sizes[letter] for letter in letters), torch.float32)
        for letters in equation.partition("->")[0].split(",")
    )

    def function(*operands: torch.Tensor) -> torch.Tensor:
        return torch.einsum(equation, *operands)

    program = plumbline.compile(_Function(function), (left, right))
    _check(program, function, (left, right))


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize(
    ("shape", "stride", "padding", "dilation", "groups"),
    [
        ((2, 8, 13, 17), 1, 1, 1, 1),
        ((1, 8, 40, 16), 1, 0, 1, 1),
        ((2, 8, 13, 17), 2, 3, 1, 1),
        ((1, 8, 21, 17), (1, 2), 2, (2, 1), 1),
        ((2, 8, 13, 17), 1, 1, 1, 2),
    ],
)
def test_convolutions(
    shape: tuple[int, ...],
    stride: int | tuple[int, int],
    padding: int,
    dilation: int | tuple[int, int],
    groups: int,
    target_cpu: str,
) -> None:
    def function(image: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(image, weight, None, stride, padding, dilation, groups)

    operands = (
        _random(shape, torch.float32),
        _random((20, shape[1] // groups, 3, 3), torch.float32),
    )
    program = plumbline.compile(_Function(function), operands, target_cpu=target_cpu)
    _check(program, function, operands)


@pytest.mark.parametrize("target_cpu", _CPUS[:2])
@pytest.mark.parametrize(
    ("shape", "window", "options"),
    [
        # A tile of AVX-512's is a row of windows, or several.
        ((1, 16, 7, 7), (3, 3), {"padding": 1}),
        ((3, 16, 5, 8), (3, 3), {"padding": 1}),
        ((2, 16, 6, 3), (5, 3), {"padding": (2, 1)}),
        ((1, 16, 12, 12), (3, 3), {"padding": 1, "stride": (2, 1)}),
        # More zeros than a window is long, and windows that lie on nothing else.
        ((1, 16, 6, 7), (3, 3), {"padding": (3, 4)}),
        ((1, 16, 9, 10), (3, 3), {"padding": (5, 4), "dilation": 3}),
        # One row of windows.
        ((3, 16, 1, 9), (3, 3), {"padding": 1}),
        ((3, 16, 9, 1), (3, 3), {"padding": 1}),
        # A tile goes on in the next picture.
        ((5, 16, 2, 2), (3, 3), {"padding": 1}),
        ((2, 8, 4, 5, 6), (3, 3, 3), {"padding": 1}),
        ((2, 16, 14), (5,), {"padding": 2}),
        ((2, 16, 5, 7), (3, 3), {"padding": (2, 1), "groups": 2}),
    ],
)
def test_zeros_around_images(
    shape: tuple[int, ...], window: tuple[int, ...], options: dict[str, Any], target_cpu: str
) -> None:
    convolve = getattr(torch.nn.functional, f"conv{len(window)}d")

    def function(image: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = convolve(image, weight, **options)
        return result

    # Those below 0 would make the bound of the error less than it is.
    weight = _random((40, shape[1] // options.get("groups", 1), *window), torch.float32).abs()
    model = _Weighted(function, weight)
    image = _random(shape, torch.float32)
    formats = [torch.contiguous_format]
    if len(window) == 2:
        formats.append(torch.channels_last)
    for memory_format in formats:
        image = image.contiguous(memory_format=memory_format)
        _check(
            plumbline.compile(model, (image,), target_cpu=target_cpu),
            lambda image: function(image, weight.to(image.dtype)),
            (image,),
        )


class _Weighted(torch.nn.Module):
    """A function of an operand and a weight."""

    def __init__(
        self, function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], weight: torch.Tensor
    ) -> None:
        super().__init__()
        self._function = function
        self.weight = torch.nn.Parameter(weight, requires_grad=False)

    def forward(self, operand: torch.Tensor) -> torch.Tensor:
        return self._function(operand, self.weight)


_WEIGHTED: dict[str, tuple[Callable[[torch.Tensor, torch.Tensor], torch.Tensor], str]] = {
    "matmul": (torch.matmul, "30x91 91x83"),
    "linear": (torch.nn.functional.linear, "30x91 83x91"),
    "biased": (lambda x, w: torch.nn.functional.linear(x, w, x.new_ones(83)), "30x91 83x91"),
    "one_row": (torch.matmul, "1x91 91x83"),
    "one_row_linear": (torch.nn.functional.linear, "1x91 83x91"),
    "batches": (torch.matmul, "3x30x91 3x91x83"),
    "transposed_batches": (lambda x, w: torch.einsum("mkb,nkb->bmn", x, w), "30x91x3 83x91x3"),
    "two_summed": (lambda x, w: torch.einsum("mkl,klxn->mxn", x, w), "30x13x7 13x7x1x83"),
    "two_columns": (lambda x, w: torch.einsum("mk,kno->mno", x, w), "30x91 91x7x12"),
    "reshaped": (lambda x, w: x @ w.view(91, 84), "30x91 91x7x12"),
    "parts": (lambda x, w: x @ w[0] - x @ w[1, :, ::2].repeat(1, 2), "30x91 2x91x84"),
    "conv_transposed": (
        lambda x, w: torch.nn.functional.conv_transpose2d(x, w, stride=2, padding=1),
        "1x31x5x5 31x83x4x3",
    ),
    # Of these the weights are rows or columns, whichever is faster.
    "conv_1x1": (torch.nn.functional.conv2d, "1x91x7x7 83x91x1x1"),
    "conv_3x3": (torch.nn.functional.conv2d, "1x31x5x5 83x31x3x3"),
}


_PACKED = ("matmul", "linear", "biased", "one_row", "one_row_linear", "batches")
"""Those that kernels read in panels: along axes of their own, one of them along columns."""

_VIEWED = ("parts", "conv_transposed")
"""Those of which kernels read a part, or axes turned about."""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32])
@pytest.mark.parametrize("name", _WEIGHTED)
def test_weights(name: str, dtype: torch.dtype) -> None:
    function, sizes = _WEIGHTED[name]
    if "conv" in name and not dtype.is_floating_point:
        pytest.skip("PyTorch has no convolutions of integers")
    shapes = [tuple(map(int, part.split("x"))) for part in sizes.split()]
    operand, weight = (_random(shape, dtype) for shape in shapes)
    program = plumbline.compile(_Weighted(function, weight), (operand,))
    exact = function(operand.double(), weight.double())
    (actual,) = program(operand)
    tolerance = {torch.float32: 1e-4, torch.bfloat16: 2**-7}.get(dtype, 1e-12)
    # Both products of which one is taken from the other have been rounded.
    rounded = 2 if name == "parts" else 1
    torch.testing.assert_close(actual.double(), exact, rtol=tolerance, atol=rounded * tolerance)
    # An odd number of elements AMX packs in each call.
    if name in _PACKED and "tdp" not in program.stage("kernels"):
        assert 'plumbline.layout = "perm_' in program.stage("kernels")
    if name in _VIEWED:
        assert 'plumbline.layout = "view_' in program.stage("kernels")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 30])
def test_weights_of_bytes(rows: int, dtype: torch.dtype) -> None:
    """They are packed as they are, and converted in registers: one kernel does all."""

    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x @ w.t().to(x.dtype) * 0.5

    x, w = _random((rows, 92), dtype), _random((83, 92), torch.int8)
    program = plumbline.compile(_Weighted(function, w), (x,))
    exact = function(x.double(), w)
    tolerance = {torch.float32: 1e-4, torch.float64: 1e-12}.get(dtype, 2**-7)
    (actual,) = program(x)
    torch.testing.assert_close(actual.double(), exact, rtol=tolerance, atol=tolerance)
    kernels = program.stage("kernels")
    assert re.search(r'xi8> \{plumbline.layout = "perm_', kernels)
    assert len(re.findall(r"call @", kernels)) == 1


_INSTRUCTIONS = {
    torch.bfloat16: ["tdpbf16ps", "vdpbf16ps"],
    torch.int8: ["tdpbssd", "vpdpbusd", "vpmaddwd"],
    torch.int16: ["vpmaddwd"],
}

_OF_MATRICES = ["tdpbf16ps", "tdpbssd"]

_DOTS = [
    (torch.bfloat16, "native"),
    (torch.int8, "native"),
    # By instructions for wider integers.
    (torch.int8, "x86-64-v3"),
    (torch.int16, "x86-64-v3"),
]


def _check_dots(
    program: plumbline.CompiledProgram,
    function: Callable[..., torch.Tensor],
    operands: tuple[torch.Tensor, ...],
    weights: tuple[torch.Tensor, ...] = (),
    target_cpu: str = "native",
    *,
    are_matrices: bool = True,
) -> None:
    """Checks numbers, and that they are by the CPU's instruction where it has one."""
    wide = torch.float64 if operands[0].is_floating_point() else torch.int32
    exact = function(*(operand.to(wide) for operand in (*operands, *weights)))
    (actual,) = program(*operands)
    torch.testing.assert_close(actual.to(wide), exact, rtol=2**-7, atol=2**-7)
    dots = vector_unit_of(cpu_target(target_cpu)).dots
    suited = [
        name
        for name in _INSTRUCTIONS[operands[0].dtype]
        if are_matrices or name not in _OF_MATRICES
    ]
    found = next((name for name in suited if name in dots), None)
    every = itertools.chain.from_iterable(_INSTRUCTIONS.values())
    used = {name for name in every if name in program.stage("asm")}
    assert used == ({found} if found else set())


def _summed_in_32_bits(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The function, of integers by int32."""

    def summed(*operands: torch.Tensor) -> torch.Tensor:
        is_wide = operands[0].is_floating_point()
        return function(*(each if is_wide else each.int() for each in operands))

    return summed


def _telling(shape: str, dtype: torch.dtype) -> torch.Tensor:
    """Numbers of all bits: of bytes -128 to 112."""
    made = _random(tuple(map(int, shape.split("x"))), dtype)
    return made if dtype.is_floating_point else made * 14 - 2


@pytest.mark.parametrize(("dtype", "target_cpu"), _DOTS)
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("linear", "30x92 83x92"),
        ("biased", "130x772 83x772"),
        ("matmul", "30x92 92x83"),
        ("one_row_linear", "1x92 83x92"),
        ("batches", "3x30x92 3x92x83"),
    ],
)
def test_dot_instructions_of_weights(
    name: str, sizes: str, dtype: torch.dtype, target_cpu: str
) -> None:
    operand, weight = (_telling(part, dtype) for part in sizes.split())
    function = _summed_in_32_bits(_WEIGHTED[name][0])
    program = plumbline.compile(_Weighted(function, weight), (operand,), target_cpu=target_cpu)
    are_matrices = name != "one_row_linear"
    _check_dots(program, function, (operand,), (weight,), target_cpu, are_matrices=are_matrices)


@pytest.mark.parametrize(("dtype", "target_cpu"), _DOTS)
@pytest.mark.parametrize(
    ("equation", "sizes"),
    [
        ("ik,kj->ij", "30x92 92x83"),
        ("ik,jk->ij", "30x772 83x772"),
        ("bik,bjk->bij", "3x30x92 3x83x92"),
        # The left operand is copied, so that summed elements lie side by side.
        ("ki,kj->ij", "92x30 92x200"),
        # No two elements of the right one lie side by side: of every other row and column.
        ("ik,KJ->ij", "30x92 184x166"),
    ],
)
def test_dot_instructions(equation: str, sizes: str, dtype: torch.dtype, target_cpu: str) -> None:
    product = _summed_in_32_bits(partial(torch.einsum, equation.lower()))

    def function(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return product(left, right[::2, ::2] if "KJ" in equation else right)

    left, right = (_telling(part, dtype) for part in sizes.split())
    program = plumbline.compile(_Function(function), (left, right), target_cpu=target_cpu)
    _check_dots(program, function, (left, right), target_cpu=target_cpu)


def _of_weight(image: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    weight = image.new_zeros(gradient.shape[1], image.shape[1], 3, 3)
    found: torch.Tensor = torch.ops.aten.convolution_backward(
        gradient,
        image,
        weight,
        None,
        [1, 1],
        [1, 1],
        [1, 1],
        False,
        [0, 0],
        1,
        (False, True, False),
    )[1]
    return found


_PAIRED = [
    (partial(torch.nn.functional.conv2d, stride=2, padding=1), "1x32x11x9 83x32x3x3"),
    # No zeros come between pairs and what reads them.
    (torch.nn.functional.conv2d, "2x32x11x9 83x32x3x3"),
    (partial(torch.nn.functional.conv1d, padding=3), "2x6x100 20x6x7"),
    (partial(torch.nn.functional.conv_transpose2d, stride=2, padding=1), "1x16x5x5 16x20x4x4"),
]


@pytest.mark.parametrize(("function", "sizes"), _PAIRED)
def test_channels_in_pairs(function: Callable[..., torch.Tensor], sizes: str) -> None:
    image, weight = (_telling(part, torch.bfloat16) for part in sizes.split())
    program = plumbline.compile(_Weighted(function, weight), (image,), target_cpu="native")
    _check_dots(program, function, (image,), (weight,))


@pytest.mark.parametrize(("function", "sizes"), [*_PAIRED, (_of_weight, "2x20x11x9 2x24x11x9")])
def test_channels_in_pairs_of_weights_that_are_given(
    function: Callable[..., torch.Tensor], sizes: str
) -> None:
    operands = [_telling(part, torch.bfloat16) for part in sizes.split()]
    program = plumbline.compile(_Function(function), operands, target_cpu="native")
    _check_dots(program, function, (operands[0], operands[1]), are_matrices=False)


def test_pairs_along_windows_that_lie_on_zeros() -> None:
    """Of three channels pixels are multiplied in pairs, of which one may be beside the image."""
    image, weight = (_telling(sizes, torch.bfloat16) for sizes in ("1x32x14x7", "3x32x2x2"))
    function = partial(torch.nn.functional.conv2d, stride=2, padding=1)
    program = plumbline.compile(_Weighted(function, weight), (image,), target_cpu="native")
    _check_dots(program, function, (image,), (weight,), are_matrices=False)


def test_rows_of_windows_of_an_odd_number_of_channels() -> None:
    """Whose elements are an even number side by side, no pair of which is of one channel loop."""

    def function(image: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(image.permute(0, 3, 1, 2), weight.permute(0, 3, 1, 2))

    image, weight = _telling("2x12x11x3", torch.bfloat16), _telling("40x2x2x3", torch.bfloat16)
    (actual,) = plumbline.compile(_Function(function), (image, weight))(image, weight)
    exact = function(image.double(), weight.double())
    torch.testing.assert_close(actual.double(), exact, rtol=2**-7, atol=2**-7)


@pytest.mark.parametrize(
    ("weight", "dilation"),
    [
        # Rows of windows follow one another: panels go on from each to the next.
        ((83, 31, 1, 1), 1),
        # They do not, but weights are as good for panels.
        ((64, 230, 3, 3), 4),
    ],
)
def test_planes_of_any_size(weight: tuple[int, ...], dilation: int) -> None:
    padding = dilation * (weight[-1] // 2)

    def function(image: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(image, weight, padding=padding, dilation=dilation)

    images = [
        _random((batch, weight[1], height, width), torch.float32)
        for batch, height, width in ((2, 3, 4), (1, 13, 17), (1, 1, 1))
    ]
    given = _random(weight, torch.float32).abs()
    sizes = {0: Dim("batch"), 2: Dim.AUTO, 3: Dim.AUTO}
    program = plumbline.compile(
        _Weighted(function, given), (images[0],), dynamic_shapes={"operand": sizes}
    )
    for image in images:
        _check(program, lambda image: function(image, given.to(image.dtype)), (image,))
    # Panels of each row of windows would be as narrow as images may be.
    assert not re.search(r"to %sizes\w*#2 ", program.stage("kernels"))


@pytest.mark.parametrize("weight", [(960, 160, 1, 1), (192, 33, 3, 3)])
def test_planes_of_any_size_are_taken_for_small_ones(weight: tuple[int, ...]) -> None:
    """Weights are packed: little gain for large planes, and half the time of small ones or less."""
    given = _random(weight, torch.float32).abs()
    image = _random((2, weight[1], 3, 5), torch.float32)
    sizes = {0: Dim("batch"), 2: Dim.AUTO, 3: Dim.AUTO}
    module = _Weighted(torch.nn.functional.conv2d, given)
    program = plumbline.compile(module, (image,), dynamic_shapes={"operand": sizes})
    _check(program, lambda of: torch.nn.functional.conv2d(of, given.to(of.dtype)), (image,))
    assert "plumbline.layout" in program.stage("kernels")


def _has_two_plans(program: plumbline.CompiledProgram) -> bool:
    """Whether a kernel begins with a choice between two ways to do all that it does."""
    return re.search(r"^    scf\.if ", program.stage("kernels"), re.MULTILINE) is not None


@pytest.mark.parametrize("target_cpu", ["native", "baseline"])
@pytest.mark.parametrize(
    ("weight", "options"),
    [
        # Packed in one panel, which has more columns than there are channels, or is full.
        ((8, 6, 3, 3), {}),
        ((16, 6, 3, 3), {"padding": 2, "dilation": 2}),
        # Weights of groups are not packed.
        ((16, 6, 3, 3), {"groups": 2, "padding": 1}),
        ((8, 6, 3, 2, 3), {}),
    ],
    ids=["channels", "dilated", "groups", "volumes"],
)
def test_planes_of_any_size_are_done_by_rows_where_these_are_long(
    weight: tuple[int, ...], options: dict[str, Any], target_cpu: str
) -> None:
    convolution = getattr(torch.nn.functional, f"conv{len(weight) - 2}d")
    function = partial(convolution, **options)
    channels = weight[1] * options.get("groups", 1)
    images = [
        _random((batch, channels, *[5] * (len(weight) - 4), height, width), torch.float32)
        for batch, height, width in ((2, 6, 9), (1, 5, 34), (2, 6, 67), (1, 5, 130), (1, 7, 5))
    ]
    given = _random(weight, torch.float32).abs()
    sizes = {axis: Dim.AUTO for axis in range(len(weight)) if axis != 1}
    program = plumbline.compile(
        _Weighted(function, given), (images[0],), {"operand": sizes}, target_cpu=target_cpu
    )
    for image in images:
        _check(program, lambda image: function(image, given.to(image.dtype)), (image,))
    wide = plumbline.compile(
        _Weighted(function, given), (images[0],), {"operand": sizes}, target_cpu="x86-64-v4"
    )
    assert _has_two_plans(wide)


def test_windows_that_are_apart_have_one_plan() -> None:
    """Panels along rows would gather them, which took three times as long."""
    function = partial(torch.nn.functional.conv2d, stride=2)
    given = _random((8, 6, 3, 3), torch.float32)
    sizes = {0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO}
    image = _random((2, 6, 9, 11), torch.float32)
    program = plumbline.compile(
        _Weighted(function, given), (image,), {"operand": sizes}, target_cpu="x86-64-v4"
    )
    assert not _has_two_plans(program)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("equation", ["bij,bjk->bik", "bij,bkj->bik", "ij,kj->ik"])
def test_any_number_of_rows_that_turns_out_to_be_one(equation: str, dtype: torch.dtype) -> None:
    """The other operand is then read once, where it lies."""
    function = partial(torch.einsum, equation)

    def operands(**sizes: int) -> tuple[torch.Tensor, ...]:
        names = equation.split("->")[0].split(",")
        return tuple(_random(tuple(sizes[name] for name in each), dtype) for each in names)

    dims = {name: Dim(name, min=1, max=4000) for name in "bijk"}
    program = plumbline.compile(
        _Function(function),
        operands(b=2, i=8, j=9, k=10),
        {
            "operands": tuple(
                {axis: dims[name] for axis, name in enumerate(each)}
                for each in equation.split("->")[0].split(",")
            )
        },
    )
    for rows, summed, columns in ((1, 300, 530), (1, 1, 7), (1, 65, 1), (2, 300, 33), (8, 9, 10)):
        _check(program, function, operands(b=3, i=rows, j=summed, k=columns))
    assert _has_two_plans(program)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_a_matrix_that_one_row_is_multiplied_with_is_not_turned(dtype: torch.dtype) -> None:
    """Not even where several elements could be multiplied at once then."""
    operands = _random((3, 1, 64), dtype), _random((3, 200, 64), dtype)
    function = partial(torch.einsum, "bij,bkj->bik")

    def turned(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return left @ right.transpose(1, 2)

    for target_cpu in ("x86-64-v3", "cooperlake", "sapphirerapids"):
        there = plumbline.compile(_Function(turned), operands, target_cpu=target_cpu)
        assert len(re.findall(r"call @", there.stage("kernels"))) == 1, target_cpu
    _check(plumbline.compile(_Function(turned), operands), function, operands)


@pytest.mark.parametrize(("summed", "columns"), [(400, 300), (384, 300)])
def test_any_number_of_rows_is_taken_for_a_small_one(summed: int, columns: int) -> None:
    """Rows in lanes of vectors are a little less to do for many, and many times as much for few."""
    layer = torch.nn.Linear(summed, columns)
    program = plumbline.compile(
        layer,
        (torch.randn(64, summed),),
        dynamic_shapes=({0: Dim("rows")},),
        target_cpu="x86-64-v4",
    )
    assert "plumbline.layout" in program.stage("kernels")


@pytest.mark.parametrize(
    ("shape", "part", "is_fused"),
    [
        # Of whole rows and planes, and of parts of these.
        ((2, 7, 5, 6), (slice(None), slice(3)), True),
        ((2, 3, 9, 6), (..., slice(2, 7), slice(None)), True),
        ((2, 3, 5, 9), (..., slice(6)), False),
        ((2, 3, 5, 12), (..., slice(None, None, 2)), False),
    ],
)
def test_parts_of_images_are_added(
    shape: tuple[int, ...], part: tuple[slice, ...], *, is_fused: bool
) -> None:
    def function(image: torch.Tensor, weight: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(image, weight) + other[part]

    operands = tuple(_random(each, torch.float32) for each in ((2, 60, 5, 6), (3, 60, 1, 1), shape))
    program = plumbline.compile(_Function(function), operands)
    _check(program, function, operands)
    text = program.stage("kernels")
    assert ("@matmul_add(" in text) == is_fused
    assert all("vector" in type_ for type_ in re.findall(r"arith\.mulf .* : (.*)", text))


@pytest.mark.parametrize("target_cpu", ["native", "baseline"])
@pytest.mark.parametrize(
    ("rows", "summed", "columns", "by_tiles"),
    [
        (8, 16, 16, True),
        (3, 20, 30, True),
        # Too few rows, columns or terms for tiles, of so few products.
        (2, 32, 32, False),
        (64, 16, 3, False),
        (32, 4, 32, False),
    ],
)
def test_small_layers(
    rows: int, summed: int, columns: int, target_cpu: str, *, by_tiles: bool
) -> None:
    layer = torch.nn.Linear(summed, columns)
    x = torch.randn(rows, summed)
    program = plumbline.compile(layer, (x,), target_cpu=target_cpu)
    torch.testing.assert_close(program(x)[0], layer(x).detach())
    assert ("@matmul_" in program.stage("kernels")) == by_tiles


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_small_products_of_halves_take_tiles_of_weights_alone(dtype: torch.dtype) -> None:
    layer = torch.nn.Linear(16, 32, dtype=dtype)
    x = torch.randn(8, 16, dtype=dtype)
    of_weights = plumbline.compile(layer, (x,), target_cpu="baseline")
    assert "call @cast_matmul_add(" in of_weights.stage("kernels")

    class Product(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x @ y

    operands = (x, torch.randn(16, 32, dtype=dtype))
    program = plumbline.compile(Product(), operands, target_cpu="baseline")
    assert "call @cast_product_sum(" in program.stage("kernels")


@pytest.mark.parametrize("target_cpu", _CPUS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_dot_products_mask_what_is_left_alone(dtype: torch.dtype, target_cpu: str) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x @ y.t()

    for rows, summed, columns in ((1, 300, 400), (1, 295, 139), (2, 300, 33), (6, 33, 300)):
        operands = (_random((rows, summed), dtype), _random((columns, summed), dtype))
        program = plumbline.compile(_Function(function), operands, target_cpu=target_cpu)
        _check(program, function, operands)
        loops = program.stage("kernels").partition("iter_args")[2]
        # The first loop that carries sums has no masks: AVX2 loads by these at a fraction of the
        # speed (AMD Zen 1).
        assert "masked" not in loops.partition("scf.yield")[0]


def test_not_a_number_stays_in_its_row() -> None:
    left, right = torch.ones(13, 20), torch.ones(20, 17)
    left[12, 3] = torch.nan
    (actual,) = plumbline.compile(_Function(torch.matmul), (left, right))(left, right)
    assert actual[12].isnan().all()
    assert (actual[:12] == 20).all()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
