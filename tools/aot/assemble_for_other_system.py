"""Stage program: makes the object file and the archive of a library for another system than Linux.

Of one for Windows it makes the DLL, too, and what linkers are told of that; of one for WebAssembly
the module, and what loads that. The assembler copies weights from files that lie beside the
assembly.
"""

import argparse
import tempfile
from pathlib import Path

from plumbline.archives import text_file
from plumbline.library_files.entries import entries
from plumbline.library_files.javascript import exported_functions, javascript, types
from plumbline.library_files.toolchain import Toolchain
from plumbline.runtime.c_library.stand_in import stand_in_for
from plumbline.signature.library_description import LibraryDescription
from plumbline.target.cpu import cpu_target
from tools.aot import stage


def _assemble(given: argparse.Namespace) -> None:
    text = text_file.read(given.description)
    description = LibraryDescription.from_json(str(given.description), text)
    target = cpu_target(given.target_cpu)
    toolchain = Toolchain.of_environment(target)
    linked = (given.module, given.dll, given.import_library)
    outputs = [given.output, given.archive, *filter(None, linked)]
    # Under their names, which become part of what is made.
    with tempfile.TemporaryDirectory(prefix="plumbline-library-") as folder:
        made = {output: Path(folder, output.name) for output in outputs}
        object_file = made[given.output]
        toolchain.assemble(given.input, object_file)
        objects = [object_file]
        if (stand_in := stand_in_for(target)) is not None:
            objects.append(toolchain.compile_stand_in(stand_in, Path(folder)))
        toolchain.archive(objects, made[given.archive])
        if given.module is not None:
            toolchain.link_module(objects, made[given.module], exported_functions(description))
        if given.dll is not None:
            toolchain.link_dll(
                objects,
                made[given.dll],
                made[given.import_library],
                entries(description),
                threads=given.threads,
            )
        for output, file in made.items():
            stage.write_bytes(output, file.read_bytes())
    if given.module is not None:
        stage.write(given.javascript, javascript(description, given.module.name))
        stage.write(given.types, types(description))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_target_cpu(arguments)
    stage.add_threads(arguments)
    arguments.add_argument(
        "--description", type=stage.path, required=True, help="the signature of the library"
    )
    arguments.add_argument(
        "--archive", type=stage.path, required=True, help="the static library to write"
    )
    dll = arguments.add_argument_group("of a library for Windows")
    dll.add_argument("--dll", type=stage.path, help="the DLL to write")
    dll.add_argument(
        "--import-library", type=stage.path, help="what linkers are told of that, to write"
    )
    module = arguments.add_argument_group("of a library for WebAssembly")
    module.add_argument("--module", type=stage.path, help="the module to write")
    module.add_argument("--javascript", type=stage.path, help="what is to load it, to write")
    module.add_argument(
        "--types", type=stage.path, help="what TypeScript is told of that, to write"
    )
    stage.run(arguments, _assemble)
