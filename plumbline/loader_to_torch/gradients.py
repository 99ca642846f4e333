"""Has torch.export go through programs that take gradients.

It records what a program calls before PyTorch takes derivatives, and loses the way there. `make_fx`
records what is computed below that, a backward pass too. So that traces `forward` first, and what
has been recorded runs in its place.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any
from unittest import mock

import torch
from torch._decomp import decomposition_table
from torch._decomp.decompositions import upsample_compute_output_size
from torch._dispatch.python import enable_python_dispatcher
from torch._functorch import predispatch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from plumbline.errors import UserError
from plumbline.loader_to_torch.node_locations import all_nodes

LEFT = (
    "forward leaves gradients in .grad of a tensor, and a compiled function keeps nothing between "
    "calls: take them by torch.autograd.grad or torch.func.grad and return them, or set .grad to "
    "None after their use"
)

_TAKE = frozenset([torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad])

# What is recorded where torch.func takes derivatives, of tensors whose origin is not.
_UNFOLLOWED = frozenset([predispatch._make_dual, predispatch._unwrap_for_grad])

# What derivatives that run forward have instead of zeros, and PyTorch takes for tensors of no data
# where it has none of any.
_ZEROS = torch.ops.aten._efficientzerotensor.default

# What the derivative of a view is written into, of which PyTorch's rule takes no sizes that are not
# known.
_DERIVATIVE_OF_A_VIEW = torch.ops.aten._new_zeros_with_same_feature_meta.default

_Modes = Callable[[], contextlib.AbstractContextManager[object]]


class GradientsNoticed(TorchFunctionMode):
    """Ends what is traced meanwhile where it asks for gradients, which nobody else might notice."""

    MESSAGE = "forward takes gradients"

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Calls any other function."""
        if func in _TAKE:
            raise RuntimeError(self.MESSAGE)
        return func(*args, **(kwargs or {}))


def notice_gradients(exported: torch.export.ExportedProgram) -> None:
    """Raises the same for a program that was traced to its end though `torch.func` took some.

    So it is where nothing depends on what they are taken by, and with derivatives that run forward.
    """
    if any(node.target in _UNFOLLOWED for node in all_nodes(exported)):
        raise RuntimeError(GradientsNoticed.MESSAGE)


