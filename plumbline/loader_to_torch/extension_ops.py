"""Takes ops apart that a library or the user has added to PyTorch: into what their kernels call.

That is for kernels which are written by PyTorch's ops: those of `torch.library.custom_op`, and
what is registered as composite. One that computes otherwise, such as with numpy, leaves its op
whole, which is then refused.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard
from unittest import mock

import torch
from torch._library.custom_ops import OPDEFS

from plumbline.loader_to_torch.decompositions.rule import Rule
from plumbline.loader_to_torch.node_locations import all_nodes

_Op = torch._ops.OpOverload

_OWN = frozenset(["aten", "inductor", "mkldnn", "plumbline", "prim", "prims", "profiler"])
"""Namespaces whose ops are PyTorch's or ours: rules for them are elsewhere."""

_COMPOSED = torch._C.DispatchKey.CompositeImplicitAutograd

_COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd")


def with_extension_ops(
    exported: torch.export.ExportedProgram, table: Mapping[Any, Rule]
) -> dict[Any, Rule]:
    """`table`, and rules of ops of extensions, where a program has any that the table lacks.

    Kernels may call further ones of them.
    """
    rules = dict(table)
    if any(_is_of_extension(node.target, table) for node in all_nodes(exported)):
        for op in _registered():
            if _is_of_extension(op, table) and (key := _composite_key(op)) is not None:
                rules[op] = _by_kernel(op, key)
    return rules


@contextlib.contextmanager
def writes_by_extension_ops(exported: torch.export.ExportedProgram) -> Iterator[None]:
    """Has ops of extensions that write into arguments be taken apart within, too.

    PyTorch would make a higher-order op of each, before it asks any table: not of composite ops,
    so that what their kernels call counts as that.
    """
    with contextlib.ExitStack() as changes:
        if any(_is_extension(node.target) and _writes(node.target) for node in all_nodes(exported)):
            for op in filter(_writes, _registered()):
                if (key := _composite_key(op)) is not None and _COMPOSED not in op.py_kernels:
                    changes.callback(op._dispatch_cache.clear)
                    rule = _by_kernel(op, key)
                    changes.enter_context(mock.patch.dict(op.py_kernels, {_COMPOSED: rule}))
                    op._dispatch_cache.clear()
        yield


def _is_of_extension(op: object, table: Mapping[Any, Rule]) -> bool:
    return _is_extension(op) and op not in table and not _writes(op)


def _is_extension(op: object) -> TypeGuard[_Op]:
    return isinstance(op, _Op) and op.namespace not in _OWN


def _writes(op: _Op) -> bool:
    return op._schema.is_mutable


def _registered() -> Iterator[_Op]:
    """All ops that have a composite kernel, of whatever namespace but PyTorch's own."""
    names = set(OPDEFS)
    for key in _COMPOSITE:
        names.update(torch._C._dispatch_get_registrations_for_dispatch_key(key))
    for name in sorted(names):
        namespace, _, op = name.partition("::")
        if namespace in _OWN:
            continue
        packet, _, overload = op.partition(".")
        try:
            yield getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")
        except AttributeError:
            # A registration outlives the library that it was made by.
            continue


def _composite_key(op: _Op) -> str | None:
    return next(
        (
            key
            for key in _COMPOSITE
            if torch._C._dispatch_has_kernel_for_dispatch_key(op._name, key)
        ),
        None,
    )


def _by_kernel(op: _Op, key: str) -> Rule:
    dispatch_key = getattr(torch._C.DispatchKey, key)

    def decomposed(*arguments: Any, **options: Any) -> Any:
        try:
            return op._op_dk(dispatch_key, *arguments, **options)
        except Exception:
            # The kernel is the user's, who may do anything with tensors that have no data.
            return NotImplemented

    return decomposed
