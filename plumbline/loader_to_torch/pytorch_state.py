"""What of PyTorch belongs to the whole process while a program is exported: held, and put back."""

import contextlib
import functools
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any
from unittest import mock

import torch
from torch._C import DispatchKey
from torch._decomp.decompositions_for_rng import PhiloxStateTracker
from torch._dynamo.variables import builder
from torch._functorch._aot_autograd import collect_metadata_analysis
from torch._functorch._aot_autograd.functional_utils import from_fun
from torch._functorch.autograd_function import CustomFunctionHigherOrderOperator
from torch._functorch.pyfunctorch import dispatch_functorch
from torch._guards import detect_fake_mode
from torch._higher_order_ops.invoke_subgraph import invoke_subgraph_placeholder
from torch._library.fake_impl import FakeImplCtx
from torch._library.simple_registry import singleton
from torch._logging._internal import trace_log
from torch.autograd import forward_ad
from torch.export import _trace, exported_program
from torch.export.exported_program import _create_graph_module_for_export
from torch.fx._lazy_graph_module import _LazyGraphModule, _use_lazy_graph_module
from torch.fx._symbolic_trace import Tracer
from torch.fx.experimental import proxy_tensor, symbolic_shapes
from torch.fx.passes.shape_prop import _extract_tensor_metadata

from plumbline.errors import UserError
from plumbline.loader_to_torch.asserted_elements import elements_asserted
from plumbline.loader_to_torch.composite_ops import quick_composite_ops
from plumbline.loader_to_torch.contraction_orders import orders_by_example
from plumbline.loader_to_torch.decompositions.losses import multilabel_margin_loss
from plumbline.loader_to_torch.flex_attention import flex_attention_by_ops
from plumbline.loader_to_torch.pooled_sizes import sizes_of_poolings
from plumbline.loader_to_torch.python_functions import functions_of_sizes
from plumbline.loader_to_torch.recurrent_sizes import sizes_of_recurrent_layers
from plumbline.loader_to_torch.scalar_indices import indices_by_number
from plumbline.loader_to_torch.simplified_sizes import simplified_sizes
from plumbline.loader_to_torch.size_expressions import quick_expressions
from plumbline.loader_to_torch.without_values import without_values

# torch.export traces one program at a time: it has one slot for its proxy mode, and replaces
# nn.Module.__call__ while it traces. So exports of several threads come one after another.
_ONE_AT_A_TIME = threading.RLock()

# What torch.export warns its own developers of; a user has no part in it.
_WARNINGS = (
    r"`isinstance\(treespec, LeafSpec\)`",
    r"The tensor attributes? .* assigned during",
    r"A model attribute `.*` requires gradient",
)


@contextlib.contextmanager
def exporting() -> Iterator[None]:
    """Waits for other threads' exports, then keeps what PyTorch says of this one off the screen.

    What it has to say is in the exception that it raises. Nothing that other threads print, log or
    warn of is lost. Within another one, all is as there already.
    """
    with _ONE_AT_A_TIME, _levels_of_transforms_kept():
        if _IS_HELD.get():
            yield
        else:
            with _held():
                yield


_IS_HELD: ContextVar[bool] = ContextVar("_IS_HELD", default=False)
"""Whether this thread has it all: to hold and put back some hundred things takes half a
millisecond, and a small program was followed at other sizes in as long."""


@contextlib.contextmanager
def _held() -> Iterator[None]:
    with (
        _without_logs_of_this_thread(),
        _without_printed_graphs(),
        _without_seeds_of_this_thread(),
        without_values(),
        _what_is_known_taken(),
        simplified_sizes(),
        elements_asserted(),
        _sizes_of_results(),
        functions_of_sizes(),
        flex_attention_by_ops(),
        indices_by_number(),
        orders_by_example(),
        _without_what_nobody_asks_for(),
        _checks_of_factorizations_as_other_ops(),
        labels_before_the_first_minus_one(),
        _functions_as_they_are_called(),
        _graphs_as_code_where_they_are_run(),
        _modules_left_by_exceptions(),
        _noted_as_held(),
    ):
        for message in _WARNINGS:
            # Python has no filters for one thread, so these stay. Each is there only once.
            warnings.filterwarnings("ignore", message)
        yield


@contextlib.contextmanager
def _noted_as_held() -> Iterator[None]:
    token = _IS_HELD.set(True)
    try:
        yield
    finally:
        _IS_HELD.reset(token)


def _checks_of_factorizations_as_other_ops() -> contextlib.AbstractContextManager[object]:
    """Has PyTorch not order checks of factorizations by tokens, which no later stage knows.

    Then a rule of ours has them asserted.
    """
    check = singleton.find("aten::_linalg_check_errors")
    return mock.patch.object(check.effect, "_effect", None)


