"""What ops of the families are made of, against the ops themselves."""

import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from plumbline.loader_to_torch import decompositions
from plumbline.loader_to_torch.decompositions import decomposition_table, dynamic_groups
from plumbline.loader_to_torch.decompositions.reduction import cov

aten = torch.ops.aten
TABLE = decomposition_table()
F64 = torch.float64
C64, C128 = torch.complex64, torch.complex128


class _Counting(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the ops that are computed."""

    count = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def _check(op: Any, *arguments: Any, **options: Any) -> None:
    """The rule answers as the op does."""
    actual, expected = TABLE[op](*arguments, **options), op(*arguments, **options)
    if not isinstance(expected, torch.Tensor):
        actual, expected = tuple(actual), tuple(expected)
    torch.testing.assert_close(actual, expected, equal_nan=True)


def test_no_family_hides_a_rule_of_another() -> None:
    counts = Counter(op for family in decompositions._FAMILIES for op in family.RULES)
    assert [op for op, count in counts.items() if count > 1] == []


def _telling_pairs() -> list[torch.Tensor]:
    special = [0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, 1e-45, 3e38, -2.5, 1e-38, 7.99999]
    return list(torch.meshgrid(torch.tensor(special), torch.tensor(special), indexing="ij"))


# -- elementwise -----------------------------------------------------------------------------------


@pytest.mark.parametrize("op", [aten.hypot, aten.fmax, aten.fmin], ids=str)
def test_of_two(op: Any) -> None:
    _check(op.default, *_telling_pairs())
    _check(op.default, torch.randn(3, 1), torch.randn(4, dtype=F64))


def test_hypot_of_what_has_too_great_squares() -> None:
    _check(aten.hypot.default, *(side.to(F64) * 1e260 for side in _telling_pairs()))


def test_hypot_of_narrow_floats_divides_nothing() -> None:
    graph = make_fx(TABLE[aten.hypot.default])(*_telling_pairs()).graph
    assert aten.div.Tensor not in {node.target for node in graph.nodes}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    "op",
    [
        torch.hypot,
        torch.ldexp,
        torch.logaddexp,
        torch.logaddexp2,
        torch.nextafter,
        torch.special.gammainc,
        torch.special.xlog1py,
        torch.xlogy,
        lambda x, y: torch.addcdiv(x, x, y),
        lambda x, y: torch.addcmul(x, y, x),
    ],
)
def test_halves_are_rounded_where_pytorch_rounds_them(dtype: torch.dtype, op: Any) -> None:
    """Tensors of rank 0, which have no say in the dtype, to it, before anything is computed."""
    halves = (3 * torch.rand(3, 1000)).to(dtype)
    alone = torch.tensor(1.2345)
    for x, y in ((halves, halves.flip(0)), (halves, alone), (alone, halves)):
        if dtype == torch.float16 and op == torch.special.gammainc and y is not alone:
            continue  # PyTorch's series ends earlier.
        expected = op(x, y)
        graph = make_fx(op, decomposition_table=dict(TABLE))(x, y)
        torch.testing.assert_close(graph(x, y), expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("exponent", [0.5, 1.2345, -2.0, 1000.1])
def test_powers_of_halves(dtype: torch.dtype, exponent: float) -> None:
    halves = torch.rand(1000).to(dtype)
    graph = make_fx(torch.pow, decomposition_table=dict(TABLE))(halves, exponent)
    torch.testing.assert_close(graph(halves, exponent), halves**exponent, rtol=0, atol=0)


@pytest.mark.parametrize("equal_nan", [False, True])
def test_isclose(*, equal_nan: bool) -> None:
    _check(aten.isclose.default, *_telling_pairs(), equal_nan=equal_nan)
    whole = torch.tensor([100000, 100001, 7]), torch.tensor([100001, 200000, 7])
    _check(aten.isclose.default, *whole)
    _check(aten.isclose.default, *whole, 0.0, 0.0)


@pytest.mark.parametrize("dtype", [torch.float32, F64, torch.int64])
def test_angle(dtype: torch.dtype) -> None:
    operand = torch.tensor([-2, 0, 3]).to(dtype)
    _check(aten.angle.default, operand)
    if dtype.is_floating_point:
        _check(aten.angle.default, torch.tensor([math.nan, -math.inf, -0.0], dtype=dtype))


def test_frexp() -> None:
    powers = torch.exp2(torch.arange(-1074, 1024).to(F64))
    special = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324], dtype=F64)
    for operand in (torch.cat([powers, -0.75 * powers, special]), _telling_pairs()[0]):
        _check(aten.frexp.Tensor, operand)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_divisors_and_multiples(dtype: torch.dtype) -> None:
    limits = torch.iinfo(dtype)
    # Not the least number, of which PyTorch takes the absolute value for negative.
    least = limits.min + dtype.is_signed
    left, right = torch.randint(least, limits.max, (2, 4000), dtype=dtype)
    left[:20], right[10:30] = 0, 0
    # Of no sign, it has the bits of -1.
    left[40:60], right[50:70] = limits.max, limits.max
    _check(aten.gcd.default, left, right)
    _check(aten.lcm.default, left // 100, right // 100)


def test_neighbours_in_fibonaccis_sequence_have_the_longest_way() -> None:
    sequence = [1, 1]
    while sequence[-1] + sequence[-2] < 2**63:
        sequence.append(sequence[-1] + sequence[-2])
    numbers = torch.tensor(sequence)
    _check(aten.gcd.default, numbers[:-1] * 1, numbers[1:])


@pytest.mark.parametrize("dtype", [torch.float32, F64, torch.bfloat16])
def test_nextafter(dtype: torch.dtype) -> None:
    limits = torch.finfo(dtype)
    steps = torch.arange(-3, 4).to(F64)
    smallest = limits.smallest_normal * limits.eps
    around = [
        *(number * (1 + steps * limits.eps) for number in (1.0, 0.5, 3.0, 2.0**20, -(2.0**-9))),
        limits.smallest_normal + steps * smallest,
        steps * smallest,
        torch.tensor([limits.max, -limits.max, math.inf, -math.inf, math.nan, -0.0], dtype=F64),
    ]
    operand = torch.cat(around).to(dtype)
    for target in (math.inf, -math.inf, 0.0, -0.0, 1.0, math.nan):
        expected = torch.nextafter(operand, torch.tensor(target, dtype=dtype))
        actual = TABLE[aten.nextafter.default](operand, torch.tensor(target, dtype=dtype))
        torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)
        numbers = ~expected.isnan()
        assert torch.equal(actual[numbers].signbit(), expected[numbers].signbit())


@pytest.mark.parametrize("name", ["laguerre_polynomial_l", "legendre_polynomial_p"])
def test_polynomials_by_recurrences(name: str) -> None:
    op = getattr(aten, f"special_{name}")
    x = torch.linspace(-1.5, 1.5, 13, dtype=F64).unsqueeze(-1)
    degrees = torch.tensor([-2.0, -0.5, 0, 0.9, 1, 2, 7.6, 20], dtype=F64)
    _check(op.default, x, degrees)
    _check(op.n_scalar, x, 4)
    _check(op.x_scalar, 0.25, degrees)
    _check(op.default, x, degrees[:0])


# -- reduction -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 8, 40])
@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, F64, torch.int64, torch.int16])
def test_medians(name: str, size: int, dtype: torch.dtype) -> None:
    operand = (torch.randperm(12 * size) - 6 * size).reshape(3, size, 4).to(dtype)
    if dtype.is_floating_point:
        operand = torch.where(torch.rand(operand.shape) < 0.2, math.nan, operand)
        operand[0, :, 0] = math.nan
    op = getattr(aten, name)
    _check(op.default, operand)
    _check(op.default, operand[:, :0])
    for keepdim in (False, True):
        value, place = TABLE[op.dim](operand, 1, keepdim)
        expected = op.dim(operand, 1, keepdim)[0]
        torch.testing.assert_close(value, expected, equal_nan=True)
        # Of several NaN PyTorch may choose another one.
        found = operand.gather(1, place if keepdim else place.unsqueeze(1))
        torch.testing.assert_close(found if keepdim else found.squeeze(1), value, equal_nan=True)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "kernel", "padding", "dilation"),
    [
        ((10, 11), (3, 3), (6, 7), (6, 7)),
        # Of elements that no window has inside nothing is left, nor of results without any.
        ((9, 4), (3, 2), (20, 3), (10, 5)),
        ((120,), (5,), (200,), (100,)),
        ((4, 5, 6), (3, 3, 3), (4,), (4,)),
    ],
)
def test_windows_that_see_mostly_zeros(
    sizes: Sequence[int],
    kernel: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> None:
    operand, weight = torch.randn(2, 64 * groups, *sizes), torch.randn(6, 64, *kernel)
    options = ([1], padding, dilation, False, [0], groups)
    for bias in (None, torch.randn(6).double()):
        _check(aten.convolution.default, operand.double(), weight.double(), bias, *options)
    assert TABLE[aten.convolution.default](operand.half(), weight.half(), None, *options) is (
        NotImplemented
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64], ids=str)
@pytest.mark.parametrize(
    ("size", "kernel", "dilation", "padding", "stride"),
    [
        ((6, 7), (3, 3), (1, 1), (1, 1), (1, 1)),
        ((6, 8), (2, 2), (1, 1), (0, 0), (2, 2)),
        ((12, 11), (3, 4), (2, 1), (2, 1), (3, 2)),
        ((7, 9), (2, 1), (3, 1), (0, 2), (1, 3)),
        ((1, 83), (1, 30), (1, 1), (0, 0), (8, 8)),
    ],
)
def test_windows_put_back(
    dtype: torch.dtype,
    size: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> None:
    options = (kernel, dilation, padding, stride)
    windows = aten.im2col(torch.randn(2, 3, *size), *options)
    columns = torch.randn_like(windows).to(dtype)
    _check(aten.col2im.default, columns, size, *options)
    _check(aten.col2im.default, columns[1], size, *options)


def test_frames_of_sound_are_put_back_whole() -> None:
    """By ops of each stride of a frame, and not of each of its elements."""
    with _Counting() as ops:  # type: ignore[no-untyped-call]
        TABLE[aten.col2im.default](
            torch.randn(1, 256, 40), (1, 2752), (1, 256), (1, 1), (0, 0), (64, 64)
        )
    assert ops.count < 30


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.int64], ids=str)
@pytest.mark.parametrize("shape", [(3, 7), (1, 7), (7,), ()], ids=str)
def test_covariances(shape: Sequence[int], dtype: torch.dtype) -> None:
    observations = (9 * torch.randn(shape, dtype=torch.complex64)).to(dtype)
    _check(aten.corrcoef.default, observations)
    _check(aten.cov.default, observations, correction=0)
    if shape:
        _check(aten.cov.default, observations)
        _check(aten.cov.default, observations, fweights=torch.arange(7))
        weights = {"fweights": torch.arange(7), "aweights": torch.rand(7)}
        _check(aten.cov.default, observations, correction=2, **weights)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_kthvalue(dtype: torch.dtype) -> None:
    operand = torch.randperm(60).reshape(3, 5, 4).to(dtype)
    _check(aten.kthvalue.default, operand, 2, 1)
    _check(aten.kthvalue.default, operand, 4, keepdim=True)
    _check(aten.kthvalue.default, operand[0, 0, 0], 1)
    _check(aten.kthvalue.default, torch.randperm(120).reshape(40, 3).to(dtype), 19, 0)


@pytest.mark.parametrize("way", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("q", [0, 0.3, 0.5, 0.995, 1])
def test_quantiles(q: float, way: str) -> None:
    operand = torch.randn(3, 40)
    operand[0, 5] = math.nan
    _check(aten.quantile.scalar, operand, q, 1, interpolation=way)
    _check(aten.quantile.scalar, operand[1:].to(F64), q, interpolation=way)
    _check(aten.quantile.scalar, operand[:, ::5].clone(), q, 0, True, interpolation=way)
    # Of which it is NaN by some ways.
    infinite = torch.tensor([[math.inf], [-math.inf], [1.0]]).expand(3, 5)
    _check(aten.quantile.scalar, infinite, q, 0, interpolation=way)
    _check(aten.quantile.scalar, infinite, q, 1, interpolation=way)


@pytest.mark.parametrize("name", ["median", "nanmedian", "mode"])
def test_of_rank_0(name: str) -> None:
    op = getattr(aten, name)
    _check(op.default if name == "mode" else op.dim, torch.tensor(2.5), 0)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_mode(size: int, dim: int) -> None:
    _check(aten.mode.default, torch.randint(0, 3, (3, size, 4)), dim)
    _check(aten.mode.default, torch.randint(0, 3, (3, size, 4)).to(F64), dim, keepdim=True)


@pytest.mark.parametrize("bins", [1, 3, 100])
def test_histograms(bins: int) -> None:
    operand = torch.randn(5, 10)
    for low, high in ((0, 0), (-1, 1)):
        _check(aten.histc.default, operand, bins, low, high)
    _check(aten.histc.default, torch.ones(4), bins)
    for density in (False, True):
        _check(aten.histogram.bin_ct, operand, bins, density=density)
        _check(aten.histogram.bin_ct, torch.ones(4), bins, density=density)
        _check(
            aten.histogram.bin_ct,
            operand,
            bins,
            range=(-1.0, 2.0),
            weight=operand.abs(),
            density=density,
        )
        borders = torch.randn(bins + 1).sort().values
        _check(aten.histogram.bins_tensor, operand, borders, density=density)


@pytest.mark.filterwarnings("ignore:cov.*degrees of freedom")
@pytest.mark.parametrize("shape", [(3, 5), (1, 4), (6,), ()], ids=str)
@pytest.mark.parametrize("correction", [0, 1, 7])
def test_covariance(shape: Sequence[int], correction: int) -> None:
    operand = torch.randn(shape, dtype=F64)
    count = operand.shape[-1] if shape else 1
    how_often, how_much = torch.arange(1, count + 1), torch.rand(count, dtype=F64)
    for weights in (
        {},
        {"fweights": how_often},
        {"aweights": how_much},
        {"fweights": how_often, "aweights": how_much},
    ):
        expected = torch.cov(operand, correction=correction, **weights)
        actual = cov(operand, correction=correction, **weights)
        torch.testing.assert_close(actual, expected, equal_nan=True)


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_histogramdd(density: bool, weighted: bool) -> None:
    points = torch.randn(3, 40, 2, dtype=F64)
    options = {"weight": torch.rand(3, 40, dtype=F64) if weighted else None, "density": density}
    for between in (None, [-1.0, 1.0, -0.5, 2.0]):
        edges = aten._histogramdd_bin_edges.default
        torch.testing.assert_close(
            TABLE[edges](points, [4, 3], range=between), edges(points, [4, 3], range=between)
        )
        _check(aten._histogramdd_from_bin_cts.default, points, [4, 3], range=between, **options)
    borders = [torch.tensor([-1.0, 0, 0.5], dtype=F64), torch.linspace(-2, 2, 6, dtype=F64)]
    _check(aten._histogramdd_from_bin_tensors.default, points, borders, **options)


@pytest.mark.parametrize("p", [None, 0, 1, 2, 2.5, math.inf, -math.inf])
def test_norms_as_they_are_spelled_in_c(p: float | None) -> None:
    operand = torch.randn(3, 4, 5)
    if p is not None:
        _check(aten.norm.Scalar, operand, p)
    _check(aten.norm.ScalarOpt_dim, operand, p, [-1])
    _check(aten.norm.ScalarOpt_dim, operand, p, [0, 2], True)
    _check(aten.norm.ScalarOpt_dim_dtype, operand.half(), p, [1], False, dtype=torch.float32)
    _check(aten.norm.ScalarOpt_dtype, operand, p, dtype=F64)


def test_distances_are_norms_of_differences() -> None:
    """Not sums of powers, which are computed by logarithms."""
    left, right = torch.randn(3, 4), torch.randn(4)
    graph = make_fx(aten.dist.default, TABLE)(left, right).graph
    assert aten.linalg_vector_norm.default in {node.target for node in graph.nodes}
    _check(aten.dist.default, left, right)


# -- losses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_tensors", [False, True])
@pytest.mark.parametrize("in_rows", [False, True])
def test_ctc_loss(as_tensors: bool, in_rows: bool) -> None:
    log_probs = torch.randn(9, 4, 6, dtype=F64).log_softmax(-1)
    # Of the second every label is the same, the third has none, the last has too little time.
    targets = torch.tensor([[1, 2, 3, 4], [5, 5, 5, -1], [-1, 0, 9, 0], [1, 1, 1, 1]])
    input_lengths, target_lengths = [9, 7, 4, 5], [4, 3, 0, 4]
    if not in_rows:
        rows = zip(targets, target_lengths, strict=True)
        targets = torch.cat([row[:length] for row, length in rows])
    op = aten._ctc_loss.Tensor if as_tensors else aten._ctc_loss.default
    lengths: list[Any] = [input_lengths, target_lengths]
    if as_tensors:
        lengths = [torch.tensor(each) for each in lengths]
    expected, log_alpha = op(log_probs, targets, *lengths)
    actual, own_alpha = TABLE[op](log_probs, targets, *lengths)
    torch.testing.assert_close(actual, expected)
    assert expected.isinf().tolist() == [False, False, False, True]
    backward = aten._ctc_loss_backward.Tensor if as_tensors else aten._ctc_loss_backward.default
    for zero_infinity in (False, True):
        given = (torch.arange(1.0, 5, dtype=F64), log_probs, targets, *lengths, expected)
        torch.testing.assert_close(
            TABLE[backward](*given, own_alpha, 0, zero_infinity),
            backward(*given, log_alpha, 0, zero_infinity),
            equal_nan=True,
        )


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_multilabel_margin_loss(reduction: int) -> None:
    # What comes after the first -1 of a row is no label.
    labels = torch.tensor([[1, 3, -1, 0], [-1, 2, 2, 2], [2, 0, 3, 1], [1, -1, -1, -1]])
    scores = torch.randn(4, 4, dtype=F64)
    _check(aten.multilabel_margin_loss_forward.default, scores, labels, reduction)
    for row in range(4):
        _check(aten.multilabel_margin_loss_forward.default, scores[row], labels[row], reduction)
    loss, is_target = aten.multilabel_margin_loss_forward.default(scores, labels, reduction)
    given = (torch.randn_like(loss), scores, labels, reduction, is_target)
    _check(aten.multilabel_margin_loss_backward.default, *given)


def test_derivatives_of_glu_that_run_forward() -> None:
    half, whole = (3, 2, 4), (3, 4, 4)
    operand, tangent = (torch.randn(whole, dtype=F64) for _ in range(2))
    grad, grad_tangent = (torch.randn(half, dtype=F64) for _ in range(2))
    _check(aten.glu_jvp.default, aten.glu(operand, 1), operand, tangent, 1)
    slope = aten.glu_backward(grad, operand, 1)
    _check(aten.glu_backward_jvp.default, slope, grad, operand, grad_tangent, tangent, 1)


def test_different_elements() -> None:
    _check(aten._unique.default, torch.tensor([3, 1, 3, 2]), True, True)
    _check(aten._unique.default, torch.tensor([3, 1, 3, 2]), return_inverse=True)


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(5, 4), (4,), (2, 4, 3, 6)], ids=str)
def test_gradients_of_log_likelihoods(
    shape: tuple[int, ...], weighted: bool, reduction: int
) -> None:
    name = "nll_loss2d" if len(shape) == 4 else "nll_loss"
    log_probs, weight = torch.randn(shape), torch.rand(4) if weighted else None
    target = torch.randint(4, (*shape[:-1][:1], *shape[2:]))
    options = weight, reduction, 1
    loss, total = getattr(aten, name + "_forward").default(log_probs, target, *options)
    op = getattr(aten, name + "_backward").default
    _check(op, torch.randn_like(loss), log_probs, target, *options, total)


def test_gradients_of_log_likelihoods_scatter_nothing() -> None:
    def step(scores: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        gradient: torch.Tensor = torch.func.grad(torch.nn.functional.cross_entropy)(scores, target)
        return gradient

    graph = make_fx(step, TABLE)(torch.randn(5, 4), torch.randint(4, (5,))).graph
    assert not [node for node in graph.nodes if "scatter" in str(node.target)]


@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_gradients_of_soft_margins(reduction: int) -> None:
    op = aten.soft_margin_loss_backward.default
    given = (torch.tensor(1.5), torch.tensor([-3.0, 0.5, 30.0]), torch.tensor([1.0, -1.0, 1.0]))
    # To the last digits, also of a gradient of 1e-13.
    expected = op(*given, reduction)
    torch.testing.assert_close(TABLE[op](*given, reduction), expected, rtol=1e-6, atol=0)


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("p", [1, 2])
def test_gradients_of_margins(p: int, reduction: int) -> None:
    scores, target = torch.randn(6, 4, dtype=F64), torch.randint(4, (6,))
    weight = torch.rand(4, dtype=F64)
    op = aten.multi_margin_loss_backward.default
    grad = torch.randn(6 if reduction == 0 else (), dtype=F64)
    _check(op, grad, scores, target, p, 0.7, weight, reduction)
    _check(op, torch.randn((), dtype=F64), scores[0], target[0], p, 1, None)


# -- indexing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [9, 127, 128, 129, 255, 256, 300])
@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(size: int, right: bool) -> None:
    sequence = torch.randn(3, size).sort(-1).values
    others = torch.tensor([math.nan, math.inf, -math.inf]).expand(3, 3)
    ends = sequence[:, [0, -1]]
    values = torch.cat([torch.randn(3, 5), sequence[:, :3], ends, others], 1)
    _check(aten.searchsorted.Tensor, sequence, values, right=right)
    _check(aten.searchsorted.Tensor, sequence[0], values, right=right, out_int32=True)
    _check(aten.searchsorted.Scalar, sequence[0], 0.25, right=right)
    _check(aten.bucketize.Scalar, 0.25, sequence[0], right=right, out_int32=True)
    _check(aten.bucketize.Tensor, values, sequence[0], right=right)
    shuffled = torch.randperm(size)
    _check(
        aten.searchsorted.Tensor,
        sequence[0][shuffled],
        values,
        side="right" if right else "left",
        sorter=torch.argsort(shuffled),
    )


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_index_reduce(reduce: str, include_self: bool) -> None:
    index = torch.randint(0, 4, (6,))
    arguments = (torch.randn(3, 4, 5), 1, index, torch.randn(3, 6, 5), reduce)
    _check(aten.index_reduce.default, *arguments, include_self=include_self)


@pytest.mark.parametrize("with_replacement", [False, True])
@pytest.mark.parametrize(("count", "r"), [(5, 1), (5, 2), (4, 3), (2, 3), (0, 2), (3, 0)])
def test_combinations(count: int, r: int, with_replacement: bool) -> None:
    _check(aten.combinations.default, torch.randn(count), r, with_replacement)


@pytest.mark.parametrize("initial", [None, 2.0])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_segment_reduce(reduce: str, initial: float | None) -> None:
    lengths = torch.tensor([[2, 0, 3, 1], [1, 1, 1, 3]])
    data = torch.randn(2, 6, 3)
    op = aten.segment_reduce.default
    _check(op, data[0], reduce, lengths=lengths[0], initial=initial)
    _check(op, data, reduce, lengths=lengths, axis=1, initial=initial)
    offsets = torch.tensor([0, 2, 2, 5, 6])
    _check(op, data[0], reduce, offsets=offsets, initial=initial)

    # Two of a segment are equal, and two and one are 0. PyTorch shares out what is above 0 only.
    data[:, 2:4], data[0, 1], data[1, 4] = data[0, 2], 0, 0
    output = op(data, reduce, lengths=lengths, axis=1, initial=initial, unsafe=True)
    given = (torch.rand_like(output), output, data, reduce)
    backward = aten._segment_reduce_backward.default
    _check(backward, *given, lengths=lengths, axis=1, initial=initial)
    output = op(data[0], reduce, offsets=offsets, initial=initial, unsafe=True)
    given = (torch.rand_like(output), output, data[0], reduce)
    _check(backward, *given, offsets=offsets, initial=initial)


@pytest.mark.parametrize("size", [0, 1, 4, 20])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (0, 2)], ids=str)
def test_nonzero_static(shape: Sequence[int], size: int) -> None:
    operand = torch.randint(0, 2, shape)
    _check(aten.nonzero_static.default, operand, size=size)
    _check(aten.nonzero_static.default, operand, size=size, fill_value=7)


@pytest.mark.parametrize(
    ("shape", "mask"), [((5,), (4, 5)), ((4, 5), (5,)), ((), (5,)), ((4, 5), ())], ids=str
)
def test_masked_scatter(shape: Sequence[int], mask: Sequence[int]) -> None:
    operand = torch.randn(shape)
    _check(aten.masked_scatter.default, operand, torch.randn(mask) > 0, torch.randn(4, 5))
    _check(aten.masked_scatter.default, operand, torch.zeros(mask) > 0, torch.randn(0))
    _check(aten.masked_scatter_backward.default, torch.randn(4, 5), torch.randn(mask) > 0, [5, 5])


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (2, 0, 1, 3)])
@pytest.mark.parametrize("is_dense", [True, False])
def test_attention_lies_in_memory_as_pytorch_has_it(order: tuple[int, ...], is_dense: bool) -> None:
    sizes = (2, 3, 5, 8)
    memory = torch.randn(*(sizes[axis] for axis in order[:3]), 8 if is_dense else 24)
    x = memory[..., :8].permute([order.index(axis) for axis in range(4)])
    op = aten._scaled_dot_product_flash_attention_for_cpu.default
    expected, _ = op(x, x, x)
    actual, _ = TABLE[op](x, x, x)
    torch.testing.assert_close(actual, expected)
    assert actual.stride() == expected.stride()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_attention_of_a_query_that_looks_at_no_key(dtype: torch.dtype) -> None:
    op = aten._scaled_dot_product_flash_attention_for_cpu.default
    x = torch.randn(2, 3, 5, 8, dtype=dtype)
    hidden = torch.zeros(5, 5, dtype=dtype)
    hidden[3] = -torch.inf
    actual, expected = (found(x, x, x, attn_mask=hidden) for found in (TABLE[op], op))
    torch.testing.assert_close(actual, expected)


def test_take() -> None:
    _check(aten.take.default, torch.randn(3, 3), torch.tensor([[0, 8], [-1, -9]]))
    _check(aten.take.default, torch.tensor(2.0), torch.tensor(0))


# -- data movement ---------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [-3, -1, 0, 2, 4])
@pytest.mark.parametrize("dims", [(1, 2), (2, 0), (-1, 1)])
def test_diagonal_scatter(offset: int, dims: tuple[int, int]) -> None:
    operand = torch.randn(3, 6, 5)
    source = torch.randn_like(torch.diagonal(operand, offset, *dims))
    _check(aten.diagonal_scatter.default, operand, source, offset, *dims)


def test_what_strides_name() -> None:
    operand, view = torch.randn(3, 3), ([2, 2], [1, 2], 1)
    _check(aten.as_strided.default, operand, [], [], 4)
    _check(aten.as_strided.default, operand[0, 0].clone(), [1, 1], [1, 1])
    _check(aten.as_strided_copy.default, operand, *view)
    _check(aten.as_strided_scatter.default, operand, torch.ones(2, 2), *view)
    _check(aten.as_strided_copy.default, operand[1:], *view[:2])
    for view_of_it in (operand.t(), operand[1:]):
        with pytest.raises(NotImplementedError, match="strides into"):
            TABLE[aten.as_strided_copy.default](view_of_it, *view)
    # The operand as it is: a single row takes any stride. Of a view PyTorch wants another tensor.
    row = torch.randn(2, 1, 3)
    whole = TABLE[aten.as_strided.default](row, [2, 1, 3], [3, 7, 1])
    assert whole is not row
    assert whole.data_ptr() == row.data_ptr()
    assert TABLE[aten.as_strided.default](row, [2, 1, 3], [2, 7, 1]) is NotImplemented


@pytest.mark.parametrize("accumulate", [False, True])
def test_put(accumulate: bool) -> None:
    index = torch.tensor([[0, 8], [-2, 8 if accumulate else 3]])
    _check(aten.put.default, torch.randn(3, 3), index, torch.randn(2, 2), accumulate)


# -- padding ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["circular", "reflect", "replicate"])
@pytest.mark.parametrize(
    "padding", [(2, 1), (3, 0, 0, 2), (-1, 2, 1, 0), (2, -3, -1, 1), (-2, -1, -1, -1)]
)
def test_pads_of_modes(mode: str, padding: tuple[int, ...]) -> None:
    image = torch.randn(1, 2, 4, 5)
    operand = image if len(padding) == 4 else image[0]
    _check(aten.pad.default, operand, padding, mode)


@pytest.mark.parametrize("mode", ["circular", "reflect", "replicate"])
@pytest.mark.parametrize("padding", [(2, 1, 0, 3, 2, 1), (0, 0, 3, 0, 0, 0)])
def test_pads_of_three_dimensions(mode: str, padding: tuple[int, ...]) -> None:
    _check(aten.pad.default, torch.randn(1, 2, 3, 4, 5), padding, mode)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_pads(rank: int) -> None:
    operand, padding = torch.randn(1, 2, *(4, 5, 6)[:rank]), (1, 2, -1, 3, 2, 0)[: 2 * rank]
    for mode in ("reflection", "replication"):
        _check(getattr(aten, f"{mode}_pad{rank}d").default, operand, padding)


def test_constant_pads_are_left_to_pytorch() -> None:
    assert TABLE[aten.pad.default](torch.ones(3), (1, 1)) is NotImplemented


# -- contraction -----------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, math.inf])
def test_distances(p: float) -> None:
    operand = torch.randn(7, 3)
    # One is infinitely far from all, some are nowhere, along a dimension or all of them.
    nowhere = operand.clone()
    nowhere[1, 2], nowhere[2, 1], nowhere[5] = math.inf, math.nan, math.nan
    for points in (operand, nowhere):
        _check(aten._pdist_forward.default, points, p)
        _check(aten._cdist_forward.default, points, points[:4] + 1, p, None)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50, 700])
def test_all_pairs_of_rows(count: int) -> None:
    _check(aten._pdist_forward.default, torch.randn(count, 2), 1.0)


def test_bilinear() -> None:
    _check(
        aten._trilinear.default,
        torch.randn(8, 3),
        torch.randn(5, 3, 4),
        torch.randn(8, 4),
        [1, 3],
        [0],
        [1, 2],
        [2, 3],
    )


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.uint8])
def test_bilinear_products_of_narrow_integers_wrap_around(dtype: torch.dtype) -> None:
    operands = [torch.randint(-100, 100, shape).to(dtype) for shape in ((5, 4), (3, 4, 2), (5, 2))]
    _check(aten._trilinear.default, *operands, [1, 3], [0], [1, 2], [2, 3])


@pytest.mark.parametrize(
    ("left", "right"),
    [((8, 16), (4, 16, 24)), ((4, 16, 24), (24, 8)), ((16, 8), (8, 24)), ((3, 8, 16), (3, 16, 8))],
    ids=["rows", "columns", "inner", "no groups"],
)
def test_products_of_groups(left: Sequence[int], right: Sequence[int]) -> None:
    operands = [torch.randn(shape).to(torch.bfloat16) for shape in (left, right)]
    several = len(left) == len(right) == 3
    offs = None if several else torch.tensor([3, 3, 5, 8], dtype=torch.int32)
    _check(aten._grouped_mm.default, *operands, offs)


# -- convolution -----------------------------------------------------------------------------------


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("steps", [(1, 1, 1), (2, 1, 1), (3, 2, 2), (1, 0, 3)])
@pytest.mark.parametrize("sizes", [(9,), (9, 8), (9, 8, 7)])
def test_convolution_backward(
    sizes: tuple[int, ...], steps: tuple[int, int, int], groups: int, transposed: bool
) -> None:
    stride, padding, dilation = steps
    extra = max(stride, dilation) - 1 if transposed else 0
    options = [stride], [padding], [dilation], transposed, [extra], groups
    weight_channels = (4, 6 // groups) if transposed else (6, 4 // groups)
    # In float64, as PyTorch sums in another order.
    operand = torch.randn(5, 4, *sizes, dtype=F64)
    weight = torch.randn(*weight_channels, *[3] * len(sizes), dtype=F64)
    out = aten.convolution(operand, weight, None, *options)
    op, arguments = aten.convolution_backward.default, (torch.randn_like(out), operand, weight)
    _check(op, *arguments, [6], *options, [True, True, True])
    actual = TABLE[op](*arguments, [6], *options, [False, True, False])
    assert [gradient is None for gradient in actual] == [True, False, True]


@pytest.mark.parametrize("dtype", [F64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("channels", [(4, 4), (4, 8), (8, 4)])
@pytest.mark.parametrize(
    ("sizes", "stride", "padding", "dilation"),
    [((9,), [2], [1], [2]), ((9, 8), [1, 3], [2, 0], [2, 1]), ((4, 5, 6), [2], [1], [1])],
)
def test_convolutions_of_an_unknown_number_of_groups(
    sizes: tuple[int, ...],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    channels: tuple[int, int],
    transposed: bool,
    dtype: torch.dtype,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dynamic_groups, "is_dynamic", lambda _: True)
    rtol = 1e-7 if dtype == F64 else 1e-2
    options = stride, padding, dilation, transposed, [1 if transposed else 0], 4
    inputs, outputs = channels
    weight_channels = (inputs, outputs // 4) if transposed else (outputs, inputs // 4)
    operand = torch.randn(3, inputs, *sizes, dtype=dtype)
    weight = torch.randn(*weight_channels, *[3] * len(sizes), dtype=dtype)
    for bias in (None, torch.randn(outputs, dtype=dtype)):
        actual = TABLE[aten.convolution.default](operand, weight, bias, *options)
        given = (None if each is None else each.double() for each in (operand, weight, bias))
        expected = aten.convolution(*given, *options).to(dtype)
        torch.testing.assert_close(actual, expected, rtol=rtol, atol=1e-6)
    if dtype == F64:
        gradient = torch.randn_like(aten.convolution(operand, weight, None, *options))
        arguments = gradient, operand, weight, None, *options, [False, True, False]
        expected = aten.convolution_backward(*arguments)[1]
        actual = TABLE[aten.convolution_backward.default](*arguments)[1]
        torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("name", ["hardshrink", "softshrink"])
def test_gradients_of_shrinking(name: str) -> None:
    operand = torch.tensor([-2.0, -0.5, -0.25, 0.0, 0.5, 0.75, math.nan, math.inf])
    _check(getattr(aten, f"{name}_backward").default, torch.arange(1.0, 9.0), operand, 0.5)


@pytest.mark.parametrize("training", [False, True])
def test_gradients_of_slopes_that_may_be_drawn(*, training: bool) -> None:
    operand, noise = torch.tensor([-2.0, 0.0, 0.5, -0.25]), torch.rand(4)
    given = (torch.randn(4), operand, noise, 0.1, 0.3, training, False)
    _check(aten.rrelu_with_noise_backward.default, *given)


@pytest.mark.parametrize("dim", [0, 2])
def test_gradients_of_weights_with_norms(dim: int) -> None:
    v = torch.randn(4, 3, 5)
    g = torch.randn([size if axis == dim else 1 for axis, size in enumerate(v.shape)])
    w, norms = aten._weight_norm_interface.default(v, g, dim)
    _check(aten._weight_norm_interface_backward.default, torch.randn_like(w), v, g, norms, dim)


@pytest.mark.parametrize(
    "padding", [(1, 2), (0, 3, 2, 0), (-1, 1, 2, -2), (2, 1, 0, 0, 1, 3)], ids=str
)
def test_gradients_of_padding_by_replication(padding: tuple[int, ...]) -> None:
    rank = len(padding) // 2
    operand = torch.randn(2, *(3, 2, 4, 5)[-rank - 1 :])
    grad = torch.randn_like(torch.nn.functional.pad(operand, padding, mode="replicate"))
    _check(getattr(aten, f"replication_pad{rank}d_backward").default, grad, operand, padding)


@pytest.mark.parametrize("p", [0.0, 1.0, 1.5, 2.0, 3.0, math.inf])
def test_gradients_of_distances(p: float) -> None:
    x1, x2 = torch.randn(2, 4, 3), torch.randn(2, 5, 3)
    x2[:, 0] = x1[:, 0]
    distances = torch.cdist(x1, x2, p)
    _check(aten._cdist_backward.default, torch.randn_like(distances), x1, x2, p, distances)
    points = torch.cat([x1[0], x2[0]])
    distances = torch.nn.functional.pdist(points, p)
    _check(aten._pdist_backward.default, torch.randn_like(distances), points, p, distances)


# -- resampling ------------------------------------------------------------------------------------


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [(3, 3), (17, 18), (30, 7), (1, 1)])
@pytest.mark.parametrize("filter_", ["bilinear", "bicubic", "lanczos"])
def test_upsample_with_a_filter(filter_: str, size: Sequence[int], align_corners: bool) -> None:
    op = getattr(aten, f"_upsample_{filter_}2d_aa").default
    image = torch.randn(2, 3, 10, 20)
    _check(op, image, size, align_corners)
    _check(op, image, [17, 18], False, 1.7, 0.9)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [(3, 4), (17, 18), (30, 7), (10, 41)])
@pytest.mark.parametrize("filter_", ["bilinear", "bicubic", "lanczos"])
def test_upsample_of_bytes(filter_: str, size: Sequence[int], align_corners: bool) -> None:
    # Noise, and edges, beside which a cubic filter goes beyond all bytes.
    noise = torch.randint(0, 256, (2, 3, 10, 20), dtype=torch.uint8)
    images = (noise, noise // 128 * 255)
    for image in images:
        _check(getattr(aten, f"_upsample_{filter_}2d_aa").default, image, size, align_corners)
    if filter_ == "lanczos":
        # PyTorch has it as one that widens alone.
        return
    for image in images:
        _check(getattr(aten, f"upsample_{filter_}2d").vec, image, size, align_corners, None)
    options = None, align_corners, (1.7, 0.9)
    _check(getattr(aten, f"upsample_{filter_}2d").vec, noise, *options)


@pytest.mark.parametrize("dtype", [torch.float32, F64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("name", "old", "size", "factors"),
    [
        ("upsample_linear1d", (7,), None, [0.5]),
        ("upsample_bilinear2d", (8, 9), (4, 3), None),
        ("upsample_bilinear2d", (8, 9), None, [0.25, 1.0]),
        ("upsample_trilinear3d", (4, 6, 5), (2, 1, 1), None),
        ("upsample_bicubic2d", (8, 15), (2, 3), None),
    ],
)
def test_images_of_a_fraction_are_read_in_slices(
    name: str,
    old: tuple[int, ...],
    size: tuple[int, ...] | None,
    factors: list[float] | None,
    dtype: torch.dtype,
) -> None:
    op = getattr(aten, name).vec
    image = torch.randn(2, 3, *old, dtype=dtype)
    traced = make_fx(lambda image: TABLE[op](image, size, False, factors))(image)
    torch.testing.assert_close(traced(image), op(image, size, False, factors))
    called = {node.target for node in traced.graph.nodes}
    assert aten.slice.Tensor in called
    assert not called & {aten.index.Tensor, aten.index_select.default}


@pytest.mark.parametrize("factor", [0.5, 0.25])
@pytest.mark.parametrize("align_corners", [False, True])
def test_images_of_a_fraction_of_what_they_have_more_of(factor: float, align_corners: bool) -> None:
    # Two neighbours on each side reach beyond an image of which every second element is taken.
    for name in ("bilinear", "bicubic"):
        image = torch.randn(2, 3, 8, 9)
        _check(getattr(aten, f"upsample_{name}2d").vec, image, None, align_corners, [factor] * 2)


@pytest.mark.parametrize("name", ["upsample_nearest", "_upsample_nearest_exact"])
@pytest.mark.parametrize(
    ("old", "size", "factors"),
    [
        ((7,), None, [3.0]),
        ((5, 6), None, [2.0, 2.0]),
        ((5, 6), (15, 6), None),
        ((5, 6), (1, 12), None),
        ((9, 6), None, [0.5, 4.0]),
        ((9, 6), (3, 1), None),
        ((4, 4), (3, 4), None),
        ((3, 4, 5), None, [2.0, 1.0, 7.0]),
    ],
)
def test_nearest_elements_are_copied_as_they_lie(
    name: str, old: tuple[int, ...], size: tuple[int, ...] | None, factors: list[float] | None
) -> None:
    op = getattr(aten, f"{name}{len(old)}d").vec
    image = torch.randn(2, 3, *old)
    traced = make_fx(lambda image: TABLE[op](image, size, factors))(image)
    torch.testing.assert_close(traced(image), op(image, size, factors))
    assert aten.index.Tensor not in {node.target for node in traced.graph.nodes}


@pytest.mark.parametrize("name", ["upsample_nearest", "_upsample_nearest_exact"])
@pytest.mark.parametrize(
    ("size", "factors"),
    [((7, 13), None), (None, [41.0, 2.0]), (None, [0.34, 1.7]), ((60, 3), None)],
)
def test_nearest_elements_anywhere(
    name: str, size: tuple[int, ...] | None, factors: list[float] | None
) -> None:
    op = getattr(aten, f"{name}2d").vec
    for order in (torch.contiguous_format, torch.channels_last):
        image = torch.randn(2, 3, 60, 4).contiguous(memory_format=order)
        _check(op, image, size, factors)
        assert TABLE[op](image, size, factors).is_contiguous(memory_format=order)


@pytest.mark.parametrize("name", ["upsample_nearest", "_upsample_nearest_exact"])
@pytest.mark.parametrize("are_last", [False, True])
@pytest.mark.parametrize("old", [(3,), (3, 5), (5, 3), (1, 3, 5), (7, 1, 3)])
@pytest.mark.parametrize("factor", [1.3, 2.1, 2.2])
def test_nearest_elements_by_sizes_or_by_factors(
    name: str, are_last: bool, old: tuple[int, ...], factor: float
) -> None:
    """The sizes are the old ones, or twice these, which the factors are not."""
    image = torch.randn(2, 4, *old)
    if are_last and len(old) > 1:
        orders = {2: torch.channels_last, 3: torch.channels_last_3d}
        image = image.contiguous(memory_format=orders[len(old)])
    _check(getattr(aten, f"{name}{len(old)}d").vec, image, None, [factor] * len(old))


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize(
    ("name", "old", "size", "factors"),
    [
        ("upsample_linear1d", (17,), None, [2.0]),
        ("upsample_bilinear2d", (10, 11), (13, 9), None),
        ("upsample_bilinear2d", (10, 11), (1, 30), None),
        # Places as far from the first are rounded once.
        ("upsample_bilinear2d", (400, 500), (333, 777), None),
        ("upsample_bicubic2d", (400, 500), (333, 777), None),
        # An axis of the same size is copied between two neighbours, not between four.
        ("upsample_bilinear2d", (10, 11), None, [1.05, 1.9]),
        ("upsample_bicubic2d", (10, 11), None, [1.05, 1.9]),
        ("upsample_trilinear3d", (4, 5, 6), (7, 3, 6), None),
    ],
)
def test_images_between_their_elements(
    name: str,
    old: tuple[int, ...],
    size: tuple[int, ...] | None,
    factors: list[float] | None,
    align_corners: bool,
) -> None:
    op = getattr(aten, name).vec
    image = torch.randn(1, 3, *old)
    _check(op, image, size, align_corners, factors)
    if len(old) == 2:
        channels_last = image.contiguous(memory_format=torch.channels_last)
        _check(op, channels_last, size, align_corners, factors)
        result = TABLE[op](channels_last, size, align_corners, factors)
        assert result.is_contiguous(memory_format=torch.channels_last)


def test_an_image_of_twice_the_size_is_read_along_rows() -> None:
    traced = make_fx(lambda image: TABLE[aten.upsample_bilinear2d.vec](image, None, False, [2, 2]))
    nodes = traced(torch.randn(1, 3, 5, 6)).graph.find_nodes(
        op="call_function", target=aten.index_select.default
    )
    assert [node.args[1] for node in nodes] == [-1, -1, -2, -2]


@pytest.mark.parametrize("dtype", [torch.float32, F64], ids=str)
@pytest.mark.parametrize(
    ("name", "size", "options"),
    [
        ("upsample_linear1d", (9,), (False, None)),
        ("upsample_bilinear2d", (3, 11), (True, None, None)),
        ("upsample_bilinear2d", (8, 9), (False, 1.6, 1.5)),
        ("upsample_trilinear3d", (9, 3, 4), (False, None, None, None)),
        ("upsample_bicubic2d", (7, 9), (False, None, None)),
        ("upsample_nearest1d", (13,), (None,)),
        ("upsample_nearest2d", (7, 13), (None, None)),
        ("upsample_nearest3d", (4, 5, 9), (None, None, None)),
        ("_upsample_bicubic2d_aa", (3, 9), (False, None, None)),
        ("_upsample_bilinear2d_aa", (3, 4), (False, 0.6, None)),
        ("_upsample_lanczos2d_aa", (3, 9), (False, None, None)),
        ("_upsample_nearest_exact1d", (8,), (1.6,)),
        ("_upsample_nearest_exact2d", (7, 13), (None, None)),
        ("_upsample_nearest_exact3d", (4, 5, 9), (None, None, None)),
    ],
)
def test_gradients_of_upsampling(
    name: str, size: tuple[int, ...], options: tuple[Any, ...], dtype: torch.dtype
) -> None:
    old = (2, 3, *(5, 6, 3)[: len(size)])
    grad = torch.randn(2, 3, *size, dtype=dtype)
    _check(getattr(aten, name + "_backward").default, grad, size, old, *options)


class _Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The elements of the largest tensor that is computed."""

    elements = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.elements = max(self.elements, result.numel())
        return result


@pytest.mark.parametrize(
    ("name", "old", "new", "options"),
    [
        ("upsample_linear1d", 700, 1400, (False, None)),
        ("upsample_linear1d", 301, 150, (True, None)),
        ("upsample_linear1d", 900, 1530, (False, 1.7)),
        ("upsample_linear1d", 3000, 300, (False, 0.1)),
        ("upsample_nearest1d", 1600, 200, (None,)),
        ("upsample_nearest1d", 200, 1601, (None,)),
        ("_upsample_nearest_exact1d", 1601, 200, (None,)),
    ],
)
def test_gradients_of_upsampling_take_no_matrices_of_both_sizes(
    name: str, old: int, new: int, options: tuple[Any, ...]
) -> None:
    op = getattr(aten, name + "_backward").default
    grad = torch.randn(1, 1, new)
    _check(op, grad, (new,), (1, 1, old), *options)
    with _Largest() as largest:  # type: ignore[no-untyped-call]
        TABLE[op](grad, (new,), (1, 1, old), *options)
    assert largest.elements < 100 * max(old, new) < old * new


@pytest.mark.parametrize(
    ("name", "old", "new", "options"),
    [
        ("upsample_bicubic2d", (120, 60), (240, 180), (False, 2.0, 3.0)),
        ("upsample_bicubic2d", (120, 60), (130, 400), (True, None, None)),
        ("_upsample_bicubic2d_aa", (400, 70), (260, 71), (False, None, None)),
        ("_upsample_bilinear2d_aa", (300, 100), (120, 100), (True, None, None)),
        ("_upsample_lanczos2d_aa", (200, 60), (300, 120), (False, None, 2.0)),
    ],
)
def test_gradients_of_upsampling_many(
    name: str, old: tuple[int, ...], new: tuple[int, ...], options: tuple[Any, ...]
) -> None:
    op = getattr(aten, name + "_backward").default
    _check(op, torch.randn(1, 1, *new, dtype=F64), new, (1, 1, *old), *options)


@pytest.mark.parametrize(
    "options",
    [
        ([2, 2], [], [0, 0], False, True, None),
        ([3, 2], [2, 1], [1, 1], False, True, None),
        ([3], [2], [1], True, False, None),
        ([4, 3], [3, 2], [2, 1], True, True, None),
        ([2, 3], [1, 2], [1, 0], False, True, 5),
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(2, 3, 7, 8), (3, 6, 5)], ids=str)
def test_gradients_of_averages(shape: tuple[int, ...], options: tuple[Any, ...]) -> None:
    operand = torch.randn(shape, dtype=F64)
    grad = torch.randn_like(aten.avg_pool2d(operand, *options))
    _check(aten.avg_pool2d_backward.default, grad, operand, *options)


@pytest.mark.parametrize(
    "options",
    [
        ([2, 2, 3], [], [0, 0, 0], False, True, None),
        ([3, 2, 2], [2, 1, 2], [1, 1, 0], True, False, None),
        ([3], [2], [1], True, True, 5),
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(2, 3, 5, 7, 8), (3, 6, 5, 4)], ids=str)
def test_gradients_of_averages_of_volumes(shape: tuple[int, ...], options: tuple[Any, ...]) -> None:
    operand = torch.randn(shape, dtype=F64)
    grad = torch.randn_like(aten.avg_pool3d(operand, *options))
    _check(aten.avg_pool3d_backward.default, grad, operand, *options)


@pytest.mark.parametrize("size", [(3, 3), (1, 5), (9, 2), (3, 1, 4)])
def test_gradients_of_adaptive_averages(size: tuple[int, ...]) -> None:
    operand = torch.randn(2, 3, *(5, 7, 8)[-len(size) :])
    op = getattr(aten, f"_adaptive_avg_pool{len(size)}d_backward")
    _check(op.default, torch.randn(2, 3, *size), operand)


@pytest.mark.parametrize("dtype", [torch.float32, F64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("count", "size"), [([19, 17], (23, 20)), ([35, 2], (18, 5)), ([17, 3, 4], (31, 7, 3))], ids=str
)
def test_windows_that_share_out_dimensions(
    count: list[int], size: tuple[int, ...], dtype: torch.dtype
) -> None:
    """More of them than are taken one by one."""
    rank = len(count)
    averages = getattr(aten, f"_adaptive_avg_pool{rank}d").default
    maxima = getattr(aten, f"adaptive_max_pool{rank}d").default
    for batch in ((2, 3), (3,)):
        operand = torch.randn(*batch, *size)
        operand[..., 2] = math.inf
        # PyTorch adds up bfloat16 of volumes as such.
        if rank == 2 or dtype != torch.bfloat16:
            _check(averages, operand.to(dtype), count)
        # Of few values, so that several are the greatest of a window.
        _check(maxima, operand.round().to(dtype), count)


def test_few_windows_that_share_out_dimensions_are_left_to_tcp() -> None:
    operand = torch.randn(2, 3, 60, 224)
    for count in ([16, 7], [45, 96], [1, 1], [60, 224]):
        assert TABLE[aten._adaptive_avg_pool2d.default](operand, count) is NotImplemented
        assert TABLE[aten.adaptive_max_pool2d.default](operand, count) is NotImplemented


_IMAGES_AND_VOLUMES = [(2, 3, 7, 8), (3, 7, 8), (2, 3, 6, 7, 8), (3, 6, 5, 4)]


@pytest.mark.parametrize(
    ("shape", "rank"), zip(_IMAGES_AND_VOLUMES, (2, 2, 3, 3), strict=True), ids=str
)
def test_gradients_of_maxima(shape: tuple[int, ...], rank: int) -> None:
    """Windows that overlap, so that an element is the greatest of several."""
    operand = torch.randn(shape)
    count = [4, 3, 2][:rank]
    out, places = getattr(aten, f"adaptive_max_pool{rank}d")(operand, count)
    op = getattr(aten, f"adaptive_max_pool{rank}d_backward").default
    _check(op, torch.randn_like(out), operand, places)
    samples = torch.rand(2 if len(shape) == rank + 2 else 1, 3, rank)
    window = [2] * rank
    out, places = getattr(aten, f"fractional_max_pool{rank}d")(operand, window, count, samples)
    op = getattr(aten, f"fractional_max_pool{rank}d_backward").default
    _check(op, torch.randn_like(out), operand, window, count, places)
    if rank == 3:
        options = ([3, 2, 3], [2, 1, 1], [1, 0, 1], [1, 2, 1], False)
        out, places = aten.max_pool3d_with_indices(operand, *options)
        op = aten.max_pool3d_with_indices_backward.default
        _check(op, torch.randn_like(out), operand, *options, places)


@pytest.mark.parametrize("batch", range(3))
def test_zeros_that_derivatives_begin_with(batch: int) -> None:
    operand, other = torch.ones(2, 3, 4), torch.ones(5, 6)
    zeros = TABLE[aten._new_zeros_with_same_feature_meta.default]
    made = zeros(operand, other, self_num_batch_dims=batch)
    torch.testing.assert_close(made, torch.zeros((*(2, 3)[:batch], 5, 6)))


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding", range(3))
@pytest.mark.parametrize("mode", range(2))
def test_volumes_at_places(mode: int, padding: int, align_corners: bool) -> None:
    grid = torch.rand(2, 3, 2, 4, 3) * 5 - 2.5
    volume = torch.randn(2, 3, 4, 5, 6)
    _check(aten.grid_sampler_3d.default, volume, grid, mode, padding, align_corners)
    grad, of_both = torch.randn(2, 3, 3, 2, 4), (True, True)
    options = (mode, padding, align_corners, of_both)
    _check(aten.grid_sampler_3d_backward.default, grad, volume, grid, *options)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding", range(3))
@pytest.mark.parametrize("mode", range(3))
def test_images_at_places(mode: int, padding: int, align_corners: bool) -> None:
    grid = torch.rand(2, 7, 4, 2) * 5 - 2.5
    # The ends, where a place turns back or stays.
    grid[0, :2, 0] = torch.tensor([[-1.0, 1.0], [0.0, -1.0]])
    image = torch.randn(2, 3, 5, 6)
    _check(aten.grid_sampler_2d.default, image, grid, mode, padding, align_corners)
    grad, of_both = torch.randn(2, 3, 7, 4), (True, True)
    options = (mode, padding, align_corners, of_both)
    _check(aten.grid_sampler_2d_backward.default, grad, image, grid, *options)


@pytest.mark.parametrize("mode", range(2))
def test_places_that_are_no_numbers_are_outside(mode: int) -> None:
    grid = torch.full((1, 2, 2, 2), torch.nan)
    grid[0, 0] = torch.tensor([torch.inf, -torch.inf])
    image = torch.ones(1, 3, 5, 6)
    read = TABLE[aten.grid_sampler_2d.default](image, grid, mode, 0, False)
    torch.testing.assert_close(read.nan_to_num(), torch.zeros(1, 3, 2, 2))


# -- linear algebra --------------------------------------------------------------------------------

MATRICES: list[tuple[int, ...]] = [
    (5, 5),
    (3, 5),
    (5, 2),
    (2, 4, 4),
    (1, 1),
    (0, 0),
    (5, 0),
    (0, 3, 3),
]


_SQUARE = [shape for shape in MATRICES if shape[-1] == shape[-2]]


_OF_EITHER = pytest.mark.parametrize("dtype", [F64, C128], ids=str)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@_OF_EITHER
def test_factorizations(shape: Sequence[int], dtype: torch.dtype) -> None:
    matrix = torch.randn(shape, dtype=dtype)
    for op in (aten.geqrf, aten.linalg_lu, aten.linalg_lu_factor, aten.linalg_lu_factor_ex):
        _check(op.default, matrix)
    factors, pivots = torch.linalg.lu_factor(matrix)
    _check(aten.lu_unpack.default, factors, pivots)
    for mode in ("reduced", "complete", "r"):
        _check(aten.linalg_qr.default, matrix, mode)


@pytest.mark.parametrize("shape", _SQUARE, ids=str)
@_OF_EITHER
def test_functions_of_matrices(shape: Sequence[int], dtype: torch.dtype) -> None:
    matrix = torch.randn(shape, dtype=dtype)
    right = torch.randn((*shape[:-1], 3), dtype=dtype)
    for op in (
        aten.inverse,
        aten.linalg_inv,
        aten.linalg_inv_ex,
        aten.linalg_matrix_exp,
        aten.linalg_slogdet,
        aten.logdet,
    ):
        _check(op.default, matrix)
    for determinant in (aten._linalg_det, aten._linalg_slogdet):
        # The factors beside it are those of the transpose where that lies so in memory.
        _check(determinant.default, matrix)
        _check(determinant.default, matrix.mT)
    _check(aten.linalg_solve.default, matrix, right)
    _check(aten.linalg_solve.default, matrix, right.mT, left=False)
    _check(aten.linalg_solve.default, matrix, right[..., 0])
    factors, pivots = torch.linalg.lu_factor(matrix)
    _check(aten.lu_solve.default, right, factors, pivots)
    for adjoint in (False, True):
        for left, side in ((True, right), (False, right.mT)):
            solve = aten.linalg_lu_solve.default
            _check(solve, factors, pivots, side, left=left, adjoint=adjoint)


@_OF_EITHER
def test_exponentials_of_small_and_large_matrices(dtype: torch.dtype) -> None:
    matrix = torch.randn(3, 3, dtype=dtype)
    # Of the last one the square is 0, and halves of it are many.
    nilpotent = torch.tensor([[0.0, 0, 1e20], [0, 0, 1e20], [0, 0, 0]], dtype=dtype)
    batch = torch.stack([1e-6 * matrix, matrix, 5 * matrix, -20 * matrix @ matrix.mH, nilpotent])
    _check(aten.linalg_matrix_exp.default, batch)
    _check(aten.linalg_matrix_exp.default, torch.tensor([[-30.0]], dtype=dtype))
    for number in (torch.nan, torch.inf):
        _check(aten.linalg_matrix_exp.default, torch.full((2, 2), number, dtype=dtype))


@pytest.mark.parametrize("shape", _SQUARE, ids=str)
@pytest.mark.parametrize("upper", [False, True])
@_OF_EITHER
def test_triangles(shape: Sequence[int], upper: bool, dtype: torch.dtype) -> None:
    matrix = torch.randn(shape, dtype=dtype)
    right = torch.randn((*shape[:-1], 3), dtype=dtype)
    triangle: Callable[..., torch.Tensor] = torch.triu if upper else torch.tril
    for left, side in ((True, right), (False, right.mT)):
        solve = aten.linalg_solve_triangular.default
        expected = solve(triangle(matrix), side, upper=upper, left=left)
        actual = TABLE[solve](matrix, side, upper=upper, left=left)
        torch.testing.assert_close(actual, expected)
    for transpose in (False, True):
        _check(aten.triangular_solve.default, right, matrix, upper, transpose)
    positive = matrix @ matrix.mH + torch.eye(shape[-1], dtype=F64)
    for op in (aten.cholesky, aten.linalg_cholesky, aten.linalg_cholesky_ex):
        _check(op.default, positive, upper=upper)
    factor = torch.linalg.cholesky(positive, upper=upper)
    _check(aten.cholesky_solve.default, right, factor, upper)
    _check(aten.cholesky_inverse.default, factor, upper)


def test_pivots_that_are_0() -> None:
    singular = torch.tensor([[1.0, 2, 3], [2, 4, 6], [0, 0, 1]], dtype=F64)
    _check(aten.linalg_lu_factor_ex.default, singular)
    assert TABLE[aten._linalg_det.default](singular)[0] == 0
    assert TABLE[aten.linalg_cholesky_ex.default](-singular)[1] == 1


@pytest.mark.parametrize("shape", [*_SQUARE, (7, 7), (2, 6, 6)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, F64, C64, C128], ids=str)
@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigenvalues(shape: Sequence[int], dtype: torch.dtype, uplo: str) -> None:
    matrix = torch.randn(shape, dtype=dtype)
    values, vectors = TABLE[aten._linalg_eigh.default](matrix, uplo)
    triangle = matrix.tril() if uplo == "L" else matrix.triu().mH
    diagonal = torch.diag_embed(torch.diagonal(matrix, 0, -2, -1).real)
    symmetric = triangle.tril(-1) + triangle.tril(-1).mH + diagonal
    torch.testing.assert_close(values, torch.linalg.eigvalsh(symmetric))
    torch.testing.assert_close((vectors * values.unsqueeze(-2)) @ vectors.mH, symmetric)
    _check_orthonormal(vectors)
    alone, nothing = TABLE[aten._linalg_eigh.default](matrix, uplo, compute_v=False)
    torch.testing.assert_close(alone, values)
    assert not nothing.numel()


def _check_orthonormal(columns: torch.Tensor) -> None:
    unit = torch.eye(columns.shape[-1], dtype=columns.dtype).expand(*columns.shape[:-2], -1, -1)
    torch.testing.assert_close(columns.mH @ columns, unit)


@pytest.mark.parametrize("shape", [*MATRICES, (9, 4), (2, 3, 8)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, F64, C64, C128], ids=str)
@pytest.mark.parametrize("full", [False, True])
def test_singular_values(shape: Sequence[int], dtype: torch.dtype, full: bool) -> None:
    _check_singular_values(torch.randn(shape, dtype=dtype), full)


def _check_singular_values(matrix: torch.Tensor, full: bool) -> None:
    op = aten._linalg_svd.default
    left, values, right = TABLE[op](matrix, full)
    expected = op(matrix, full)
    assert [left.shape, right.shape] == [expected[0].shape, expected[2].shape]
    torch.testing.assert_close(values, expected[1])
    count = values.shape[-1]
    product = (left[..., :count] * values.unsqueeze(-2)) @ right[..., :count, :]
    torch.testing.assert_close(product, matrix)
    _check_orthonormal(left)
    _check_orthonormal(right.mH)
    torch.testing.assert_close(TABLE[op](matrix, full, False)[1], values)


_TELLING_MATRICES = {
    "zero": torch.zeros(3, 4, dtype=F64),
    "all alike": torch.ones(5, 5, dtype=F64),
    "less than its size in rank": (torch.arange(20, dtype=F64) % 7).reshape(4, 5)[[0, 1, 0, 1]],
    # Eigenvalues from 1e-13 to 1.75.
    "nearly singular": 1 / (torch.arange(1, 11, dtype=F64).unsqueeze(-1) + torch.arange(10)),
    "great": torch.diag(torch.tensor([1e200, -3e200, 2e200], dtype=F64)) + 1e199,
    "small": torch.diag(torch.tensor([1e-200, -3e-200, 2e-200], dtype=F64)) + 1e-201,
}


# Small real ones are turned by rotations alone, and complex ones by sweeps.
@pytest.mark.parametrize("dtype", [F64, torch.complex128])
@pytest.mark.parametrize("name", _TELLING_MATRICES)
def test_eigenvalues_and_singular_values_of_telling_matrices(name: str, dtype: torch.dtype) -> None:
    matrix = _TELLING_MATRICES[name].to(dtype)
    _check_singular_values(matrix, full=True)
    if matrix.shape[0] == matrix.shape[1]:
        values, vectors = TABLE[aten._linalg_eigh.default](matrix)
        scale = matrix.abs().amax()
        torch.testing.assert_close(values / scale, torch.linalg.eigvalsh(matrix) / scale)
        _check_orthonormal(vectors)


def _of_values(*values: float, dtype: torch.dtype) -> torch.Tensor:
    """A Hermitian matrix that has these eigenvalues."""
    basis, _ = torch.linalg.qr(torch.randn(len(values), len(values), dtype=dtype))
    matrix: torch.Tensor = (basis * torch.tensor(values)) @ basis.mH
    return matrix


_SPECTRA = {
    "clustered": [*(1 + 1e-13 * number for number in range(10)), *[-2.0] * 5, *[3.0] * 5],
    "of opposite signs": [*[1.0, -1.0] * 10, 1e-3],
    "of half of the rank": [*range(1, 9), *[0.0] * 9],
    "graded": [10.0**-number for number in range(20)],
    "great": [1e300, 5e299, -2e299, *[1e250] * 15],
    "small": [1e-300, -5e-301, *[2e-301] * 15],
    "one": [1.0] * 18,
}


@pytest.mark.parametrize("name", _SPECTRA)
@_OF_EITHER
def test_errors_of_values_and_vectors_are_as_small_as_lapacks(
    name: str, dtype: torch.dtype
) -> None:
    values = torch.tensor(_SPECTRA[name], dtype=F64).sort().values
    matrix = _of_values(*values, dtype=dtype)
    scale = values.abs().amax()
    least = 8 * len(values) * torch.finfo(F64).eps
    own, vectors = TABLE[aten._linalg_eigh.default](matrix)
    left, lengths, right = TABLE[aten._linalg_svd.default](matrix)
    assert ((own - values) / scale).abs().amax() < least
    assert ((lengths - values.abs().sort(descending=True).values) / scale).abs().amax() < least
    products = (vectors * (own / scale)) @ vectors.mH, (left * (lengths / scale)) @ right
    for product in products:
        assert (product - matrix / scale).abs().amax() < least
    for columns in (vectors, left, right.mH):
        unit = torch.eye(len(values), dtype=F64)
        assert (columns.mH @ columns - unit).abs().amax() < least


def test_nan_ends_the_search_for_eigenvalues() -> None:
    matrix = torch.full((4, 4), math.nan)
    assert TABLE[aten._linalg_eigh.default](matrix)[0].isnan().all()
    assert TABLE[aten._linalg_svd.default](matrix)[1].isnan().all()
    assert TABLE[aten.linalg_eigvals.default](matrix).isnan().all()


def _check_eigenvectors(matrix: torch.Tensor, least: float = 1e-13) -> None:
    values, vectors = TABLE[aten.linalg_eig.default](matrix)
    expected = aten.linalg_eig.default(matrix)
    for own, right in zip((values, vectors), expected, strict=True):
        assert (own.shape, own.dtype) == (right.shape, right.dtype)
    # All by the greatest entry, as errors are.
    scale = matrix.abs().amax((-2, -1), keepdim=True)
    scale = torch.where(scale == 0, 1.0, scale)
    given, values = matrix / scale, values / scale.squeeze(-1)
    apart = given.to(vectors.dtype) @ vectors - vectors * values.unsqueeze(-2)
    assert apart.abs().amax() < least
    lengths = torch.linalg.vector_norm(vectors, dim=-2)
    torch.testing.assert_close(lengths, torch.ones_like(lengths))
    # The greatest entry of each is real, or one that is as great.
    sizes = vectors.abs()
    is_greatest = sizes > (1 - 1e-5) * sizes.amax(-2, keepdim=True)
    is_real = (vectors.imag.abs() < 1e-6) & (vectors.real > 0)
    assert (is_greatest & is_real).any(-2).all()


def _check_eigenvalues(matrix: torch.Tensor) -> None:
    """Each of ours is one of PyTorch's, and the other way around."""
    values = TABLE[aten.linalg_eigvals.default](matrix)
    expected = torch.linalg.eigvals(matrix)
    assert (values.shape, values.dtype) == (expected.shape, expected.dtype)
    apart = (values.unsqueeze(-1) - expected.unsqueeze(-2)).abs()
    for dim in (-1, -2):
        nearest = apart.amin(dim)
        torch.testing.assert_close(nearest, torch.zeros_like(nearest), rtol=0, atol=2e-5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 2, 6, 6)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, F64, C64, C128], ids=str)
