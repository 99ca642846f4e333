"""Finds the op at which a program's compiled code leaves PyTorch's numbers.

Runs the loader, compiles the program with the values between its ops as further outputs, and holds
each against PyTorch's, on the loader's inputs. Ends with 1 where they differ.
"""

import argparse
import sys
from pathlib import Path

from plumbline.bisect.bisection import Culprit, bisect
from plumbline.bisect.report import report, stage_text
from plumbline.compiler import STAGES
from plumbline.errors import UserError
from plumbline.loader_to_torch.loader import TorchLoaderOutput
from plumbline.loader_to_torch.watch import Watch
from plumbline.target.choices import OPTIMISATION_LEVELS
from tools.aot import loader_stage, stage

_SUFFIXES = {"llvm_ir": ".ll", "asm": ".S"}


def _bisect(given: argparse.Namespace, program: TorchLoaderOutput, watch: Watch) -> None:
    result = bisect(
        f"loader {given.torch_loader_path}",
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


if __name__ == "__main__":
    arguments = stage.parser(__doc__)
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
    arguments.add_argument(
        "--target-cpu", default="native", help="as the flag --//tools/aot:target_cpu"
    )
    arguments.add_argument(
        "--opt-level",
        type=int,
        choices=OPTIMISATION_LEVELS,
        default=2,
        help="as the flag --//tools/aot:opt_level",
    )
    arguments.add_argument(
        "--threads", type=int, default=1, help="how many threads the program runs on (default 1)"
    )
    loader_stage.run(arguments, _bisect)
