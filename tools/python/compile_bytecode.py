"""Compiles Python files to bytecode that says of its source its hash, not when it was changed.

compile_bytecode.py SOURCE BYTECODE [SOURCE BYTECODE]...

Format: PEP 552, "unchecked hash-based": the same bytes on every machine, and nothing to look up
when a module is imported, as Bazel makes it anew when its source changes.
"""

import py_compile
import sys


def main(files: list[str]) -> None:
    """Compiles each file of an even place to that of the next."""
    for source, bytecode in zip(files[::2], files[1::2], strict=True):
        try:
            py_compile.compile(
                source,
                bytecode,
                # What tracebacks name until the module is imported from somewhere.
                dfile=source,
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
        except py_compile.PyCompileError as error:
            sys.exit(error.msg)


if __name__ == "__main__":
    main(sys.argv[1:])