def test_eigenvalues_of_matrices_that_are_not_symmetric(
    shape: Sequence[int], dtype: torch.dtype
) -> None:
    matrix = torch.randn(shape, dtype=dtype)
    _check_eigenvectors(matrix, 1e-13 if dtype in (F64, C128) else 1e-5)
    _check_eigenvalues(matrix)


def test_eigenvalues_of_no_matrices() -> None:
    for shape in ((0, 0), (0, 2, 2), (2, 0, 0)):
        matrix = torch.zeros(shape)
        values, vectors = TABLE[aten.linalg_eig.default](matrix)
        assert (values.shape, vectors.shape) == (shape[:-1], shape)
        assert values.dtype == vectors.dtype == C64


_ONES = torch.ones(5, 5, dtype=F64)

_NOT_SYMMETRIC = {
    "zero": 0 * _ONES,
    "one": torch.eye(4, dtype=F64),
    "a rotation": torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=F64),
    # The shift that is next to the last entry leaves them as they are.
    "a permutation": torch.eye(5, dtype=F64).roll(1, 0),
    "two permutations": torch.eye(6, dtype=F64).roll(2, 0),
    "of one vector": _ONES.triu(),
    "nilpotent": _ONES.tril(-1),
    "in blocks": torch.kron(torch.eye(3, dtype=F64) - 2, _ONES[:2, :2].tril()),
    "graded": torch.diag(10.0 ** -torch.arange(12, dtype=F64)) + 1e-13,
    "great": 1e300 * torch.tensor([[1.0, 2.0, 0.0], [-3.0, 1.0, 0.1], [0.2, 0.4, 0.3]], dtype=F64),
    "small": 1e-300 * torch.tensor([[1.0, 2.0, 0.0], [-3.0, 1.0, 0.1], [0.2, 0.4, 0.3]], dtype=F64),
}


