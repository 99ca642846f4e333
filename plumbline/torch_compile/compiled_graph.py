"""Compiles a graph that AOTAutograd has traced, and calls what comes of it in the graph's place."""

import contextlib
import dataclasses
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch._guards import tracing
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, GraphModule, Node
from torch.utils._python_dispatch import _disable_current_modes

from plumbline.cache import kept_text
from plumbline.cache.folder import CacheFolder
from plumbline.cache.record import packed, unpacked
from plumbline.compiler import CompiledProgram, compile_export
from plumbline.errors import UserError
from plumbline.loader_to_torch.export import DialectText, export_traced
from plumbline.loader_to_torch.program_of_graph import program_of_graph
from plumbline.lowering import lower_to_linalg
from plumbline.signature.function_name import DEFAULT_FUNCTION_NAME
from plumbline.target.choices import RuntimeChecks
from plumbline.target.target import Target
from plumbline.torch_compile import dynamo_ops
from plumbline.torch_compile.divided_graph import Program, Weight, divided, mode_of
from plumbline.torch_compile.effect_tokens import drop_effect_tokens
from plumbline.torch_compile.export_key import export_key
from plumbline.torch_compile.left_ops import describe, in_parts
from plumbline.torch_compile.replayed_draws import spell_replayed_draws
from plumbline.torch_compile.settled_numbers import settle_numbers
from plumbline.torch_compile.size_facts import Comparisons, repeat_comparisons
from plumbline.torch_compile.unused_numbers import drop_unused_numbers

_WHO = "torch.compile"


@dataclass(frozen=True)
class Options:
    """How graphs are compiled, as `Backend` takes it."""

    target: Target
    opt_level: int
    runtime_checks: RuntimeChecks
    threads: int
    cache: CacheFolder | None


def compile_graph(
    module: GraphModule,
    weights: Mapping[str, Weight],
    options: Options,
    note: Callable[[CompiledProgram], None],
) -> Callable[..., Sequence[Any]]:
    """What computes as the graph of `module` does, called with what its placeholders stand for.

    Args:
      module: its nodes have their values among their metadata.
      weights: what placeholders, by name, stand for in all calls.
      options: how it is compiled.
      note: is told of the compiled program, if there is something to compute.

    Numbers that calls give become parts of the program where it cannot be compiled for all of them.
    What cannot be compiled then is left to PyTorch, with a warning that says which ops these are,
    and why.
    """
    drop_effect_tokens(module)
    drop_unused_numbers(module)
    with _tracing_apart(module.graph):
        spell_replayed_draws(module.graph, mode_of(module.graph))
        try:
            return _whole(module, weights, options, note)
        except UserError as error:
            problem = str(error)
        if settle_numbers(module):
            return compile_graph(module, weights, options, note)
        left: dict[Node, str] = {}
        call = in_parts(
            module, problem, lambda part: _whole(part, weights, options, note), _refusal_of, left
        )
        warnings.warn(describe(left), stacklevel=2)
        return call


def _whole(
    module: GraphModule,
    weights: Mapping[str, Weight],
    options: Options,
    note: Callable[[CompiledProgram], None],
) -> Callable[..., Sequence[Any]]:
    """`compile_graph`, of one program at most."""
    parts = divided(module, weights)
    if parts.program is None:
        return parts.calling(None)
    compiled = _compiled(module, parts.program, options)
    note(compiled)
    return parts.calling(compiled)


def _refusal_of(module: GraphModule) -> str:
    """Why a graph does not go as far as the stages in which most ops are refused; empty if so."""
    try:
        program = divided(module, {}).program
        if program is not None:
            lower_to_linalg(_WHO, _exported(module, program).text)
    except UserError as error:
        return str(error)
    return ""


def _dialect_text(module: GraphModule, program: Program, cache: CacheFolder | None) -> DialectText:
    """A program in the Torch dialect, from the cache if it is there."""
    key = None if cache is None else export_key(module, program)
    if cache is None or key is None:
        return _exported(module, program)
    kept = cache.read(key.key)
    if kept is not None:
        comparisons, parts = unpacked(kept)
        if key.known is None or repeat_comparisons(key.known, comparisons):
            return kept_text.from_bytes(parts["text"])
    made = None if key.known is None else Comparisons(key.known)
    exported = _exported(module, program)
    comparisons = None if made is None else made.told()
    if key.known is None or comparisons is not None:
        cache.write(key.key, packed(comparisons, {"text": kept_text.to_bytes(exported)}))
    return exported


def _exported(module: GraphModule, program: Program) -> DialectText:
    traced = program_of_graph(
        program.graph,
        root=module,
        weights=program.weights,
        constants=program.constants,
        ranges=_ranges(program.graph),
    )
    return export_traced(
        _WHO,
        traced,
        DEFAULT_FUNCTION_NAME,
        rules=dynamo_ops.RULES,
        inout=program.inout,
        scalars=program.scalars,
        is_drawn_from=program.draws,
    )


def _compiled(module: GraphModule, program: Program, options: Options) -> CompiledProgram:
    compiled = compile_export(
        _WHO,
        _dialect_text(module, program, options.cache),
        DEFAULT_FUNCTION_NAME,
        options.target,
        opt_level=options.opt_level,
        runtime_checks=options.runtime_checks,
        threads=options.threads,
        cache=options.cache,
    )
    compiled.draws = program.draws
    return compiled


@contextlib.contextmanager
def _tracing_apart(graph: Graph) -> Iterator[None]:
    """Has what is traced be no part of what torch.compile traces, and as free as in an export.

    There, sizes and numbers may depend on values. What is found of symbols counts for both.
    """
    mode = mode_of(graph)
    freely = {"allow_scalar_outputs": True, "allow_dynamic_output_shape_ops": True}
    with contextlib.ExitStack() as changes:
        changes.enter_context(tracing(None))
        changes.enter_context(_disable_current_modes())
        if mode.shape_env is not None:
            settings = dataclasses.replace(mode.shape_env.settings, **freely)
            changes.enter_context(mock.patch.object(mode.shape_env, "settings", settings))
            changes.enter_context(mode.shape_env.ignore_fresh_unbacked_symbols())
        yield


def _ranges(graph: Graph) -> dict[Any, Any]:
    """Those of the symbols in the sizes of inputs."""
    ranges: dict[Any, Any] = {}
    for node in graph.find_nodes(op="placeholder"):
        value = node.meta["val"]
        assert isinstance(value, FakeTensor)
        for size in value.shape:
            if isinstance(size, torch.SymInt):
                known = size.node.shape_env.var_to_range
                ranges |= {symbol: known[symbol] for symbol in size.node.expr.free_symbols}
    return ranges
