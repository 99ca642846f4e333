"""Ops that write in place into memory that is the program's own, which are as good as others.

`x.add_(y)` gives what `x + y` does, and whoever reads `x` later reads that. So it is where `x` is
what an op of the program has made, and nobody has another view of it.
"""

import torch
from torch.fx.node import map_arg

Node = torch.fx.Node
Op = torch._ops.OpOverload

aten = torch.ops.aten

_COMPOSITE_OF_NEW_MEMORY = frozenset(
    (
        aten.batch_norm.default,
        aten.conv1d.default,
        aten.conv2d.default,
        aten.conv2d.padding,
        aten.conv3d.default,
        aten.group_norm.default,
        aten.instance_norm.default,
        aten.layer_norm.default,
        aten.linear.default,
        aten.max_pool2d.default,
    )
)
"""Of the ops that PyTorch makes of others, of whose results schemas do not always tell that they
may be an operand: some that always have memory of their own."""


def writes_its_own(node: Node) -> bool:
    """Whether a node, of an op that writes in place, is as good as one of its `functional_op`."""
    op = functional_op(node)
    if op is None or not isinstance(node.args[0], Node):
        return False
    values = written(node)
    return (
        _has_new_memory(values[-1])
        and all(_next_writes(value) <= 1 for value in values)
        and all(_sees_no_view(user) for value in values for user in value.users)
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
    return isinstance(op, Op) and (
        op in _COMPOSITE_OF_NEW_MEMORY
        or (
            not torch._C._dispatch_has_kernel_for_dispatch_key(
                op._name, "CompositeImplicitAutograd"
            )
            and all(result.alias_info is None for result in op._schema.returns)
        )
    )


def _is_alike(node: Node, op: Op) -> bool:
    """Whether `op` gives a result like that which an op in place writes."""
    args, kwargs = map_arg((node.args, node.kwargs), lambda operand: operand.meta["val"])
    value = node.meta["val"]
    with value.fake_mode, torch.no_grad():
        result = op(*args, **kwargs)
    return bool(result.dtype == value.dtype and result.shape == value.shape)
