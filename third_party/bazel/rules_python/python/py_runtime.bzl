"""py_runtime under the name that rules_python gives it: Bazel 4's own."""

def py_runtime(interpreter_version_info = None, **attrs):  # buildifier: disable=unused-variable
    """Declares an interpreter.

    Args:
      interpreter_version_info: what rules_python wants to know and Bazel 4 does not.
      **attrs: of the native rule.
    """
    native.py_runtime(**attrs)  # buildifier: disable=native-py