@pytest.mark.parametrize("name", _NOT_SYMMETRIC)
def test_eigenvectors_of_telling_matrices(name: str) -> None:
    _check_eigenvectors(_NOT_SYMMETRIC[name])


def test_real_eigenvalues_of_real_matrices_are_real() -> None:
    basis = torch.randn(6, 6, dtype=F64)
    values = torch.tensor([1.0, -2.0, 0.5, 3.0, -0.25, 0.0], dtype=F64)
    matrix = basis @ torch.diag(values) @ torch.linalg.inv(basis)
    found = TABLE[aten.linalg_eigvals.default](matrix)
    assert (found.imag == 0).all()
    torch.testing.assert_close(found.real.sort().values, values.sort().values)


@pytest.mark.parametrize("shape", MATRICES, ids=str)
@_OF_EITHER
def test_pseudoinverses(shape: Sequence[int], dtype: torch.dtype) -> None:
    matrix = torch.randn(shape, dtype=dtype)
    pinv = aten.linalg_pinv.atol_rtol_tensor
    _check(pinv, matrix)
    for tolerance in (torch.tensor(0.0, dtype=F64), torch.tensor(0.9, dtype=F64)):
        _check(pinv, matrix, atol=tolerance)
        _check(pinv, matrix, rtol=tolerance)
        _check(pinv, matrix, atol=tolerance, rtol=0.5 * tolerance)
    if shape[-1] == shape[-2]:
        _check(pinv, matrix + matrix.mH, hermitian=True)
    # Of half of its rank.
    _check(pinv, torch.cat([matrix, matrix], -2))


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelss", "gelsd", None])
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 5), (5, 3)], ids=str)
@_OF_EITHER
def test_least_squares(driver: str | None, shape: Sequence[int], dtype: torch.dtype) -> None:
    op = aten.linalg_lstsq.default
    matrix, right = torch.randn(shape, dtype=dtype), torch.randn(*shape[:-1], 2, dtype=dtype)
    if driver in ("gelss", "gelsd") and shape == (5, 3):
        with pytest.raises(NotImplementedError, match=r"residuals .*'gelsy'"):
            TABLE[op](matrix, right, driver=driver)
        return
    _check(op, matrix, right, driver=driver)
    _check(op, matrix, right[..., 0], driver=driver)
    # By "gelsy", PyTorch finds a rank of 1 here, and does not come near the right side.
    if driver in ("gelss", "gelsd"):
        deficient = torch.cat([matrix[..., :1], matrix[..., :-1]], -1)
        _check(op, deficient, right, 1e-9, driver=driver)


