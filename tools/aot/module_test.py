"""Holds a module of WebAssembly, which node runs, against reference tensors."""

import sys
from pathlib import Path

from plumbline.archives.reference_archive import ReferenceArchive
from plumbline.library_files.called_under import load_under
from plumbline.library_files.reference_check import check


def _main() -> int:
    module, references = map(Path, sys.argv[1:])
    findings = check(load_under(module, ["node"]), ReferenceArchive.read(references))
    for finding in findings:
        print(finding)
    return 0 if findings and all(finding.agrees for finding in findings) else 1


if __name__ == "__main__":
    raise SystemExit(_main())
