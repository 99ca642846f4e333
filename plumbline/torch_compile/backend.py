"""A backend of `torch.compile`: its graphs, forward and backward, become compiled programs.

Dynamo traces what Python runs, and AOTAutograd makes graphs of it that have no side effects but
writes to inputs, with gradients if some are asked for. Each goes the way of all programs from the
Torch dialect on.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext
from torch._higher_order_ops.passes.inline_invoke_subgraph import inline_invoke_subgraph
from torch.fx import GraphModule
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from plumbline.cache.place import CachePlace, cache_folder
from plumbline.compiler import CompiledProgram
from plumbline.errors import UserError
from plumbline.garbage import collecting_seldom
from plumbline.loader_to_torch.pytorch_state import (
    labels_before_the_first_minus_one,
    sizes_of_views_without_graph,
)
from plumbline.runtime.threads import check_threads
from plumbline.target.choices import (
    OPTIMISATION_LEVELS,
    RUNTIME_CHECKS,
    RuntimeChecks,
    check_choice,
)
from plumbline.target.cpu import cpu_target_here
from plumbline.torch_compile.compiled_graph import Options, compile_graph
from plumbline.torch_compile.divided_graph import Weight
from plumbline.torch_compile.sizes_of_values import sizes_of_values_allowed

_Boxed = Callable[[list[Any]], Sequence[Any]]
"""What AOTAutograd calls: it may empty the list, so that what is in it lives no longer."""

_NO_MODE = "torch.compile: the backend plumbline has no mode {!r}"

_STATE = re.compile(r"\._(parameters|buffers)\['\w+'\]$")
_ATTRIBUTE = re.compile(r"\['(\w+)'\]|\.(?!_modules|_parameters|_buffers)(\w+)")
"""In what Dynamo calls a parameter: `L['self']._modules['encoder']._parameters['weight']`."""


class Backend:
    """Compiles what `torch.compile` traces: `torch.compile(model, backend=plumbline.Backend())`."""

    __name__ = "plumbline"

    def __init__(
        self,
        *,
        target_cpu: str = "native",
        opt_level: int = 2,
        runtime_checks: RuntimeChecks = "values",
        threads: int | None = None,
        freeze: bool = False,
        cache: CachePlace = True,
    ) -> None:
        """Says how all that it is given is compiled.

        Args:
          target_cpu: as the flag --//tools/aot:target_cpu.
          opt_level: as the flag --//tools/aot:opt_level.
          runtime_checks: as the flag --//tools/aot:runtime_checks.
          threads: how many threads a call runs on; None: as many as PyTorch's.
          freeze: whether parameters and buffers of modules are parts of programs for inference,
            which are faster then. Calls do not follow what becomes of them later.
          cache: where programs are kept for other processes, as `plumbline.compile` takes it.

        Raises:
          UserError: an argument is none of what it may be.
        """
        who = "plumbline.Backend"
        if not isinstance(target_cpu, str):
            raise UserError(f"{who}: target_cpu is {target_cpu!r}; it is a string")
        check_choice(f"{who}: opt_level", opt_level, OPTIMISATION_LEVELS)
        check_choice(f"{who}: runtime_checks", runtime_checks, RUNTIME_CHECKS)
        threads = torch.get_num_threads() if threads is None else threads
        check_threads(who, threads)
        if not isinstance(freeze, bool):
            raise UserError(f"{who}: freeze is {freeze!r}; it is True or False")
        folder = cache_folder(who, cache)
        target = cpu_target_here(target_cpu)
        self._options = Options(target, opt_level, runtime_checks, threads, folder)
        self._freeze = freeze
        self.programs: list[CompiledProgram] = []
        """What has been compiled, in order; `programs[0].stage("kernels")` shows a stage."""

    def __copy__(self) -> "Backend":
        """Itself, as a copy of a function is, which most backends are.

        Who copies what a backend is part of means that: transformers' `generate` copies its
        configuration in each call, and compiles anew where the copy has another backend.
        """
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Backend":
        """Itself, as `__copy__` says."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What pickle makes compiles alike, but has compiled nothing."""
        return {**self.__dict__, "programs": []}

    def __call__(
        self, module: GraphModule, inputs: Sequence[Any], **options: Any
    ) -> Callable[..., Any]:
        """What computes as the graph of `module`, which Dynamo has traced, does.

        Raises:
          UserError: it is asked for what there is not, or is of tensors that are not on a CPU.
        """
        if "mode" in options:
            raise UserError(_NO_MODE.format(options["mode"]))
        if options:
            words = ", ".join(options)
            raise UserError(f"torch.compile: {words} is for a backend by name: say it to Backend")
        for value in inputs:
            if isinstance(value, torch.Tensor) and value.device.type != "cpu":
                raise UserError(
                    f"torch.compile: a tensor is on {value.device}; the backend plumbline is for "
                    'CPUs: for a GPU there is plumbline.compile(..., target="nvptx")'
                )
        # What torch.compiler.nested_compile_region marks is fused with what is around it. Dynamo
        # has traced it once, and of ops that are alike one is lowered.
        inline_invoke_subgraph(module)

        def compiled(graph: GraphModule, weights: dict[str, Weight]) -> _Boxed:
            with collecting_seldom():
                return _boxed(compile_graph(graph, weights, self._options, self.programs.append))

        def for_inference(graph: GraphModule, _: Sequence[Any]) -> _Boxed:
            return compiled(graph, _frozen(graph, module, inputs) if self._freeze else {})

        def for_gradients(graph: GraphModule, _: Sequence[Any]) -> _Boxed:
            return compiled(graph, {})

        trace = aot_autograd(
            fw_compiler=for_gradients,
            inference_compiler=for_inference,
            partition_fn=min_cut_rematerialization_partition,
            keep_inference_input_mutations=True,
        )
        with (
            labels_before_the_first_minus_one(),
            sizes_of_values_allowed(),
            sizes_of_views_without_graph(),
        ):
            return trace(module, inputs)