@contextlib.contextmanager
def _sizes_of_results() -> Iterator[None]:
    """Has ops and layers say themselves how large a result is, and not what it is in an example."""
    with (
        sizes_of_poolings(),
        sizes_of_recurrent_layers(),
        _results_of_any_size(),
        _counts_without_bound(),
        sizes_of_views_without_graph(),
    ):
        yield


def _results_of_any_size() -> contextlib.AbstractContextManager[object]:
    """Has a library's op whose result is as long as values say give less than two elements, too.

    Of the older one of two functions by which it tells PyTorch of such a size, the default is that
    it has 2 at least: torchvision's `nms`, of which a program would assert it.
    """
    newer = FakeImplCtx.new_dynamic_size
    return mock.patch.object(FakeImplCtx, "create_unbacked_symint", newer)


def _counts_without_bound() -> contextlib.AbstractContextManager[object]:
    """Has what counts elements, `nonzero` say, have no bound where their number has none.

    PyTorch says one less than the largest integer, and where a program takes such a count for a
    size of its arguments, `edge_weight[row == col] += of_nodes`, it asks that the `Dim` has that
    for its maximum.
    """
    constrain = symbolic_shapes._constrain_range_for_size

    def constrained(
        size: torch.SymInt,
        min: int | None = None,  # noqa: A002
        max: int | None = None,  # noqa: A002
    ) -> None:
        constrain(size, min, None if max == sys.maxsize - 1 else max)

    return mock.patch.object(symbolic_shapes, constrain.__name__, constrained)


def sizes_of_views_without_graph() -> contextlib.AbstractContextManager[object]:
    """Has PyTorch not look for sizes in a graph that it finds before there is one.

    It runs a program first to see what its results are, and then makes those that are views of what
    is written anew, `x[index] = y; return x[:n]`: with an `n` that depends on values, of a new
    size.
    """

    def alone(tensor: Any) -> Any:
        mode = detect_fake_mode()
        if mode is None or mode.shape_env is None:
            return from_fun(tensor)
        with mode.shape_env.ignore_fresh_unbacked_symbols():
            return from_fun(tensor)

    return mock.patch.object(collect_metadata_analysis, from_fun.__name__, alone)


@contextlib.contextmanager
def labels_before_the_first_minus_one() -> Iterator[None]:
    """Has a margin loss go by a rule of ours where gradients are taken.

    PyTorch's takes what comes after the first -1 of a row for labels of class 0.
    """
    op = torch.ops.aten.multilabel_margin_loss_forward.default
    with mock.patch.dict(op.py_kernels, {DispatchKey.Autograd: multilabel_margin_loss}):
        op._dispatch_cache.clear()
        try:
            yield
        finally:
            op._dispatch_cache.clear()


@contextlib.contextmanager
def _levels_of_transforms_kept() -> Iterator[None]:
    """Leaves the levels of `torch.func.vmap` and its like that were entered within.

    A graph enters and leaves them by ops of its own. Where it is run to the middle, PyTorch would
    stay there: `torch.randn` of the user's, say, raises an error then, and `torch.func.jvp` does,
    whose levels PyTorch counts twice.
    """
    depth = torch._C._functorch.get_dynamic_layer_stack_depth()
    level = forward_ad._current_level
    # By which ops find the kernels of a level: without them, eager would know no gradients.
    keys = torch._C._ForceDispatchKeyGuard(
        torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
    )
    with keys:
        try:
            yield
        except BaseException as error:
            _leave_frames(error)
            raise
        finally:
            if torch._C._functorch.get_dynamic_layer_stack_depth() > depth:
                torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)
            if forward_ad._current_level > level:
                # Which fails where one of the counts is right.
                with contextlib.suppress(RuntimeError):
                    forward_ad.exit_dual_level()  # type: ignore[no-untyped-call]
                forward_ad._current_level = level


