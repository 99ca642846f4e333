"""Has a program take tensors as they lie in memory, whatever the order of their axes.

All later stages have tensors row-major without gaps. An argument that is `channels_last` becomes
one whose channels are the last axis, which the graph turns back first of all:

    def forward(self, x):
        permute = torch.ops.aten.permute.default(x, [0, 3, 1, 2])

Kernels read through that, so that nothing is copied.
"""

from collections.abc import Mapping, Sequence

import torch
from torch.export.graph_signature import TensorArgument
from torch.fx import Graph, Node

from plumbline.loader_to_torch.distinct_ops import ORIGIN
from plumbline.loader_to_torch.memory_order import inverse, memory_order
from plumbline.signature.axis_orders import AxisOrders
from plumbline.signature.signature import AxisOrder


def take_as_they_lie(
    exported: torch.export.ExportedProgram, inout: Mapping[int, int]
) -> AxisOrders:
    """Has a functional program take its arguments as they lie in the example.

    If one lies otherwise than row-major, results lie as PyTorch says that they do. Arguments that
    are written, and their new values, stay as they are: `inout` has the numbers of both.
    """
    nodes = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    names = [str(name) for name in exported.graph_signature.user_inputs]
    given = [nodes[name] for name in names if name in nodes and _is_tensor(nodes[name])]
    inputs = [
        None if number in inout else _order(node.meta["val"]) for number, node in enumerate(given)
    ]
    for node, order in zip(given, inputs, strict=True):
        if order is not None:
            _take(exported.graph, node, order)
    output = exported.graph.output_node()
    results = list(output.args[0])
    outputs: list[AxisOrder | None] = []
    for number, spec in enumerate(exported.graph_signature.output_specs):
        if not isinstance(spec.arg, TensorArgument):
            continue  # It is None, and no result of the compiled function.
        is_free = any(inputs) and len(outputs) not in inout.values()
        order = _order(results[number].meta["val"]) if is_free else None
        outputs.append(order)
        if order is not None:
            made = _permuted(exported.graph, results[number], order, before=output)
            results[number], spec.arg = made, TensorArgument(name=made.name)
    output.args = (tuple(results),)
    return AxisOrders(tuple(inputs), tuple(outputs))


def _is_tensor(node: object) -> bool:
    return isinstance(node, Node) and isinstance(node.meta.get("val"), torch.Tensor)


def _order(tensor: torch.Tensor) -> AxisOrder | None:
    order = memory_order(tensor)
    return None if order is None else tuple(order)


def _take(graph: Graph, node: Node, order: AxisOrder) -> None:
    """Has a graph take an argument with its axes in that order."""
    readers = list(node.users)
    own = _permuted(graph, node, inverse(order), before=node.next)
    own.meta["val"] = node.meta["val"]
    node.meta = {**node.meta, "val": node.meta["val"].permute(order)}
    node.meta.pop("tensor_meta", None)
    for reader in readers:
        reader.replace_input_with(node, own)


def _permuted(graph: Graph, node: Node, order: Sequence[int], *, before: Node) -> Node:
    with graph.inserting_before(before):
        made = graph.call_function(torch.ops.aten.permute.default, (node, list(order)))
    made.meta = {name: node.meta[name] for name in ORIGIN if name in node.meta}
    made.meta["val"] = node.meta["val"].permute(list(order))
    return made
