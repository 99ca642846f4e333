"""Libraries where there is nothing but memory: for WebAssembly and for microcontrollers.

What becomes of their assembly, and their test.
"""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//tools/python:bytecode.bzl", "compiled_py_test")
load(":chain.bzl", "included_files", "stage")

_WEBASSEMBLY = "wasm32"

# What runs a library for a test, by whether it is one for WebAssembly.
_RUNS_UNDER = {
    False: ["qemu-system-arm", "-M", "mps3-an547"],
    True: ["node"],
}

def is_freestanding(target_cpu):
    """Whether a library for such a CPU is one; as `LibraryOptions` of plumbline/library_files says.

    Args:
      target_cpu: as for aot_library.

    Returns:
      True or False.
    """
    return bool(target_cpu) and (target_cpu == _WEBASSEMBLY or target_cpu.startswith("cortex-m"))

def freestanding_error(name, target_cpu, target, abi, threads, weights):
    """What there is not of such libraries; as `LibraryOptions` of plumbline/library_files.

    Args:
      name: the library's name.
      target_cpu: as for aot_library.
      target: as for aot_library.
      abi: as for aot_library.
      threads: as for aot_library.
      weights: as for aot_library.

    Returns:
      What is wrong, or None.
    """
    problem = None
    if target != "host":
        problem = "target = \"host\", as its kernels are its own"
    elif abi != "pointers":
        problem = "abi = \"pointers\", as it is called so alone"
    elif threads != 1:
        problem = "threads = 1, as it has one"
    elif weights == "file":
        problem = "weights = \"embedded\" or \"arguments\", as it maps no files"
    return "aot_library(name = \"{}\"): target_cpu = \"{}\" goes with {}".format(name, target_cpu, problem) if problem else None

def freestanding_library(name, target_cpu, description, included, tags, testonly, visibility):
    """The files of such a library, which gen_foo_object makes.

    Of foo for WebAssembly, foo is what browsers load; for a microcontroller what C programs link.

    Args:
      name: the library's name, foo.
      target_cpu: as for aot_library.
      description: the file that describes it.
      included: a list of the file of its weights, or of none.
      tags: of all targets.
      testonly: of all targets.
      visibility: of all targets.
    """
    archive = "lib{}.a".format(name)
    common = {"tags": tags, "testonly": testonly, "visibility": visibility}
    loaded = {}
    if target_cpu == _WEBASSEMBLY:
        loaded = {"javascript": name + ".mjs", "module": name + ".wasm", "types": name + ".d.mts"}
        native.filegroup(name = name, srcs = [loaded[kind] for kind in ["module", "javascript", "types"]], **common)
    else:
        cc_library(
            name = name,
            srcs = [archive],
            hdrs = [name + ".h"],
            includes = ["."],
            linkopts = ["-lm"],
            **common
        )
    options = dict(loaded, archive = archive, description = description)
    stage(
        name = "gen_{}_object".format(name),
        src = "_internal_{}.S".format(name),
        outs = [name + ".o", archive] + loaded.values(),
        program = Label("//tools/aot:assemble_freestanding"),
        message = "{}: {}".format(name, "linking the module of WebAssembly" if loaded else "assembling"),
        data = included_files(name, included) + [description],
        options = " ".join(
            ["--target-cpu=" + target_cpu] +
            ["--{}=$(location {})".format(option, file) for option, file in options.items()],
        ),
        **common
    )

def freestanding_library_test(name, target_cpu, tags, visibility):
    """The test that runs such a library on the reference inputs: foo_compile_execute_test.

    Args:
      name: the library's name, foo.
      target_cpu: as for aot_library.
      tags: of the test.
      visibility: of the test.
    """
    is_module = target_cpu == _WEBASSEMBLY
    files = [name + (".wasm" if is_module else ".o"), "_internal_{}_reference_tensors.npz".format(name)]
    compiled_py_test(
        name = "{}_compile_execute_test".format(name),
        size = "small",
        srcs = [Label("//tools/aot:freestanding_test.py")],
        args = ["$(rootpath {})".format(file) for file in files] + _RUNS_UNDER[is_module],
        data = files,
        main = Label("//tools/aot:freestanding_test.py"),
        tags = ["aot_tests"] + tags,
        visibility = visibility,
        deps = [
            Label("//plumbline/archives:reference_archive"),
            Label("//plumbline/library_files:called_under"),
            Label("//plumbline/library_files:reference_check"),
        ],
    )
