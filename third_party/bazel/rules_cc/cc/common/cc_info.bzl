"""The provider of what C++ rules give one another."""

load(":native_providers.bzl", "native_cc_info")

CcInfo = native_cc_info
