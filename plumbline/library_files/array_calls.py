"""Calls a library on arrays as files have them: numbers of rank 0, and all that it writes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.library.load import Library
from plumbline.library_files.c_header import input_rows, output_rows
from plumbline.signature.signature import Signature


def arguments_of(library: Library, inputs: Sequence[Tensor]) -> list[Any]:
    """What `library` is called with: copies of arrays that it writes, and numbers for scalars."""
    signature = library.signature
    arguments: list[Any] = list(inputs)
    for number, spec in enumerate(signature.inputs):
        if number < len(arguments) and spec.is_scalar and arguments[number].shape == ():
            arguments[number] = arguments[number].item()
    for number in signature.inout:
        if number < len(arguments):
            arguments[number] = arguments[number].copy()
    return arguments


def written_by(library: Library, arguments: Sequence[Any]) -> tuple[Tensor, ...]:
    """Calls `library`; gives its results, and then what in-out arguments hold.

    Raises:
      UserError: as a call of the library does.
    """
    signature = library.signature
    results = [
        np.asarray(result, spec.element_type.numpy_dtype)
        for result, spec in zip(library(*arguments), signature.outputs, strict=True)
    ]
    return (*results, *(arguments[number] for number in signature.inout))


def written_rows(signature: Signature) -> list[tuple[str, str]]:
    """The name of each array that `written_by` gives, and what it is."""
    rows = input_rows(signature)
    outputs = output_rows(signature)[: len(signature.outputs)]
    return [*outputs, *(rows[number] for number in signature.inout)]
