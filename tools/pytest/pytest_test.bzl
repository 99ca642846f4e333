"""Tests of several files that share what they import."""

load("//tools/python:bytecode.bzl", "compiled_py_test")

def pytest_test(name, srcs, deps, args = [], **kwargs):
    """A test of several files, which one process runs.

    To import PyTorch and export a first program takes three seconds, more than most files of tests
    then take. Each file also runs by itself: `python a_test.py`, and `bazel test :name
    --test_arg=-k --test_arg=word` runs the tests with that word in their names.

    Args:
      name: the name of the test.
      srcs: the files.
      deps: what they import.
      args: more arguments for pytest.
      **kwargs: what else goes to py_test.
    """
    compiled_py_test(
        name = name,
        srcs = srcs + ["//tools/pytest:run_pytest.py"],
        args = ["$(rootpath {})".format(src) for src in srcs] + args,
        main = "//tools/pytest:run_pytest.py",
        deps = deps + ["//tools/pytest:run_pytest"],
        **kwargs
    )
