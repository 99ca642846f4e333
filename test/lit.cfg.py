# ruff: noqa: N999 (the name that lit looks for)
"""How lit runs the .mlir files of this folder: see //tools/lit:lit_test.bzl."""

import os
import sys

import lit.formats

from tools.lit import program_client

config = globals()["config"]  # lit puts it there

config.name = "plumbline"
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ.get("TEST_TMPDIR", os.path.join("/tmp", "plumbline-lit"))
# lit's own shell: no other program is started but those that a RUN line names.
config.test_format = lit.formats.ShTest(execute_external=False)

# Without the modules that Python looks for at each start: the client needs none.
_ASK = f"{sys.executable} -I -S {program_client.__file__} {os.environ['PROGRAM_SERVER']}"
config.substitutions += [
    # As words of a command, not in a path.
    (rf"(?<![\w/.%-]){program}(?=\s)", f"{_ASK} {program}")
    for program in ("tcp-opt", "FileCheck")
]
