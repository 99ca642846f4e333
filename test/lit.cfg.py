# ruff: noqa: N999 (the name that lit looks for)
"""How lit runs the .mlir files of this folder: see //tools/lit:lit_test.bzl."""

import os
import sys

import lit.formats

config = globals()["config"]  # lit puts it there

config.name = "plumbline"
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.environ.get("TEST_TMPDIR", os.path.join("/tmp", "plumbline-lit"))
# lit's own shell: no other program is started but those that a RUN line names.
config.test_format = lit.formats.ShTest(execute_external=False)

# The packages of the process that runs lit, which under Bazel stand in no fixed place.
config.environment["PYTHONPATH"] = os.pathsep.join(sys.path)
config.environment["PYTHONSAFEPATH"] = "1"
config.substitutions += [
    # As words of a command, not in a path.
    (r"(?<![\w/.%-])tcp-opt(?=\s)", f"{sys.executable} -m tools.tcp_opt.tcp_opt"),
    (r"(?<![\w/.%-])FileCheck(?=\s)", f"{sys.executable} -m filecheck"),
]
