"""Functions of PyTorch's that no export goes through, and what is traced in their place.

A tensor of a quantised dtype, which graphs cannot hold, is a pair of integers and of what these
stand for, as long as nothing but the two is asked of it. A check of values in the middle of a
function, which a graph cannot branch on, becomes an assertion. A norm of matrices is called that.
The tolerance by which singular values count as none is computed of sizes.
A tensor that is made of a list of tensors, whose numbers no export can read, is a stack of them.
What PyTorch computes for the sizes of the example alone is in `dynamic_functions.py` and
`dynamic_windows.py`. What is indexed by a tensor of one number is selected. To pack sequences,
which would fail somewhere in the middle, is refused.
"""

import functools
import inspect
import linecache
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.distributions import constraints, distribution
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.nn import functional
from torch.nn.modules import transformer
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from plumbline.errors import UserError
from plumbline.loader_to_torch import dynamic_functions
from plumbline.loader_to_torch.decompositions.embedding_bag import bags_of_one_length
from plumbline.loader_to_torch.decompositions.quantization import dequantized, quantized
from plumbline.loader_to_torch.decompositions.rule import along
from plumbline.loader_to_torch.dynamic_windows import WINDOWS
from plumbline.loader_to_torch.equal_computations import are_computed_alike
from plumbline.loader_to_torch.known_numbers import knowing_numbers
from plumbline.loader_to_torch.raising_branches import Alternatives, is_quiet_if, raising_branch
from plumbline.loader_to_torch.scalar_indices import get_item, set_item
from plumbline.loader_to_torch.sparse_matrices import sparse_coo_tensor

_INTEGERS = {torch.qint8: torch.int8, torch.quint8: torch.uint8, torch.qint32: torch.int32}
"""Of what integers the tensors of each quantised dtype are."""


class TracedFunctions(TorchFunctionMode):
    """Has what is traced meanwhile call functions that an export goes through."""

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        _alternatives.forget()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        options = dict(kwargs or {})
        if options.get("generator") is torch.default_generator:
            # Which is what is drawn from without one, and then no object of the program's.
            del options["generator"]
        return _TRACED.get(func, func)(*args, **options)


# -- quantised tensors -----------------------------------------------------------------------------


@dataclass(frozen=True)
class QuantizedTensor:
    """Integers that stand for float32 numbers: what `torch.quantize_per_tensor` returns.

    It has those of a tensor's methods that ask for its shape, its integers and their meaning.
    """

    integers: torch.Tensor
    scale: torch.Tensor
    """float64, of one element or of one for each place along `axis`."""
    zero_point: torch.Tensor
    """int64, likewise."""
    dtype: torch.dtype
    """A quantised one, such as `torch.qint8`."""
    axis: int | None = None
    """Along which scales and zero points differ, if they do."""

    is_quantized = True

    @property
    def shape(self) -> torch.Size:
        """That of the integers."""
        return self.integers.shape

    def size(self, axis: int | None = None) -> torch.Size | int:
        """The shape, or one size of it."""
        return self.shape if axis is None else self.shape[axis]

    def dim(self) -> int:
        """The rank."""
        return self.integers.dim()

    def int_repr(self) -> torch.Tensor:
        """The integers."""
        return self.integers.clone()

    def dequantize(self) -> torch.Tensor:
        """The float32 numbers that they stand for."""
        scale, zero_point = self.scale, self.zero_point
        if self.axis is not None:
            scale, zero_point = (
                along(each, self.integers, self.axis) for each in (scale, zero_point)
            )
        return dequantized(self.integers.to(torch.int64), scale, zero_point)

    def q_per_channel_axis(self) -> int | None:
        """Along which scales and zero points differ."""
        return self.axis

    def q_per_channel_scales(self) -> torch.Tensor:
        """In float64."""
        return self.scale

    def q_per_channel_zero_points(self) -> torch.Tensor:
        """In int64."""
        return self.zero_point

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        method = {torch.dequantize: cls.dequantize, torch.int_repr: cls.int_repr}.get(func)
        return NotImplemented if method is None else method(*args)