@pytest.mark.parametrize("driver", ["gels", "gelsy"])
@pytest.mark.parametrize("shape", [(2, 40, 20), (20, 40), (20, 20)], ids=str)
def test_least_squares_of_large_matrices(driver: str, shape: Sequence[int]) -> None:
    op = aten.linalg_lstsq.default
    matrix, right = torch.randn(shape, dtype=F64), torch.randn(*shape[:-1], 2, dtype=F64)
    _check(op, matrix, right, driver=driver)
    # Each of some right sides by each of some matrices.
    many, sides = torch.randn(3, 1, *shape[-2:], dtype=F64), right.expand(1, 2, -1, -1)
    _check(op, many, sides, driver=driver)


@pytest.mark.parametrize("shape", [(2, 40, 20), (20, 40), (20, 20)], ids=str)
def test_least_squares_of_large_matrices_that_have_not_full_rank(shape: Sequence[int]) -> None:
    matrix, right = torch.randn(shape, dtype=F64), torch.randn(*shape[:-1], 2, dtype=F64)
    matrix[..., -1, :] = matrix[..., 0, :]
    matrix[..., -1] = matrix[..., 0]
    for deficient in (matrix, 0 * matrix):
        solution, _, rank, _ = TABLE[aten.linalg_lstsq.default](deficient, right)
        torch.testing.assert_close(solution, torch.linalg.pinv(deficient) @ right)
        torch.testing.assert_close(rank, torch.linalg.matrix_rank(deficient))


