"""What a program of StableHLO is read as: a text, and beside it the weights that it has."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from plumbline.archives.reference_archive import Tensor
from plumbline.loader_to_stablehlo.entry import entry_of
from plumbline.loader_to_stablehlo.parsing import (
    context_for,
    decode_stablehlo,
    parse_stablehlo,
)
from plumbline.loader_to_stablehlo.weights import LARGEST_CONSTANT, GivenArgument, take_weights

_LONG_CONSTANT = re.compile(rf"\bdense<[^>]{{{2 * LARGEST_CONSTANT}}}")
"""What may be a constant that becomes a weight: an element takes two letters at least."""


@dataclass(frozen=True)
class Read:
    """A program that has been read."""

    text: str
    weights: Mapping[str, Tensor]
    """As the reference archive stores them, by their names."""


def read_stablehlo(
    content: str | bytes, who: str, given: Mapping[int, GivenArgument] | None = None
) -> Read:
    """Reads a program, of text or bytecode, which messages call `who`.

    A text without weights stays as it is, mistakes in it too. `given` are the arguments of its
    function that are weights, by their numbers.

    Raises:
      UserError: it is bytecode that cannot be read, or has weights and cannot be.
    """
    if isinstance(content, str) and not given and not _LONG_CONSTANT.search(content):
        return Read(content, {})
    with context_for(content) as context:
        if isinstance(content, str):
            module = parse_stablehlo(content, context, who)
        else:
            module = decode_stablehlo(content, context, who)
        weights = take_weights(module, entry_of(module, who), given or {})
        text: str = (
            content
            if isinstance(content, str) and not weights
            else module.operation.get_asm(enable_debug_info=True)
        )
        # A context is lent again with no module in it alone.
        del module
    return Read(text, weights)
