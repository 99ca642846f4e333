"""Stage program: makes the object file, the archive and the module of a library for WebAssembly.

The assembler copies weights from files that lie beside the assembly.
"""

import argparse
import tempfile
from pathlib import Path

from plumbline.archives import text_file
from plumbline.library_files.javascript import exported_functions, javascript, types
from plumbline.library_files.toolchain import FREESTANDING_RUNTIME_OBJECT, Toolchain
from plumbline.signature.library_description import LibraryDescription
from plumbline.target.cpu import cpu_target
from plumbline.target.target import WEBASSEMBLY
from tools.aot import stage


def _assemble(given: argparse.Namespace) -> None:
    text = text_file.read(given.description)
    description = LibraryDescription.from_json(str(given.description), text)
    toolchain = Toolchain.of_environment(cpu_target(WEBASSEMBLY))
    # Under their names, which become part of what is made.
    with tempfile.TemporaryDirectory(prefix="plumbline-library-") as folder:
        made = {
            output: Path(folder, output.name)
            for output in (given.output, given.archive, given.module)
        }
        object_file, runtime = made[given.output], Path(folder, FREESTANDING_RUNTIME_OBJECT)
        toolchain.assemble(given.input, object_file)
        toolchain.compile_freestanding_runtime(runtime)
        objects = [object_file, runtime]
        toolchain.archive(objects, made[given.archive])
        toolchain.link_module(objects, made[given.module], exported_functions(description))
        for output, file in made.items():
            stage.write_bytes(output, file.read_bytes())
    stage.write(given.javascript, javascript(description, given.module.name))
    stage.write(given.types, types(description))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--description", type=stage.path, required=True, help="the signature of the library"
    )
    arguments.add_argument(
        "--archive", type=stage.path, required=True, help="the static library to write"
    )
    arguments.add_argument(
        "--module", type=stage.path, required=True, help="the module of WebAssembly to write"
    )
    arguments.add_argument(
        "--javascript", type=stage.path, required=True, help="what is to load it, to write"
    )
    arguments.add_argument(
        "--types", type=stage.path, required=True, help="what TypeScript is told of that, to write"
    )
    stage.run(arguments, _assemble)
