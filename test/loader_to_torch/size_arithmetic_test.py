import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from torch.export import Dim
from torch.fx.experimental.symbolic_shapes import ShapeEnv

import plumbline
from plumbline.errors import UserError
from plumbline.loader_to_torch.export import export
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.pytorch_state import exporting

_PAD = torch.nn.functional.pad


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[[torch.Tensor, int], torch.Tensor]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._function(x, x.shape[0])


def _compile(
    function: Callable[[torch.Tensor, int], torch.Tensor],
) -> tuple[torch.nn.Module, plumbline.CompiledProgram]:
    program = _Program(function)
    sizes = {"x": {0: Dim("n", min=3, max=100)}}
    return program, plumbline.compile(program, (torch.randn(11),), sizes)


def _compared(x: torch.Tensor, n: int) -> torch.Tensor:
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        x = x * torch.sym_ite(compare(n / 2, 5.5), 2, 3)  # type: ignore[no-untyped-call]
    return x


def _resized(x: torch.Tensor, mode: str, **options: bool) -> torch.Tensor:
    """The rows of an image 12 long, of the width that is not known 7."""
    image = x * torch.linspace(0, 1, 9)[:, None]
    return torch.nn.functional.interpolate(
        image[None, None], (12, 7), mode=mode, antialias=True, **options
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x + n % 8,
        lambda x, n: x / x.shape.numel() + x[:, None].expand(-1, 3).shape[:1].numel(),
        lambda x, n: x + (5 - n) % 7,
        lambda x, n: _PAD(x, (0, (8 - n % 8) % 8)),
        lambda x, n: x + n**2,
        lambda x, n: x + (n << 2) + (n >> 1),
        lambda x, n: x + torch.sym_max(n, 10),  # type: ignore[no-untyped-call]
        lambda x, n: x + torch.sym_min(n, 10),  # type: ignore[no-untyped-call]
        lambda x, n: x * torch.sym_float(n),  # type: ignore[no-untyped-call]
        lambda x, n: x + torch.sym_sum([7, n, 2 * n]),  # type: ignore[no-untyped-call]
        lambda x, n: x / math.sqrt(n) * n**-0.5 + math.exp(-n) * math.pow(n, 1.5),
        lambda x, n: x * math.log(n) - math.log2(n / 2) + math.log10(n) + math.log(n, 3),
        lambda x, n: x * math.isqrt(n) + math.gcd(n, 24) + math.fabs(n / 3 - 4) + abs(n - 11),
        lambda x, n: x / np.sqrt(n) + np.log(n) * np.exp(-n / 3) - np.log2(n) - np.log10(n),
        lambda x, n: x * divmod(n, 4)[0] + divmod(n, 4)[1] + divmod(30, n)[1],
        lambda x, n: _PAD(x, (0, (1 << (n - 1).bit_length()) - n)) + (n - 3).bit_length(),
        lambda x, n: x * (1000 >> n),
        lambda x, n: x * (2**n + n ** (n // 3)),
        lambda x, n: x * 2.0**-n * x.shape[0] ** -1,
        lambda x, n: torch.nn.functional.scaled_dot_product_attention(*(x[None, None],) * 3),
        lambda x, n: x * ((x * 90).to(torch.int64) // n),
        lambda x, n: torch.div(x, n, rounding_mode="trunc"),
        lambda x, n: x * math.floor(n / 3) + math.ceil(n / 3),
        _compared,
        lambda x, n: x * math.floor((4 - n) / 3) + math.trunc((9 - n) / 2),
        lambda x, n: x * round(n / 3) + round(n / 2) + round((5 - n) / 2),
        lambda x, n: x * math.ceil(n * 4) + math.floor(n + 1) + math.trunc(-n) + round(n - 3),
        lambda x, n: _PAD(x[None], (1, 2), mode="reflect"),
        lambda x, n: _PAD(x[None, None], (1, 2, 0, 0), mode="reflect"),
        lambda x, n: torch.nn.functional.interpolate(x[None, None], scale_factor=1.5),
        lambda x, n: _resized(x, "bilinear"),
        lambda x, n: _resized(x, "bicubic", align_corners=True),
        lambda x, n: n - x.to(torch.int64),
        lambda x, n: x * torch.sym_ite(n == 10, 2, 3),  # type: ignore[no-untyped-call]
        lambda x, n: x + torch.sym_ite(torch.sym_not(n == 8), n, 2 * n),  # type: ignore[no-untyped-call]
        lambda x, n: x * torch.sym_ite((n > 8) & (n < 12) | (n == 3), n, 2 * n),  # type: ignore[no-untyped-call]
    ],
)
def test_what_is_computed_of_sizes(function: Callable[[torch.Tensor, int], torch.Tensor]) -> None:
    program, compiled = _compile(function)
    for size in (3, 8, 10, 11, 12, 16, 23):
        x = 4 * torch.randn(size)
        torch.testing.assert_close(compiled(x)[0], program(x))


def test_as_many_elements_as_the_next_power_of_2() -> None:
    def halves(x: torch.Tensor, n: int) -> torch.Tensor:
        padded: torch.Tensor = _PAD(x, (0, 2 ** math.ceil(math.log2(n)) - n))
        return padded.view(2, -1).sum(1)

    program = _Program(halves)
    compiled = plumbline.compile(program, (torch.randn(11),), {"x": {0: Dim.AUTO}})
    for size in (2, 3, 8, 11, 16, 33):
        x = torch.randn(size)
        torch.testing.assert_close(compiled(x)[0], program(x))


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x, n: x * (n & 3), "and_"),
    ],
)
def test_what_cannot_be_compiled_is_named_with_its_place(
    function: Callable[[torch.Tensor, int], torch.Tensor], name: str
) -> None:
    expected = (
        rf"forward computes of sizes .*:\n  {name}\(\): 1 place\n.*size_arithmetic_test\.py:\d+"
    )
    with pytest.raises(UserError, match=expected):
        _compile(function)


