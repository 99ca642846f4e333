"""The generated test of a compiled library, which aot_compile and aot_library share."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load(":worker_genrule.bzl", "worker_genrule")

# How libraries are called, and the template of the test that calls one so.
LIBRARY_TEMPLATES = {
    "memref": "//tools/aot:execute_test_by_memrefs.template.cpp",
    "pointers": "//tools/aot:execute_test_by_pointers.template.cpp",
}

def execute_test(name, library, manual, tags, testonly, visibility, abi = None, description = None, bisect = None, loaded_weights = [], stand_in = []):
    """The test that runs a compiled library on the reference inputs: foo_compile_execute_test.

    Args:
      name: the program's name, foo.
      library: the label of the cc_library.
      manual: tags of all targets.
      tags: more tags of the test.
      testonly: of all targets but the test.
      visibility: of all targets.
      abi: how a library to ship is called.
      description: the file that describes a library to ship.
      bisect: the label to name where the test fails.
      loaded_weights: a list of the file that the program maps its weights from, or of none.
      stand_in: of a program for a GPU, what stands in for the driver. There is foo_gpu_test then as
        well: the same test, which runs on a GPU, and skips where there is none.
    """
    generator = "{}_execute_test_generator".format(name)
    references = "_internal_{}_reference_tensors.npz".format(name)
    source = "_internal_{}_execute_test.cpp".format(name)
    template = Label(LIBRARY_TEMPLATES[abi] if abi else "//tools/aot:execute_test.template.cpp")
    options = ["--description=$(location {})".format(description)] if description else []
    options += ["--bisect={}".format(bisect)] if bisect else []

    folder = "{}/{}".format(native.repository_name().replace("@", "") or "$(AOT_WORKSPACE)", native.package_name())
    options += ["--weights-file={}/{}".format(folder, file) for file in loaded_weights]

    # The same program for all; an alias costs no runfiles of its own.
    native.alias(
        name = generator,
        actual = Label("//tools/aot:generate_execute_test"),
        tags = manual,
        testonly = testonly,
        visibility = visibility,
    )
    worker_genrule(
        name = "gen_{}_execute_test".format(name),
        testonly = testonly,
        srcs = [references, template] + ([description] if description else []),
        outs = [source],
        cmd = "$(location {generator}) --reference-tensors=$(location {references}) --runfile={folder}/{references} {options} --template=$(location {template}) --out=$@".format(
            generator = Label("//tools/aot:generate_execute_test"),
            options = " ".join(options),
            folder = folder,
            references = references,
            template = template,
        ),
        message = "{}: writing the test".format(name),
        tags = manual,
        toolchains = [Label("//tools/aot:workspace_name")],
        tools = [Label("//tools/aot:generate_execute_test")],
        visibility = visibility,
    )
    deps = [library, Label("//tools/aot:execute_test"), "@googletest//:gtest_main"]
    data = [references] + loaded_weights

    # Of a workspace that has Plumbline as an external repository, the flags are its own.
    copts = ["-std=c++17"]
    if not stand_in:
        cc_test(
            name = "{}_compile_execute_test".format(name),
            size = "small",
            srcs = [source],
            copts = copts,
            data = data,
            tags = ["aot_tests"] + manual + tags,
            visibility = visibility,
            deps = deps,
        )
        return
    compiled = "_compiled_execute_test_of_{}".format(name)
    cc_library(
        name = compiled,
        testonly = True,
        srcs = [source],
        copts = copts,
        linkstatic = True,
        tags = manual,
        visibility = ["//visibility:private"],
        deps = deps,
        # It registers its tests by itself.
        alwayslink = True,
    )
    for test, kind, driver in [
        ("{}_compile_execute_test", "aot_tests", stand_in),
        ("{}_gpu_test", "gpu", [Label("//tools/gpu:card")]),
    ]:
        cc_test(
            name = test.format(name),
            size = "small",
            data = data,
            tags = [kind] + manual + tags,
            visibility = visibility,
            deps = [":" + compiled] + driver,
        )
