"""Tests written as .mlir files, which lit runs and FileCheck checks."""

load("//tools/python:bytecode.bzl", "compiled_py_test")

def lit_test(name, srcs, size = "small", **kwargs):
    """A test of several files, each with `RUN:` lines and what their output must be.

    In a `RUN:` line `tcp-opt`, `FileCheck` and `not` are programs, and `%s` is the file. How they
    are run says //test:lit.cfg.py. lit runs the files of one test side by side.

    Args:
      name: the name of the test.
      srcs: the files.
      size: as for any test.
      **kwargs: what else goes to py_test.
    """
    compiled_py_test(
        name = name,
        size = size,
        srcs = ["//tools/lit:run_lit.py"],
        args = ["-v", "--no-progress-bar"] + ["$(rootpath {})".format(src) for src in srcs],
        data = srcs + ["//test:lit.cfg.py"],
        main = "//tools/lit:run_lit.py",
        deps = ["//tools/lit:run_lit"],
        **kwargs
    )