def _quantize_per_tensor(
    operand: torch.Tensor, scale: Any, zero_point: Any, dtype: torch.dtype
) -> QuantizedTensor:
    return _quantize(operand, _number(scale, torch.float64), _number(zero_point), dtype, None)


def _quantize_per_channel(
    operand: torch.Tensor,
    scales: torch.Tensor,
    zero_points: torch.Tensor,
    axis: int,
    dtype: torch.dtype,
) -> QuantizedTensor:
    scales, zero_points = scales.to(torch.float64), zero_points.to(torch.int64)
    return _quantize(operand, scales, zero_points, dtype, axis)


def _number(value: torch.Tensor | float, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.to(dtype).reshape(())
    return torch.full((), value, dtype=dtype)


def _quantize(
    operand: torch.Tensor,
    scale: torch.Tensor,
    zero_point: torch.Tensor,
    dtype: torch.dtype,
    axis: int | None,
) -> QuantizedTensor:
    integer = _INTEGERS[dtype]
    range_ = torch.iinfo(integer)
    of_all = (scale, zero_point)
    if axis is not None:
        of_all = (along(scale, operand, axis), along(zero_point, operand, axis))
    numbers = quantized(operand, *of_all, range_.min, range_.max)
    return QuantizedTensor(numbers.to(integer), scale, zero_point, dtype, axis)


# -- checks of values ------------------------------------------------------------------------------


def _gaussian_nll_loss(
    input: torch.Tensor,  # noqa: A002 - PyTorch's name
    target: torch.Tensor,
    var: torch.Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> torch.Tensor:
    """-log of the density of `target` in a normal distribution around `input`, or of it but pi."""
    if isinstance(var, float):
        return functional.gaussian_nll_loss(input, target, var, full, eps, reduction)
    torch._assert_async(~(var < 0).any(), "gaussian_nll_loss: var has negative entry/entries")
    # Of one variance for a row, of which PyTorch lets the dimension be left out.
    if var.shape == input.shape[:-1] and var.dim() < input.dim():
        var = var.unsqueeze(-1)
    elif var.dim() != input.dim() or any(
        own not in (1, size) for own, size in zip(var.shape, input.shape, strict=True)
    ):
        raise ValueError("var is of incorrect size")
    var = torch.clamp(var, min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    if reduction not in ("mean", "none", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _is_all_true(operand: torch.Tensor) -> bool:
    """Asserts that it is so, and says so: distributions check what they are given by it."""
    frame = inspect.currentframe()
    assert frame is not None
    _require(operand.all(), frame, _what_is_checked())
    return True


def _truth(operand: torch.Tensor) -> bool:
    """Whether it is true; of what PyTorch's own modules branch on, what does without the values.

    A constraint of distributions has it asserted: a matrix that is not symmetric is not looked at
    any further. A transformer finds out whether a mask is causal, only to be quicker. Whoever
    raises an exception where it is otherwise has it asserted too, and whoever warns does not.
    """
    caller = inspect.currentframe()
    # Of PyTorch's modules, some of which stand between, each hands it on.
    while caller is not None and caller.f_code.co_name in ("_truth", "__torch_function__"):
        caller = caller.f_back
    if caller is not None and caller.f_code.co_filename == constraints.__file__:
        return _is_all_true(operand)
    if caller is not None and caller.f_code is transformer._detect_is_causal_mask.__code__:
        return False
    if caller is None or _is_known(operand):
        return bool(operand)
    quiet = is_quiet_if(caller)
    if quiet is not None:
        return quiet
    branch = raising_branch(caller)
    if branch is None:
        return bool(operand)
    holds = operand.reshape(()) if branch.goes_on else operand.reshape(()).logical_not()
    if branch.asks_until is not None:
        _alternatives.remember(caller, branch.asks_until, holds)
        return not branch.goes_on
    line = linecache.getline(caller.f_code.co_filename, caller.f_lineno).strip()
    _require(holds, caller, f"a check of the program's fails: {line}")
    return branch.goes_on


_alternatives = Alternatives()
"""What exceptions of the program that is traced are not raised for."""


def _require(holds: torch.Tensor, frame: FrameType, message: str) -> None:
    """Asserts it, or whatever else the program that asks in `frame` goes on with."""
    for other in _alternatives.at(frame):
        holds = holds | other
    torch._assert_async(holds, message)


def _is_known(operand: torch.Tensor) -> bool:
    """Whether PyTorch can tell the value of a tensor."""
    while torch._C._functorch.is_gradtrackingtensor(operand):
        operand = torch._C._functorch.get_unwrapped(operand)
    return not isinstance(operand, FakeTensor) or operand.constant is not None


_NOT_A_NUMBER = "torch.equal is asked of tensors that are computed alike, and one has a NaN in it"


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool | torch.Tensor:
    """Whether all elements are, as far as it is known without them: else a tensor has the truth."""
    if one.dtype == other.dtype and are_computed_alike(one, other):
        if one.is_floating_point() or one.is_complex():
            torch._assert_async((one == other).all(), _NOT_A_NUMBER)
        return True
    are_fixed = all(isinstance(size, int) for size in (*one.shape, *other.shape))
    if are_fixed and one.dtype == other.dtype and one.shape != other.shape:
        return False
    if _is_known(one) and _is_known(other):
        return torch.equal(one, other)
    return one.shape == other.shape and (one == other).all()


def _allclose(one: torch.Tensor, other: torch.Tensor, *tolerances: Any, **named: Any) -> Any:
    """Whether all elements are close to each other: a tensor has the truth, if it is not known."""
    if _is_known(one) and _is_known(other):
        return torch.allclose(one, other, *tolerances, **named)
    return torch.isclose(one, other, *tolerances, **named).all()


def _what_is_checked() -> str:
    """What a distribution checks meanwhile, as far as its own variables tell."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename != distribution.__file__:
        frame = frame.f_back
    if frame is None:
        return "not all is true that has to be"
    names = frame.f_locals
    kind = type(names["self"]).__name__
    if "param" in names:
        return f"{kind}: {names['param']} does not satisfy the constraint {names['constraint']!r}"
    return f"{kind}: a value is not within the support {names['support']!r}"


# -- tensors of tensors ----------------------------------------------------------------------------


def _tensor(
    data: Any, *, dtype: torch.dtype | None = None, requires_grad: bool = False, **options: Any
) -> torch.Tensor:
    """The numbers in `data`: sequences in sequences, where tensors of one element are numbers."""
    if not _holds_tensors(data):
        return torch.tensor(data, dtype=dtype, requires_grad=requires_grad, **options)
    return _stacked(data, dtype or _dtype(data)).requires_grad_(requires_grad)


def _as_tensor(data: Any, *, dtype: torch.dtype | None = None, **options: Any) -> torch.Tensor:
    """Likewise."""
    if _holds_sizes(data):
        return _of_sizes(data, dtype, **options)
    if not _holds_tensors(data):
        return torch.as_tensor(data, dtype=dtype, **options)
    return _stacked(data, dtype or _dtype(data))


def _new_tensor(
    like: torch.Tensor, data: Any, *, dtype: torch.dtype | None = None, **options: Any
) -> torch.Tensor:
    """Likewise, of the dtype of `like`."""
    if _holds_sizes(data):
        return _of_sizes(data, dtype or like.dtype, **options)
    if not _holds_tensors(data):
        return like.new_tensor(data, dtype=dtype, **options)
    return _stacked(data, dtype or like.dtype)


def _of_sizes(data: Any, dtype: torch.dtype | None, **options: Any) -> torch.Tensor:
    """A tensor of sizes, for which `torch.as_tensor` and `new_tensor` take the example's."""
    # What an export puts in the place of `torch.tensor`, where a program calls that.
    make: Callable[..., torch.Tensor] = torch._refs.tensor
    return make(data, dtype=dtype, **options)


def _holds_sizes(data: Any) -> bool:
    """Whether there are dynamic ones, maybe with tensors beside them."""
    numbers = pytree.tree_leaves(data) if isinstance(data, list | tuple) else [data]
    kinds = torch.SymInt | torch.SymFloat
    return any(isinstance(number, kinds) for number in numbers)


def _holds_tensors(data: Any) -> bool:
    is_list = isinstance(data, list | tuple)
    return is_list and any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(data))


def _dtype(data: Any) -> torch.dtype:
    """The one that PyTorch gives a tensor of these numbers."""
    numbers = (
        leaf.dtype if isinstance(leaf, torch.Tensor) else torch.tensor(leaf).dtype
        for leaf in pytree.tree_leaves(data)
    )
    return functools.reduce(torch.promote_types, numbers)


def _stacked(data: Any, dtype: torch.dtype) -> torch.Tensor:
    if isinstance(data, list | tuple):
        return torch.stack([_stacked(each, dtype) for each in data])
    if not isinstance(data, torch.Tensor):
        return torch.tensor(data, dtype=dtype)
    if data.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return data.detach().to(dtype).reshape(())


# -- values that are replaced ----------------------------------------------------------------------


def _set_data(operand: torch.Tensor, value: torch.Tensor) -> None:
    """Does `operand.data = value`, which no graph has, as a write in place."""
    if (operand.shape, operand.dtype) != (value.shape, value.dtype):
        raise UserError(
            "forward replaces the data of a tensor by some of another shape or dtype, which a "
            "program cannot do: make a new tensor of it"
        )
    with torch.no_grad():
        operand.copy_(value)


# -- norms -----------------------------------------------------------------------------------------


def _linalg_norm(
    A: torch.Tensor,  # noqa: N803 - PyTorch's name
    ord: float | str | None = None,  # noqa: A002 - PyTorch's name
    dim: int | Sequence[int] | None = None,
    **options: Any,
) -> torch.Tensor:
    """The norm of vectors, or, where `ord` is of two dimensions, of matrices.

    What PyTorch takes that of matrices apart into, its exporter refuses.
    """
    dims = (dim,) if isinstance(dim, int) else dim
    if ord is not None and dims is None and A.dim() == 2:
        dims = (0, 1)
    if ord is not None and dims is not None and len(dims) == 2:
        result: torch.Tensor = torch.linalg.matrix_norm(A, ord, tuple(dims), **options)
    else:
        result = torch.linalg.norm(A, ord, dim, **options)
    return result


# -- ranks of matrices -----------------------------------------------------------------------------


def _of_rank(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """What computes by singular values, with the tolerance that PyTorch has by sizes.

    It asks which of them is greater, and the program would be for sizes of which that one is.
    """

    def computed(A: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:  # noqa: N803
        sizes = A.shape[-2:]
        is_known = all(isinstance(size, int) for size in sizes)
        if args or is_known or not options.keys() <= {"hermitian"}:
            return function(A, *args, **options)
        greatest: Any = torch.sym_max(*sizes)  # type: ignore[no-untyped-call]
        rounding = torch.finfo(A.dtype).eps
        rtol = torch.full((), greatest * rounding, dtype=torch.float64)
        return function(A, rtol=rtol, **options)

    return computed


# -- means of losses -------------------------------------------------------------------------------


def _ctc_loss(
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: torch.Tensor | Sequence[int],
    target_lengths: torch.Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> torch.Tensor:
    """How improbable targets are; in the mean, of which PyTorch's writes lengths unseen."""
    # By annotation, PyTorch takes lengths as tensors alone.
    given: Any = {"input_lengths": input_lengths, "target_lengths": target_lengths}
    options: dict[str, Any] = {"blank": blank, "zero_infinity": zero_infinity}
    if isinstance(target_lengths, torch.Tensor) or reduction != "mean":
        return functional.ctc_loss(log_probs, targets, reduction=reduction, **given, **options)
    losses = functional.ctc_loss(log_probs, targets, reduction="none", **given, **options)
    return (losses / torch.clamp(torch.tensor(target_lengths), min=1)).mean()


# -- what may be of no elements --------------------------------------------------------------------


def _logsumexp(
    input: torch.Tensor,  # noqa: A002 - PyTorch's name
    dim: int | tuple[int, ...],
    keepdim: bool = False,
) -> torch.Tensor:
    """The logarithm of a sum of exponentials, of as many as the values of tensors say.

    PyTorch's asks whether there are any. Here one more, whose exponential is 0, is among those that
    the largest is taken of.
    """
    if input.is_complex() or not free_unbacked_symbols(input):
        return torch.logsumexp(input, dim, keepdim)
    if not input.is_floating_point():
        input = input.to(torch.get_default_dtype())  # noqa: A001 - as above
    dims = {axis % input.dim() for axis in ((dim,) if isinstance(dim, int) else dim)}
    ends = [end for axis in reversed(range(input.dim())) for end in (0, int(axis in dims))]
    largest = functional.pad(input, ends, value=-math.inf).amax(tuple(dims), keepdim=True)
    largest = largest.masked_fill(largest.isinf(), 0)
    logarithm = (input - largest).exp().sum(tuple(dims), keepdim=True).log() + largest
    return logarithm if keepdim else logarithm.squeeze(tuple(dims))


# -- packed sequences ------------------------------------------------------------------------------


def _packed(*_: Any, **__: Any) -> Any:
    raise NotImplementedError(
        "a sequence is packed (pack_padded_sequence) into steps of sizes that follow from the "
        "values of lengths, which an export cannot follow: hand the layer padded sequences, and "
        "mask what it gives beyond their lengths, or sequences of one length"
    )


_TRACED: Mapping[Callable[..., Any], Callable[..., Any]] = {
    functional.adaptive_avg_pool1d: dynamic_functions.adaptive_avg_pool1d,
    **dynamic_functions.ADAPTIVE_MAX_POOLS,
    functional.affine_grid: dynamic_functions.affine_grid,
    functional.ctc_loss: _ctc_loss,
    functional.embedding_bag: bags_of_one_length,
    functional.gaussian_nll_loss: _gaussian_nll_loss,
    functional.one_hot: dynamic_functions.one_hot,
    torch.Tensor.__bool__: _truth,
    torch.Tensor.allclose: _allclose,
    torch.Tensor.istft: dynamic_functions.istft,
    torch.Tensor.kron: dynamic_functions.kron,
    torch.Tensor.logsumexp: _logsumexp,
    torch.Tensor.take_along_dim: dynamic_functions.take_along_dim,
    torch.Tensor.new_tensor: _new_tensor,
    torch.Tensor.__getitem__: get_item,
    torch.Tensor.__setitem__: set_item,
    torch.Tensor.data.__set__: _set_data,  # type: ignore[attr-defined]
    torch.arange: knowing_numbers(torch.arange),
    torch._is_all_true: _is_all_true,
    torch._pack_padded_sequence: _packed,
    torch.allclose: _allclose,
    torch.as_tensor: _as_tensor,
    torch.cdist: dynamic_functions.cdist,
    torch.combinations: dynamic_functions.combinations,
    torch.equal: _equal,
    torch.Tensor.equal: _equal,
    torch.fft.fftfreq: dynamic_functions.fftfreq,
    torch.fft.rfftfreq: dynamic_functions.rfftfreq,
    torch.gradient: dynamic_functions.gradient,
    torch.istft: dynamic_functions.istft,
    torch.kron: dynamic_functions.kron,
    torch.linalg.matrix_rank: _of_rank(torch.linalg.matrix_rank),
    torch.linalg.norm: _linalg_norm,
    torch.linalg.pinv: _of_rank(torch.linalg.pinv),
    torch.linalg.vander: dynamic_functions.vander_of_batches,
    torch.linspace: knowing_numbers(dynamic_functions.linspace),
    torch.logspace: dynamic_functions.logspace,
    torch.logsumexp: _logsumexp,
    torch.quantize_per_channel: _quantize_per_channel,
    torch.quantize_per_tensor: _quantize_per_tensor,
    torch.sparse_coo_tensor: sparse_coo_tensor,
    torch.special.logsumexp: _logsumexp,
    torch.take_along_dim: dynamic_functions.take_along_dim,
    torch.tensor: _tensor,
    torch.tril_indices: dynamic_functions.tril_indices,
    torch.triu_indices: dynamic_functions.triu_indices,
    torch.vander: dynamic_functions.vander,
    **WINDOWS,
}
"""What is called in the place of each."""
