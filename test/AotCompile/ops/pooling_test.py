"""Pooling against PyTorch."""

import sys
from collections.abc import Callable, Sequence

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it
from torch.export import Dim

import plumbline
from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import pooling as tcp
from plumbline.tcp.ops.reduction import ArgmaxOp, ReduceOp
from test.AotCompile.ops.op_case import (
    FLOATS,
    NUMBERS,
    Batch,
    OpCase,
    Sampler,
    each,
    ops_without_case,
)

# For variants of what is tried on all floats.
_SOME_FLOATS = (torch.float32, torch.float16)
_WIDE_FLOATS = (torch.float32, torch.float64)

_Results = torch.Tensor | tuple[torch.Tensor, ...]


def _case(
    name: str,
    function: Callable[..., _Results],
    shape: Sequence[int],
    *ops: type[TcpOp],
    dtypes: Sequence[torch.dtype] = _SOME_FLOATS,
    telling: bool = False,
    static: Sequence[int] = (),
) -> OpCase:
    """All sizes are dynamic; PyTorch refuses windows in empty dimensions."""

    def inputs(s: Sampler) -> tuple[torch.Tensor, ...]:
        return (s.telling(*shape) if telling else s.tensor(*shape),)

    return OpCase(
        name,
        function,
        inputs,
        ops,
        dtypes,
        static,
        kinds=("static", "dynamic"),
        empty=False,
        auto=True,
    )


_pool, _argmax_pool = tcp.PoolOp, tcp.ArgmaxPoolOp
_LINE, _PLANE, _ROOM = (2, 3, 11), (2, 3, 10, 11), (2, 3, 6, 7, 9)

MAXIMA = [
    # PyTorch's own `max_pool1d` without places fixes the length when it is exported.
    _case("max1d", lambda x: F.max_pool1d(x, 3), _LINE, _pool, static=(11,), telling=True),
    _case("max2d", lambda x: F.max_pool2d(x, 2), _PLANE, _pool, dtypes=NUMBERS, telling=True),
    _case("max2d_unbatched", lambda x: F.max_pool2d(x, 2), (3, 10, 11), _pool),
    _case("max2d_strides", lambda x: F.max_pool2d(x, (3, 2), (2, 3), 1), _PLANE, _pool),
    _case("max2d_dilated", lambda x: F.max_pool2d(x, 2, 1, 1, dilation=(2, 3)), _PLANE, _pool),
    _case("max2d_ceil", lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True), _PLANE, _pool),
    # Windows that would begin in the padding are not taken, with any remainder of the size.
    *(
        _case(
            f"max2d_ceil_padded_{stride}",
            lambda x, stride=stride: F.max_pool2d(x, 2, stride, 1, ceil_mode=True),
            _PLANE,
            _pool,
        )
        for stride in (2, 3, 4)
    ),
    _case("max3d", lambda x: F.max_pool3d(x, 2, 2, 1, ceil_mode=True), _ROOM, _pool),
    _case("max2d_of_infinities", lambda x: F.max_pool2d(x / 0, 3, 1, 1), _PLANE, _pool),
]

PLACES = [
    _case("places1d", lambda x: F.max_pool1d(x, 3, 2, 1, return_indices=True), _LINE, _argmax_pool),
    _case(
        "places2d",
        lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
        _PLANE,
        _argmax_pool,
        dtypes=NUMBERS,
        telling=True,
    ),
    _case(
        "places2d_dilated",
        lambda x: F.max_pool2d(x, 2, 1, 1, 3, return_indices=True),
        _PLANE,
        _argmax_pool,
    ),
    _case(
        "places2d_ceil",
        lambda x: F.max_pool2d(x, 2, 3, 1, ceil_mode=True, return_indices=True),
        _PLANE,
        _argmax_pool,
    ),
    _case(
        "places2d_of_ties",
        lambda x: F.max_pool2d(x * 0, 3, 2, 1, return_indices=True),
        _PLANE,
        _argmax_pool,
        dtypes=NUMBERS,
    ),
    _case(
        "places2d_of_infinities",
        lambda x: F.max_pool2d(x.abs() / -0.0, 3, 2, 1, return_indices=True),
        _PLANE,
        _argmax_pool,
    ),
    _case(
        "places2d_dilated_of_infinities",
        lambda x: F.max_pool2d(x.abs() / -0.0, 2, 1, 1, 3, return_indices=True),
        _PLANE,
        _argmax_pool,
    ),
    _case("places3d", lambda x: F.max_pool3d(x, 2, 2, 1, return_indices=True), _ROOM, _argmax_pool),
]

