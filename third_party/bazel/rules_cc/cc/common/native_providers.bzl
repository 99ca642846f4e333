"""Bazel 4's own providers, under names that another file can give theirs back."""

native_cc_info = CcInfo  # buildifier: disable=native-cc-info