@contextlib.contextmanager
def gradients_taken(model: torch.nn.Module, modes: _Modes) -> Iterator[None]:
    """Has `model` be called with what is computed of its gradients, where it is exported within.

    Args:
      model: what is exported; its forward is put in the place of its own.
      modes: what to enter while that is traced.
    """
    forward = model.forward

    @wraps(forward)
    def traced(*args: Any, **kwargs: Any) -> Any:
        names = [name for name, _ in (*model.named_parameters(), *model.named_buffers())]
        state = [*model.parameters(), *model.buffers()]
        leaves, given_as = pytree.tree_flatten((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        returned_as: list[pytree.TreeSpec] = []

        def step(*operands: torch.Tensor) -> list[Any]:
            rest = iter(operands[len(state) :])
            own = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            args, kwargs = pytree.tree_unflatten(own, given_as)
            with mock.patch.object(model, "forward", forward):
                returned = torch.func.functional_call(
                    model, dict(zip(names, operands, strict=False)), args, kwargs
                )
            if any(operand.grad is not None for operand in operands):
                raise UserError(LEFT)
            results, spec = pytree.tree_flatten(returned)
            returned_as[:] = [spec]
            return results

        graph = _traced(step, [*state, *tensors], modes)
        with torch.fx.traceback.preserve_node_meta():
            results = torch.fx.Interpreter(graph).run(*state, *tensors)
        return pytree.tree_unflatten(results, *returned_as)

    with mock.patch.object(model, "forward", traced):
        yield


def _traced(
    step: Callable[..., Any], operands: list[torch.Tensor], modes: _Modes
) -> torch.fx.GraphModule:
    """The graph of what `step` makes of operands that have no data.

    In a thread of its own: what PyTorch does as it exports is done for one thread.
    """
    fake_mode = torch._guards.detect_fake_mode(operands) or contextlib.nullcontext()
    is_enabled = torch.is_grad_enabled()

    def trace() -> torch.fx.GraphModule:
        # By PyTorch's rules in Python, most of which take sizes that are not known.
        with (
            torch.set_grad_enabled(is_enabled),
            fake_mode,
            enable_python_dispatcher(),
            mock.patch.object(forward_ad, "make_dual", _dual),
            mock.patch.dict(decomposition_table, {_DERIVATIVE_OF_A_VIEW: _zeros_of_derivative}),
            _resampled_by_kernels(),
            modes(),
        ):
            record = make_fx(step, {_ZEROS: _zeros}, record_stack_traces=True)
            graph: torch.fx.GraphModule = record(*operands)
        return graph

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(trace).result()


_make_dual: Callable[..., torch.Tensor] = forward_ad.make_dual


def _dual(tensor: torch.Tensor, tangent: torch.Tensor, **options: Any) -> torch.Tensor:
    """A tensor with a derivative, of one that is no view, whose views PyTorch's rules fail with."""
    return _make_dual(tensor.clone(), tangent, **options)


def _zeros_of_derivative(
    derivative: torch.Tensor, tensor: torch.Tensor, *, self_num_batch_dims: int = 0
) -> torch.Tensor:
    """Zeros in the place of the derivative of a tensor, for all that it is of by `torch.vmap`."""
    if self_num_batch_dims == 0:
        return torch.zeros_like(tensor, dtype=derivative.dtype)
    return derivative.new_zeros((*derivative.shape[:self_num_batch_dims], *tensor.shape))


def _zeros(size: Sequence[int], **options: Any) -> torch.Tensor:
    return torch.zeros(size, **options)


@contextlib.contextmanager
def _resampled_by_kernels() -> Iterator[None]:
    """Has derivatives of images of other sizes be taken of PyTorch's kernels, not of its rules.

    Of rules that read each neighbour of an element the gradients are added up one by one.
    """
    before = {op: dict(op.py_kernels) for op in _resampling_ops()}
    try:
        for op in before:
            is_composite = op._overloadname == "vec"
            for key in _BY_RULES:
                rule = op.py_kernels.pop(key, None)
                if is_composite and rule is not None:
                    op.py_kernels[key] = _of_known_sizes(op, rule)
            op._dispatch_cache.clear()
        yield
    finally:
        for op, kernels in before.items():
            op.py_kernels.clear()
            op.py_kernels.update(kernels)
            op._dispatch_cache.clear()


_BY_RULES = (torch._C.DispatchKey.Autograd, torch._C.DispatchKey.CompositeImplicitAutograd)


@functools.cache
def _resampling_ops() -> list[torch._ops.OpOverload]:
    names = [name for name in dir(torch.ops.aten) if "upsample_" in name]
    packets = [getattr(torch.ops.aten, name) for name in names if "_backward" not in name]
    return [
        getattr(packet, name)
        for packet in packets
        for name in packet.overloads()
        if name in ("default", "vec")
    ]


def _of_known_sizes(op: torch._ops.OpOverload, rule: Callable[..., Any]) -> Callable[..., Any]:
    """The overload that has a kernel in place of one that is told sizes or factors.

    PyTorch's kernels take no sizes that are not known: of those there is the rule.
    """

    def resampled(image: torch.Tensor, sizes: list[int] | None, *options: Any) -> Any:
        *corners, factors = options
        new: list[int] = upsample_compute_output_size(  # type: ignore[no-untyped-call]
            image.size(), sizes, factors
        )
        if not all(isinstance(size, int) for size in (*image.size(), *new)):
            return rule(image, sizes, *options)
        return op.overloadpacket.default(image, new, *corners, *(factors or [None] * len(new)))

    return resampled
