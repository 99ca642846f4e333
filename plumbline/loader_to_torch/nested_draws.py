"""Draws of random numbers within branches and loops.

A body is a function of its own: what it draws from has to be handed to it, and back. So the state
of the generator becomes an operand and a result of each `torch.cond`, `while_loop`, `scan` and
`map` whose bodies draw:

    %before = drawn_from(%generator)
    %results = while_loop(%condition, %body, (%carried, %before), ())
    %generator_1 = draw_from(%results[1])

and in the body:

    %generator = draw_from(%before)
    ...
    return %carried, drawn_from(%generator)
"""

import copy
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._higher_order_ops.scan import scan_op
from torch.fx import Graph, GraphModule, Node

from plumbline.loader_to_torch.decompositions import random_numbers
from plumbline.loader_to_torch.decompositions.bodies import (
    bodies_of,
    body_of,
    operands_of,
    with_operand,
)
from plumbline.loader_to_torch.generator import draws
from plumbline.loader_to_torch.node_locations import nodes_within

_DRAW_FROM = random_numbers.draw_from._opoverload
_DRAWN_FROM = random_numbers.drawn_from._opoverload
_CLONE = torch.ops.aten.clone.default


def hand_generator_to_bodies(exported: torch.export.ExportedProgram) -> None:
    """Has the bodies in `exported` draw from the generator that the program around them draws from.

    A program that has none stays as it is.
    """
    module = exported.graph_module
    for first in list(module.graph.find_nodes(op="call_function", target=_DRAW_FROM))[:1]:
        _hand_on(module, first)
    module.recompile()


def _hand_on(module: GraphModule, generator: Node) -> Node:
    """Hands what `generator` returned from body to body of a module; returns the last such node."""
    for node in list(module.graph.nodes):
        if node.target is _DRAW_FROM:
            generator = node
        elif node.target is _DRAWN_FROM:
            node.args = (generator,)
        hand = _HANDS.get(getattr(node.target, "__name__", ""))
        if hand is None or not any(map(_draws, bodies_of(module, node))):
            continue
        with module.graph.inserting_before(node):
            before = module.graph.call_function(_DRAWN_FROM, (generator,))
        after = hand(module, node, before)
        with module.graph.inserting_after(after):
            generator = module.graph.call_function(_DRAW_FROM, (after,))
    return generator


def _arguments(node: Node) -> tuple[Any, ...]:
    """Bodies, and operands in tuples and lists, as the op takes them."""
    return node.args


def _draws(body: GraphModule) -> bool:
    return any(map(draws, nodes_within(body)))


# -- the ops ---------------------------------------------------------------------------------------


def _cond(module: GraphModule, node: Node, state: Node) -> Node:
    predicate, *branches, operands = _arguments(node)
    place = len(node.meta["val"])
    handed = [_handed(module, branch, len(operands), place) for branch in branches]
    node.args = (predicate, *handed, (*operands, state))
    return _result(node, place)


def _while_loop(module: GraphModule, node: Node, state: Node) -> Node:
    condition, body, carried, captured = _arguments(node)
    place = len(carried)
    if _draws(body_of(module, condition)):
        return _while_loop_that_asks(module, node, state)
    node.args = (
        _ignoring(module, condition, place),
        _handed(module, body, place, place),
        (*carried, state),
        captured,
    )
    return _result(node, place)


def _scan(module: GraphModule, node: Node, state: Node) -> Node:
    body, start, slices, captured = _arguments(node)
    place = len(start)
    node.args = (_handed(module, body, place, place), [*start, state], slices, captured)
    _make_room(node, place)
    return _result(node, place)


def _map(module: GraphModule, node: Node, state: Node) -> Node:
    body, slices, captured = _arguments(node)
    node.target = scan_op
    node.args = (_handed(module, body, 0, 0), [state], slices, captured)
    _make_room(node, 0)
    return _result(node, 0)


