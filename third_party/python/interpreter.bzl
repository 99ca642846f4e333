"""The Python interpreter that runs everything: one that the machine has."""

# Of several the first is taken, so that machines share caches. bazelw reads this line.
VERSIONS = ["3.11", "3.12", "3.13", "3.14"]

# Debian's first, which lie at the same path on all machines, as caches have it, and run a third faster
# than what version managers build.
_CANDIDATES = [
    folder + "python" + version
    for version in VERSIONS
    for folder in ["/usr/bin/", ""]
] + ["python3"]

# PATH may lead to a shim (pyenv) or into a virtual environment; neither is what should be kept.
_REPORT = "import os, sys; print('%d.%d' % sys.version_info[:2]); print(os.path.realpath(sys.executable))"

def find_python(repository_ctx):
    """Finds a Python on this machine that everything runs with.

    Args:
      repository_ctx: of the repository rule that asks.

    Returns:
      A struct of the interpreter's absolute path, `executable`, and its `version`, such as "3.11".
      Fails when there is none.
    """
    for candidate in _CANDIDATES:
        path = repository_ctx.path(candidate) if candidate.startswith("/") else repository_ctx.which(candidate)
        if not path or not path.exists:
            continue
        result = repository_ctx.execute([path, "-I", "-c", _REPORT])
        if result.return_code:
            continue
        version, executable = result.stdout.splitlines()
        if version in VERSIONS:
            return struct(executable = executable, version = version)
    fail("""

Plumbline needs Python {versions}, and there is none on this machine (tried {candidates}).
On Debian: apt-get install python3; elsewhere: put a python{first} on PATH.
""".format(
        candidates = ", ".join(_CANDIDATES),
        first = VERSIONS[0],
        versions = " or ".join([", ".join(VERSIONS[:-1]), VERSIONS[-1]]),
    ))

def _local_python_impl(repository_ctx):
    python = find_python(repository_ctx)
    major, minor = python.version.split(".")
    repository_ctx.file("version.bzl", '''\
"""The version of the interpreter."""

VERSION = "{}"
'''.format(python.version))
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
""".format(interpreter = python.executable, major = major, minor = minor))

local_python = repository_rule(
    implementation = _local_python_impl,
    doc = """A Python toolchain, `:toolchain`, over the machine's own interpreter.

`version.bzl` holds its `VERSION`, such as "3.11".""",
    configure = True,
    # Another PATH may lead to another interpreter.
    environ = ["PATH"],
)
