"""One entry of PyTorch's operator database, compiled and held against PyTorch."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import torch
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.opinfo.core import (
    BinaryUfuncInfo,
    OpInfo,
    ReductionOpInfo,
    ShapeFuncInfo,
    UnaryUfuncInfo,
)
from torch.utils import _pytree as pytree

import plumbline
from plumbline.compiler import CompiledProgram
from plumbline.errors import UserError
from plumbline.llvm_to_asm.ptxas import assemble
from plumbline.loader_to_torch.export import functional_graph
from plumbline.loader_to_torch.generator import GENERATOR
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.mutations import mutations
from plumbline.loader_to_torch.pytorch_state import exporting
from plumbline.loader_to_torch.traced_functions import TracedFunctions
from test.runtime.cuda.stand_in import Kernels, driver
from test.tools.aot.text_stages import llvm_ir_of

SAMPLES = 3
"""How many of an entry's samples are run at most."""

_SEED = 0

_UNINITIALIZED = frozenset(
    ["empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"]
)
"""What has the elements that happen to be in memory: there only shape and dtype are compared."""

_UP_TO_SIGNS = frozenset(
    ["linalg.eig", "linalg.eigh", "linalg.svd", "pca_lowrank", "svd", "svd_lowrank"],
)
"""What has vectors that are as good the other way around: there the database says what of them is
unique."""

_PREFIXES = {
    "fft.": "fft",
    "linalg.": "linalg",
    "nn.functional.": "nn.functional",
    "special.": "special",
}
_CLASSES: dict[type, str] = {
    UnaryUfuncInfo: "elementwise, of one",
    BinaryUfuncInfo: "elementwise, of two",
    ReductionOpInfo: "reduction",
    ShapeFuncInfo: "shape",
}
FAMILIES = (*_CLASSES.values(), *_PREFIXES.values(), "other")


@dataclass
class Outcome:
    """What became of an entry."""

    op: str
    """Its name in the database, such as "nn_functional_relu"."""
    family: str
    samples: int = 0
    """How many were run."""
    passed: int = 0
    failures: list[str] = field(default_factory=list)
    """Why each other sample did not pass."""
    skipped: str = ""
    """Why PyTorch itself has nothing to compare with; empty where it has."""
    aten: list[str] = field(default_factory=list)
    """The ATen ops of a sample that passed, as torch.export has them before any is decomposed."""

    @property
    def kind(self) -> str:
        """Whether "all" samples pass, "some", or "none", or the entry is "skipped"."""
        if self.skipped:
            return "skipped"
        return "all" if self.passed == self.samples else "some" if self.passed else "none"


def entries() -> dict[str, OpInfo]:
    """The database, by unique names."""
    return {entry.formatted_name: entry for entry in common_methods_invocations.op_db}


def family_of(entry: OpInfo) -> str:
    """The family that an entry is counted in, one of `FAMILIES`."""
    for prefix, family in _PREFIXES.items():
        if entry.name.startswith(prefix):
            return family
    for kind, family in _CLASSES.items():
        if isinstance(entry, kind):
            return family
    return "other"


@dataclass(frozen=True)
class How:
    """How entries are run."""

    target: str = "host"
    """What samples are compiled for: "host" or "nvptx", whose kernels the stand-in driver runs."""
    samples: int = SAMPLES
    """How many of each entry."""
    calls: bool = True
    """Whether what is compiled is called and its results compared."""


def run(entry: OpInfo, how: How) -> Outcome:
    """Runs the first samples of an entry through the whole chain."""
    outcome = Outcome(entry.formatted_name, family_of(entry))
    dtype = next((d for d in (torch.float32, torch.int64) if d in entry.dtypes), None)
    if dtype is None:
        outcome.skipped = "neither float32 nor int64"
        return outcome
    torch.manual_seed(_SEED)
    try:
        drawn = entry.sample_inputs("cpu", dtype)  # type: ignore[no-untyped-call]
        samples = list(itertools.islice(drawn, how.samples))
    except Exception as error:
        outcome.skipped = f"no samples: {_first_line(error)}"
        return outcome
    for sample in samples:
        module = _Call(entry.op, (sample.input, *sample.args), sample.kwargs)
        given = module.copies()
        torch.manual_seed(_SEED)
        try:
            expected, structure = pytree.tree_flatten(module.called(*given.values()))
        except Exception as error:
            outcome.skipped = f"PyTorch: {_first_line(error)}"
            continue
        if not expected or not all(isinstance(value, torch.Tensor) for value in expected):
            outcome.skipped = "does not return tensors"
            continue
        outcome.samples += 1
        compared = _comparison(entry.name, sample.output_process_fn_grad, structure)
        given[GENERATOR] = torch.get_rng_state()
        failure = _failure_of(module, expected, given, compared, how)
        if failure:
            outcome.failures.append(failure)
            continue
        outcome.passed += 1
        if not outcome.aten:
            outcome.aten = _aten_ops(module)
    if outcome.samples:
        outcome.skipped = ""
    return outcome


