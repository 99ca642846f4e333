"""`plumbline test`: holds a program's library against PyTorch."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from plumbline.cli.exit_status import DIFFERS, SUCCESS
from plumbline.cli.program import add_program, with_program
from plumbline.cli.run_under import add_run_under, load_as_told, stack_bytes
from plumbline.errors import UserError
from plumbline.errors.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from plumbline.library_files.build import Program
    from plumbline.library_files.options import LibraryOptions

_EPILOG = """\
The program is compiled to a library, which runs on the inputs of the loader, on others of other
sizes where sizes are dynamic, and on a size that it must refuse. The outputs are held against
PyTorch's, within the tolerances of the loader.

examples:
  plumbline test models/blur.py:blur_loader
  plumbline test models/blur.py:blur_loader --target-cpu native --threads 2
  plumbline test models/blur.py:blur_loader --target-cpu cortex-a76 \\
    --run-under "qemu-aarch64-static -L /usr/aarch64-linux-gnu"
  plumbline test models/blur.py:blur_loader --target-cpu x86_64-windows \\
    --run-under wine
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to a command line."""
    arguments = commands.add_parser(
        "test",
        help="holds a program's library against PyTorch",
        description="Compiles a program, and holds what it computes against PyTorch.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_program(arguments)
    add_run_under(arguments)
    arguments.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    given.progress.begin("loading the compiler")

    def hold(program: "Program", options: "LibraryOptions") -> int:
        # These import MLIR.
        from plumbline.archives.reference_archive import ReferenceArchive
        from plumbline.library_files.build import LibraryBuild, TorchProgram
        from plumbline.library_files.reference_check import check

        if not isinstance(program, TorchProgram):
            raise UserError(
                f"{program.origin}: a file of {program.dialect} has nothing to be held against; "
                "give a loader, or compare by plumbline run --compare"
            )
        with temporary_folder() as folder:
            build = LibraryBuild(program, options, Path(folder), when_begun=given.progress.begin)
            library = load_as_told(given, build.file(options.loaded_kind))
            references = ReferenceArchive.read(build.file("references"))
            if library.signature.loads_weights:
                library.load_weights(build.file("weights-file"))
            given.progress.begin("running")
            findings = check(library, references)
        given.progress.end()
        for finding in findings:
            print(finding)
        if (stack := stack_bytes(library)) is not None:
            print(f"stack: at most {stack} bytes")
        differ = sum(not finding.agrees for finding in findings)
        print(f"{options.name}: {f'{differ} differ' if differ else 'agrees with PyTorch'}")
        return DIFFERS if differ else SUCCESS

    return with_program(given, hold)
