"""The only place where an MLIR context is made and dialects are loaded into one.

Nothing here imports torch: the Torch dialect is registered by the MLIR bindings alone.
"""

import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir

# The wheel has no public module for it.
from torch_mlir.dialects._ods_common import _cext as bindings

# The families define the ops, which the dialect must know of before it is loaded.
import plumbline.tcp.ops as _tcp_ops  # noqa: F401
from plumbline.tcp.dialect import NAMESPACE, TCP

# Before they make an op, the bindings import the Python module of its dialect, `plumbline.tcp`,
# `plumbline.bindings.torch_c` or `plumbline.bindings.stablehlo`. One that they find, they never
# look for again; for one that there is not, they search the file system at each op, which took more
# time than the passes over TCP themselves.
bindings.globals.append_dialect_search_prefix("plumbline")
bindings.globals.append_dialect_search_prefix("plumbline.bindings")


_prepared: dict[tuple[bool, bool], ir.Context] = {}
"""Contexts that no one has had yet, by the arguments of `make_context`."""


def make_context(*, torch: bool = False, stablehlo: bool = False) -> ir.Context:
    """A new context with TCP and all upstream dialects; the Torch dialect and StableHLO if asked.

    The context has no threads of its own (the bindings' default): a stage lives shorter than
    starting a pool pays for, and verifiers in Python would take turns anyway.
    """
    return _prepared.pop((torch, stablehlo), None) or _make_context(torch, stablehlo)


_MOST_PROGRAMS = 64
"""How many programs a context is lent for: it keeps each type and attribute that it has had."""


@dataclass(frozen=True)
class _Spare:
    """A context that has been lent, and given back."""

    context: ir.Context
    programs: int
    """How many it has been lent for."""


_spare: defaultdict[tuple[bool, bool], list[_Spare]] = defaultdict(list)


@contextlib.contextmanager
def lent_context(*, torch: bool = False, stablehlo: bool = False) -> Iterator[ir.Context]:
    """A context as of `make_context`, lent for one program, of which texts are made.

    It then serves the next one, in any thread, unless a module in it is still there or an exception
    was raised: to make a context takes as long as all passes over a program of a few ops.
    """
    spares = _spare[torch, stablehlo]
    try:
        spare = spares.pop()
    except IndexError:
        spare = _Spare(make_context(torch=torch, stablehlo=stablehlo), 0)
    modules = spare.context._get_live_module_count()
    yield spare.context
    left = spare.context._get_live_module_count() > modules
    if not left and spare.programs + 1 < _MOST_PROGRAMS:
        spares.append(_Spare(spare.context, spare.programs + 1))


_MOST_LENT = 1 << 20
"""The bytes of a program that a lent context is for: one keeps each constant that it has had."""


@contextlib.contextmanager
def context_for(
    program: str | bytes, *, torch: bool = False, stablehlo: bool = False
) -> Iterator[ir.Context]:
    """A context that is lent for a program, if that is no more than it may keep.

    For more it is a new one, which is not there any more when the module and this are gone.
    """
    if len(program) > _MOST_LENT:
        yield make_context(torch=torch, stablehlo=stablehlo)
        return
    with lent_context(torch=torch, stablehlo=stablehlo) as context:
        yield context


def prepare_context(*, torch: bool = False, stablehlo: bool = False) -> None:
    """Makes the context beforehand that the next such call of `make_context` gives.

    So does a process that then forks: each fork has one, and need not take the 12 ms.
    """
    _prepared[torch, stablehlo] = _make_context(torch, stablehlo)


def _make_context(torch: bool, stablehlo: bool) -> ir.Context:
    context = ir.Context()
    load_tcp(context)
    if torch:
        register_torch(context)
    if stablehlo:
        register_stablehlo(context)
    return context


_loading_tcp = threading.Lock()
"""Held while TCP is loaded into a context.

The bindings keep the module that they load a dialect from in the dialect's class, and run passes
over it, in which other threads go on: of two that load at once, one would have the other's module,
and the process end.
"""


def load_tcp(context: ir.Context) -> None:
    """Loads TCP into a context, once. Threads take turns."""
    with _loading_tcp:
        if not context.is_dialect_loaded(NAMESPACE):
            with context, ir.Location.unknown():
                TCP.load()


def register_torch(context: ir.Context) -> None:
    """Registers the Torch dialect, without which the passes over it do not parse."""
    # 40 ms to import, which the later stages need not pay.
    from torch_mlir.dialects.torch import register_dialect
    from torch_mlir.passmanager import PassManager

    register_dialect(context)
    # torch_c, of the casts between the types of Torch and builtin ones, and tm_tensor, of what a
    # TCP or linalg module holds for sorts and scans, can be registered by no function; the passes
    # that make their ops load them.
    with context, ir.Location.unknown():
        manager = PassManager.parse(
            "builtin.module(torch-func-backend-type-conversion,func.func(convert-torch-to-tmtensor))"
        )
        manager.run(ir.Module.create().operation)


def register_stablehlo(context: ir.Context) -> None:
    """Registers StableHLO and CHLO, which exporters mix in, and the passes over them."""
    # The wheel has no public module for it.
    from torch_mlir._mlir_libs import _stablehlo
    from torch_mlir.passmanager import PassManager

    _stablehlo.register_dialect(context)
    _stablehlo.register_stablehlo_passes()
    # As with torch_c, a pass that makes ops of CHLO loads it.
    with context, ir.Location.unknown():
        manager = PassManager.parse("builtin.module(func.func(stablehlo-complex-math-expander))")
        manager.run(ir.Module.create().operation)