_INDEFINITE = {
    "random": torch.randn(3, 6, 6, dtype=F64, generator=torch.Generator().manual_seed(0)),
    "of many": torch.randn(20, 5, 5, dtype=F64, generator=torch.Generator().manual_seed(1)),
    "zero diagonal": 1.0 - torch.eye(5, dtype=F64) + torch.arange(5, dtype=F64),
    "two by two": torch.tensor([[1e-3, 1, 2], [1, 5, 3], [2, 3, 0.1]], dtype=F64),
    "one": torch.full((1, 1), -2.0, dtype=F64),
    "none": torch.zeros(0, 0, dtype=F64),
    "zero": torch.zeros(3, 3, dtype=F64),
}


@pytest.mark.parametrize("name", _INDEFINITE)
@pytest.mark.parametrize("kind", ["real", "complex", "hermitian"])
def test_symmetric_matrices_that_are_not_definite(name: str, kind: str) -> None:
    matrix = _INDEFINITE[name]
    given = {"hermitian": kind == "hermitian"}
    if kind != "real":
        matrix = torch.complex(matrix, matrix.mT.cos() * (matrix != 0))
    matrix = matrix + (matrix.mH if kind == "hermitian" else matrix.mT)
    _check(aten.linalg_ldl_factor_ex.default, matrix, **given)
    if name == "zero":
        assert TABLE[aten.linalg_ldl_factor_ex.default](matrix)[2] == 1
        with pytest.raises(RuntimeError, match=r"linalg\.ldl_factor"):
            TABLE[aten.linalg_ldl_factor.default](matrix)
        return
    _check(aten.linalg_ldl_factor.default, matrix, **given)
    factors, pivots = torch.linalg.ldl_factor(matrix, **given)
    right = torch.randn(*matrix.shape[:-1], 2, dtype=matrix.dtype)
    _check(aten.linalg_ldl_solve.default, factors, pivots, right, **given)


