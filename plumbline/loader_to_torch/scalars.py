"""Python numbers among a program's arguments and results, as tensors of rank 0.

A compiled function takes an int as int64, a float as float64, and a bool as bool, and returns them
so: `note_scalars` says which of its tensors are such, and whoever calls it by pointers hands over
and gets numbers.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export.graph_signature import TensorArgument

Number: TypeAlias = bool | int | float

SCALAR = "plumbline.scalar"
"""What the node of such a tensor has among its metadata."""

_DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64}


def is_number(leaf: Any) -> bool:
    """Whether a leaf of arguments or results is a number of Python's."""
    return type(leaf) in _DTYPES


def as_tensor(leaf: Any) -> Any:
    """A number as a tensor; anything else as it is."""
    return torch.tensor(leaf, dtype=_DTYPES[type(leaf)]) if is_number(leaf) else leaf


def note_scalars(exported: torch.export.ExportedProgram, arguments: Iterable[int]) -> None:
    """Marks the arguments of these numbers in a functional program as numbers of Python's."""
    nodes = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    names = [str(name) for name in exported.graph_signature.user_inputs]
    for number in arguments:
        nodes[names[number]].meta[SCALAR] = True


def return_numbers_as_tensors(exported: torch.export.ExportedProgram) -> None:
    """Makes tensors of what a functional program returns as numbers, and marks them."""
    output = exported.graph.output_node()
    specs = exported.graph_signature.output_specs
    results = list(output.args[0])
    for place, (spec, value) in enumerate(zip(specs, results, strict=True)):
        number = value.meta.get("val") if isinstance(value, torch.fx.Node) else value
        dtype = _dtype(number)
        if isinstance(spec.arg, TensorArgument) or dtype is None:
            continue
        with exported.graph.inserting_before(output):
            node = exported.graph.call_function(
                torch.ops.aten.scalar_tensor.default, (value,), {"dtype": dtype}
            )
        with FakeTensorMode():
            node.meta["val"] = torch.empty((), dtype=dtype)
        node.meta[SCALAR] = True
        spec.arg = TensorArgument(name=node.name)
        results[place] = node
    output.args = (tuple(results),)


def _dtype(number: Any) -> torch.dtype | None:
    for types, dtype in (
        ((bool, torch.SymBool), torch.bool),
        ((int, torch.SymInt), torch.int64),
        ((float, torch.SymFloat), torch.float64),
    ):
        if isinstance(number, types):
            return dtype
    return None
