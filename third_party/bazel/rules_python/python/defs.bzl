"""The Python rules under the names that rules_python gives them: Bazel 4's own."""

# Bazel 4 would put an empty __init__.py into every folder of the runfiles that lacks one;
# rules_python does not, so neither do we: packages carry their own.
def _with_explicit_init_py(attrs):
    return dict({"legacy_create_init": False}, **attrs)

def py_binary(**attrs):
    native.py_binary(**_with_explicit_init_py(attrs))  # buildifier: disable=native-py

def py_library(**attrs):
    native.py_library(**attrs)  # buildifier: disable=native-py

def py_test(**attrs):
    native.py_test(**_with_explicit_init_py(attrs))  # buildifier: disable=native-py
