"""Numbers that a decomposition knows as it is made, such as the sines of a transform.

PyTorch takes no tensors that decompositions bring along. So they name a table by an op of our own,
`plumbline::table`, and `make_tables_constants` puts the numbers in its place, as constants of the
program: they are computed once, in float64, and lie in the library like its weights.
"""

import functools
from collections.abc import Callable, Sequence

import torch
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument

_FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {}
"""What computes the numbers of a table, by its name."""

Table = Callable[[Sequence[int], torch.dtype], torch.Tensor]
"""A table in a program that is traced, by what tells it from others of its kind, and of a dtype."""


_LITERALS: set[str] = set()
"""Those whose numbers matter to how they are multiplied by, and so stay in the program's text."""


def literal_table(function: Callable[..., torch.Tensor]) -> Table:
    """The table that `function` computes, as `constant_table` does, as a literal of the program.

    It is a small one.
    """
    _LITERALS.add(function.__name__.strip("_"))
    return constant_table(function)


def is_literal_table(name: str) -> bool:
    """Whether a constant that goes by this name is a table that is a literal."""
    return any(name.startswith(f"{literal}_") for literal in _LITERALS)


def constant_table(function: Callable[..., torch.Tensor]) -> Table:
    """The table that `function` computes in float64 from whole numbers.

    Functions have names that differ.
    """
    name = function.__name__.strip("_")
    _FUNCTIONS[name] = function

    @functools.wraps(function)
    def named(numbers: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        result: torch.Tensor = torch.ops.plumbline.table.default(name, list(numbers), dtype)
        return result

    return named


@torch.library.custom_op("plumbline::table", mutates_args=())
def _table(name: str, numbers: list[int], dtype: torch.dtype) -> torch.Tensor:
    return _FUNCTIONS[name](*numbers).to(dtype).contiguous()


@_table.register_fake
def _(name: str, numbers: list[int], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(_FUNCTIONS[name](*numbers).shape, dtype=dtype)


def make_tables_constants(exported: torch.export.ExportedProgram) -> None:
    """Puts constants in the place of the tables that a functional program names."""
    op = torch.ops.plumbline.table.default
    made: dict[str, torch.fx.Node] = {}
    for node in exported.graph.find_nodes(op="call_function", target=op):
        name = "_".join(map(str, [node.args[0], *node.args[1], node.args[2]]))
        name = name.replace("torch.", "")
        if name not in made:
            made[name] = add_constant(exported, name, op(*node.args), node)
        node.replace_all_uses_with(made[name])
        exported.graph.erase_node(node)
    if made:
        exported.graph_module.recompile()


def add_constant(
    exported: torch.export.ExportedProgram, name: str, value: torch.Tensor, like: torch.fx.Node
) -> torch.fx.Node:
    """A new input of a program, before all others, which stands for a constant."""
    with exported.graph.inserting_before(next(iter(exported.graph.nodes))):
        node: torch.fx.Node = exported.graph.placeholder(f"c_{name}")
    node.meta["val"] = like.meta["val"]
    exported.constants[name] = value
    spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), name)
    exported.graph_signature.input_specs.insert(0, spec)
    return node
