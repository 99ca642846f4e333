"""Libraries for WebAssembly: what becomes of their assembly, and their test."""

load("//tools/python:bytecode.bzl", "compiled_py_test")
load(":chain.bzl", "included_files", "stage")

WEBASSEMBLY = "wasm32"

def webassembly_error(name, target, abi, threads, weights):
    """What there is not of WebAssembly; as `LibraryOptions` of plumbline/library_files.

    Args:
      name: the library's name.
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
        problem = "abi = \"pointers\", as JavaScript has no memrefs"
    elif threads != 1:
        problem = "threads = 1, as a module has one"
    elif weights == "file":
        problem = "weights = \"embedded\" or \"arguments\", as a module maps no files"
    return "aot_library(name = \"{}\"): target_cpu = \"{}\" goes with {}".format(name, WEBASSEMBLY, problem) if problem else None

def module_of_assembly(name, description, included, tags, testonly, visibility):
    """The files of a library for WebAssembly: gen_foo_object makes them, foo is what browsers load.

    Args:
      name: the library's name, foo.
      description: the file that describes it.
      included: a list of the file of its weights, or of none.
      tags: of all targets.
      testonly: of all targets.
      visibility: of all targets.
    """
    archive = "lib{}.a".format(name)
    module, javascript, types = [name + ending for ending in [".wasm", ".mjs", ".d.mts"]]
    options = {"archive": archive, "description": description, "javascript": javascript, "module": module, "types": types}
    stage(
        name = "gen_{}_object".format(name),
        src = "_internal_{}.S".format(name),
        outs = [name + ".o", archive, module, javascript, types],
        program = Label("//tools/aot:assemble_module"),
        message = "{}: linking the module of WebAssembly".format(name),
        data = included_files(name, included) + [description],
        options = " ".join(["--{}=$(location {})".format(option, file) for option, file in options.items()]),
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    native.filegroup(
        name = name,
        srcs = [module, javascript, types],
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

def module_test(name, tags, visibility):
    """The test that runs a module on the reference inputs, by node: foo_compile_execute_test.

    Args:
      name: the library's name, foo.
      tags: of the test.
      visibility: of the test.
    """
    files = [name + ".wasm", "_internal_{}_reference_tensors.npz".format(name)]
    compiled_py_test(
        name = "{}_compile_execute_test".format(name),
        size = "small",
        srcs = [Label("//tools/aot:module_test.py")],
        args = ["$(rootpath {})".format(file) for file in files],
        data = files,
        main = Label("//tools/aot:module_test.py"),
        tags = ["aot_tests"] + tags,
        visibility = visibility,
        deps = [
            Label("//plumbline/archives:reference_archive"),
            Label("//plumbline/library_files:called_under"),
            Label("//plumbline/library_files:reference_check"),
        ],
    )