def _leave_frames(error: BaseException | None) -> None:
    """Lets go of what the frames hold that an exception has come through.

    Levels are among it, which put the keys of dispatch back when they are let go of: to what these
    were within other levels, if it is later.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _modules_left_by_exceptions() -> contextlib.AbstractContextManager[object]:
    """Has a module that raises be left as one that returns, in what a trace notes of modules.

    A program may try what a module takes, as speechbrain's do: `layer(x, lengths=lengths)`, and
    where that is a TypeError, `layer(x)`. PyTorch would be within the first one to the end.
    """
    call_module = Tracer.call_module

    @functools.wraps(call_module)
    def called(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        depth = len(self.module_stack)
        try:
            return call_module(self, *args, **kwargs)
        except BaseException:
            while len(self.module_stack) > depth:
                self.module_stack.popitem()
            raise

    return mock.patch.object(Tracer, "call_module", called)


@contextlib.contextmanager
def _regions_called_as_functions() -> Iterator[None]:
    """Has what `torch.compiler.nested_compile_region` marks be traced as any other function.

    PyTorch has Dynamo trace it, which looks for its weights in what we trace with, in vain: of what
    a program calls, and within branches, which are always traced by Dynamo.
    """

    def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def is_region(_: object) -> bool:
        return False

    module = sys.modules[invoke_subgraph_placeholder.__module__]
    with (
        mock.patch.object(module, invoke_subgraph_placeholder.__name__, call),
        mock.patch.object(builder, "is_invoke_subgraph", is_region),
    ):
        yield


def _functions_transformed_at_once() -> contextlib.AbstractContextManager[object]:
    """Has `torch.func` transform a `torch.autograd.Function` before a trace looks at it.

    PyTorch means to, and a trace that keeps composite ops comes first all the same.
    """

    def call(self: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        if torch._C._are_functorch_transforms_active():
            return dispatch_functorch(self, (function, *args), kwargs)
        return function.apply(*args, **kwargs)

    return mock.patch.object(CustomFunctionHigherOrderOperator, "__call__", call)


@contextlib.contextmanager
def _functions_as_they_are_called() -> Iterator[None]:
    """Has PyTorch trace functions that it knows of as it would run them."""
    with _functions_transformed_at_once(), _regions_called_as_functions():
        yield


@contextlib.contextmanager
def _what_is_known_taken() -> Iterator[None]:
    """Has PyTorch not look again for what it has found in exports before, or in this one."""
    with quick_composite_ops(), quick_expressions():
        yield


@contextlib.contextmanager
def _graphs_as_code_where_they_are_run() -> Iterator[None]:
    """Has graphs not become Python's code at each of a dozen changes."""
    make = _create_graph_module_for_export.__name__
    with (
        _use_lazy_graph_module(should_use=True),
        # Which asks for none that is lazy.
        mock.patch.object(exported_program, make, _LazyGraphModule),
    ):
        yield


@contextlib.contextmanager
def _without_logs_of_this_thread() -> Iterator[None]:
    thread = threading.get_ident()

    def is_of_another_thread(record: logging.LogRecord) -> bool:
        return record.thread != thread

    # A filter of a logger does not see what its children log; their handlers do. What TORCH_TRACE
    # asks for goes to a file, and nobody sees it here. And where nobody asks, its handler leaves at
    # the first record that reaches it; until then PyTorch makes records, with stacks and printed
    # graphs: a tenth of an export of many arguments.
    handlers = {
        handler
        for name, logger in list(logging.root.manager.loggerDict.items())
        if name.partition(".")[0] == "torch"
        and isinstance(logger, logging.Logger)
        and logger is not trace_log
        for handler in logger.handlers
    }
    for handler in handlers:
        handler.addFilter(is_of_another_thread)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(is_of_another_thread)


def _without_printed_graphs() -> contextlib.AbstractContextManager[object]:
    """Has torch.export not print the half-made graph of a program that it refuses."""
    # There is no option for it.
    return mock.patch.object(_trace, "print", _print_nothing, create=True)


def _print_nothing(*_: object, **__: object) -> None:
    """Takes the place of `print`."""


@contextlib.contextmanager
def _without_what_nobody_asks_for() -> Iterator[None]:
    """Has PyTorch leave out what takes time and no export has a use for."""
    with _without_memory_formats(), _without_generators_of_gpus():
        yield


def _without_memory_formats() -> contextlib.AbstractContextManager[object]:
    """Has PyTorch not ask of each tensor how it lies in memory, only to note it.

    That makes guards on dynamic sizes, and takes a tenth of an export.
    """
    return mock.patch.object(
        proxy_tensor,
        "_extract_tensor_metadata",
        functools.partial(_extract_tensor_metadata, include_contiguity=False),
    )


def _without_generators_of_gpus() -> contextlib.AbstractContextManager[object]:
    """Has PyTorch make no states of generators as GPUs have them, which exports have no use for.

    It makes six tensors for them, twice for each graph: a twentieth of a small export.
    """
    return mock.patch.object(PhiloxStateTracker, "reset", _make_nothing)


def _make_nothing() -> None:
    """Takes the place of what makes something that nobody asks for."""


def _without_seeds_of_this_thread() -> contextlib.AbstractContextManager[object]:
    """Refuses programs that set a seed: it would be set as they are exported, and never again."""
    thread = threading.get_ident()
    seed = torch.manual_seed

    def manual_seed(number: int) -> torch.Generator:
        if threading.get_ident() == thread:
            raise UserError(
                "forward calls torch.manual_seed, which a compiled function cannot do: call it "
                "before, or hand in the state of a generator"
            )
        return seed(number)

    return mock.patch.object(torch, "manual_seed", manual_seed)