@_OF_EITHER
def test_reflections(dtype: torch.dtype) -> None:
    vectors, factors = torch.geqrf(torch.randn(5, 3, dtype=dtype))
    _check(aten.linalg_householder_product.default, vectors, factors)
    target = torch.randn(5, 2, dtype=dtype)
    for transpose in (False, True):
        _check(aten.ormqr.default, vectors, factors, target, True, transpose)
        _check(aten.ormqr.default, vectors, factors, target.mT, False, transpose)


def test_tensors_as_matrices() -> None:
    _check(aten.linalg_tensorinv.default, torch.randn(6, 2, 3, dtype=F64), 1)
    operand = torch.randn(2, 3, 6, dtype=F64)
    _check(aten.linalg_tensorsolve.default, operand, torch.randn(2, 3, dtype=F64))
    _check(
        aten.linalg_tensorsolve.default, operand.movedim(2, 0), torch.randn(2, 3, dtype=F64), [0]
    )


# -- normalization ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, F64])
def test_rms_norm(dtype: torch.dtype) -> None:
    # Rows of zeros, and of numbers so small that the default eps tells.
    operand = torch.cat([torch.zeros(1, 3, 4), torch.randn(2, 3, 4) * 1e-3]).to(dtype)
    _check(aten.rms_norm.default, operand, [4])
    _check(aten.rms_norm.default, operand, [3, 4], torch.randn(3, 4).to(dtype))
    _check(aten.rms_norm.default, operand, [4], None, 0.5)


