"""Reductions, and what PyTorch composes of them, against PyTorch."""

import sys
from collections.abc import Callable, Sequence

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - PyTorch's own name for it

from plumbline.tcp.dialect import TcpOp
from plumbline.tcp.ops import reduction as tcp
from test.AotCompile.ops.op_case import (
    ALL,
    FLOATS,
    NUMBERS,
    Batch,
    OpCase,
    Sampler,
    each,
    ops_without_case,
)

_WIDE_FLOATS = (torch.float32, torch.float64)


def _block(s: Sampler) -> tuple[torch.Tensor, ...]:
    return (s.tensor(3, 4, 5),)


def _telling_block(s: Sampler) -> tuple[torch.Tensor, ...]:
    return (s.telling(3, 4, 5),)


def _long_rows(s: Sampler) -> tuple[torch.Tensor, ...]:
    """Rows of several vectors and a rest: of all kinds of numbers, without NaN, and of zeros."""
    x = s.telling(3, 131)
    if s.dtype.is_floating_point:
        x[1:2] = torch.where(x[1:2].isnan(), 1.0, x[1:2])
        x[2:3] = torch.copysign(torch.zeros_like(x[2:3]), x[2:3])
    return (x,)


def _near_one(s: Sampler) -> tuple[torch.Tensor, ...]:
    """Numbers whose products stay in range, and which PyTorch's rounding each one leaves alone."""
    chosen = s.tensor(3, 4, 5, low=0, high=3, dtype=torch.int64)
    return (torch.tensor([0.5, 1, 2, -1])[chosen].to(s.dtype),)


def _rank_0(s: Sampler) -> tuple[torch.Tensor, ...]:
    return (s.tensor(),)


_Results = torch.Tensor | tuple[torch.Tensor, ...]


def _reduce(
    name: str,
    function: Callable[..., _Results],
    inputs: Callable[[Sampler], Sequence[torch.Tensor]] = _block,
    dtypes: Sequence[torch.dtype] = ALL,
    *,
    ops: Sequence[type[TcpOp]] = (tcp.ReduceOp,),
) -> OpCase:
    return OpCase(name, function, inputs, ops, dtypes)


def _of_something(
    name: str,
    function: Callable[..., _Results],
    ops: Sequence[type[TcpOp]],
    inputs: Callable[[Sampler], Sequence[torch.Tensor]] = _telling_block,
    dtypes: Sequence[torch.dtype] = ALL,
) -> OpCase:
    """A reduction along dimension 1, of size 4, which PyTorch refuses where that is empty."""
    return OpCase(name, function, inputs, ops, dtypes, static=(4,))


def _not_of_nothing(
    name: str,
    function: Callable[..., _Results],
    ops: Sequence[type[TcpOp]],
    inputs: Callable[[Sampler], Sequence[torch.Tensor]] = _telling_block,
    dtypes: Sequence[torch.dtype] = ALL,
) -> OpCase:
    """A reduction of all there is, or along dimensions that are dynamic."""
    return OpCase(name, function, inputs, ops, dtypes, kinds=("static", "dynamic"), empty=False)


SUMS = [
    _reduce("sum", lambda x: (x.sum(), x.sum(1), x.sum((0, -1), keepdim=True))),
    _reduce("sum_of_telling", lambda x: x.sum(-1), _telling_block, NUMBERS),
    _reduce("sum_to_dtype", lambda x: (x.sum(1, dtype=torch.float64), x.sum(dtype=torch.int32))),
    _reduce("sum_of_rank_0", lambda x: (x.sum(), x.sum(0), x.sum(-1, keepdim=True)), _rank_0),
    _reduce("mean", lambda x: (x.mean(), x.mean(1), x.mean((0, -1), keepdim=True)), dtypes=FLOATS),
    _reduce("mean_to_dtype", lambda x: x.mean(1, dtype=torch.float32)),
    # The sum itself is beyond half precision.
    _reduce("mean_of_large", lambda x: (x * 0 + 60000).mean((0, 2)), dtypes=(torch.float16,)),
    _reduce("prod", lambda x: (x.prod(), x.prod(1), x.prod(0, keepdim=True)), _near_one, FLOATS),
    _reduce("prod_of_integers", lambda x: (x.prod(), x.prod(-1)), dtypes=ALL[4:]),
    _reduce("count_nonzero", lambda x: (x.count_nonzero(), x.count_nonzero(1)), _telling_block),
    _reduce("nansum", lambda x: x.nansum(1), _telling_block, FLOATS),
]

