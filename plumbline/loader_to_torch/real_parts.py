"""Makes two real tensors of each complex one in a program.

What has the real and the imaginary part beside each other at the boundary, as C, C++, numpy and
PyTorch keep them, is there a tensor of one dimension more, whose size is 2. Inside the parts are
tensors of their own: what moves numbers about is done to each of them, whatever dimensions it
names, and elementwise ops are as good as any on real numbers, to every later stage. That is why it
happens here, where PyTorch itself says what shapes and dtypes come of that.

`decompositions/complex_numbers.py` has made real ops of what computes. What is neither in its table
nor here is refused, by its name and place.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import InputKind
from torch.fx import Node
from torch.utils._pytree import tree_leaves, tree_map

from plumbline.loader_to_torch.moves import MOVES
from plumbline.loader_to_torch.node_locations import all_nodes

aten = torch.ops.aten

_Pair = tuple[Node, Node]

_MOVED = MOVES | {
    aten.constant_pad_nd,
    aten.cumsum,
    aten.fill,
    aten.full,
    aten.full_like,
    aten.index_fill,
    aten.masked_fill,
    aten.neg,
    aten.new_full,
    aten.new_ones,
    aten.new_zeros,
    aten.ones,
    aten.ones_like,
    aten.pad,
    aten.scalar_tensor,
    aten.scatter_add,
    aten.zeros,
    aten.zeros_like,
    torch.ops.prims.convert_element_type,
    torch.ops.prims.squeeze,
}
"""What does to numbers what it does to each of their parts, such as all that moves them."""

_ONES = frozenset([aten.new_ones, aten.ones, aten.ones_like])
"""What makes numbers whose imaginary part is made by another op: zeros."""

_ORIGIN = ("stack_trace", "nn_module_stack", "from_node", "original_aten", "source_fn_stack")
"""What a node says of where it comes from."""

_NUMBERS = frozenset(["number", "Optional[float]"])
"""The types of what schemas give as a number that elements become; that of `aten.pad` is real."""

_VALUES = frozenset(["self", "other", "source", "src", "tensors", "value", "values"])
"""What schemas call the operands that the results are made of, and not indices or masks."""


def computes_with_complex(node: Node) -> bool:
    """Whether a node of a functional program takes or makes complex numbers that nothing splits."""
    if node.op != "call_function" or isinstance(node.target, HigherOrderOperator):
        return False
    op = getattr(node.target, "overloadpacket", node.target)
    known = op in _MOVED or op in _BY_OP or op is operator.getitem
    return not known and any(map(_is_complex, (_value(node), *map(_value, node.all_input_nodes))))


def split_complex(exported: torch.export.ExportedProgram) -> None:
    """Makes real tensors of the complex ones of a functional program, in place.

    The bodies of branches and loops are handed pairs of parts, as the program itself is. No op
    `computes_with_complex`.
    """
    if not any(map(_is_complex, map(_value, all_nodes(exported)))):
        return
    for spec in exported.graph_signature.input_specs:
        if spec.kind is InputKind.CONSTANT_TENSOR:
            name = str(spec.target)
            exported.constants[name] = as_real(exported.constants[name]).contiguous()
    for module in exported.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            _Splitting(module.graph).run()
            module.recompile()
    specs = exported.graph_signature.output_specs
    for output, node in zip(specs, _given(exported.graph.output_node())[0], strict=True):
        if isinstance(node, Node):
            output.arg.name = node.name


def as_real(value: Any) -> Any:
    """A complex tensor as it crosses the boundary; a real one, or another value, as it is."""
    is_complex = isinstance(value, torch.Tensor) and value.is_complex()
    return torch.view_as_real(value.resolve_conj()) if is_complex else value


class _Splitting:
    """One graph, of the program or of a body in it."""

    def __init__(self, graph: torch.fx.Graph) -> None:
        self._graph = graph
        self._parts: dict[Node, _Pair | list[_Pair]] = {}

    def run(self) -> None:
        values = [_value(node) for node in self._graph.nodes]
        if not any(map(_is_complex, values)):
            return
        self._mode = next(
            value.fake_mode for value in tree_leaves(values) if isinstance(value, FakeTensor)
        )
        for node in list(self._graph.nodes):
            with self._graph.inserting_before(node):
                if node.op == "placeholder":
                    self._split_as_pairs(node)
                elif node.op == "output":
                    node.args = torch.fx.map_arg(node.args, self._whole)
                elif node.op == "call_function":
                    self._split(node)
        self._graph.eliminate_dead_code()

    def _split_as_pairs(self, node: Node) -> None:
        """Takes a complex value that comes from elsewhere apart, where it comes as pairs."""
        if not _is_complex(_value(node)):
            return
        with self._mode:
            # Beside it is a note of the same that the importer looks at first.
            node.meta = {**node.meta, "val": as_real(node.meta["val"]), "tensor_meta": None}
        with self._graph.inserting_after(node):
            self._parts[node] = self._of_pairs(node, node)

    def _split_call(self, node: Node) -> None:
        """Calls bodies with pairs, and takes such from them."""
        node.args = torch.fx.map_arg(node.args, self._whole)
        if isinstance(_value(node), torch.Tensor):
            self._split_as_pairs(node)
        else:
            with self._mode:
                node.meta = {**node.meta, "val": tree_map(as_real, _value(node))}

    def _split(self, node: Node) -> None:
        split = _BY_OP.get(getattr(node.target, "overloadpacket", node.target))
        values = _value(node), *map(_value, node.all_input_nodes)
        if (
            split is None
            and not any(part in self._parts for part in node.all_input_nodes)
            and not any(map(_is_complex, values))
        ):
            return
        if split is not None:
            split(self, node)
        elif isinstance(node.target, HigherOrderOperator):
            self._split_call(node)
        elif node.target is operator.getitem:
            source, index = _given(node)
            pairs = self._parts.get(source)
            if isinstance(pairs, list):
                self._parts[node] = pairs[index]
            elif isinstance(source.target, HigherOrderOperator):
                self._split_as_pairs(node)
        else:
            self._move(node)

    def _view_as_complex(self, node: Node) -> None:
        self._parts[node] = self._of_pairs(_given(node)[0], node)

    def _complex(self, node: Node) -> None:
        real, imaginary = _given(node)
        self._parts[node] = real, imaginary

    def _size(self, node: Node) -> None:
        """Asks a part for a size in the place of both."""
        operand = _given(node)[0]
        if operand in self._parts:
            node.replace_input_with(operand, self._pair(operand, node)[0])

    def _conj(self, node: Node) -> None:
        operand = _given(node)[0]
        if not isinstance(operand, Node):
            # Gradients of products with a number ask for that of the number.
            dtype = _value(node).dtype.to_real()
            real, imaginary = (
                self._call(node, aten.full.default, [], part, dtype=dtype)
                for part in (operand.real, -operand.imag)
            )
            self._parts[node] = real, imaginary
            return
        real, imaginary = self._pair(operand, node)
        self._parts[node] = real, self._call(node, aten.neg.default, imaginary)

    def _neg_view(self, node: Node) -> None:
        if _is_complex(_value(node)):
            real, imaginary = (
                self._call(node, aten.neg.default, part)
                for part in self._pair(_given(node)[0], node)
            )
            self._parts[node] = real, imaginary
        else:
            node.target = aten.neg.default

    def _view_as_real(self, node: Node) -> None:
        # What only asks for a part asks for nothing that has to be made.
        axis = _value(node).dim() - 1
        for user in list(node.users):
            if user.target is aten.select.int and user.args[1] in (axis, -1):
                part = self._pair(_given(node)[0], node)[_given(user)[2]]
                user.replace_all_uses_with(part)
                self._graph.erase_node(user)
        if node.users:
            node.replace_all_uses_with(self._whole(_given(node)[0]))

    def _add_up(self, node: Node) -> None:
        """Adds up numbers that lie as pairs as such, whose parts are side by side in vectors."""
        operand, *how = _given(node)
        pairs = self._pairs_of(operand)
        rank = 0 if pairs is None else _value(pairs).dim() - 1
        if pairs is None or rank == 0 or not _is_complex(_value(node)):
            self._move(node)
            return
        dims = how[0] if how else None
        keepdim = len(how) > 1 and how[1]
        along = [dim % rank for dim in dims or range(rank)]
        is_mean = getattr(node.target, "overloadpacket", None) is aten.mean
        whole = aten.mean.dim if is_mean else aten.sum.dim_IntList
        dtype = _value(node).dtype.to_real()
        self._parts[node] = self._of_pairs(
            self._call(node, whole, pairs, along, keepdim, dtype=dtype), node
        )

    def _pairs_of(self, node: Any) -> Node | None:
        """The tensor in which the parts of a complex one lie as pairs, if they are taken of one."""
        parts = self._parts.get(node)
        if not isinstance(parts, tuple) or any(
            part.target is not aten.select.int for part in parts
        ):
            return None
        (pairs, *of_real), (others, *of_imaginary) = map(_given, parts)
        is_whole = pairs is others and [of_real, of_imaginary] == [[-1, 0], [-1, 1]]
        return pairs if is_whole else None

    def _move(self, node: Node) -> None:
        """Does to both parts what an op does to complex numbers."""
        result = _value(node)
        if not _is_complex(result):
            # From complex numbers to real ones the imaginary part is left out.
            node.replace_all_uses_with(self._moved(node, 0))
            return
        real, imaginary = self._moved(node, 0), self._moved(node, 1)
        if isinstance(result, torch.Tensor):
            self._parts[node] = real, imaginary
        else:
            self._parts[node] = [
                (
                    self._call(node, operator.getitem, real, index),
                    self._call(node, operator.getitem, imaginary, index),
                )
                for index in range(len(result))
            ]

    def _moved(self, node: Node, part: int) -> Node:
        target: Any = node.target
        schema = target._schema.arguments
        if part and target.overloadpacket in _ONES:
            name = target.overloadpacket.__name__.replace("ones", "zeros")
            target = getattr(getattr(aten, name), target._overloadname)
        args = [
            self._argument(node, value, argument, part)
            for value, argument in zip(node.args, schema, strict=False)
        ]
        named = {argument.name: argument for argument in schema}
        kwargs = {
            name: self._argument(node, value, named[name], part)
            for name, value in node.kwargs.items()
        }
        made = self._node(node, target, args, kwargs)
        # Some ops on symbolic sizes, run by themselves, are of known ones.
        with self._mode:
            made.meta["val"] = torch.utils._pytree.tree_map_only(
                torch.Tensor, _part_like, _value(node)
            )
        return made

    def _argument(self, node: Node, value: Any, argument: torch.Argument, part: int) -> Any:
        """What stands in an op on parts in the place of one of its arguments."""
        if isinstance(value, torch.dtype):
            return value.to_real() if value.is_complex else value
        if isinstance(value, list | tuple):
            return [self._argument(node, each, argument, part) for each in value]
        if str(argument.type) in _NUMBERS and isinstance(value, complex | float | int):
            return complex(value).imag if part else complex(value).real
        if isinstance(value, Node) and argument.name in _VALUES | {"a"}:
            if _is_complex(_value(value)) or value in self._parts:
                return self._pair(value, node)[part]
            if isinstance(_value(value), torch.Tensor):
                return self._promoted(node, value)[part]
        return value

    def _promoted(self, node: Node, value: Node) -> _Pair:
        """The parts of real numbers among complex ones."""
        result = _value(node)
        result = result if isinstance(result, torch.Tensor) else result[0]
        real = value
        if result.is_complex() and _value(value).dtype != result.dtype.to_real():
            real = self._call(node, aten._to_copy.default, value, dtype=result.dtype.to_real())
        return real, self._call(node, aten.zeros_like.default, real)

    def _pair(self, node: Node, user: Node) -> _Pair:
        pair = self._parts.get(node)
        if pair is None:
            return self._promoted(user, node)
        assert isinstance(pair, tuple)
        return pair

    def _of_pairs(self, pairs: Node, like: Node) -> _Pair:
        real = self._call(like, aten.select.int, pairs, -1, 0)
        with self._graph.inserting_after(real):
            return real, self._call(like, aten.select.int, pairs, -1, 1)

    def _whole(self, node: Any) -> Any:
        """A complex tensor as one that has the parts in a dimension more; others as they are."""
        if not isinstance(node, Node) or not isinstance(self._parts.get(node), tuple):
            return node
        parts = [
            self._call(node, aten.unsqueeze.default, part, -1) for part in self._pair(node, node)
        ]
        return self._call(node, aten.cat.default, parts, -1)

    def _call(self, like: Node, target: Any, *args: Any, **kwargs: Any) -> Node:
        """A new node, which stands for a part of what `like` stands for."""
        made = self._node(like, target, args, kwargs)
        given, named = torch.fx.map_arg((args, kwargs), lambda node: node.meta["val"])
        with self._mode:
            made.meta["val"] = target(*given, **named)
        return made

    def _node(self, like: Node, target: Any, args: Any, kwargs: Any) -> Node:
        made: Node = self._graph.call_function(target, tuple(args), kwargs)
        made.meta = {name: like.meta[name] for name in _ORIGIN if name in like.meta}
        return made


_BY_OP: Mapping[Any, Callable[[_Splitting, Node], None]] = {
    aten._conj: _Splitting._conj,
    aten._neg_view: _Splitting._neg_view,
    aten.complex: _Splitting._complex,
    aten.mean: _Splitting._add_up,
    aten.sum: _Splitting._add_up,
    aten.sym_size: _Splitting._size,
    aten.view_as_complex: _Splitting._view_as_complex,
    aten.view_as_real: _Splitting._view_as_real,
}


def _part_like(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as a part of `tensor` is, or as it is if it is real."""
    dtype = tensor.dtype.to_real() if tensor.is_complex() else tensor.dtype
    return torch.empty_like(tensor, dtype=dtype)


def _given(node: Node) -> tuple[Any, ...]:
    """The arguments of a call."""
    return node.args


def _value(node: Node) -> Any:
    return node.meta.get("val")


def _is_complex(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_complex, value))
    return isinstance(value, torch.Tensor) and value.is_complex()
