"""Runs a library on reference tensors, as the generated C++ test does."""

from dataclasses import dataclass

import numpy as np

from plumbline.archives.reference_archive import Case, ReferenceArchive, RefusedSize
from plumbline.bisect.comparison import Tolerance, compare
from plumbline.errors import UserError
from plumbline.library.load import Library
from plumbline.library_files.array_calls import arguments_of, written_by, written_rows


@dataclass(frozen=True)
class Finding:
    """What comes of one output of one case, or of a size that is to be refused."""

    what: str
    agrees: bool
    text: str

    def __str__(self) -> str:
        return f"{self.what}: {self.text}"


def check(library: Library, references: ReferenceArchive) -> list[Finding]:
    """Holds what `library` computes against what `references` has, for each case."""
    findings = []
    cases = [Case(references.inputs, references.outputs), *references.further_cases]
    for number, case in enumerate(cases):
        findings += _check_case(library, references, f"case {number}, " if number else "", case)
    # No array has a negative size.
    if references.refused is not None and references.refused.size >= 0:
        findings.append(_check_refusal(library, references, references.refused))
    return findings


def _check_case(
    library: Library, references: ReferenceArchive, prefix: str, case: Case
) -> list[Finding]:
    names = [name for name, _ in written_rows(library.signature)]
    try:
        outputs = written_by(library, arguments_of(library, case.inputs))
    except UserError as error:
        return [Finding(f"{prefix}{library.signature.name}", False, f"refuses: {error}")]
    findings = []
    for name, output, expected, rtol, atol in zip(
        names, outputs, case.outputs, references.rtol, references.atol, strict=True
    ):
        comparison = compare(output, expected, Tolerance(rtol, atol))
        findings.append(Finding(f"{prefix}{name}", comparison.agrees, str(comparison)))
    return findings


def _check_refusal(library: Library, references: ReferenceArchive, refused: RefusedSize) -> Finding:
    inputs = list(references.inputs)
    shape = list(inputs[refused.argument].shape)
    shape[refused.axis] = refused.size
    inputs[refused.argument] = np.zeros(shape, inputs[refused.argument].dtype)
    name = library.signature.names.inputs[refused.argument]
    what = f"size {refused.size} in dimension {refused.axis} of {name}"
    try:
        library(*arguments_of(library, inputs))
    except UserError:
        return Finding(what, True, "is refused")
    return Finding(what, False, "is not refused")
