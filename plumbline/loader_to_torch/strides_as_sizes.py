"""Strides that a program takes for sizes.

Where torch.export needs a size in the body of a loop, it takes any number of the body's tensors
that is the same: of a matrix with rows of n elements that may be its stride. Later stages know
nothing of strides, as what they compute with lies in order.
"""

import operator

import torch

from plumbline.loader_to_torch.node_locations import all_nodes


def spell_strides_by_sizes(exported: torch.export.ExportedProgram) -> None:
    """Makes sizes of strides, and products of sizes, in all graphs of a program.

    One that is no such thing is left, for others to refuse.
    """
    for node in list(all_nodes(exported)):
        if node.target == torch.ops.aten.sym_stride.int:
            _spell(node)


def _spell(node: torch.fx.Node) -> None:
    tensor, axis = node.args
    assert isinstance(tensor, torch.fx.Node)
    assert isinstance(axis, int)
    shape, stride = tensor.meta["val"].shape, node.meta["val"]
    candidates = [[each] for each in range(len(shape))] + [list(range(axis + 1, len(shape)))]
    for axes in candidates:
        product = 1
        for each in axes:
            product = product * shape[each]
        if _expression(product) != _expression(stride):
            continue
        with node.graph.inserting_before(node):
            sizes = [_size(node, tensor, each, shape[each]) for each in axes]
            total = sizes[0]
            for size in sizes[1:]:
                total = node.graph.call_function(operator.mul, (total, size))
                total.meta = dict(node.meta)
        node.replace_all_uses_with(total)
        node.graph.erase_node(node)
        return


def _size(stride: torch.fx.Node, tensor: torch.fx.Node, axis: int, size: object) -> torch.fx.Node:
    made = stride.graph.call_function(torch.ops.aten.sym_size.int, (tensor, axis))
    made.meta = {**stride.meta, "val": size}
    return made


def _expression(number: int | torch.SymInt) -> object:
    return number.node.expr if isinstance(number, torch.SymInt) else number
