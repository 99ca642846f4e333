"""Stage program: makes the object file and the archive of a library that has nothing but memory.

Of one for WebAssembly it makes the module, too, and what loads that. The assembler copies weights
from files that lie beside the assembly.
"""

import argparse
import tempfile
from pathlib import Path

from plumbline.archives import text_file
from plumbline.library_files.javascript import exported_functions, javascript, types
from plumbline.library_files.toolchain import FREESTANDING_RUNTIME_OBJECT, Toolchain
from plumbline.signature.library_description import LibraryDescription
from plumbline.target.cpu import cpu_target
from tools.aot import stage


def _assemble(given: argparse.Namespace) -> None:
    text = text_file.read(given.description)
    description = LibraryDescription.from_json(str(given.description), text)
    toolchain = Toolchain.of_environment(cpu_target(given.target_cpu))
    outputs = [given.output, given.archive, *filter(None, [given.module])]
    # Under their names, which become part of what is made.
    with tempfile.TemporaryDirectory(prefix="plumbline-library-") as folder:
        made = {output: Path(folder, output.name) for output in outputs}
        object_file, runtime = made[given.output], Path(folder, FREESTANDING_RUNTIME_OBJECT)
        toolchain.assemble(given.input, object_file)
        toolchain.compile_freestanding_runtime(runtime)
        objects = [object_file, runtime]
        toolchain.archive(objects, made[given.archive])
        if given.module is not None:
            toolchain.link_module(objects, made[given.module], exported_functions(description))
        for output, file in made.items():
            stage.write_bytes(output, file.read_bytes())
    if given.module is not None:
        stage.write(given.javascript, javascript(description, given.module.name))
        stage.write(given.types, types(description))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_target_cpu(arguments)
    arguments.add_argument(
        "--description", type=stage.path, required=True, help="the signature of the library"
    )
    arguments.add_argument(
        "--archive", type=stage.path, required=True, help="the static library to write"
    )
    module = arguments.add_argument_group("of a library for WebAssembly")
    module.add_argument("--module", type=stage.path, help="the module to write")
    module.add_argument("--javascript", type=stage.path, help="what is to load it, to write")
    module.add_argument(
        "--types", type=stage.path, help="what TypeScript is told of that, to write"
    )
    stage.run(arguments, _assemble)
