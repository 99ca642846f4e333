"""buildifier, which formats BUILD and .bzl files, from its npm package of prebuilt binaries."""

_BINARIES = {
    "aarch64": "buildifier-linux_arm64",
    "x86_64": "buildifier-linux_amd64",
}

_BUILD = """\
load("@rules_python//python:defs.bzl", "py_library")

py_library(
    name = "buildifier",
    srcs = ["buildifier.py"],
    data = glob(["package/*"], allow_empty = True),
    imports = ["."],
    visibility = ["//visibility:public"],
)
"""

# A Python module, so that it is found and called like the linters that pip brings.
_MODULE = '''\
"""Stands for buildifier: `python -m buildifier ...`."""

import os
import pathlib
import sys

binary = str(pathlib.Path(__file__).with_name("package") / "{binary}")
os.execv(binary, [binary, *sys.argv[1:]])
'''

# Whoever has no npm still builds and tests everything else: only buildifier's own test fails.
_MISSING_MODULE = '''\
"""Stands for buildifier, which could not be fetched."""

import sys

sys.exit("""{message}""")
'''

_MESSAGE = """
buildifier could not be fetched ({reason}):

{words}

It comes from npm, whose own settings count (`npm config list`). To try again:
`bazel sync --only=buildifier`, from Bazel 7 on `bazel fetch --force --repo=@buildifier`.
"""

def _fetch(repository_ctx):
    """Unpacks the binary for this machine.

    Args:
      repository_ctx: of the rule below.

    Returns:
      The binary's file name and None, or None and what went wrong.
    """
    machine = repository_ctx.execute(["uname", "-m"]).stdout.strip()
    binary = _BINARIES.get(machine)
    if not binary:
        return None, "its npm package has no binary for " + machine, ""

    npm = repository_ctx.which("npm")
    if not npm:
        return None, "there is no npm here", "On Debian: apt-get install npm"
    package = "@bazel/buildifier@" + repository_ctx.attr.version
    result = repository_ctx.execute([npm, "pack", "--loglevel=error", package])
    if result.return_code:
        return None, "npm pack " + package, result.stdout + result.stderr
    result = repository_ctx.execute(["tar", "xzf", result.stdout.strip(), "package/" + binary])
    if result.return_code:
        return None, "tar", result.stderr
    return binary, None, None

def _buildifier_impl(repository_ctx):
    binary, reason, words = _fetch(repository_ctx)
    module = _MODULE.format(binary = binary) if binary else _MISSING_MODULE.format(
        message = _MESSAGE.format(reason = reason, words = words.strip()).replace("\\", "/"),
    )
    repository_ctx.file("buildifier.py", module, executable = False)
    repository_ctx.file("BUILD.bazel", _BUILD)

buildifier = repository_rule(
    implementation = _buildifier_impl,
    doc = "A Python module `buildifier` that runs the tool of that name.",
    attrs = {"version": attr.string(mandatory = True)},
)
