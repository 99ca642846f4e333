"""Takes a program's weights out of its text: they become arguments that go by their names."""

from collections.abc import Collection, Sequence
from typing import cast

import safetensors.torch
import torch
from torch.export.graph_signature import InputKind
from torch.fx.passes.shape_prop import _extract_tensor_metadata
from torch_mlir import ir
from torch_mlir.extras.fx_importer import FxImporterHooks

from plumbline.archives.torch_tensors import to_numpy
from plumbline.loader_to_torch.decompositions.constant_tables import is_literal_table
from plumbline.signature import element_type
from plumbline.signature.weight_arguments import EMBEDDED, PARAMETER

LARGEST_LITERAL = 16
"""Constants of at most so many elements stay in the text, where they can be read and folded."""

_OF_STATE = (InputKind.PARAMETER, InputKind.BUFFER)
_KINDS = (InputKind.CONSTANT_TENSOR, *_OF_STATE)


def state_of_module(exported: torch.export.ExportedProgram) -> list[str]:
    """The names of the parameters and buffers of `exported`, which are weights but no constants."""
    specs = exported.graph_signature.input_specs
    return [cast("str", spec.target) for spec in specs if spec.kind in _OF_STATE]


def lift_weights(exported: torch.export.ExportedProgram) -> dict[str, torch.Tensor]:
    """Makes inputs of the large constants, parameters and buffers that `exported` uses.

    They come before the program's own inputs, constants first, in the order of the result: by the
    names that `state_dict` gives them, with their values. Those that nothing uses are removed.
    """
    _put_constants_first(exported)
    weights: dict[str, torch.Tensor] = {}
    signature = exported.graph_signature
    placeholders = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    kept = []
    for spec in signature.input_specs:
        if spec.kind not in _KINDS:
            kept.append(spec)
            continue
        name = cast("str", spec.target)
        node = placeholders[spec.arg.name]
        value = _value(exported, name)
        if not node.users:
            exported.graph.erase_node(node)
            continue
        kept.append(spec)
        if spec.kind is InputKind.CONSTANT_TENSOR and _is_literal(name, value):
            continue
        spec.kind, spec.target, spec.persistent = InputKind.USER_INPUT, None, None
        weights[name] = value.detach().contiguous()
    signature.input_specs[:] = kept
    return weights


def _put_constants_first(exported: torch.export.ExportedProgram) -> None:
    # What the library has of its weights comes before those that its callers give.
    specs = exported.graph_signature.input_specs
    nodes = exported.graph.find_nodes(op="placeholder")
    inputs = sorted(
        zip(specs, nodes, strict=True),
        key=lambda pair: pair[0].kind is not InputKind.CONSTANT_TENSOR,
    )
    for _, node in reversed(inputs):
        next(iter(exported.graph.nodes)).prepend(node)
    specs[:] = [spec for spec, _ in inputs]


def _is_literal(name: str, constant: torch.Tensor) -> bool:
    return constant.numel() <= LARGEST_LITERAL or is_literal_table(name)


def copy_literals(exported: torch.export.ExportedProgram) -> None:
    """Has lists, as those of `torch.cat`, and what takes a number out hold copies of literals.

    These are the constants that `lift_weights` has left. The importer knows one as an argument of
    its own only, and not of all ops.
    """
    placeholders = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    for spec in exported.graph_signature.input_specs:
        if spec.kind is InputKind.CONSTANT_TENSOR:
            _copy_where_no_literal_is_known(placeholders[spec.arg.name])


def _copy_where_no_literal_is_known(constant: torch.fx.Node) -> None:
    users = [
        user
        for user in constant.users
        if constant not in (*user.args, *user.kwargs.values())
        or user.target is torch.ops.aten._local_scalar_dense.default
    ]
    if not users:
        return
    graph = constant.graph
    first = next(node for node in graph.nodes if node.op != "placeholder")
    with graph.inserting_before(first):
        copied = graph.call_function(torch.ops.aten.clone.default, (constant,))
    value = constant.meta["val"]
    # The importer reads the dtype of what a number is taken out of in the latter.
    copied.meta = {**constant.meta, "tensor_meta": _extract_tensor_metadata(value)}
    for user in users:
        user.replace_input_with(constant, copied)


class ReadableLiterals(FxImporterHooks):
    """Imports the constants that `lift_weights` leaves, as text that people can read.

    The importer's own way is a resource, whose text is hexadecimal, and which bfloat16 cannot be.
    """

    def resolve_literal(self, gni: object, literal: object, info: object) -> ir.Value | None:
        """The value of a literal, or None where the importer's own way will do."""
        if not isinstance(literal, torch.Tensor) or not literal.numel():
            return None
        dtype = element_type.from_torch_name(str(literal.dtype)).mlir_signed
        sizes = "".join(f"{size}x" for size in literal.shape)
        elements = f'dense<"0x{to_numpy(literal).tobytes().hex()}"> : tensor<{sizes}{dtype}>'
        type_ = f"!torch.vtensor<[{sizes[:-1].replace('x', ',')}],{dtype}>"
        return ir.Operation.create(
            "torch.vtensor.literal",
            results=[ir.Type.parse(type_)],
            attributes={"value": ir.Attribute.parse(elements)},
        ).result


def weights_at_placeholders(
    exported: torch.export.ExportedProgram, *, embedded: bool
) -> dict[torch.fx.Node, torch.Tensor]:
    """What `lift_weights` lifts, with the nodes that stand for it; else the constants of it."""
    kinds = _KINDS if embedded else (InputKind.CONSTANT_TENSOR,)
    placeholders = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    return {
        placeholders[spec.arg.name]: _value(exported, cast("str", spec.target))
        for spec in exported.graph_signature.input_specs
        if spec.kind in kinds
    }


def _value(exported: torch.export.ExportedProgram, name: str) -> torch.Tensor:
    # Buffers that are not persistent are kept among the constants.
    found = exported.state_dict[name] if name in exported.state_dict else exported.constants[name]
    return cast("torch.Tensor", found)


def name_arguments(
    module: ir.Module, function_name: str, weights: Sequence[str], parameters: Collection[str]
) -> None:
    """Marks the leading arguments of a function as the weights of these names.

    Callers give those that are `parameters`.
    """
    with module.context:
        function = next(
            op
            for op in module.body.operations
            if op.operation.name == "func.func"
            and ir.StringAttr(op.attributes["sym_name"]).value == function_name
        )
        count = len(function.regions[0].blocks[0].arguments)
        attributes = [
            ir.DictAttr.get(
                {PARAMETER if name in parameters else EMBEDDED: ir.StringAttr.get(name)}
            )
            for name in weights
        ]
        attributes += [ir.DictAttr.get({})] * (count - len(weights))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)


def serialise(weights: dict[str, torch.Tensor]) -> bytes:
    """The safetensors file of `weights`; equal weights give equal bytes."""
    # The library refuses tensors that share memory, as tied weights do.
    return bytes(safetensors.torch.save({name: value.clone() for name, value in weights.items()}))
