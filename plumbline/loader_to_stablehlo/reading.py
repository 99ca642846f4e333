"""What a program of StableHLO is read as: a text, and beside it the weights that it has."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.archives.reference_archive import Tensor
from plumbline.context import context_for, make_context
from plumbline.errors import UserError
from plumbline.loader_to_stablehlo.entry import entry_of
from plumbline.loader_to_stablehlo.parsing import decode_stablehlo, parse_stablehlo
from plumbline.loader_to_stablehlo.weights import (
    LARGEST_CONSTANT,
    GivenArguments,
    give_constants,
    take_weights,
)

_LONG_CONSTANT = re.compile(rf"\bdense<[^>]{{{2 * LARGEST_CONSTANT}}}")
"""What may be a constant that becomes a weight: an element takes two letters at least."""


@dataclass(frozen=True)
class Read:
    """A program that has been read."""

    text: str
    weights: Mapping[str, Tensor]
    """As the reference archive stores them, by their names."""


def read_stablehlo(content: str | bytes, who: str, given: GivenArguments | None = None) -> Read:
    """Reads a program, of text or bytecode, which messages call `who`.

    A text without weights stays as it is, mistakes in it too. `given` is what is known of
    the arguments of its function.

    Raises:
      UserError: it is bytecode that cannot be read, or has weights and cannot be.
    """
    if isinstance(content, str) and given is None and not _LONG_CONSTANT.search(content):
        return Read(content, {})
    with context_for(content, torch=True, stablehlo=True) as context:
        if isinstance(content, str):
            module = parse_stablehlo(content, context, who)
        else:
            module = decode_stablehlo(content, context, who)
        entry = entry_of(module, who)
        if given is not None:
            _check(who, entry, given)
        weights = take_weights(module, entry, given)
        text: str = (
            content
            if isinstance(content, str) and not weights and given is None
            else module.operation.get_asm(enable_debug_info=True)
        )
        # A context is lent again with no module in it alone.
        del module
    return Read(text, weights)


def written_stablehlo(program: Read, who: str) -> bytes:
    """Undoes `read_stablehlo`: the bytecode of a program with its weights as constants.

    Raises:
      UserError: the text cannot be read.
    """
    # The wheel has no public module for it.
    from torch_mlir._mlir_libs import _stablehlo

    context = make_context(torch=True, stablehlo=True)
    module = parse_stablehlo(program.text, context, who)
    give_constants(entry_of(module, who), program.weights)
    version = _stablehlo.get_minimum_version()
    try:
        return bytes(_stablehlo.serialize_portable_artifact(module, version))
    except ValueError as error:
        raise UserError(f"{who}: it cannot be written as bytecode: {error}") from error


def _check(who: str, entry: ir.OpView, given: GivenArguments) -> None:
    """Refuses what a framework has given another signature than that of the function.

    Raises:
      UserError: it has.
    """
    type_ = ir.FunctionType(ir.TypeAttr(entry.attributes["function_type"]).value)
    count = len(given.inputs) + len(given.weights)
    if len(type_.inputs) != count:
        raise UserError(
            f"{who}: its StableHLO has {len(type_.inputs)} arguments, where {count} are known of it"
        )
    if len(type_.results) > len(given.outputs):
        raise UserError(
            f"{who}: it writes variables in place, whose new values its StableHLO returns; have it "
            "return them itself, and take the variables as arguments. A layer that keeps running "
            "statistics writes none in inference: training=False"
        )