_HANDS: Mapping[str, Callable[[GraphModule, Node, Node], Node]] = {
    "cond": _cond,
    "map_impl": _map,
    "scan": _scan,
    "while_loop": _while_loop,
}
"""What makes an op take a state and return another one, by the op's name."""


def _while_loop_that_asks(module: GraphModule, node: Node, state: Node) -> Node:
    """A loop whose condition draws, as one that carries what its condition has said."""
    condition, body, carried, captured = _arguments(node)
    place = len(carried)
    asking = body_of(module, _handed(module, condition, place, 1))
    turning = body_of(module, _handed(module, body, place, place))
    with module.graph.inserting_before(node):
        holds, first = _inlined(module, asking, (*carried, state, *captured))
    turn, given = _without_ops(place + 2 + len(captured))
    others = given[place + 2 :]
    after = _inlined(turn, turning, (*given[: place + 1], *others))
    goes_on, last = _inlined(turn, asking, (*after, *others))
    turn.graph.output((*after[:place], last, goes_on))
    tell, given = _without_ops(place + 2 + len(captured))
    tell.graph.output(tell.graph.call_function(_CLONE, (given[place + 1],)))
    node.args = (
        _added(module, condition, tell),
        _added(module, body, turn),
        (*carried, first, holds),
        captured,
    )
    return _result(node, place)


# -- bodies ----------------------------------------------------------------------------------------


def _handed(module: GraphModule, body: Node, operand: int, result: int) -> Node:
    """A body with a generator's state as an operand and as a result, at these places."""
    changed = copy.deepcopy(body_of(module, body))
    state = with_operand(changed, "generator_state", operand)
    (end,) = changed.graph.find_nodes(op="output")
    with changed.graph.inserting_after(operands_of(changed)[-1]):
        generator = changed.graph.call_function(_DRAW_FROM, (state,))
    last = _hand_on(changed, generator)
    with changed.graph.inserting_before(end):
        after = changed.graph.call_function(_DRAWN_FROM, (last,))
    (results,) = _arguments(end)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    end.args = ((*results[:result], after, *results[result:]),)
    return _added(module, body, changed)


def _ignoring(module: GraphModule, body: Node, operand: int) -> Node:
    """A body with an operand more, which it makes no use of."""
    changed = copy.deepcopy(body_of(module, body))
    with_operand(changed, "generator_state", operand)
    return _added(module, body, changed)


def _added(module: GraphModule, like: Node, body: GraphModule) -> Node:
    """Names a body in a module, in the place of another one."""
    body.recompile()
    name = f"{like.target}_drawing"
    while hasattr(module, name):
        name += "_"
    module.add_module(name, body)
    with module.graph.inserting_before(like):
        return module.graph.get_attr(name)


def _without_ops(count: int) -> tuple[GraphModule, list[Node]]:
    """A body of so many operands, and these."""
    body = GraphModule(torch.nn.Module(), Graph())
    return body, [body.graph.placeholder(f"operand_{number}") for number in range(count)]


def _inlined(module: GraphModule, body: GraphModule, operands: Sequence[Node]) -> list[Node]:
    """Computes in a module what a body does; returns its results."""
    copies = dict(zip(operands_of(body), operands, strict=True))
    results: Any = module.graph.graph_copy(body.graph, copies)
    for node, own in copies.items():
        if node.op == "get_attr":
            own.replace_all_uses_with(_added(module, own, body_of(body, node)))
            module.graph.erase_node(own)
    return list(results)


def _result(node: Node, place: int) -> Node:
    """What `node` returns there."""
    with node.graph.inserting_after(node):
        return node.graph.call_function(operator.getitem, (node, place))


def _make_room(node: Node, place: int) -> None:
    """Has those who read results of `node` read them after one more, at `place`."""
    for user in list(node.users):
        _, read = _arguments(user)
        if read >= place:
            user.args = (node, read + 1)
