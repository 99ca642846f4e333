"""Draws of random numbers that a backward repeats, for what a checkpoint has it compute again.

The forward returns the state of the generator as it was before a draw, and the backward draws from
that:

    run_and_save_rng_state = run_and_save_rng_state(op, *operands)
    state, result = run_and_save_rng_state[0], run_and_save_rng_state[1]

    result = run_with_rng_state(state, op, *operands)

By ops of ours, the first is

    state = drawn_from(generator)
    draw_from(state)
    result = op(*operands)

and the second, after which what else is drawn goes on from where it was,

    before = drawn_from(generator)
    draw_from(state)
    result = op(*operands)
    draw_from(before)
"""

from typing import Any

import torch
from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, Node
from torch.fx.node import map_arg

from plumbline.loader_to_torch.decompositions.random_numbers import draw_from, drawn_from

aten = torch.ops.aten


def spell_replayed_draws(graph: Graph, mode: FakeTensorMode) -> None:
    """Has a graph whose values are of `mode` draw by the ops above."""
    for node in graph.find_nodes(op="call_function", target=run_and_save_rng_state):
        op, *operands = node.args
        call = _Calls(node, mode)
        state = call(drawn_from._opoverload, call.anything())
        call(draw_from._opoverload, state)
        results = state, call(op, *operands, **node.kwargs)
        for part in list(node.users):
            call.stand(results[part.args[1]], part)
        graph.erase_node(node)
    for node in graph.find_nodes(op="call_function", target=run_with_rng_state):
        state, op, *operands = node.args
        call = _Calls(node, mode)
        before = call(drawn_from._opoverload, call.anything())
        # PyTorch notes the state of now as its value.
        state.meta["val"] = before.meta["val"]
        call(draw_from._opoverload, state)
        result = call(op, *operands, **node.kwargs)
        call(draw_from._opoverload, before)
        call.stand(result, node)


class _Calls:
    """Adds calls before a node, which have values among their metadata."""

    def __init__(self, node: Node, mode: FakeTensorMode) -> None:
        self._node, self._mode = node, mode

    def __call__(self, op: Any, *operands: Any, **options: Any) -> Node:
        with self._node.graph.inserting_before(self._node):
            added = self._node.graph.call_function(op, operands, options)
        values, named = map_arg((added.args, added.kwargs), lambda given: given.meta["val"])
        with self._mode:
            added.meta = {**self._node.meta, "val": op(*values, **named)}
        return added

    def anything(self) -> Node:
        """A tensor like a state: which generator there is, the ops know without it."""
        size = list(torch.get_rng_state().shape)
        return self(aten.empty.memory_format, size, dtype=torch.uint8)

    def stand(self, result: Node, node: Node) -> None:
        """Puts a result in the place of a node."""
        result.meta = {**node.meta, "val": result.meta["val"]}
        node.replace_all_uses_with(result)
        node.graph.erase_node(node)
