"""Follows a program at other sizes than those of its example, to see whether it holds for them."""

import functools
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import torch
from torch._functorch import predispatch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from plumbline.loader_to_torch.pytorch_state import exporting
from plumbline.loader_to_torch.written_sizes import written_as


class FollowedProgram:
    """A program whose ops are followed at several sizes, without any elements.

    It is given as forms of one, with the same inputs; those that are the same as the last are
    followed once.
    """

    def __init__(self, *forms: torch.export.ExportedProgram) -> None:
        *others, last = forms
        unlike = [form for form in others if not _is_same(form, last)]
        self._forms = [_Form(form) for form in (*unlike, last)]

    @property
    def examples(self) -> dict[Any, int]:
        """The symbols in the sizes of inputs, and what they are in the example."""
        return self._forms[-1].sizes

    def holds_at(self, changed: dict[Any, int]) -> bool:
        """Whether the program works with symbols of such sizes, the others as in its example.

        It does not if an op of any form refuses them, or gives a tensor of another shape than is
        written beside it.
        """
        return all(form.holds_at(changed) for form in self._forms)


def _is_same(one: torch.export.ExportedProgram, other: torch.export.ExportedProgram) -> bool:
    """Whether two graphs have the same nodes, with the same written beside them."""
    if len(one.graph.nodes) != len(other.graph.nodes):
        return False
    made: dict[torch.fx.Node, torch.fx.Node] = {}
    for node, copy in zip(one.graph.nodes, other.graph.nodes, strict=True):
        args, kwargs = map_arg((node.args, node.kwargs), made.__getitem__)
        is_named = node.op != "placeholder"
        if (
            node.op != copy.op
            or (is_named and node.target != copy.target)
            or (args, kwargs) != (copy.args, copy.kwargs)
            or node.meta.get("val") is not copy.meta.get("val")
        ):
            return False
        made[node] = copy
    return True


_aten = torch.ops.aten

_READS_ELEMENTS = {
    _aten._adaptive_avg_pool2d,
    _aten._adaptive_avg_pool3d,
    _aten.adaptive_avg_pool2d,
    _aten.adaptive_avg_pool3d,
    _aten.grid_sampler,
    _aten.grid_sampler_2d,
    _aten.grid_sampler_3d,
    _aten.upsample_bicubic2d,
    _aten.upsample_bilinear2d,
    _aten.upsample_linear1d,
    _aten.upsample_trilinear3d,
}
"""Ops that images without elements are refused by as they run, and not as shapes are followed."""

_LOOKS_AT_NUMBERS = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


class _Form:
    """A graph that is followed at several sizes, if at any, then at those of its example first."""

    def __init__(self, program: torch.export.ExportedProgram) -> None:
        self.sizes = _example_sizes(program)
        self._program = program
        # What depends on values has sizes and numbers that are symbols.
        shape_env = ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True)
        self._mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=shape_env)
        # An op that writes in place may change the shape of what others read; one of a transform
        # changes what others do.
        nodes = program.graph.nodes
        self._may_share = not any(_writes(node) or _is_of_transform(node) for node in nodes)
        # PyTorch keeps what it makes of the numbers in a tensor with that.
        self._are_alike = self._may_share and not any(map(_looks_at_numbers, nodes))

    def holds_at(self, changed: dict[Any, int]) -> bool:
        """Whether the program works with symbols of such sizes, the others as in its example."""
        if self._example is None:
            # A program that cannot be followed at its own sizes tells nothing about others.
            return True
        return self._values(changed, self._example if self._may_share else {}) is not None

    @functools.cached_property
    def _example(self) -> dict[torch.fx.Node, Any] | None:
        """What each node gives at the sizes of the example, once it is asked for others."""
        return self._values({}, {})

    def _values(
        self, changed: dict[Any, int], example: dict[torch.fx.Node, Any]
    ) -> dict[torch.fx.Node, Any] | None:
        """What each node gives, if all can be followed."""
        calls = _Calls() if self._are_alike else None
        follow = _Follow(self._program.graph_module, {**self.sizes, **changed}, example, calls)
        try:
            with exporting(), self._mode, torch.no_grad():
                follow.run()
        except Exception:
            return None
        return follow.values


def _writes(node: torch.fx.Node) -> bool:
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and target._schema.is_mutable


def _looks_at_numbers(node: torch.fx.Node) -> bool:
    """Whether the sizes of what a node gives, or numbers, depend on what is in tensors."""
    tags = getattr(node.target, "tags", ())
    return any(tag in tags for tag in _LOOKS_AT_NUMBERS)


def _is_of_transform(node: torch.fx.Node) -> bool:
    """Whether a node enters or leaves `torch.func.vmap` or its like, or is at its edge."""
    return getattr(node.target, "__module__", None) == predispatch.__name__


def _example_sizes(program: torch.export.ExportedProgram) -> dict[Any, int]:
    """The symbols in the sizes of inputs, and what they are in the example."""
    found: dict[Any, int] = {}
    for node in program.graph.find_nodes(op="placeholder"):
        for _, size in symbolic_sizes_of(node):
            values = size.node.shape_env.backed_var_to_val
            found |= {symbol: int(values[symbol]) for symbol in size.node.expr.free_symbols}
    return found


def symbolic_sizes_of(node: torch.fx.Node) -> Iterator[tuple[int, torch.SymInt]]:
    """The axes and sizes of the tensor that a node gives, if it does, that are no numbers."""
    value = node.meta.get("val")
    for axis, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
        if isinstance(size, torch.SymInt):
            yield axis, size