MEANS = [
    _case("avg1d", lambda x: F.avg_pool1d(x, 3, 2, 1), _LINE, _pool),
    _case("avg2d", lambda x: F.avg_pool2d(x, 2), _PLANE, _pool, dtypes=FLOATS, telling=True),
    _case("avg2d_one_padding", lambda x: F.avg_pool2d(x, 2, None, (0,)), _PLANE, _pool),
    _case("avg2d_strides", lambda x: F.avg_pool2d(x, (3, 2), (2, 3), (1, 0)), _PLANE, _pool),
    _case(
        "avg2d_without_padding",
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        _PLANE,
        _pool,
    ),
    _case("avg2d_divisor", lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=7), _PLANE, _pool),
    *(
        _case(
            f"avg2d_ceil_{stride}",
            lambda x, stride=stride: tuple(
                F.avg_pool2d(x, 3, stride, padding, ceil_mode=True, count_include_pad=counts)
                for padding in (0, 1)
                for counts in (False, True)
            ),
            _PLANE,
            _pool,
        )
        for stride in (2, 3, 4)
    ),
    _case(
        "avg2d_of_integers",
        lambda x: F.avg_pool2d(x, 3, 2, 1),
        _PLANE,
        _pool,
        dtypes=(torch.int64,),
    ),
    _case(
        "avg3d",
        lambda x: F.avg_pool3d(x, 2, 2, 1, ceil_mode=True, count_include_pad=False),
        _ROOM,
        _pool,
        # PyTorch has it for no half precision.
        dtypes=_WIDE_FLOATS,
    ),
    # EfficientNet's last windows are much larger than what they see.
    _case(
        "avg2d_of_all",
        lambda x: F.avg_pool2d(x, (19, 30), ceil_mode=True),
        _PLANE,
        _pool,
        static=(10, 11),
    ),
    _case("lp2d", lambda x: F.lp_pool2d(x, 2, 2), _PLANE, _pool, dtypes=_WIDE_FLOATS),
]

_EVEN = (2, 3, 8, 12)

ADAPTIVE = [
    _case("adaptive_avg1d", lambda x: F.adaptive_avg_pool1d(x, 4), _LINE, ReduceOp),
    _case(
        # PyTorch makes strides of the result that a tensor with channels last has.
        "adaptive_avg1d_to_one",
        lambda x: F.adaptive_avg_pool1d(x.transpose(1, 2), 1),
        _LINE,
        ReduceOp,
    ),
    _case(
        "adaptive_avg2d",
        lambda x: F.adaptive_avg_pool2d(x, (4, 3)),
        _PLANE,
        ReduceOp,
        dtypes=FLOATS,
    ),
    _case("adaptive_avg2d_to_one", lambda x: F.adaptive_avg_pool2d(x, 1), _PLANE, ReduceOp),
    _case("adaptive_avg2d_to_five", lambda x: F.adaptive_avg_pool2d(x, (1, 5)), _PLANE, ReduceOp),
    _case(
        "adaptive_avg2d_even",
        lambda x: F.adaptive_avg_pool2d(x, (4, 3)),
        _EVEN,
        _pool,
        static=_EVEN[2:],
    ),
    # PyTorch sums half precision in half precision there.
    _case(
        "adaptive_avg3d",
        lambda x: F.adaptive_avg_pool3d(x, (2, 3, 2)),
        _ROOM,
        ReduceOp,
        dtypes=_WIDE_FLOATS,
    ),
    _case("adaptive_max1d", lambda x: F.adaptive_max_pool1d(x, 4), _LINE, ReduceOp),
    _case("adaptive_max2d", lambda x: F.adaptive_max_pool2d(x, (4, 3)), _PLANE, ReduceOp),
    _case(
        "adaptive_max2d_places",
        lambda x: F.adaptive_max_pool2d(x, (4, 3), True),
        _PLANE,
        ReduceOp,
        ArgmaxOp,
    ),
    _case(
        "adaptive_max2d_even",
        lambda x: F.adaptive_max_pool2d(x, (4, 3), True),
        _EVEN,
        _pool,
        _argmax_pool,
        static=_EVEN[2:],
    ),
    _case(
        "adaptive_max3d",
        lambda x: F.adaptive_max_pool3d(x, (2, 3, 2), True),
        _ROOM,
        ReduceOp,
        ArgmaxOp,
    ),
]

NO_BATCH = OpCase(
    "of_no_batch",
    lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 3, 1, 1, count_include_pad=False)),
    lambda s: (s.tensor(*_PLANE),),
    [_pool],
    FLOATS,
    static=_PLANE[1:],
)

CASES = [*MAXIMA, *PLACES, *MEANS, *ADAPTIVE, NO_BATCH]


@each(CASES)
def test_against_pytorch(batch: Batch, place: int) -> None:
    """The compiled function answers as PyTorch does."""
    batch.check(place)


class _Halves(torch.nn.Module):
    """Averages, of which there are half as many as elements, or some of each row."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rows = F.adaptive_avg_pool2d(x, (3, x.shape[3] // 4))
        cells = F.interpolate(x.unsqueeze(1), scale_factor=0.5, mode="area")
        return F.interpolate(x, scale_factor=0.4, mode="area"), rows, cells


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_averages_of_which_the_number_is_not_known(dtype: torch.dtype) -> None:
    example = torch.randn(2, 3, 31, 20).to(dtype)
    dynamic_shapes = ({2: Dim.AUTO, 3: Dim.AUTO},)
    program = plumbline.compile(_Halves(), (example,), dynamic_shapes=dynamic_shapes)
    assert "tcp.gather " in program.stage("tcp")
    for sizes in [(31, 20), (10, 11), (64, 17), (8, 3)]:
        x = torch.randn(2, 3, *sizes).to(dtype)
        # PyTorch adds up bfloat16 of volumes as such.
        for actual, expected in zip(program(x), _Halves()(x.double()), strict=True):
            torch.testing.assert_close(actual, expected.to(dtype))


def test_every_op_has_a_case() -> None:
    """No op of the family is left out."""
    assert not ops_without_case(tcp, CASES)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