def _channels_last(*shape: int) -> torch.Tensor:
    return torch.randn(shape[0], *shape[2:], shape[1]).movedim(-1, 1) * 3 + 2


@pytest.mark.parametrize("groups", [1, 3, 132])
@pytest.mark.parametrize("dtype", [torch.float32, F64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("spatial", [(3, 4), (2, 3, 2)], ids=str)
def test_group_norm_of_channels_that_lie_last(
    spatial: tuple[int, ...], dtype: torch.dtype, groups: int
) -> None:
    operand = _channels_last(2, 132, *spatial).to(dtype)
    weight, bias = torch.randn(2, 132).to(dtype)
    sizes = 2, 132, math.prod(spatial), groups
    for given in ((weight, bias), (None, None)):
        _check(aten.native_group_norm.default, operand, *given, *sizes, 1e-5)


def test_group_norm_takes_statistics_of_each_channel_that_lies_last() -> None:
    def norm(operand: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.group_norm(operand, 3)

    def reduced(operand: torch.Tensor) -> list[torch.Size]:
        nodes = make_fx(norm, TABLE)(operand).graph.nodes
        found = [node for node in nodes if "var_mean" in str(node.target)]
        return [node.args[0].meta["tensor_meta"].shape for node in found]

    assert reduced(torch.randn(2, 6, 4, 5)) == [(2, 3, 2, 20)]
    assert reduced(_channels_last(2, 6, 4, 5)) == [(2, 6, 20)]


# -- pooling ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "window", "counts", "samples"),
    [
        ((2, 3, 9, 9), [3, 2], [2, 3], (2, 3, 2)),
        ((3, 11, 9), [3, 2], [1, 4], (1, 3, 2)),
        ((2, 3, 9, 8, 7), [3, 2, 2], [2, 3, 4], (2, 3, 3)),
        ((3, 11, 9, 5), [3, 2, 1], [1, 4, 2], (1, 3, 3)),
    ],
    ids=str,
)
def test_fractional_max_pool(
    shape: Sequence[int], window: list[int], counts: list[int], samples: Sequence[int]
) -> None:
    op = aten.fractional_max_pool2d if len(window) == 2 else aten.fractional_max_pool3d
    _check(op.default, torch.randn(shape), window, counts, torch.rand(samples))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