def plumbline(
    module: GraphModule,
    inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """The backend by name: `torch.compile(model, backend="plumbline", options={"threads": 2})`.

    PyTorch finds it where the wheel is installed. `options` are the arguments of `Backend`.

    Raises:
      UserError: there is no such mode or option, or tensors are not on a CPU.
    """
    if mode is not None:
        raise UserError(_NO_MODE.format(mode))
    try:
        backend = Backend(**(options or {}))
    except TypeError as error:
        raise UserError(f"torch.compile: options of the backend plumbline: {error}") from error
    return backend(module, inputs)


def _boxed(function: Callable[..., Sequence[Any]]) -> _Boxed:
    def call(arguments: list[Any]) -> Sequence[Any]:
        given = tuple(arguments)
        arguments.clear()
        return function(*given)

    call._boxed_call = True  # type: ignore[attr-defined]
    return call


def _frozen(graph: GraphModule, traced: GraphModule, inputs: Sequence[Any]) -> dict[str, Weight]:
    """Which placeholders of a graph for inference stand for parameters and buffers.

    They are those of `traced`, which Dynamo has made, in order, unless inputs share memory. In the
    place of a tensor that is made of others, as quantized weights are, there are those.
    """
    context = TracingContext.try_get()
    placeholders = graph.graph.find_nodes(op="placeholder")
    sources = traced.graph.find_nodes(op="placeholder")
    given = [
        part
        for source, value in zip(sources, inputs, strict=True)
        for part in _parts(_name_of(source), value)
    ]
    if context is None or context.fw_metadata is None or len(placeholders) != len(given):
        return {}
    return {
        placeholders[place].name: Weight(name, value)
        for place in context.fw_metadata.static_input_indices
        for name, value in [given[place]]
        if name is not None
    }


def _parts(name: str | None, value: Any) -> Iterator[tuple[str | None, Any]]:
    """The tensors that AOTAutograd makes of one that is made of others; itself, if it is not."""
    if not is_traceable_wrapper_subclass(value):
        yield name, value
        return
    attributes, _ = value.__tensor_flatten__()
    for attribute in attributes:
        yield from _parts(name and f"{name}.{attribute}", getattr(value, attribute))


def _name_of(source: torch.fx.Node) -> str | None:
    """What a parameter or a buffer is called, as `state_dict` has it: `encoder.weight`.

    None for what is neither, such as a cache that is said to stay where it is.
    """
    argument = source.meta.get("grapharg")
    if argument is None or not _STATE.search(argument.source.name):
        return None
    path = [item or attribute for item, attribute in _ATTRIBUTE.findall(argument.source.name)]
    return ".".join(path[1:])
