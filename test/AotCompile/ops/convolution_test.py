"""Convolutions against PyTorch."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim
from torch.fx.experimental.proxy_tensor import make_fx

import plumbline
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import convolution as tcp
from test.AotCompile.ops.op_case import (
    FLOATS,
    Batch,
    OpCase,
    Sampler,
    each,
    ops_without_case,
)

_CHANNELS = (4, 6)
_INTEGERS = (torch.uint8, torch.int8, torch.int64)
_KERNEL = (2, 3)


@pytest.fixture(autouse=True)
def _pytorchs_own_kernels() -> Iterator[None]:
    """Those of oneDNN add up gradients of biases less exactly on one thread than on two."""
    with torch.backends.mkldnn.flags(enabled=False):
        yield


def _case(
    name: str,
    function: Callable[..., torch.Tensor | tuple[torch.Tensor, ...]],
    op: type[TcpOp],
    *shapes: Sequence[int],
    dtypes: Sequence[torch.dtype] = FLOATS,
    **options: Any,
) -> OpCase:
    """Batch and spatial sizes of the input, 5 and 7 to 9, are dynamic; channels and kernel are not.

    PyTorch refuses windows in empty dimensions.
    """

    def inputs(s: Sampler) -> list[torch.Tensor]:
        return [s.tensor(*shape, low=-1, high=1) for shape in shapes]

    def convolve(
        x: torch.Tensor, weight: torch.Tensor, *bias: torch.Tensor
    ) -> torch.Tensor | tuple[torch.Tensor, ...]:
        return function(x, weight, *bias, **options)

    return OpCase(
        name,
        convolve,
        inputs,
        [op],
        dtypes,
        static=(*_CHANNELS, *_KERNEL),
        kinds=("static", "dynamic"),
        empty=False,
        auto=True,
    )


def _transposed(name: str, *arguments: Any, **options: Any) -> list[OpCase]:
    """PyTorch rounds half precision with each window that it adds, and we once in the end."""
    function, *shapes = arguments
    return [
        replace(
            _case(f"{name}_{kind}", function, tcp.ConvTransposeOp, *shapes, **options),
            dtypes=dtypes,
            rtol=tolerance,
            atol=tolerance,
        )
        for kind, dtypes, tolerance in (
            ("half", (torch.float16, torch.bfloat16), 5e-2),
            ("single", (torch.float32, torch.float64), None),
        )
    ]


_conv = tcp.ConvOp
_BIAS = (6,)

FORWARD = [
    _case("conv1d", F.conv1d, _conv, (5, 4, 9), (6, 4, 3)),
    _case("conv1d_same", F.conv1d, _conv, (5, 4, 9), (6, 4, 2), padding="same"),
    _case("conv2d", F.conv2d, _conv, (5, 4, 8, 9), (6, 4, 3, 2)),
    _case("conv2d_bias", F.conv2d, _conv, (5, 4, 8, 9), (6, 4, 3, 2), _BIAS, padding=1),
    _case("conv2d_unbatched", F.conv2d, _conv, (4, 8, 9), (6, 4, 3, 2), _BIAS),
    _case("conv2d_1x1", F.conv2d, _conv, (5, 4, 8, 9), (6, 4, 1, 1)),
    _case("conv2d_integers", F.conv2d, _conv, (5, 4, 8, 9), (6, 4, 3, 2), _BIAS, dtypes=_INTEGERS),
    _case(
        "conv2d_strides", F.conv2d, _conv, (5, 4, 8, 9), (6, 4, 3, 2), stride=(2, 3), padding=(0, 1)
    ),
    _case(
        "conv2d_dilated", F.conv2d, _conv, (5, 4, 8, 9), (6, 4, 3, 2), dilation=(2, 3), padding=2
    ),
    _case("conv2d_groups", F.conv2d, _conv, (5, 4, 8, 9), (6, 2, 3, 2), _BIAS, groups=2, padding=1),
    _case(
        "conv2d_depthwise", F.conv2d, _conv, (5, 6, 8, 9), (6, 1, 3, 3), _BIAS, groups=6, stride=2
    ),
    # Pads that kernels of depthwise convolutions lay around what they read.
    _case(
        "conv2d_depthwise_padded",
        F.conv2d,
        _conv,
        (5, 6, 8, 9),
        (6, 1, 3, 3),
        _BIAS,
        groups=6,
        padding=(1, 2),
    ),
    _case(
        "conv2d_depthwise_strides",
        F.conv2d,
        _conv,
        (5, 6, 8, 9),
        (6, 1, 3, 2),
        groups=6,
        padding=(2, 1),
        stride=(1, 2),
        dilation=(2, 1),
    ),
    _case(
        "conv1d_depthwise", F.conv1d, _conv, (5, 6, 9), (6, 1, 4), _BIAS, groups=6, padding="same"
    ),
    _case(
        "conv3d_depthwise",
        F.conv3d,
        _conv,
        (5, 6, 7, 8, 9),
        (6, 1, 3, 3, 2),
        groups=6,
        padding=1,
        stride=(2, 1, 2),
    ),
    # What is padded, and what is laid around it, are read by the epilogue too.
    _case(
        "conv2d_depthwise_beside_its_input",
        lambda x, w, b: (
            F.conv2d(y := x[:, :1].expand(-1, 6, -1, -1), w, b, groups=6, padding=1) + y
        ),
        _conv,
        (5, 6, 8, 9),
        (6, 1, 3, 3),
        _BIAS,
    ),
    _case(
        "conv2d_depthwise_beside_its_pad",
        lambda x, w, b: F.conv2d(y := F.pad(x, (1, 1, 1, 1)), w, b, groups=6) + y[..., 1:-1, 1:-1],
        _conv,
        (5, 6, 8, 9),
        (6, 1, 3, 3),
        _BIAS,
    ),
    _case("conv2d_multiplied", F.conv2d, _conv, (5, 2, 8, 9), (6, 1, 3, 3), groups=2),
    _case("conv3d", F.conv3d, _conv, (5, 4, 7, 8, 9), (6, 4, 2, 3, 2), _BIAS, padding=1, stride=2),
    _case("conv3d_groups", F.conv3d, _conv, (5, 4, 7, 8, 9), (6, 2, 2, 3, 2), groups=2),
    # What is fused into a grouped convolution of dynamic sizes must not use what comes after it.
    _case(
        "between_elementwise_ops",
        lambda x, w, b: torch.relu(F.conv2d(torch.relu(x) + 1, w * 2, b, groups=2)) * 3,
        _conv,
        (5, 4, 8, 9),
        (6, 2, 3, 2),
        _BIAS,
    ),
]

TRANSPOSED = [
    *_transposed("transposed1d", F.conv_transpose1d, (5, 4, 9), (4, 6, 3), stride=2),
    # Three of four residues of the stride have fewer weights than the other.
    *_transposed("transposed1d_residues", F.conv_transpose1d, (5, 4, 9), (4, 6, 9), stride=4),
    *_transposed("transposed2d", F.conv_transpose2d, (5, 4, 8, 9), (4, 6, 3, 2), _BIAS),
    *_transposed(
        "transposed2d_strides",
        F.conv_transpose2d,
        (5, 4, 8, 9),
        (4, 6, 3, 2),
        stride=(2, 3),
        padding=1,
        output_padding=(1, 0),
    ),
    *_transposed(
        "transposed2d_dilated",
        F.conv_transpose2d,
        (5, 4, 8, 9),
        (4, 6, 3, 2),
        dilation=(2, 3),
        padding=(1, 0),
    ),
    *_transposed(
        "transposed2d_groups",
        F.conv_transpose2d,
        (5, 4, 8, 9),
        (4, 3, 3, 2),
        _BIAS,
        groups=2,
        stride=2,
    ),
    # As many weights for each element, and one more for some.
    *_transposed(
        "transposed2d_even",
        F.conv_transpose2d,
        (5, 4, 8, 9),
        (4, 6, 6, 2),
        _BIAS,
        stride=2,
        padding=(2, 0),
    ),
    *_transposed(
        "transposed2d_uneven",
        F.conv_transpose2d,
        (5, 4, 8, 9),
        (4, 3, 6, 3),
        stride=(4, 2),
        padding=(5, 1),
        output_padding=(3, 1),
        groups=2,
    ),
    # Both steps above 1, and both sizes 1 at the least.
    *_transposed(
        "transposed2d_dilated_strides",
        F.conv_transpose2d,
        (5, 4, 8, 1),
        (4, 6, 3, 1),
        stride=(2, 3),
        dilation=(3, 1),
        padding=(1, 0),
        output_padding=(2, 1),
    ),
    *_transposed(
        "transposed2d_depthwise", F.conv_transpose2d, (5, 4, 8, 9), (4, 1, 3, 3), groups=4
    ),
    *_transposed(
        "transposed3d", F.conv_transpose3d, (5, 4, 7, 8, 9), (4, 6, 2, 3, 2), stride=2, padding=1
    ),
]


def _gradients(
    name: str,
    *shapes: Sequence[int],
    transposed: bool = False,
    output_padding: int = 0,
    groups: int = 1,
    dtypes: Sequence[torch.dtype] = (torch.float32, torch.float64),
    **options: int,
) -> OpCase:
    """Of what is convolved, of the weights and of the bias, where each result counts for itself."""
    spatial = len(shapes[0]) - 2
    steps = [
        [options.get(key, default)] * spatial
        for key, default in (("stride", 1), ("padding", 0), ("dilation", 1))
    ]
    arguments = (*steps, transposed, [output_padding] * spatial, groups)

    def gradients(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
        out = torch.ops.aten.convolution(x, weight, None, *arguments)
        found: tuple[torch.Tensor, ...] = torch.ops.aten.convolution_backward(
            out, x, weight, [out.shape[1]], *arguments, [True] * 3
        )
        return found

    return replace(
        _case(f"gradients_{name}", gradients, _conv, *shapes, dtypes=dtypes),
        ops=[tcp.ConvOp, tcp.ConvTransposeOp],
    )


BACKWARD = [
    _gradients("1d", (5, 4, 9), (6, 4, 3), padding=1),
    _gradients("1d_groups", (5, 4, 9), (6, 2, 3), groups=2, stride=2),
    _gradients("2d", (5, 4, 8, 9), (6, 4, 3, 2), padding=1),
    _gradients("2d_strides", (5, 4, 8, 9), (6, 4, 3, 3), stride=2, padding=1),
    _gradients("2d_dilated", (5, 4, 8, 9), (6, 4, 3, 2), stride=3, dilation=2, padding=2),
    _gradients("2d_groups", (5, 4, 8, 9), (6, 2, 3, 3), groups=2, padding=1),
    _gradients("2d_groups_strides", (5, 4, 8, 9), (6, 2, 3, 3), groups=2, stride=2, padding=1),
    _gradients("2d_depthwise", (5, 6, 8, 9), (6, 1, 3, 3), groups=6, padding=1),
    # The sums are too long for float32, which PyTorch adds in another order.
    _gradients("3d", (5, 4, 7, 8, 9), (6, 4, 2, 3, 2), stride=2, dtypes=(torch.float64,)),
    _gradients("transposed1d", (5, 4, 9), (4, 6, 3), transposed=True),
    _gradients(
        "transposed2d",
        (5, 4, 8, 9),
        (4, 3, 3, 2),
        transposed=True,
        groups=2,
        stride=2,
        padding=1,
        output_padding=1,
    ),
    _gradients(
        "transposed2d_dilated",
        (5, 4, 8, 9),
        (4, 6, 3, 2),
        transposed=True,
        dilation=3,
        output_padding=2,
    ),
]

EMPTY = OpCase(
    "conv2d_of_no_batch",
    lambda x, w, b: (F.conv2d(x, w, b, padding=1), F.conv_transpose2d(x, w[:4], stride=2)),
    lambda s: (s.tensor(5, 4, 8, 9), s.tensor(6, 4, 3, 2), s.tensor(6)),
    [tcp.ConvOp, tcp.ConvTransposeOp],
    (torch.float32, torch.float64),
    static=(*_CHANNELS, *_KERNEL, 8, 9),
)

INFINITE_WEIGHTS = OpCase(
    "transposed_with_infinite_weights",
    lambda x, w: F.conv_transpose1d(x, w, stride=3),
    lambda s: (s.tensor(5, 4, 9, low=1), s.tensor(4, 6, 2) / 0),
    [tcp.ConvTransposeOp],
    static=(*_CHANNELS, *_KERNEL),
    dtypes=(torch.float32, torch.float64),
    kinds=("static", "dynamic"),
    empty=False,
    auto=True,
)


CASES = [*FORWARD, *TRANSPOSED, *BACKWARD, EMPTY, INFINITE_WEIGHTS]


@each(CASES)
def test_against_pytorch(batch: Batch, place: int) -> None:
    """The compiled function answers as PyTorch does."""
    batch.check(place)


class _TimeFirst(torch.nn.Module):
    def forward(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.conv_tbc(x, weight, bias, 1)


def test_a_step_of_training() -> None:
    """Gradients through grouped, strided and transposed convolutions, pooling and a norm."""
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2, padding=1),
        torch.nn.BatchNorm2d(8, track_running_stats=False),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 8, 3, padding=1, groups=8),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 12, 1, groups=2),
        torch.nn.SiLU(),
        torch.nn.ConvTranspose2d(12, 6, 2, stride=2),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(6, 5),
    )
    names = [name for name, _ in net.named_parameters()]

    def step(x: torch.Tensor, labels: torch.Tensor, *weights: torch.Tensor) -> list[torch.Tensor]:
        def loss(weights: tuple[torch.Tensor, ...]) -> torch.Tensor:
            scores = torch.func.functional_call(net, dict(zip(names, weights, strict=True)), (x,))
            return F.cross_entropy(scores, labels)

        gradients, value = torch.func.grad_and_value(loss)(weights)
        moved = [weight - 0.1 * slope for weight, slope in zip(weights, gradients, strict=True)]
        return [value, *moved]

    weights = [weight.detach() for weight in net.parameters()]
    inputs = (torch.randn(4, 3, 16, 16), torch.tensor([0, 4, 2, 2]), *weights)
    program = plumbline.compile(make_fx(step)(*inputs), inputs)
    for actual, expected in zip(program(*inputs), step(*inputs), strict=True):
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


class _StridedPlanes(torch.nn.Module):
    def forward(
        self, slopes: torch.Tensor, x: torch.Tensor, weight: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        def planes(weight: torch.Tensor) -> torch.Tensor:
            return F.conv2d(x, weight, stride=2, padding=1, groups=8)

        gradient: tuple[torch.Tensor, ...] = torch.func.vjp(planes, weight)[1](slopes)
        return gradient


def test_gradient_of_weights_of_strided_planes() -> None:
    """That windows end before the image does keeps it from no kernel of its kind."""
    torch.manual_seed(0)
    inputs = torch.randn(4, 8, 14, 14), torch.randn(4, 8, 28, 28), torch.randn(8, 1, 3, 3)
    program = plumbline.compile(_StridedPlanes(), inputs)
    kernels = program.stage("kernels")
    assert "@conv_kernel" in kernels
    assert "arith.remui" not in kernels
    assert "4x8x30x30" not in kernels
    torch.testing.assert_close(program(*inputs), _StridedPlanes()(*inputs), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("nearest", {"size": (7, 13)}),
        ("nearest-exact", {"scale_factor": 1.7}),
        ("bilinear", {"size": (9, 3), "align_corners": True}),
        ("bilinear", {"scale_factor": (0.6, 1.7)}),
        ("bicubic", {"scale_factor": 1.5}),
    ],
)
def test_resampling_and_its_gradient_in_a_graph_that_has_been_traced(
    mode: str, options: dict[str, Any]
) -> None:
    """`make_fx` leaves other overloads than torch.export does."""

    def step(x: torch.Tensor) -> Any:
        return torch.func.grad_and_value(
            lambda x: F.interpolate(x, mode=mode, **options).square().sum()
        )(x)

    torch.manual_seed(0)
    x = torch.randn(2, 3, 5, 6)
    actual = plumbline.compile(make_fx(step)(x), (x,))(x)
    torch.testing.assert_close(actual, step(x), rtol=1e-5, atol=1e-4)


class _Resampled(torch.nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def energy(x: torch.Tensor) -> torch.Tensor:
            return F.interpolate(x, **self.options).square().sum()

        gradient: torch.Tensor = torch.func.grad(energy)(x)
        return gradient


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((1, 2, 50, 3), {"mode": "nearest", "scale_factor": 2}),
        ((1, 2, 70, 3), {"mode": "bilinear", "size": (99, 90), "align_corners": True}),
        ((1, 2, 70, 3), {"mode": "bicubic", "scale_factor": 1.7}),
        ((1, 2, 200, 3), {"mode": "bilinear", "size": (99, 2), "antialias": True}),
        ((1, 2, 50, 3, 2), {"mode": "trilinear", "scale_factor": 2}),
    ],
    ids=str,
)
def test_gradient_of_resampling_large_images(
    shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    """Of many elements only those that count are read, and none is added to one by one."""
    torch.manual_seed(0)
    x, module = torch.randn(shape), _Resampled(**options)
    program = plumbline.compile(module, (x,))
    assert "tcp.scatter" not in program.stage("tcp")
    torch.testing.assert_close(program(x)[0], module(x), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear"])
@pytest.mark.parametrize("factor", [2.0, 1.5, (2.0, 3.0)], ids=str)
def test_resampling_of_any_size(mode: str, factor: Any) -> None:
    module = torch.nn.Upsample(scale_factor=factor, mode=mode)
    shapes = ({0: Dim("n", min=1), 2: Dim("h", min=2), 3: Dim("w", min=2)},)
    program = plumbline.compile(module, (torch.randn(2, 3, 5, 6),), shapes)
    for shape in ((2, 3, 5, 6), (1, 3, 9, 4)):
        x = torch.randn(shape)
        torch.testing.assert_close(program(x)[0], module(x))


class _Patches(torch.nn.Module):
    """As vision transformers embed parts of a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(64, 3, 6, 6))

    def forward(self, x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
        patches = (F.conv2d(x, each, stride=5) for each in (self.weight, weight))
        return tuple(patch.flatten(2).transpose(1, 2) for patch in patches)


def test_one_window_that_does_not_reach_the_edges() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(2, 3, 9, 8), torch.randn(64, 3, 6, 6)
    module = _Patches()
    program = plumbline.compile(module, (x, weight))
    for actual, expected in zip(program(x, weight), module(x, weight), strict=True):
        torch.testing.assert_close(actual, expected.detach())


def test_time_before_batch_and_channels() -> None:
    arguments = torch.randn(5, 2, 3), torch.randn(3, 3, 4), torch.randn(4)
    program = plumbline.compile(_TimeFirst(), arguments)
    torch.testing.assert_close(program(*arguments)[0], torch.conv_tbc(*arguments, 1))


def test_every_op_has_a_case() -> None:
    """No op of the family is left out."""
    assert not ops_without_case(tcp, CASES)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