class _Unlike(Exception):
    """A value is not of the shape that is written beside it."""


class _NoElements(Exception):
    """An op is given an image without elements, which it refuses."""


class _Calls:
    """Calls of ops on tensors that have shapes and no elements, where nothing is written.

    To find out the shape of a result takes PyTorch a fraction of a millisecond, and the layers of a
    model are alike. So that what they are called with is the same, results that are alike are one.
    """

    def __init__(self) -> None:
        self._results: dict[Hashable, Any] = {}
        self._tensors: dict[Hashable, torch.Tensor] = {}

    def result(
        self,
        call: Callable[[Any, Any, Any], Any],
        op: torch._ops.OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """What `call` says that an op gives, unless it has said so of a call that is the same.

        What it is called with is to stay as long as this does.
        """
        key = (op, _identity(args), _identity(kwargs))
        if key in self._results:
            return self._results[key]
        result = call(op, args, kwargs)
        parts = result if isinstance(result, tuple | list) else (result,)
        if all(isinstance(part, FakeTensor) and _is_of_known_sizes(part) for part in parts):
            if not any(returned.alias_info for returned in op._schema.returns):
                result = pytree.tree_map(self.one_like, result)
            self._results[key] = result
        return result

    def one_like(self, tensor: torch.Tensor) -> torch.Tensor:
        """The first tensor that looks like this one, which is no view."""
        # PyTorch may know the number that is in one.
        if not isinstance(tensor, FakeTensor) or tensor.constant is not None:
            return tensor
        looks = (tensor.shape, tensor.stride(), tensor.dtype, tensor.fake_device)
        return self._tensors.setdefault(looks, tensor)


def _is_of_known_sizes(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and all(isinstance(size, int) for size in tensor.shape)


def _identity(value: Any) -> Hashable:
    """What is equal if an op does the same for it."""
    match value:
        case list() | tuple():
            return (type(value), *map(_identity, value))
        case dict():
            return tuple((name, _identity(part)) for name, part in value.items())
        case torch.Tensor() | torch.SymInt() | torch.SymFloat() | torch.SymBool():
            return id(value)
        case _:
            # 1, 1.0 and True are equal, too.
            return type(value), value


class _Follow(torch.fx.Interpreter):
    """Runs a graph on tensors that have shapes and no elements, and compares their shapes.

    What does not depend on sizes other than in an `example` is taken from there: the values of its
    nodes. With `calls`, an op that is called several times alike is called once.
    """

    def __init__(
        self,
        module: torch.fx.GraphModule,
        symbols: dict[Any, int],
        example: dict[torch.fx.Node, Any],
        calls: "_Calls | None",
    ) -> None:
        super().__init__(module, garbage_collect_values=True)
        # What fails here is no mistake, for which the whole graph would be printed.
        self.extra_traceback = False
        self._symbols = symbols.keys()
        # To have sympy substitute took half of the time.
        self._numbers: dict[Any, Any] = dict(symbols)
        self._example = example
        self._calls = calls
        self.values: dict[torch.fx.Node, Any] = {}
        """What each node gives."""

    def run_node(self, node: torch.fx.Node) -> Any:
        """What a node gives at these sizes.

        Raises:
          _Unlike: it is of another shape than the graph says.
        """
        self.values[node] = value = self._value(node)
        is_known = node in self._example and value is self._example[node]
        if node.op not in ("placeholder", "output") and not is_known:
            pytree.tree_map(self._compare, value, node.meta.get("val"))
        return value

    def _value(self, node: torch.fx.Node) -> Any:
        known = self._example.get(node)
        if node.op == "placeholder":
            expected = node.meta.get("val")
            if isinstance(known, torch.Tensor) and list(known.shape) == self._sizes_of(expected):
                return known
            return pytree.tree_map_only(torch.Tensor, self._of_these_sizes, expected)
        is_as_in_example = node in self._example and all(
            self.values[one] is self._example[one] for one in node.all_input_nodes
        )
        return known if is_as_in_example else super().run_node(node)

    def call_function(self, target: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """What a function gives.

        Raises:
          _NoElements: PyTorch would say so as it runs.
        """
        if not isinstance(target, torch._ops.OpOverload):
            return super().call_function(target, args, kwargs)
        if target.overloadpacket in _READS_ELEMENTS and 0 in args[0].shape[1:]:
            raise _NoElements
        if self._calls is None:
            return super().call_function(target, args, kwargs)
        return self._calls.result(super().call_function, target, args, kwargs)

    def _sizes_of(self, tensor: Any) -> list[int | None]:
        return [self._number(size) for size in tensor.shape]

    def _of_these_sizes(self, tensor: torch.Tensor) -> torch.Tensor:
        # What depends on no input cannot be the size of one.
        sizes = [size for size in self._sizes_of(tensor) if size is not None]
        made = torch.empty(sizes, dtype=tensor.dtype)
        return made if self._calls is None else self._calls.one_like(made)

    def _compare(self, value: Any, expected: Any) -> None:
        if not isinstance(value, torch.Tensor):
            return
        sizes = self._sizes_of(expected)
        if len(sizes) != value.dim():
            raise _Unlike
        for size, given in zip(sizes, value.shape, strict=True):
            if size is not None and isinstance(given, int) and size != given:
                raise _Unlike

    def _number(self, size: int | torch.SymInt) -> int | None:
        """A size in numbers, where it depends on those of inputs alone."""
        if isinstance(size, int):
            return size
        expression = size.node.expr
        if not expression.free_symbols <= self._symbols:
            return None
        return int(written_as(expression, self._numbers))
