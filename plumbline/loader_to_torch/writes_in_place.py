"""Ops that write in place into memory that is the program's own, which are as good as others.

`x.add_(y)` gives what `x + y` does, and whoever reads `x` later reads that. So it is where `x` is
what an op of the program has made, and nobody has another view of it.
"""

from typing import Any

import torch
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

Node = torch.fx.Node
Op = torch._ops.OpOverload


def writes_its_own(node: Node) -> bool:
    """Whether a node, of an op that writes in place, is as good as one of its `functional_op`."""
    op = functional_op(node)
    if op is None or not isinstance(node.args[0], Node):
        return False
    values = written(node)
    return (
        _has_new_memory(values[-1])
        and all(_next_writes(value) <= 1 for value in values)
        # Who takes a view later sees what has been written.
        and all(_sees_no_view(user) for value in values for user in value.users if user < node)
        and _is_alike(node, op)
    )


def written(node: Node) -> list[Node]:
    """The node and, if it writes in place, what else is that memory, as far as what made it."""
    values = [node]
    while _writes(values[-1]):
        (operand, *_) = values[-1].args
        assert isinstance(operand, Node)
        values.append(operand)
    return values


def functional_op(node: Node) -> Op | None:
    """The op of a node, or of one that writes in place, that which gives a result; None: none."""
    op = _op(node)
    if not op._schema.is_mutable:
        return op
    if torch.Tag.inplace_view in op.tags:
        # It changes what the tensor is, such as its shape: its functional form may be another.
        return None
    namespace, _, name = op._schema.name.partition("::")
    if not name.endswith("_") or op._schema.arguments[0].alias_info is None:
        return None
    packet = getattr(getattr(torch.ops, namespace), name[:-1], None)
    if packet is None:
        return None
    # Not by the overload's name: `pow_.Scalar` is of a tensor and a number, `pow.Scalar` the other
    # way round.
    overloads = (getattr(packet, overload) for overload in packet.overloads())
    return next((found for found in overloads if _takes_the_same(found, op)), None)


def _takes_the_same(one: Op, other: Op) -> bool:
    first, second = (
        [str(argument.type) for argument in op._schema.arguments] for op in (one, other)
    )
    return first == second


def _op(node: Node) -> Op:
    assert isinstance(node.target, Op)
    return node.target


def _writes(node: Node) -> bool:
    return isinstance(node.target, Op) and node.target._schema.is_mutable


def _next_writes(value: Node) -> int:
    """How many nodes write a value in place."""
    return sum(_writes(user) and user.args[0] is value for user in value.users)


def _sees_no_view(user: Node) -> bool:
    """Whether what uses a value gives no view of it, other than the value itself."""
    return user.op == "output" or _writes(user) or _has_new_memory(user)


def _has_new_memory(node: Node) -> bool:
    """Whether the results of a node are no views."""
    op = node.target
    return (
        isinstance(op, Op)
        and all(result.alias_info is None for result in op._schema.returns)
        # Of composite ops, schemas do not always tell that a result may be an operand.
        and (not _is_composite(op) or _makes_new_memory(node, op))
    )


def _is_composite(op: Op) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(op._name, "CompositeImplicitAutograd")


def _makes_new_memory(node: Node, op: Op) -> bool:
    """Whether `op` gives no views of such operands as a node has."""
    operands = [operand.meta["val"] for operand in node.all_input_nodes]
    results = pytree.tree_leaves(_results(node, op)) if operands else []
    storages = {operand.untyped_storage()._cdata for operand in operands}
    return all(result.untyped_storage()._cdata not in storages for result in results)


def _is_alike(node: Node, op: Op) -> bool:
    """Whether `op` gives a result like that which an op in place writes."""
    value, result = node.meta["val"], _results(node, op)
    return bool(result.dtype == value.dtype and result.shape == value.shape)


def _results(node: Node, op: Op) -> Any:
    """What `op` gives of the operands of a node, which are tensors without data."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda operand: operand.meta["val"])
    with node.all_input_nodes[0].meta["val"].fake_mode, torch.no_grad():
        return op(*args, **kwargs)
