"""What torch.export takes and no compiled function can do, told before anything is lowered."""

import torch
from torch.export.graph_signature import ConstantArgument, TensorArgument
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from plumbline.element_type import ELEMENT_TYPES
from plumbline.errors import UserError
from plumbline.loader_to_torch.higher_order_ops import is_imported
from plumbline.loader_to_torch.node_locations import all_nodes, module_path, place
from plumbline.loader_to_torch.stored_types import computes_with_stored_type
from plumbline.unsupported_ops import UnsupportedOp, report

_DTYPES = {element_type.torch_name: element_type.name for element_type in ELEMENT_TYPES}


def refuse_what_has_no_meaning(who: str, exported: torch.export.ExportedProgram) -> None:
    """Holds a functional program, which messages call `who`, against what functions can do.

    Raises:
      UserError: it calls an unknown higher-order op, draws random numbers, makes a sparse tensor
        or one whose size depends on values, resizes a tensor, computes with a dtype that is not
        supported or only stored, or returns no tensor; the message lists all places.
    """
    nodes = [node for node in all_nodes(exported) if node.op == "call_function"]
    _refuse(
        who,
        [node for node in nodes if _is_unknown_higher_order(node)],
        "calls higher-order ops that nothing lowers",
        "branch and loop by torch.cond and by while_loop, scan, map and associative_scan of "
        "torch._higher_order_ops; what does something beside computing, such as to print, has no "
        "place in a compiled function",
    )
    _refuse(
        who,
        [node for node in nodes if _is_random(node) and node.users],
        "draws random numbers",
        "a compiled function gives the same results for the same arguments: draw them outside and "
        "hand them in; for inference, compile model.eval(), in which nn.Dropout and its like draw "
        "none (F.dropout needs training=False)",
    )
    _refuse(
        who,
        [node for node in nodes if _is_sparse(node)],
        "makes a sparse tensor",
        "tensors of a compiled function are dense: leave out to_sparse, or call to_dense outside",
    )
    _refuse(
        who,
        [node for node in nodes if _makes_a_size_of_values(node)],
        "makes tensors whose sizes depend on the values of others",
        "the sizes of a compiled function's tensors follow from those of its arguments: use "
        "torch.where or a mask of the full size, or hand in what it is computed from",
    )
    _refuse(
        who,
        [node for node in nodes if any(map(_is_unknown, _dtypes(node)))],
        "computes with dtypes that are not supported",
        f"cast to one that is: {', '.join(_DTYPES)}",
    )
    _refuse(
        who,
        [node for node in nodes if computes_with_stored_type(node)],
        "computes with dtypes that only hold numbers",
        "cast to float32, or to int32 or int64, before, and back after it",
    )
    _refuse(
        who,
        [node for node in nodes if node.target is torch.ops.aten.resize.default],
        "resizes a tensor in place",
        "its new elements have no values: make another tensor, by torch.cat or F.pad, or take a "
        "part of it",
    )
    results = [spec.arg for spec in exported.graph_signature.output_specs]
    for number, result in enumerate(results):
        if not isinstance(result, TensorArgument) and getattr(result, "value", 0) is not None:
            value = f" {result.value!r}" if isinstance(result, ConstantArgument) else ""
            raise UserError(
                f"{who}: output {number} of forward is the number{value}; a compiled function "
                "returns tensors: wrap it in torch.tensor(...)"
            )
    if not any(isinstance(result, TensorArgument) for result in results):
        raise UserError(f"{who}: forward returns no tensor; a compiled function returns some")


def _refuse(who: str, nodes: list[torch.fx.Node], what: str, advice: str) -> None:
    if nodes:
        ops = [from_node(node, advice) for node in nodes]
        raise UserError(f"{who}: forward {what}:\n{report(ops)}")


def from_node(node: torch.fx.Node, advice: str) -> UnsupportedOp:
    """An op of an exported program, as reports list it."""
    return UnsupportedOp(str(node.target), _operands(node), place(node), module_path(node), advice)


def _operands(node: torch.fx.Node) -> str:
    values = [operand.meta.get("val") for operand in node.all_input_nodes]
    return ", ".join(
        f"{_short(value.dtype)}[{','.join(map(str, value.shape))}]"
        for value in values
        if isinstance(value, torch.Tensor)
    )


def _short(dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    return _DTYPES.get(name, name)


def _dtypes(node: torch.fx.Node) -> list[torch.dtype]:
    value = node.meta.get("val")
    values = value if isinstance(value, (tuple, list)) else (value,)
    return [value.dtype for value in values if isinstance(value, torch.Tensor)]


def _is_unknown(dtype: torch.dtype) -> bool:
    return str(dtype).removeprefix("torch.") not in _DTYPES


def _makes_a_size_of_values(node: torch.fx.Node) -> bool:
    """Whether a result has a size that depends on values, and no operand has."""
    return _has_unknown_size(node.meta.get("val")) and not any(
        _has_unknown_size(operand.meta.get("val")) for operand in node.all_input_nodes
    )


def _has_unknown_size(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_unknown_size, value))
    return isinstance(value, torch.Tensor) and bool(free_unbacked_symbols(value.shape))


def _is_unknown_higher_order(node: torch.fx.Node) -> bool:
    op = node.target
    return isinstance(op, torch._ops.HigherOrderOperator) and not is_imported(op)


def _is_random(node: torch.fx.Node) -> bool:
    return (
        isinstance(node.target, torch._ops.OpOverload)
        and torch.Tag.nondeterministic_seeded in node.target.tags
    )


def _is_sparse(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.layout != torch.strided
