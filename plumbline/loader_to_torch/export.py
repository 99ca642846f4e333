"""Exports a program to the Torch dialect, in the form that backends start from."""

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch_mlir import fx, ir

from plumbline.errors import UserError
from plumbline.loader_to_torch.decompositions import KEPT_OPS, decomposition_table
from plumbline.loader_to_torch.loader import TorchLoaderOutput, describe_error
from plumbline.loader_to_torch.source_path import relative_to_import_path
from plumbline.loader_to_torch.weights import ReadableLiterals, lift_weights, name_arguments
from plumbline.location import describe
from plumbline.pipeline import LoweringError, Pipeline
from plumbline.tcp.assembly.module import print_module
from plumbline.walk import operations_of

_TO_BACKEND_CONTRACT = Pipeline(
    "torch-export-to-torch-backend",
    (
        "func.func(torch-match-quantized-custom-ops)",
        # An empty extra-library is what torch-mlir's own driver passes: none is loaded.
        "torchdynamo-export-to-torch-backend-pipeline{extra-library= backend-legal-ops="
        + ",".join(KEPT_OPS)
        + "}",
    ),
)

_FILE = re.compile(r'File "([^"]+)"')

# Lines of torch.export's messages that speak of PyTorch's own debugging, and its closing advice.
_NOISE = re.compile(
    r"^(For (more|extended|C\+\+) .*|If you suspect .*|\s*Caused by: .*"
    r"|The error above occurred .*)\n?",
    re.MULTILINE,
)
_LINK = re.compile(r"For more information[^.]*?(https?://|TORCH_LOGS=)\S+|https?://\S+")


@dataclass(frozen=True)
class Export:
    """A program as a module of the Torch dialect, and what its text leaves out."""

    text: str
    """Its locations are source files relative to where they are imported from."""
    weights: dict[str, torch.Tensor]
    """The values of the leading arguments, by name and in order."""


def export(who: str, program: TorchLoaderOutput, *, embedded: bool = True) -> Export:
    """Exports `program`, which messages call `who`, such as "loader test.foo_loader".

    With `embedded`, the weights become read-only data of the library; else they stay arguments.

    Raises:
      UserError: torch.export refuses the program, or it mutates its inputs.
      LoweringError: a pass of torch-mlir refuses it.
    """
    exported = _torch_export(who, program)
    weights = lift_weights(exported)
    try:
        module = _import(exported, program.func_name)
    except (NotImplementedError, ValueError, TypeError, KeyError, ir.MLIRError) as error:
        # A dtype that the importer has no type for is a missing key of its table.
        raise UserError(f"{who}: torch-mlir cannot import it: {error}") from error
    name_arguments(module, program.func_name, list(weights), embedded=embedded)
    try:
        _TO_BACKEND_CONTRACT.run(module)
    except LoweringError as error:
        raise LoweringError(f"{who}: {_unknown_ops(module) or error}") from error
    return Export(print_module(module, debug_info=True), weights)


def _import(exported: torch.export.ExportedProgram, func_name: str) -> ir.Module:
    def run(*, symbolic_shapes: bool) -> ir.Module:
        with _quiet():
            return fx.export_and_import(
                exported,
                output_type="raw",
                func_name=func_name,
                decomposition_table={},
                hooks=ReadableLiterals(),
                import_symbolic_shape_expressions=symbolic_shapes,
            )

    try:
        return run(symbolic_shapes=True)
    except NotImplementedError as error:
        # torch-mlir spells sums, products and remainders of sizes, but not quotients, say. What
        # sizes are called is for people; the program itself does without.
        if "sympy" not in str(error):
            raise
        return run(symbolic_shapes=False)


def _unknown_ops(module: ir.Module) -> str:
    """All ops that torch-mlir knows nothing of; its own report stops at the first."""
    unknown = [op for op in operations_of(module, "torch") if op.name == "torch.operator"]
    if not unknown:
        return ""
    return "the Torch dialect has no op for these:\n" + "\n".join(
        f"  {describe(op.location)}: error: "
        f"{ir.StringAttr(op.attributes['name']).value.removeprefix('torch.')}"
        for op in unknown
    )


def _torch_export(who: str, program: TorchLoaderOutput) -> torch.export.ExportedProgram:
    try:
        with _quiet(), torch.no_grad():
            exported = torch.export.export(
                program.model,
                tuple(program.inputs),
                dynamic_shapes=program.dynamic_shapes,
                strict=False,
            )
            # Only this makes the program functional: before, in-place ops stay what they are, and
            # the signature does not tell of them.
            functional: torch.export.ExportedProgram = exported.run_decompositions(
                decomposition_table()
            )
    except Exception as error:
        raise UserError(f"{who}: torch.export refuses it: {_explain(error)}") from error
    _refuse_fixed_sizes(who, functional)
    mutated = {
        **functional.graph_signature.user_inputs_to_mutate,
        **functional.graph_signature.buffers_to_mutate,
    }
    if mutated:
        names = ", ".join(sorted(mutated.values()))
        raise UserError(
            f"{who}: forward writes in place into {names}; a compiled function does not "
            "change what it is given: return the new value as an output instead"
        )
    for node in functional.graph.nodes:
        if trace := node.meta.get("stack_trace"):
            node.meta["stack_trace"] = _FILE.sub(
                lambda match: f'File "{relative_to_import_path(match[1])}"', trace
            )
    return functional


def _refuse_fixed_sizes(who: str, exported: torch.export.ExportedProgram) -> None:
    """Refuses sizes that were declared dynamic and that PyTorch took to be one number.

    For a `Dim` with a name torch.export says so itself; for `Dim.AUTO` it does not, and torch-mlir
    would make a function that takes any size and computes with the one.
    """
    users = set(exported.graph_signature.user_inputs)
    for node in exported.graph.find_nodes(op="placeholder"):
        if node.name not in users or not isinstance(node.meta.get("val"), torch.Tensor):
            continue
        for axis, size in enumerate(node.meta["val"].shape):
            if isinstance(size, torch.SymInt) and size.node.expr.is_number:
                raise UserError(
                    f"{who}: the program works only where dimension {axis} of {node.name} is "
                    f"{size.node.expr}; leave it out of dynamic_shapes, or change the line that "
                    "fixes the size"
                )


def _explain(error: Exception) -> str:
    message = _LINK.sub("", _NOISE.sub("", describe_error(error)))
    lines = [line.rstrip() for line in message.splitlines() if line.strip()]
    text = "\n".join(lines)
    if "Constraints violated" in text:
        text += (
            "\nThe program does not work for every size that dynamic_shapes allows: take the "
            "fix above into the loader's dynamic_shapes, or change the line that fixes the size."
        )
    elif "data-dependent" in text:
        text += (
            "\nIts control flow or shapes depend on the values of tensors, which a compiled "
            "function cannot: use torch.where or torch.cond for the former."
        )
    return text


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps PyTorch's warnings, logs and prints of half-made graphs from the user's screen."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
