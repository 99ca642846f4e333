"""Exports a program and records its reference tensors, in one run, so that both see one state."""

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.archives.torch_tensors import to_numpy
from plumbline.loader_to_torch.export import Export, export
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.references import (
    check_repeatable,
    record_further_cases,
    record_references,
)
from plumbline.loader_to_torch.state import with_mutations_returned


@dataclass(frozen=True)
class RecordedExport:
    """What the stages after PyTorch start from."""

    exported: Export
    references: ReferenceArchive


def export_and_record(
    who: str,
    program: TorchLoaderOutput,
    *,
    weights: str = "embedded",
    expected: ReferenceArchive | None = None,
    watched: Callable[[str], AbstractContextManager[None]] = lambda what: contextlib.nullcontext(),
) -> RecordedExport:
    """Exports `program`, which messages call `who`.

    Args:
      who: such as "loader test.foo_loader".
      program: what the loader has returned.
      weights: one of `choices.WEIGHTS`.
      expected: what the program is to answer, where that is not what PyTorch does.
      watched: in its contexts the user's code runs, which its argument names.

    Raises:
      UserError: the program fails, or cannot be exported. The message says what is in the way.
    """
    # PyTorch runs the program first: what fails there is told in PyTorch's own words.
    forward = f"{who}: forward"
    with watched(forward):
        program = with_mutations_returned(who, program)
        references = expected or record_references(who, program)
    exported = export(who, program, embedded=weights != "arguments")
    if expected is None:
        with watched(forward):
            check_repeatable(who, program, references)
            references = record_further_cases(who, program, exported.shapes, references)
    given = (to_numpy(exported.weights[name]) for name in exported.parameters)
    return RecordedExport(exported, references.with_leading_inputs(given))
