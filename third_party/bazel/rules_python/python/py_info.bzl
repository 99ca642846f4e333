"""PyInfo under the name that rules_python gives it: Bazel 4's own."""

load(":native_py_info.bzl", "native_py_info")

PyInfo = native_py_info