EXTREMES = [
    _of_something("amax", lambda x: (x.amax(1), x.amax(-2, keepdim=True)), [tcp.ReduceOp]),
    _of_something("amin", lambda x: (x.amin(1), x.amin(-2, keepdim=True)), [tcp.ReduceOp]),
    _not_of_nothing("amax_of_several", lambda x: (x.amax(), x.amax((0, 2))), [tcp.ReduceOp]),
    _not_of_nothing("amin_of_several", lambda x: (x.amin(), x.amin((0, 2))), [tcp.ReduceOp]),
    _not_of_nothing("max", lambda x: (x.max(), x.min()), [tcp.ReduceOp]),
    _of_something("max_dim", lambda x: (*x.max(1), *x.max(1, True)), [tcp.ReduceOp, tcp.ArgmaxOp]),
    _of_something("min_dim", lambda x: (*x.min(1), *x.min(1, True)), [tcp.ReduceOp, tcp.ArgminOp]),
    _of_something("aminmax", lambda x: tuple(torch.aminmax(x, dim=1)), [tcp.ReduceOp]),
    _of_something(
        "argmax", lambda x: (x.argmax(1), x.argmax(1, True)), [tcp.ArgmaxOp], dtypes=NUMBERS
    ),
    _of_something(
        "argmin", lambda x: (x.argmin(1), x.argmin(1, True)), [tcp.ArgminOp], dtypes=NUMBERS
    ),
    _not_of_nothing("argmax_of_all", lambda x: x.argmax(), [tcp.ArgmaxOp], dtypes=NUMBERS),
    _not_of_nothing(
        "argmin_of_all", lambda x: x.argmin(keepdim=True), [tcp.ArgminOp], dtypes=NUMBERS
    ),
    _not_of_nothing(
        "places_in_long_rows",
        lambda x: (x.argmax(1), x.argmin(1), x.argmax(0), x.argmin(), *x.max(1), *x.min(0)),
        [tcp.ArgmaxOp, tcp.ArgminOp],
        _long_rows,
        NUMBERS,
    ),
    _not_of_nothing(
        "argmax_of_ties", lambda x: (x.argmax(), x.argmax(0)), [tcp.ArgmaxOp], _near_one, FLOATS
    ),
    # The first of several NaN.
    _of_something(
        "argmax_of_nans",
        lambda x: ((x * float("nan")).argmax(1), (x * float("nan")).argmin(1)),
        [tcp.ArgmaxOp, tcp.ArgminOp],
        dtypes=FLOATS,
    ),
    _not_of_nothing(
        "extremes_of_rank_0",
        lambda x: (x.amax(), x.min(), *x.max(0), x.argmin(0), x.argmax()),
        [tcp.ReduceOp],
        _rank_0,
        NUMBERS,
    ),
]

TRUTH = [
    _reduce("any", lambda x: (x.any(), x.any(1), x.any(0, keepdim=True)), _telling_block),
    _reduce("all", lambda x: (x.all(), x.all(1), x.all(0, keepdim=True)), _telling_block),
    _reduce("any_dims", lambda x: torch.any(x, dim=(0, -1)), _telling_block),
    _reduce("all_dims", lambda x: torch.all(x, dim=(0, 1), keepdim=True), _telling_block),
]

STATISTICS = [
    _reduce("var", lambda x: (x.var(), x.var(1), x.var((0, 2), correction=0)), dtypes=FLOATS),
    _reduce("var_keepdim", lambda x: x.var(-1, correction=2, keepdim=True), dtypes=FLOATS),
    # As many degrees of freedom as elements, or more: a division by zero.
    _reduce(
        "var_of_little_freedom",
        lambda x: (x.var(1, correction=4), x.var(1, correction=9)),
        dtypes=_WIDE_FLOATS,
    ),
    _reduce("var_far_from_zero", lambda x: (x + 1000).var(1), dtypes=_WIDE_FLOATS),
    _reduce("std", lambda x: (x.std(), x.std(1, keepdim=True)), dtypes=FLOATS),
    _reduce("var_mean", lambda x: torch.var_mean(x, (0, 1)), dtypes=FLOATS),
    _reduce("softmax", lambda x: (x.softmax(-1), x.softmax(0)), dtypes=FLOATS),
    _reduce("softmax_of_telling", lambda x: x.softmax(1), _telling_block, FLOATS),
    _reduce("softmax_of_rank_0", lambda x: x.softmax(0), _rank_0, _WIDE_FLOATS),
    _reduce("log_softmax", lambda x: (x.log_softmax(-1), x.log_softmax(0)), dtypes=FLOATS),
    _reduce(
        "norm",
        lambda x: (x.norm(), x.norm(dim=1), x.norm(3, dim=(0, 2), keepdim=True)),
        dtypes=FLOATS,
    ),
    *(
        _of_something(
            f"vector_norm_{order}",
            lambda x, order=order: torch.linalg.vector_norm(x, order, dim=1),
            [tcp.ReduceOp],
            _block,
            FLOATS,
        )
        for order in (0, 0.5, 1, 2, 2.5, float("inf"), float("-inf"))
    ),
]

