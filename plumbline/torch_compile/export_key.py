"""The key of what becomes of a program in the Torch dialect: all that decides it, as text.

It is told of programs of ops of PyTorch's own: what others mean is known by exporting them only.
"""

import functools
import hashlib
from dataclasses import dataclass
from typing import Any

import sympy
import torch
import torch._functorch.config as functorch_config
import torch.fx.experimental._config as sizes_config
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import ShapeEnv, free_unbacked_symbols

from plumbline.cache.key import key_of
from plumbline.loader_to_torch.node_locations import by_import_path, module_path
from plumbline.torch_compile.divided_graph import Program
from plumbline.torch_compile.size_facts import expression, facts

_PLAIN = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    torch.device,
    torch.dtype,
    torch.layout,
    torch.memory_format,
)
"""Whose values `repr` tells apart, -0.0 and 0.0 too."""

_SEQUENCES = (tuple, list)

_NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)

_OWN = ("aten", "plumbline", "prims")
"""The namespaces of ops that mean the same in all processes of the same versions."""


class _UnknownError(Exception):
    """There is something in a program that may mean another thing in another process."""


@dataclass(frozen=True)
class ExportKey:
    """The key of a program."""

    key: bytes
    known: ShapeEnv | None
    """What is known of its sizes, where some may differ; the key tells of that too."""


def export_key(module: GraphModule, program: Program) -> ExportKey | None:
    """The key, or None where it cannot be told.

    Args:
      module: has what the program's graph calls by name.
      program: to be exported.
    """
    if program.weights:
        # Small ones become parts of the text, and others are computed with.
        return None
    writer = _Writer()
    try:
        writer.graph(module, program.graph)
        for name, constant in program.constants.items():
            writer.add(name, _content(constant))
    except _UnknownError:
        return None
    writer.add(dict(program.inout), program.scalars, program.draws, _settings())
    if writer.known is not None:
        writer.add(facts(writer.known))
    return ExportKey(key_of("export", "\n".join(writer.lines)), writer.known)


def _settings() -> tuple[Any, ...]:
    """What else decides what PyTorch makes of a program."""
    return (
        str(torch.get_default_dtype()),
        str(torch.get_default_device()),
        torch.is_autocast_enabled("cpu"),
        str(torch.get_autocast_dtype("cpu")),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
        tuple(torch.get_rng_state().shape),
        functorch_config.get_hash(),
        sizes_config.get_hash(),  # type: ignore[attr-defined]
    )


class _Writer:
    """Writes a graph, and those of the bodies of its loops and branches, one line for each node."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._storages: dict[int, int] = {}
        """Numbers of them, in order, by which it is told which values share memory."""
        self._traces: dict[str, int] = {}
        """Numbers of stack traces, which many nodes have in common."""
        self.known: ShapeEnv | None = None
        """What is known of sizes, once there is one that may differ."""

    def add(self, *values: Any) -> None:
        """Adds a line."""
        self.lines.append(repr(values))

    def graph(self, root: torch.nn.Module, graph: Graph) -> None:
        """Adds a graph, of which `root` has what it calls by name."""
        for node in graph.nodes:
            self.lines.append(
                "\t".join(
                    (
                        node.op,
                        node.name,
                        self._target(root, node),
                        self._given((node.args, node.kwargs)),
                        self._value(node.meta.get("val")),
                        repr(node.meta.get("tensor_meta")),
                        str(node.meta.get("original_aten")),
                        module_path(node),
                        str(self._trace(node.meta.get("stack_trace") or "")),
                    )
                )
            )

    def _target(self, root: torch.nn.Module, node: Node) -> str:
        target = node.target
        if node.op in ("placeholder", "output"):
            return str(target)
        if node.op == "get_attr" and isinstance(target, str):
            return self._attribute(functools.reduce(getattr, target.split("."), root))
        if isinstance(target, torch._ops.OpOverload) and target.namespace in _OWN:
            return str(target)
        if isinstance(target, torch._ops.HigherOrderOperator) and _is_pytorchs(type(target)):
            return str(target._name)
        if getattr(target, "__module__", "") in ("_operator", "math", "torch"):
            return f"{target.__module__}.{target.__qualname__}"  # type: ignore[union-attr]
        raise _UnknownError

    def _attribute(self, value: object) -> str:
        if isinstance(value, GraphModule):
            self.add("body")
            self.graph(value, value.graph)
            return "body"
        if isinstance(value, torch.Tensor):
            return _content(value)
        raise _UnknownError

    def _value(self, value: Any) -> str:
        """What is known of a node's value."""
        if isinstance(value, _SEQUENCES):
            return f"{type(value).__name__}[{','.join(map(self._value, value))}]"
        if type(value) in _PLAIN:
            return repr(value)
        if isinstance(value, _NUMBERS):
            return self._number(value)
        if type(value) is not FakeTensor or value.layout != torch.strided:
            raise _UnknownError
        storage = value.untyped_storage()
        told = (
            *(str(value.dtype), str(value.device)),
            *(self._given(tuple(sizes)) for sizes in (value.shape, value.stride())),
            self._given((value.storage_offset(), storage.nbytes(), value.item_memo)),
            *(value.requires_grad, value.is_conj(), value.is_neg()),
            self._storages.setdefault(storage._cdata, len(self._storages)),
            None if value.constant is None else _content(value.constant),
        )
        return repr(told)

    def _number(self, value: Any) -> str:
        """One that may differ. Those that depend on values are numbered as they are met."""
        told = value.node.expr
        if not isinstance(told, sympy.Basic) or free_unbacked_symbols(told):
            raise _UnknownError
        self.known = value.node.shape_env
        return f"{type(value).__name__}({expression(told)})"

    def _given(self, value: Any) -> str:
        """What an op is given."""
        if isinstance(value, Node):
            return f"%{value.name}"
        if type(value) in _PLAIN:
            return repr(value)
        if isinstance(value, _SEQUENCES):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return f"{kind}[{','.join(map(self._given, value))}]"
        if isinstance(value, dict):
            items = (f"{name!r}:{self._given(item)}" for name, item in value.items())
            return f"dict[{','.join(items)}]"
        if isinstance(value, slice):
            return f"slice{self._given((value.start, value.stop, value.step))}"
        if isinstance(value, _NUMBERS):
            return self._number(value)
        raise _UnknownError

    def _trace(self, trace: str) -> int:
        if trace not in self._traces:
            self._traces[trace] = len(self._traces)
            self.add(by_import_path(trace))
        return self._traces[trace]


def _content(tensor: torch.Tensor) -> str:
    """A tensor with its elements."""
    is_plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and not tensor.is_quantized
    if not is_plain or tensor.layout != torch.strided or tensor.device.type != "cpu":
        raise _UnknownError
    told = tensor.detach().resolve_conj().resolve_neg()
    elements = told.contiguous().reshape(-1).view(torch.uint8).numpy()
    digest = hashlib.sha256(elements.data).hexdigest()
    return repr((str(tensor.dtype), tuple(tensor.shape), tensor.stride(), digest))


def _is_pytorchs(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "torch"
