"""Stage program: makes the object file, the archive and the shared object of a library.

The assembler copies weights from files that lie beside the assembly.
"""

import argparse
import tempfile
from pathlib import Path

from plumbline.errors import UserError
from plumbline.library_files.toolchain import GPU_RUNTIME_OBJECT, Toolchain
from plumbline.target.choices import TARGETS
from plumbline.target.target import is_for_linux
from tools.aot import stage


def _assemble(given: argparse.Namespace) -> None:
    if not is_for_linux(given.target_cpu):
        raise UserError(
            f"--//tools/aot:target_cpu={given.target_cpu} shows stages alone: for a library of it "
            f'say target_cpu = "{given.target_cpu}" in aot_library'
        )
    toolchain = Toolchain(tuple(given.compiler), given.archiver)
    # Under their names, which become part of what is made.
    with tempfile.TemporaryDirectory(prefix="plumbline-library-") as folder:
        made = {
            output: Path(folder, output.name)
            for output in (given.output, given.archive, given.shared_object)
        }
        object_file = made[given.output]
        toolchain.assemble(given.input, object_file)
        objects = [object_file]
        if given.target == "nvptx":
            objects.append(Path(folder, GPU_RUNTIME_OBJECT))
            toolchain.compile_gpu_runtime(objects[-1])
        toolchain.archive(objects, made[given.archive])
        toolchain.link(objects, made[given.shared_object], threads=given.threads)
        for output, file in made.items():
            stage.write_bytes(output, file.read_bytes())


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--archive", type=stage.path, required=True, help="the static library to write"
    )
    arguments.add_argument(
        "--shared-object", type=stage.path, required=True, help="the shared object to write"
    )
    arguments.add_argument("--archiver", required=True, help="the ar of the C compiler")
    stage.add_threads(arguments)
    stage.add_target_cpu(arguments)
    arguments.add_argument(
        "--target", choices=TARGETS, default=TARGETS[0], help="what the program is compiled for"
    )
    arguments.add_argument(
        "--compiler",
        nargs=argparse.REMAINDER,
        required=True,
        help="the C compiler, and whatever else follows for it; the last of all options",
    )
    stage.run(arguments, _assemble)
