"""Numbers that a decomposition knows as it is made, such as the sines of a transform.

PyTorch takes no tensors that decompositions bring along. So they name a table by an op of our own,
`plumbline::table`, and `make_tables_constants` puts the numbers in its place, as constants of the
program: they are computed once, in float64, and lie in the library like its weights.
"""

import functools
from collections.abc import Callable, Sequence

import torch
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument
from torch.fx import GraphModule, Node

from plumbline.loader_to_torch.decompositions.bodies import (
    bodies_of,
    operands_of,
    with_operand,
)

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


_TABLE = torch.ops.plumbline.table.default


@_table.register_fake
def _(name: str, numbers: list[int], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(_FUNCTIONS[name](*numbers).shape, dtype=dtype)


def make_tables_constants(exported: torch.export.ExportedProgram) -> None:
    """Puts constants in the place of the tables that a functional program names.

    Branches and loops have those of their bodies handed to them, as operands.
    """
    made: dict[str, Node] = {}

    def constant(table: Node) -> Node:
        name = _name(table)
        if name not in made:
            value = _TABLE(*table.args)
            made[name] = add_constant(exported, name, value, table)
        return made[name]

    if any(_tables(exported.graph_module)):
        _put(constant, exported.graph_module)


def _put(operand: Callable[[Node], Node], module: GraphModule) -> None:
    """Puts what stands for a table in the place of each that a module and its bodies name."""
    for node in list(module.graph.nodes):
        if node.target is _TABLE:
            node.replace_all_uses_with(operand(node))
            module.graph.erase_node(node)
            continue
        bodies = bodies_of(module, node)
        tables = {_name(table): table for body in bodies for table in _tables(body)}
        if not tables:
            continue
        # Of each such op, what its bodies are handed comes last.
        *others, handed = node.args
        node.args = (*others, (*handed, *map(operand, tables.values())))
        for body in bodies:
            own = {name: _handed(body, name, table) for name, table in tables.items()}
            _put(lambda table, own=own: own[_name(table)], body)  # type: ignore[misc]
    module.recompile()


def _tables(module: GraphModule) -> list[Node]:
    """Those that a module names, and its bodies."""
    graphs = (each.graph for each in module.modules() if isinstance(each, GraphModule))
    return [node for graph in graphs for node in graph.nodes if node.target is _TABLE]


def _handed(body: GraphModule, name: str, table: Node) -> Node:
    """The operand of a body that a table is handed to it as, its last one."""
    operand = with_operand(body, f"c_{name}", len(operands_of(body)))
    operand.meta["val"] = table.meta["val"]
    return operand


def _name(table: Node) -> str:
    """What a table is called, of which there is one by that name."""
    name, numbers, dtype = table.args
    return "_".join(map(str, [name, *numbers, dtype])).replace("torch.", "")  # type: ignore[misc]


def add_constant(
    exported: torch.export.ExportedProgram, name: str, value: torch.Tensor, like: Node
) -> Node:
    """A new input of a program, before all others, which stands for a constant."""
    with exported.graph.inserting_before(next(iter(exported.graph.nodes))):
        node: Node = exported.graph.placeholder(f"c_{name}")
    node.meta["val"] = like.meta["val"]
    exported.constants[name] = value
    spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), name)
    exported.graph_signature.input_specs.insert(0, spec)
    return node
