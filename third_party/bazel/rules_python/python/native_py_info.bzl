"""Bazel 4's own PyInfo, under another name: a file cannot define a name that it refers to."""

native_py_info = PyInfo