class _Call(torch.nn.Module):
    """Calls a function with given arguments, whose tensors are those of the module."""

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        super().__init__()
        self._function = function
        leaves, self._structure = pytree.tree_flatten((list(args), kwargs))
        self._leaves: list[Any] = [_EMPTY if _is_tensor(leaf) else leaf for leaf in leaves]
        self._tensors = [leaf.detach() for leaf in leaves if _is_tensor(leaf)]

    def copies(self) -> dict[str, torch.Tensor]:
        """The tensors to call the module with, by the names that they have as arguments."""
        return {f"tensors_{place}": tensor.clone() for place, tensor in enumerate(self._tensors)}

    def forward(self, *tensors: torch.Tensor) -> tuple[Any, ...]:
        return tuple(pytree.tree_leaves(self.called(*tensors)))

    def called(self, *tensors: torch.Tensor) -> Any:
        """What the function returns, as it is put together."""
        rest = iter(tensors)
        leaves = [next(rest) if leaf is _EMPTY else leaf for leaf in self._leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self._structure)
        with _SEEDED_OUTSIDE:
            return self._function(*args, **kwargs)


# The database sets a seed within what it calls of an op that draws random numbers, which is no part
# of the op.
_SEEDED_OUTSIDE = mock.patch.object(
    common_methods_invocations,
    "wrapper_set_seed",
    lambda function, *args, **kwargs: function(*args, **kwargs),
)

_EMPTY = object()


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor)


def _comparison(
    name: str, unique_part: Callable[[Any], Any], structure: pytree.TreeSpec
) -> Callable[[Sequence[torch.Tensor]], Any]:
    """What of the results of an entry is to agree, beside their shapes and dtypes."""
    if name in _UNINITIALIZED:
        return lambda values: ()
    if name in _UP_TO_SIGNS:
        return lambda values: unique_part(pytree.tree_unflatten(values, structure))
    return lambda values: [value.resolve_conj() for value in values]


def _failure_of(
    module: _Call,
    expected: Sequence[torch.Tensor],
    left: Mapping[str, torch.Tensor],
    compared: Callable[[Sequence[torch.Tensor]], Any],
    how: How,
) -> str:
    """Why a module compiles not, or computes something else; empty if it does as PyTorch.

    Args:
      module: takes its own tensors.
      expected: what it returns.
      left: what it leaves its tensors as, and the generator of random numbers.
      compared: what of such results is to agree, beside their shapes and dtypes.
      how: for which target, and whether it is called.
    """
    try:
        inputs = tuple(module.copies().values())
        functional = functional_graph(_Call.__name__, TorchLoaderOutput(module, inputs))
        written = [written.name for written in mutations(functional)]
        if how.target == "nvptx":
            # Before the program opens the driver.
            driver()
        program = plumbline.compile(module, inputs, mutable=written, target=how.target, cache=False)
        if failure := _CHECKS[how.target](program):
            return failure
        if not how.calls:
            return ""
        kernels = Kernels(program) if how.target == "nvptx" else None
        given = module.copies()
        torch.manual_seed(_SEED)
        actual = program(*given.values())
        given[GENERATOR] = torch.get_rng_state()
        for name, value in left.items():
            torch.testing.assert_close(given[name], value, equal_nan=True)
        torch.testing.assert_close(
            tuple(map(torch.zeros_like, actual)), tuple(map(torch.zeros_like, expected))
        )
        torch.testing.assert_close(*map(compared, (actual, expected)), equal_nan=True)
        del kernels
    except UserError as error:
        return f"refused: {reason(str(error))}"
    except AssertionError as error:
        return f"WRONG: {' '.join(str(error).split())[:200]}"
    except Exception as error:
        return f"BUG: {type(error).__name__}: {_first_line(error)}"
    return ""


def _check_host(program: CompiledProgram) -> str:
    if llvm_ir_of(program.stage("torch"), target_cpu="native") != program.stage("llvm_ir"):
        return "WRONG: aot_compile, by the texts of its stages, makes other LLVM IR of it"
    return ""


def _check_ptx(program: CompiledProgram) -> str:
    ptx = program.stage("ptx")
    kernels = assemble(ptx, "sm_80") if ".entry" in ptx else []
    return "WRONG: a kernel spills" if any(kernel.spill_bytes for kernel in kernels) else ""


_CHECKS = {"host": _check_host, "nvptx": _check_ptx}
"""For each target why its code is not good whatever it computes; empty if it is."""


# Of a message: places in the source and advice, the types of an op's operands, and the names and
# numbers that torch.export gives to values.
_NOISE = re.compile(
    r"^\s*(at )?(\S+:\d+\b|what would help:).*$|\([^()]*\): \d+ places?|%\w+|\bts_\d+\b|\bu\d+\b",
    re.MULTILINE,
)

_PLACE = re.compile(r"^\S+:\d+(:\d+)?: error: ")


def reason(message: str) -> str:
    """A message without what differs from program to program."""
    # Where a stage's message begins with its place, what it says is behind that.
    message = _PLACE.sub("", message.removeprefix(f"{_Call.__name__}: "))
    words = _NOISE.sub("", message).split()
    return " ".join(words)[:160]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:150]


def _aten_ops(module: _Call) -> list[str]:
    with exporting(), torch.no_grad(), TracedFunctions():
        exported = torch.export.export(module, tuple(module.copies().values()), strict=False)
    return sorted(set(_names(exported)))


def _names(exported: torch.export.ExportedProgram) -> Iterator[str]:
    for node in exported.graph.nodes:
        target = node.target
        if isinstance(target, torch._ops.OpOverload) and target.namespace == "aten":
            # An op is one however many overloads it has.
            yield str(target.overloadpacket).removeprefix("aten.")
