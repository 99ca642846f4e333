"""What tests of programs for a GPU are linked with, so that they need none."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load(":chain.bzl", "stage")

def stand_in_for_driver(name, manual):
    """The stand-in for the driver, with what the kernels of a program do on the CPU.

    Args:
      name: the program's name, foo.
      manual: tags of all targets.

    Returns:
      The labels to link with.
    """
    library = "_emulated_kernels_of_{}".format(name)
    assembly = "_internal_{}_emulated_kernels.S".format(name)
    stage(
        name = "_gen_{}_emulated_kernels".format(name),
        src = "_internal_{}_gpu.mlir".format(name),
        outs = [assembly],
        program = Label("//tools/gpu:emulate_kernels"),
        message = "{}: making kernels for the stand-in driver".format(name),
        options = "--target-cpu=$(AOT_TARGET_CPU)",
        toolchains = [Label("//tools/aot:target_cpu")],
        tags = manual,
        testonly = True,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = library,
        testonly = True,
        srcs = [assembly],
        linkopts = ["-lm"],
        linkstatic = True,
        tags = manual,
        visibility = ["//visibility:private"],
        deps = [Label("//tools/gpu:stand_in_driver")],
        # The driver finds them by their names.
        alwayslink = True,
    )
    return [":" + library, Label("//tools/gpu:stand_in_driver")]