class _Narrowed(torch.nn.Module):
    def forward(self, x: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        begin: Any = first.item()
        return x.narrow(0, begin, 2)


def test_a_slice_begins_where_a_number_in_a_tensor_says() -> None:
    x = torch.randn(6, 5)
    program = plumbline.compile(_Narrowed(), (x, torch.tensor(3)))
    for first in (0, 3, 4, -2, -6):
        (actual,) = program(x, torch.tensor(first))
        torch.testing.assert_close(actual, x.narrow(0, first, 2))
    for first in (5, -7, -1):
        with pytest.raises(UserError, match="the program asserts that"):
            program(x, torch.tensor(first))


class _Truths(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[Any, ...]:
        torch._check_tensor_all(x < 9)  # type: ignore[no-untyped-call]
        holds = (x > 0).all().item()
        chosen = torch.cond(holds, torch.sin, torch.cos, (x,))
        return holds, x * torch.sym_ite(holds, 2, 3), chosen  # type: ignore[no-untyped-call]


def test_a_truth_value_is_read_out_of_a_tensor() -> None:
    x = torch.linspace(1, 2, 5)
    program = plumbline.compile(_Truths(), (x,))
    for inputs in (x, x - 1.5):
        holds, scaled, chosen = program(inputs)
        expected = _Truths()(inputs)
        assert holds is expected[0]
        torch.testing.assert_close((scaled, chosen), expected[1:])
    with pytest.raises(UserError, match="an assertion of the program fails"):
        program(x + 8)


class _Padded(torch.nn.Module):
    """Pads as EnCodec's convolutions do."""

    stride: torch.Tensor
    taken: torch.Tensor
    shares: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("stride", torch.tensor(3))
        self.register_buffer("taken", torch.tensor(0))
        # As EoMT has them of layers that mask their attention.
        self.register_buffer("shares", torch.tensor([0.5, 0.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.sin() if self.shares[0] > 0 else x.cos()
        x = x.sin() if self.shares[1] > 0 else x.cos()
        missing: Any = -x.shape[-1] % self.stride
        padded = _PAD(x, (0, missing))
        return padded.reshape(-1, 3) if padded.shape[-1] > 10 else padded


class _Counting(_Padded):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.taken.add_(1)
        return super().forward(x) * self.taken.item()


class _Shaped(torch.nn.Module):
    """Takes the shape of an image from a tensor, as SAM 3 does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        height, width = torch.tensor([[4, 3], [2, 2]])[0]
        rows: Any = height * 1
        return x.reshape(rows, width) if rows > 2 else x


class _Scheduled(torch.nn.Module):
    """Holds its steps in a tensor that is no buffer, as schedulers of diffusers do."""

    def __init__(self) -> None:
        super().__init__()
        self.steps, self.factors = torch.tensor([30, 20, 10]), torch.rand(100)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before = self.steps[1] - 25
        return x * self.factors[self.steps[0]] * (self.factors[before] if before >= 0 else 2)


def test_branches_are_decided_by_numbers_that_a_model_holds() -> None:
    x, model = torch.randn(12), _Scheduled()
    (actual,) = plumbline.compile(model, (x,))(x)
    torch.testing.assert_close(actual, model(x))


def test_sizes_are_computed_of_numbers_in_a_tensor_that_is_made_of_them() -> None:
    x = torch.randn(12)
    (actual,) = plumbline.compile(_Shaped(), (x,))(x)
    torch.testing.assert_close(actual, _Shaped()(x))


class _Packed(torch.nn.Module):
    """Numbers sequences by their lengths, as NaViT does patches by the images they are of."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        owners = torch.arange(2).repeat_interleave(torch.tensor([3, 4]))
        padded = torch.nn.utils.rnn.pad_sequence([owners, torch.arange(9)], batch_first=True)
        return padded * x, torch.tensor([4, 0, 5]).nonzero()


def test_sizes_that_follow_from_known_numbers_are_known() -> None:
    x = torch.randn(9)
    program = plumbline.compile(_Packed(), (x,))
    torch.testing.assert_close(program(x), _Packed()(x))
    assert program.signature.result_shapes == ((2, 9), (2, 1))


class _Windows(torch.nn.Module):
    """Takes patches by the windows that they are in, as the vision tower of Qwen2.5-VL does."""

    grid: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("grid", torch.tensor([[14, 10]]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ((height, width),) = self.grid.tolist()
        places = _PAD(torch.arange(height * width).view(height, width), (0, 2, 0, 6), value=-1)
        windows = places.view(-1, 4, 3, 4).transpose(1, 2).reshape(-1, 16)
        lengths = (windows >= 0).sum(1)
        places = windows.reshape(-1)
        places = places[places >= 0]
        ends = torch.unique_consecutive(torch.tensor([0, *lengths.cumsum(0).tolist()]))
        parts = torch.split(x[places], (ends[1:] - ends[:-1]).tolist())
        return (*(part.softmax(0) for part in parts), torch.cat(parts)[places.argsort()])


def test_parts_of_a_picture_are_as_large_as_its_known_sizes_say() -> None:
    x = torch.randn(140, 3)
    program = plumbline.compile(_Windows(), (x,))
    torch.testing.assert_close(program(x), _Windows()(x))
    assert "tcp.nonzero" not in program.stage("tcp")


class _Written(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        places = torch.arange(9)
        before = places[places > 3]
        # By a view of them.
        places.view(3, 3)[1] = 0
        return x[before], x[places[places > 3]]


def test_numbers_are_known_as_they_are_where_a_program_reads_them() -> None:
    x = torch.randn(9)
    program = plumbline.compile(_Written(), (x,))
    torch.testing.assert_close(program(x), _Written()(x))


class _Triangle(torch.nn.Module):
    """Has a pair of rows for each of their upper triangle, as DLRM does of its features."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        above = torch.arange(9) > torch.arange(9)[:, None]
        products = x @ x.transpose(1, 2)
        return products[:, above], products[:, :, above[3]], products[:, above[:, 8], 2:]


def test_what_a_known_mask_chooses_has_a_known_size() -> None:
    x = torch.randn(4, 9, 3)
    program = plumbline.compile(_Triangle(), (x,), ({0: Dim("batch")},))
    for size in (4, 1, 6):
        x = torch.randn(size, 9, 3)
        torch.testing.assert_close(program(x), _Triangle()(x))
    assert program.signature.result_shapes[0][1] == 36


class _LookedUp(torch.nn.Module):
    """Follows small tables from place to place, as a decision tree does."""

    def __init__(self) -> None:
        super().__init__()
        self.following: torch.Tensor
        self.shown: torch.Tensor
        self.register_buffer("following", torch.tensor([2, 0, 1]))
        self.register_buffer("shown", torch.tensor([0.5, 1.5, 2.5]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(3):
            x = self.following[x]
        result: torch.Tensor = self.shown[x]
        return result


def test_elements_that_arguments_name_are_not_known() -> None:
    x = torch.tensor([0, 1, 2, 2])
    (actual,) = plumbline.compile(_LookedUp(), (x,))(x)
    torch.testing.assert_close(actual, _LookedUp()(x))


class _Listed(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        total, most = x.sum(), x.argmax()
        return (
            torch.tensor([[total, x[:1]], [2, x.shape[0]]]),
            torch.tensor((most, True)),
            torch.tensor([total.half(), 1.5]),
            torch.tensor([total, 3.7], dtype=torch.float64),
            torch.as_tensor([most, total]),
            x.half().new_tensor([most, total]),
        )


def test_tensors_are_made_of_lists_of_tensors() -> None:
    program = plumbline.compile(_Listed(), (torch.randn(4),), dynamic_shapes=({0: Dim("n")},))
    for x in (torch.randn(4), torch.randn(9)):
        # Of which the sum is exact: float64 is held to more digits than float32 has.
        eighths = (x * 8).round() / 8
        torch.testing.assert_close(program(eighths), _Listed()(eighths))


class _Counted(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        times, places = torch.linspace(0, 1, 4), torch.arange(end=3)
        assert (times[1:] > times[:-1]).all()
        places[1] = 7
        summed = x.sum(torch.arange(1, x.dim()).tolist())
        # Where these are as many as a size that is not known, nothing is known of them.
        rows = torch.arange(y.shape[0]) * torch.linspace(0, 1, y.shape[0])
        return summed, x[:, :1].expand(-1, int(places[1]), -1), y * rows


def test_numbers_that_are_counted_are_known() -> None:
    x, y = torch.randn(2, 3, 4), torch.randn(5)
    rows = torch.export.Dim("rows", max=30)
    program = plumbline.compile(_Counted(), (x, y), dynamic_shapes=({}, {0: rows}))
    for other in (y, torch.randn(21)):
        torch.testing.assert_close(program(x, other), _Counted()(x, other))
    assert "require" not in program.stage("linalg")


def test_sizes_are_computed_of_numbers_in_buffers() -> None:
    for size in (8, 11):
        x = torch.randn(2, size)
        (actual,) = plumbline.compile(_Padded(), (x,))(x)
        torch.testing.assert_close(actual, _Padded()(x))


def test_a_number_that_is_an_argument_or_written_is_not_known() -> None:
    x = torch.randn(2, 11)
    program = TorchLoaderOutput(model=_Padded(), inputs=(x,))
    with pytest.raises(UserError, match="data-dependent"):
        export("program", program, embedded=False)
    counting = plumbline.compile(_Counting(), (x,), mutable=["taken"])
    taken = torch.tensor(5)
    (actual,) = counting(x, taken)
    torch.testing.assert_close(actual, 6 * _Padded()(x))
    assert taken == 6


class _Framed(torch.nn.Module):
    """Pads as the convolutions of EnCodec and Mimi do, to whole windows."""

    stride: torch.Tensor
    window: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("stride", torch.tensor(4))
        self.register_buffer("window", torch.tensor(7), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = x.shape[-1]
        frames = torch.ceil((length - self.window) / self.stride + 1).to(torch.int64)
        missing: Any = (frames - 1) * self.stride + self.window - length
        padded = _PAD(x, (0, missing))
        return padded if padded.shape[1] > 2 else padded * 2


def test_numbers_that_tensors_of_sizes_hold_are_sizes() -> None:
    sizes = {0: Dim.AUTO, 1: Dim.AUTO}
    program = plumbline.compile(_Framed(), (torch.randn(2, 33),), dynamic_shapes=(sizes,))
    for length in (33, 34, 35, 36, 21):
        x = torch.randn(3, length)
        torch.testing.assert_close(program(x)[0], _Framed()(x))


class _Blurred(torch.nn.Module):
    """As filters of kornia's do it: each channel by itself, however many there are."""

    def forward(self, x: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
        kernels = kernel.expand(x.shape[1], 1, -1, -1)
        return torch.nn.functional.conv2d(x, kernels, groups=x.shape[1])


def test_a_convolution_has_as_many_groups_as_a_call_has_channels() -> None:
    sizes = dict.fromkeys(range(4), Dim.AUTO)
    x, kernel = torch.rand(2, 3, 5, 6), torch.rand(3, 2)
    program = plumbline.compile(_Blurred(), (x, kernel), dynamic_shapes=(sizes, {}))
    for shape in ((2, 3, 5, 6), (1, 4, 7, 5)):
        x = torch.rand(shape)
        torch.testing.assert_close(program(x, kernel)[0], _Blurred()(x, kernel))


def test_an_expression_that_is_known_is_not_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = ShapeEnv()
    n, m = sizes.create_unbacked_symint(), sizes.create_unbacked_symint()
    product: Any = n * m + 2
    with exporting():
        before = product.node._expr
        with monkeypatch.context() as patched:
            patched.delattr(sympy.Expr, "is_number")
            assert product.node.expr is before
        torch._check(n == 3)  # type: ignore[no-untyped-call]
        after = product.node.expr
        assert after == 3 * m.node.expr + 2
        with monkeypatch.context() as patched:
            patched.delattr(sympy.Expr, "is_number")
            assert product.node.expr is after


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
