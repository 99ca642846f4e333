"""The higher-order ops that programs may call: torch-mlir's importer learns of ours here."""

from collections.abc import Callable

import torch
from torch_mlir import ir
from torch_mlir.extras.fx_importer import GraphNodeImporter

from plumbline.loader_to_torch import control_flow, grouped_matmul, matrix_parts
from plumbline.loader_to_torch.torch_builder import Builder


def is_imported(op: torch._ops.HigherOrderOperator) -> bool:
    """Whether the importer knows what to make of an op."""
    return hasattr(GraphNodeImporter, _method(op.__name__))


def _method(name: str) -> str:
    # The importer looks for a method of this name.
    return f"_import_hop_{name}"


def _handler(import_: Callable[[Builder, torch.fx.Node], None]) -> Callable[..., None]:
    def handle(importer: object, location: ir.Location, node: torch.fx.Node, op: object) -> None:
        import_(Builder(importer, location), node)

    return handle


_IMPORTS = {**control_flow.IMPORTS, **grouped_matmul.IMPORTS, **matrix_parts.IMPORTS}
for _name, _import in _IMPORTS.items():
    setattr(GraphNodeImporter, _method(_name), _handler(_import))
