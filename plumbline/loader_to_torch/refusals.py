"""What torch.export takes and no compiled function can do, told before anything is lowered."""

import torch
from torch.export.graph_signature import ConstantArgument, TensorArgument

from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import UnsupportedOp, report
from plumbline.loader_to_torch.generator import GENERATOR, draws, draws_from_object
from plumbline.loader_to_torch.higher_order_ops import is_imported
from plumbline.loader_to_torch.node_locations import all_nodes, module_path, place
from plumbline.loader_to_torch.real_parts import computes_with_complex
from plumbline.loader_to_torch.stored_types import computes_with_stored_type
from plumbline.signature.element_type import ELEMENT_TYPES

_DTYPES = {element_type.torch_name: element_type.name for element_type in ELEMENT_TYPES}

_OF_ONEDNN = ("mkldnn", "onednn")
"""Namespaces of ops that call its kernels."""

_STATE = (
    f'say mutable=["{GENERATOR}"] beside the model, which makes the state of the generator an '
    "in-out argument; for inference, compile model.eval(), in which nn.Dropout and its like draw "
    "none (F.dropout needs training=False)"
)
_DRAW_OTHERS = (
    "this op is none of those that draw in a compiled function: draw outside, and hand the numbers "
    "in"
)
_DRAW_FROM_DEFAULT = (
    "the state of a torch.Generator object is no argument of a compiled function: leave out "
    f'generator=, and say mutable=["{GENERATOR}"] beside the model, which makes the state to draw '
    "from an in-out argument, where a caller may hand in the state of a generator of its own "
    "(get_state, set_state); or draw outside, and hand the numbers in"
)


def refuse_what_has_no_meaning(
    who: str, exported: torch.export.ExportedProgram, *, is_drawn_from: bool
) -> None:
    """Holds a functional program, which messages call `who`, against what functions can do.

    `is_drawn_from` says whether the state of the generator is one of its arguments.

    Raises:
      UserError: it calls an unknown higher-order op or a kernel of oneDNN, draws random numbers,
        makes a sparse tensor, resizes a tensor, computes with complex numbers what nothing lowers,
        or with a dtype that is not supported or only stored, or returns no tensor; the message
        lists all places.
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
        [node for node in nodes if getattr(node.target, "namespace", None) in _OF_ONEDNN],
        "calls kernels of oneDNN, whose weights lie as these alone know",
        "compile what there was before these were put into it: of a quantized model what "
        "convert_pt2e gives, whose products become those of integers, without "
        "lower_pt2e_quantized_to_x86",
    )
    _refuse(
        who,
        [node for node in nodes if draws_from_object(node)],
        "draws random numbers from a generator of its own",
        _DRAW_FROM_DEFAULT,
    )
    _refuse(
        who,
        [node for node in nodes if draws(node)],
        "draws random numbers",
        _DRAW_OTHERS if is_drawn_from else _STATE,
    )
    _refuse(
        who,
        [node for node in nodes if _is_sparse(node)],
        "makes a sparse tensor",
        "tensors of a compiled function are dense: leave out to_sparse, or call to_dense outside",
    )
    _refuse(
        who,
        [node for node in nodes if any(map(_is_unknown, _dtypes(node)))],
        "computes with dtypes that are not supported",
        f"cast to one that is: {', '.join(_DTYPES)}",
    )
    _refuse(
        who,
        [node for node in nodes if computes_with_complex(node)],
        "computes with complex numbers what nothing lowers",
        "compute it of the real and the imaginary parts, or write a decomposition of it, in "
        "plumbline/loader_to_torch/decompositions; of linear algebra there is all that "
        "torch.linalg has",
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


def refuse_packed_modules(who: str, model: torch.nn.Module) -> None:
    """Holds a model against what torch.export can look into, before it is exported.

    Raises:
      UserError: a module of `torch.ao.nn.quantized` keeps its weights in a TorchScript object.
    """
    packed = [
        f"{name or 'the model'} ({type(module).__name__})"
        for name, module in model.named_modules()
        if any(isinstance(value, torch.ScriptObject) for value in vars(module).values())
    ]
    if packed:
        raise UserError(
            f"{who}: weights are packed in objects of TorchScript, which torch.export does not "
            f"know: {', '.join(packed)}. In place of torch.ao.quantization, which makes them, hold "
            "integers and scales as parameters, and compute with those: weights of int8 in "
            "F.linear(x, weight.to(x.dtype)) * scale, or two such in torch._int_mm, are multiplied "
            "as they are"
        )


def refuse_sparse_state(who: str, exported: torch.export.ExportedProgram) -> None:
    """Holds what torch.export has made of a program, before its ops are taken apart.

    Raises:
      UserError: it computes with a sparse tensor that it holds.
    """
    nodes = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    sparse = [
        spec.target or "a constant"
        for spec in exported.graph_signature.input_specs
        if isinstance(spec.arg, TensorArgument)
        and nodes[spec.arg.name].users
        and _is_sparse(nodes[spec.arg.name])
    ]
    if sparse:
        raise UserError(
            f"{who}: holds sparse tensors: {', '.join(sparse)}. Of these, matrices of the layouts "
            "torch.sparse_coo and torch.sparse_csr are compiled: in the place of others, hold "
            "tensor.to_dense()"
        )


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


def _is_unknown_higher_order(node: torch.fx.Node) -> bool:
    op = node.target
    return isinstance(op, torch._ops.HigherOrderOperator) and not is_imported(op)


def _is_sparse(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.layout != torch.strided
