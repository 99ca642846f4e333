"""The Python interpreter that runs everything: the machine's own Python 3.11."""

VERSION = "3.11"

# A fixed path of Debian's, for a PATH that leads elsewhere.
_CANDIDATES = ["python" + VERSION, "python3", "/usr/bin/python" + VERSION]

# PATH may lead to a shim (pyenv) or into a virtual environment; neither is what should be kept.
_REPORT = "import os, sys; print('%d.%d' % sys.version_info[:2]); print(os.path.realpath(sys.executable))"

def find_python(repository_ctx):
    """Finds Python 3.11 on this machine.

    Args:
      repository_ctx: of the repository rule that asks.

    Returns:
      The interpreter's absolute path, as a string. Fails when there is none.
    """
    for candidate in _CANDIDATES:
        path = candidate if candidate.startswith("/") else repository_ctx.which(candidate)
        if not path:
            continue
        result = repository_ctx.execute([path, "-I", "-c", _REPORT])
        if result.return_code:
            continue
        version, executable = result.stdout.splitlines()
        if version == VERSION:
            return executable
    fail("""

Plumbline needs Python {version}, and there is none on this machine (tried {candidates}).
On Debian 12: apt-get install python{version}; elsewhere: put a python{version} on PATH.
""".format(version = VERSION, candidates = ", ".join(_CANDIDATES)))

def _local_python_impl(repository_ctx):
    major, minor = VERSION.split(".")
    repository_ctx.file("BUILD.bazel", """\
load("@rules_python//python:py_runtime.bzl", "py_runtime")
load("@rules_python//python:py_runtime_pair.bzl", "py_runtime_pair")

py_runtime(
    name = "runtime",
    interpreter_path = "{interpreter}",
    interpreter_version_info = {{
        "major": "{major}",
        "minor": "{minor}",
    }},
    python_version = "PY3",
    stub_shebang = "#!{interpreter}",
)

py_runtime_pair(
    name = "runtime_pair",
    py3_runtime = ":runtime",
)

toolchain(
    name = "toolchain",
    toolchain = ":runtime_pair",
    toolchain_type = "@rules_python//python:toolchain_type",
)
""".format(interpreter = find_python(repository_ctx), major = major, minor = minor))

local_python = repository_rule(
    implementation = _local_python_impl,
    doc = "A Python toolchain, `:toolchain`, over the machine's own interpreter.",
    configure = True,
    # Another PATH may lead to another interpreter.
    environ = ["PATH"],
)
