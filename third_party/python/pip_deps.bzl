"""The Python packages of a lock file, installed by pip while Bazel loads the workspace."""

load(":interpreter.bzl", "find_python")

_HOUR = 3600

# One target for each package, and all of them the same folder: torch alone is 14,000 files, which as
# runfiles of their own would cost every sandbox seconds, and as one folder costs one link. Of a folder
# Bazel does not see that other files are in it; the digest is the file that says so.
_BUILD = """\
load("@rules_python//python:defs.bzl", "py_library")
load(":requirements.bzl", "PACKAGES")

package(default_visibility = ["//visibility:public"])

exports_files(["site-packages"])

[
    py_library(
        name = package,
        data = [
            "site-packages",
            "site-packages.sha256",
            "start/sitecustomize.py",
        ],
        imports = [
            "site-packages",
            "start",
        ],
    )
    for package in PACKAGES
]
"""

# Python imports a module of this name as it starts.
_SITECUSTOMIZE = '''\
"""Finds the packages where they are not among the runfiles.

A folder that is an input of a remote action lies at its place below the execution root only: unlike
files, Bazel before 8.3 does not put it among the runfiles (its issue 11495).
"""

import os
import sys

_REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ROOT, _, _OUTPUT = _REPOSITORY.partition("/bazel-out/")

if _OUTPUT and not os.path.isdir(_REPOSITORY + "/site-packages"):
    _NAME = os.path.basename(_REPOSITORY)
    sys.path.append(os.path.join(_ROOT, "external", _NAME, "site-packages"))
'''

# Each package brings a RECORD, which lists its files with their hashes.
_DIGEST = """\
import hashlib, pathlib
records = sorted(pathlib.Path("site-packages").glob("*.dist-info/RECORD"))
lines = [f"{hashlib.sha256(record.read_bytes()).hexdigest()}  {record}" for record in records]
pathlib.Path("site-packages.sha256").write_text("\\n".join(lines) + "\\n")
"""

_REQUIREMENTS = '''\
"""The packages of {lock} as Bazel targets."""

PACKAGES = {packages}

def requirement(name):
    """The target of a package.

    Args:
      name: as in requirements.txt; case, "-", "_" and "." do not matter, as for pip.

    Returns:
      A label for `deps`. Fails for a package that the lock does not hold.
    """
    package = name.lower().replace("_", "-").replace(".", "-")
    if package not in PACKAGES:
        fail("requirement(\\"%s\\"): no such package in {lock}. Add it to the " % name +
             "requirements that its first line names and run `./bazelw run //:requirements_lock`.")
    return str(Label("//:" + package))
'''

_PIP_FAILED = """

pip could not install {lock} (exit code {code}). Its last words:

{words}

What to look at: does this machine reach a package index (network, proxy, certificates)? pip's own
settings count here as everywhere (`pip config list`, PIP_* variables). Does the same by hand work?

    {command}
"""

_NO_PIP = """

{python} has no pip. On Debian: apt-get install python3-pip; elsewhere: {python} -m ensurepip
"""

_TORCH_FAILED = """

{lock} is installed, but `import torch` fails:

{words}

Plumbline asks for a build of torch without CUDA. Where the index of this machine offers another
one, name an index of CPU builds in pip's settings (`pip config set global.extra-index-url ...`).
"""

def _last_lines(result, count):
    lines = (result.stdout + result.stderr).strip().splitlines()
    return "\n".join(["    " + line for line in lines[-count:]])

def _package(line):
    name, _, _ = line.partition("==")
    return name.lower().replace("_", "-").replace(".", "-")

def _pip_deps_impl(repository_ctx):
    lock = repository_ctx.path(repository_ctx.attr.lock)
    lock_name = "/".join([part for part in (repository_ctx.attr.lock.package, lock.basename) if part])
    lines = [line.strip() for line in repository_ctx.read(lock).splitlines()]
    packages = [_package(line) for line in lines if line and not line.startswith("#")]

    python = find_python(repository_ctx).executable
    if repository_ctx.execute([python, "-m", "pip", "--version"]).return_code:
        fail(_NO_PIP.format(python = python))

    repository_ctx.report_progress("pip installs %d packages" % len(packages))
    command = [
        python,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-compile",
        "--disable-pip-version-check",
        "--root-user-action=ignore",
        "--target=site-packages",
        "--requirement=%s" % lock,
    ]

    # pip unpacks into a temporary folder and moves the packages out of it; on the same file system
    # the move is a rename, and a small /tmp does not matter.
    repository_ctx.file("tmp/.keep", "")
    result = repository_ctx.execute(
        command,
        environment = {"TMPDIR": str(repository_ctx.path("tmp"))},
        quiet = False,
        timeout = _HOUR,
    )
    if result.return_code:
        fail(_PIP_FAILED.format(
            code = result.return_code,
            command = " ".join(command),
            lock = lock_name,
            words = _last_lines(result, 15),
        ))
    repository_ctx.delete("tmp")

    # Sandboxes cannot write into site-packages, so without this every start would compile anew.
    # Some packages carry files that are not meant to compile; they are no failure. Bytecode holds the
    # time of its source unless told otherwise, and every installation would then be an input of its
    # own: no machine would find in a shared cache what another one has made with the same packages.
    repository_ctx.report_progress("compiling %d packages to bytecode" % len(packages))
    repository_ctx.execute(
        [python, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "site-packages"],
        timeout = _HOUR,
    )

    result = repository_ctx.execute([python, "-c", _DIGEST])
    if result.return_code:
        fail("\n\nThe installed packages could not be listed:\n\n" + _last_lines(result, 15))

    # An index may offer a torch that was built for CUDA, which does not load without CUDA's libraries.
    if "torch" in packages:
        result = repository_ctx.execute(
            [python, "-c", "import torch"],
            environment = {"PYTHONPATH": str(repository_ctx.path("site-packages"))},
        )
        if result.return_code:
            fail(_TORCH_FAILED.format(lock = lock_name, words = _last_lines(result, 15)))

    repository_ctx.file("start/sitecustomize.py", _SITECUSTOMIZE, executable = False)
    repository_ctx.file("requirements.bzl", _REQUIREMENTS.format(lock = lock_name, packages = repr(packages)))
    repository_ctx.file("BUILD.bazel", _BUILD)

pip_deps = repository_rule(
    implementation = _pip_deps_impl,
    doc = """The packages of a lock file in one folder, `site-packages`.

`requirements.bzl` holds `requirement(name)`, which gives the target of a package. pip's own settings
decide where packages come from.""",
    attrs = {
        "lock": attr.label(
            allow_single_file = True,
            doc = "The lock file: one `name==version` a line, hashes after it as pip takes them.",
            mandatory = True,
        ),
    },
)
