"""What the programs share that find the op at which compiled code leaves PyTorch's numbers.

They compile a program with the values between its ops as further outputs, and hold each against
PyTorch's, on the program's inputs.
"""

import argparse
import sys
from pathlib import Path

from plumbline.bisect.bisection import Culprit, bisect
from plumbline.bisect.report import report, stage_text
from plumbline.errors import UserError
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.lowering import STAGES
from tools.aot import compiling, stage

_SUFFIXES = {"llvm_ir": ".ll", "asm": ".S"}


def run(who: str, given: argparse.Namespace, program: TorchLoaderOutput) -> None:
    """Bisects `program`, which messages call `who`; ends the process with 1 where numbers differ.

    Raises:
      UserError: the program cannot be compiled, or files cannot be written.
    """
    result = bisect(
        who,
        program,
        target_cpu=given.target_cpu,
        opt_level=given.opt_level,
        threads=given.threads,
        keep_going=given.keep_going,
        progress=_show if sys.stderr.isatty() else lambda line: None,
    )
    print(report(result))
    if given.stages and result.culprit:
        _write_stages(given.stages, result.culprit)
    if not result.agrees:
        sys.exit(1)


def _show(line: str) -> None:
    print(line, file=sys.stderr)


def _write_stages(folder: Path, culprit: Culprit) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be made: {error.strerror}") from error
    name = culprit.finding.name
    for each in STAGES:
        file = folder / f"{name}_{each}{_SUFFIXES.get(each, '.mlir')}"
        stage.write(file, stage_text(culprit.program, each))
    if culprit.references:
        file = folder / f"{name}_reference_tensors.npz"
        try:
            culprit.references.write(file)
        except OSError as error:
            raise UserError(f"{file}: cannot be written: {error.strerror}") from error
    print(f"\nwritten to {folder}: {name}_*")


def add_options(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say how to compile, and what to show."""
    arguments.add_argument(
        "--keep-going",
        action="store_true",
        help="look at all ops, also after the first that is wrong",
    )
    arguments.add_argument(
        "--stages",
        type=stage.path,
        metavar="FOLDER",
        help="where to write the lowering of the op that is wrong, and its inputs and result",
    )
    compiling.add_options(arguments)