NORMALIZATIONS = [
    OpCase(
        "layer_norm",
        lambda x, w, b: (F.layer_norm(x, (5,)), F.layer_norm(x, (5,), w, b, eps=1e-3)),
        lambda s: (s.tensor(3, 4, 5), s.tensor(5), s.tensor(5)),
        [tcp.ReduceOp],
        FLOATS,
        static=(5,),
    ),
    OpCase(
        "rms_norm",
        lambda x, w: F.rms_norm(x, (5,), w),
        lambda s: (s.tensor(3, 4, 5), s.tensor(5)),
        [tcp.ReduceOp],
        FLOATS,
        static=(5,),
        # Half precision is rounded at each of the ops that PyTorch makes of it, by us twice less.
        rtol=1e-2,
        atol=1e-2,
    ),
    OpCase(
        "rms_norm_of_zeros",
        lambda x: F.rms_norm(x * 0, (5,)),
        lambda s: (s.tensor(3, 4, 5),),
        [tcp.ReduceOp],
        FLOATS,
        static=(5,),
    ),
    OpCase(
        "group_norm",
        lambda x, w, b: F.group_norm(x, 2, w, b),
        lambda s: (s.tensor(3, 4, 5), s.tensor(4), s.tensor(4)),
        [tcp.ReduceOp],
        FLOATS,
        static=(4,),
        # PyTorch refuses groups of no elements.
        kinds=("static", "dynamic"),
        empty=False,
    ),
    OpCase(
        "batch_norm",
        lambda x, w, b: F.batch_norm(x, b, w.abs() + 1, w, b),
        lambda s: (s.tensor(3, 4, 5), s.tensor(4), s.tensor(4)),
        [],
        FLOATS,
        static=(4,),
    ),
    OpCase(
        "instance_norm",
        lambda x: F.instance_norm(x),
        _block,
        [tcp.ReduceOp],
        _WIDE_FLOATS,
        static=(3, 4, 5),
        # PyTorch refuses channels of no elements.
        kinds=("static",),
    ),
    OpCase(
        "logsumexp",
        lambda x: (x.logsumexp(1), x.logsumexp((0, 1), keepdim=True)),
        _telling_block,
        [tcp.ReduceOp],
        FLOATS,
        static=(3, 4),
    ),
]

SCANS = [
    _reduce(
        f"{name}_along_{dim}",
        lambda x, function=function, dim=dim: function(x, dim),
        inputs,
        dtypes,
        ops=[tcp.ScanOp],
    )
    for name, function, inputs, dtypes in (
        ("cumsum", torch.cumsum, _block, ALL),
        ("cumprod", torch.cumprod, _near_one, FLOATS),
        ("cumprod_of_integers", torch.cumprod, _block, ALL[4:]),
        ("logcumsumexp", torch.logcumsumexp, _telling_block, FLOATS),
    )
    for dim in (0, 1, -1)
]
SCANS += [
    _reduce(
        "scans_of_long_rows",
        lambda x: (x.cumsum(1), x.cumsum(0), x.flatten().cumsum(0)),
        _long_rows,
        NUMBERS,
        ops=[tcp.ScanOp],
    ),
    _reduce("scans_of_rank_0", lambda x: (x.cumsum(0), x.cumprod(-1)), _rank_0, ops=[]),
    _reduce("cumsum_to_dtype", lambda x: x.cumsum(1, dtype=torch.float64), ops=[tcp.ScanOp]),
]
SCANS += [
    _reduce(
        f"{name}_along_{dim}",
        lambda x, function=function, dim=dim: tuple(function(x, dim)),
        _telling_block,
        ops=[tcp.ScanOp],
    )
    for name, function in (("cummax", torch.cummax), ("cummin", torch.cummin))
    for dim in (0, 1, -1)
]
SCANS.append(_reduce("cummax_of_rank_0", lambda x: tuple(x.cummax(0)), _rank_0, ops=[]))

CASES = [*SUMS, *EXTREMES, *TRUTH, *STATISTICS, *NORMALIZATIONS, *SCANS]


@each(CASES)
def test_against_pytorch(batch: Batch, place: int) -> None:
    """The compiled function answers as PyTorch does."""
    batch.check(place)


def test_many_elements_do_not_spoil_a_sum() -> None:
    """A sum in f32 alone would stop growing at 2^24."""
    case = OpCase(
        "sum_of_many",
        lambda x: (x.sum(), x.mean()),
        lambda s: (torch.ones(2**24 + 2**20, dtype=s.dtype),),
        [tcp.ReduceOp],
        (torch.float32,),
    )
    Batch([case], "static").check(0)


def test_every_op_has_a_case() -> None:
    """No op of the family is left out."""
    assert not ops_without_case(tcp, CASES)


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
