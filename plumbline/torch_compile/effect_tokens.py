"""Takes the tokens out of a graph by which AOTAutograd keeps ops in order that return nothing.

Such are the checks of factorizations:

    with_effects = torch.ops.higher_order.with_effects(token, op, operand)
    next_token, result = with_effects[0], with_effects[1]
"""

from torch._higher_order_ops.effects import with_effects
from torch.fx import GraphModule, Node


def drop_effect_tokens(module: GraphModule) -> None:
    """Has each such op be called by itself, in the order that the graph has; tokens are handed on.

    The graph takes and returns as many of them as before.
    """
    for node in module.graph.find_nodes(op="call_function", target=with_effects):
        _call_by_itself(node)


def _call_by_itself(node: Node) -> None:
    token, op, *arguments = node.args
    with node.graph.inserting_before(node):
        call = node.graph.call_function(op, tuple(arguments), node.kwargs)  # type: ignore[arg-type]
    _, *results = node.meta["val"]
    call.meta = {**node.meta, "val": results[0] if len(results) == 1 else tuple(results)}
    for part in list(node.users):
        number = part.args[1]
        assert isinstance(number, int)
        if number == 0:
            part.replace_all_uses_with(token)  # type: ignore[arg-type]
        elif len(results) == 1:
            part.replace_all_uses_with(call)
        else:
            part.args = (call, number - 1)
            continue
        node.graph.erase_node(part)
    node.graph.erase_node(node)
