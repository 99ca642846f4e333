"""The repositories that Plumbline's BUILD files name, for a workspace of Debian's Bazel 4.2.3.

This one's WORKSPACE calls plumbline_repositories(), and so does that of a workspace which has
Plumbline as an external repository. Bazel 7 to 9 read MODULE.bazel instead.
"""

load("//third_party/bazel:stand_in.bzl", "stand_in")
load("//third_party/buildifier:buildifier.bzl", "buildifier")
load("//third_party/python:interpreter.bzl", "local_python")
load("//third_party/python:pip_deps.bzl", "pip_deps")

# buildifier: disable=unnamed-macro
def plumbline_repositories():
    """Defines the repositories and registers the toolchains; what there is already stays."""
    stand_in(
        name = "rules_cc",
    )
    stand_in(
        name = "rules_python",
    )
    stand_in(
        name = "remote_coverage_tools",
    )
    _local_repository(
        name = "bazel_skylib",
        path = "/usr/share/bazel/tools/skylib",
    )
    _local_repository(
        name = "platforms",
        path = "/usr/share/bazel/platforms",
    )
    _local_repository(
        name = "rules_java",
        path = "/usr/share/bazel/rules/java",
    )
    _local_repository(
        name = "rules_proto",
        path = "/usr/share/bazel/rules/proto",
    )
    if not native.existing_rule("googletest"):
        native.new_local_repository(
            name = "googletest",
            build_file = str(Label("//third_party/bazel:googletest.BUILD")),
            path = "/usr/src/googletest",
        )
    local_python(name = "local_python")
    pip_deps(
        name = "pip_deps",
        lock = str(Label("//:requirements_lock.txt")),
    )

    # Fetched only where //test/benchmark:peers is built.
    pip_deps(
        name = "peers_deps",
        lock = str(Label("//test/benchmark:peers_lock.txt")),
    )

    # Fetched only where PTX is assembled.
    pip_deps(
        name = "ptxas_deps",
        lock = str(Label("//third_party/cuda:ptxas_lock.txt")),
    )
    buildifier(
        name = "buildifier",
        version = "8.2.1",
    )
    native.register_toolchains("@local_python//:toolchain")

def _local_repository(name, path):
    if not native.existing_rule(name):
        native.local_repository(
            name = name,
            path = path,
        )
