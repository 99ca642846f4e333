"""Holds a library against reference tensors where something runs it: wine, node, or a board."""

import os
import sys
from pathlib import Path

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.errors import UserError
from plumbline.library_files.called_under import load_under
from plumbline.library_files.reference_check import check


def _main() -> int:
    library, references, *command = sys.argv[1:]
    # Where wine keeps what it has of Windows: a test writes nowhere else.
    os.environ.setdefault("WINEPREFIX", str(Path(os.environ["TEST_TMPDIR"], "wine")))
    try:
        loaded = load_under(Path(library), command)
        findings = check(loaded, ReferenceArchive.read(Path(references)))
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    for finding in findings:
        print(finding)
    if (stack := loaded.stack_bytes()) is not None:
        print(f"stack: at most {stack} bytes")
    return 0 if findings and all(finding.agrees for finding in findings) else 1


if __name__ == "__main__":
    raise SystemExit(_main())
