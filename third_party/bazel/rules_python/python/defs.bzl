"""The Python rules under the names that rules_python gives them: Bazel 4's own."""

# Bazel 4 would put an empty __init__.py into every folder of the runfiles that lacks one;
# rules_python does not, so neither do we: packages carry their own. And where a program that does
# not state its version fails, Bazel 4 suggests in two paragraphs that it may want Python 2.
def _with_python_3_ways(attrs):
    return dict({"legacy_create_init": False, "python_version": "PY3"}, **attrs)

def py_binary(**attrs):
    native.py_binary(**_with_python_3_ways(attrs))  # buildifier: disable=native-py

def py_library(**attrs):
    native.py_library(**attrs)  # buildifier: disable=native-py

def py_test(**attrs):
    native.py_test(**_with_python_3_ways(attrs))  # buildifier: disable=native-py
