"""Libraries for other systems than Linux: for Windows, for WebAssembly, and for microcontrollers.

What becomes of their assembly, and their test.
"""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//tools/python:bytecode.bzl", "compiled_py_test")
load(":chain.bzl", "included_files", "stage")

_WINDOWS = "windows"
_WEBASSEMBLY = "wasm32"
_MICROCONTROLLER = "microcontroller"

# What runs a library for a test.
_RUNS_UNDER = {
    _MICROCONTROLLER: ["qemu-system-arm", "-M", "mps3-an547"],
    _WEBASSEMBLY: ["node"],
    _WINDOWS: ["wine"],
}

# The file of a library that is loaded for it.
_LOADED = {
    _MICROCONTROLLER: "{}.o",
    _WEBASSEMBLY: "{}.wasm",
    _WINDOWS: "{}.dll",
}

# What comes of a library beside its object file and archive, by the options of the stage program.
# Of one for a microcontroller, C programs link the archive.
_FILES = {
    _WEBASSEMBLY: {"module": "{}.wasm", "javascript": "{}.mjs", "types": "{}.d.mts"},
    _WINDOWS: {"dll": "{}.dll", "import-library": "{}.lib"},
}

def system_of(target_cpu):
    """What system a library for such a CPU is for, as `LibraryOptions` of plumbline/library_files says.

    Args:
      target_cpu: as for aot_library.

    Returns:
      "windows", "wasm32", "microcontroller", or None: it is for Linux.
    """
    if not target_cpu:
        return None
    if target_cpu.endswith("-windows"):
        return _WINDOWS
    if target_cpu == _WEBASSEMBLY:
        return _WEBASSEMBLY
    return _MICROCONTROLLER if target_cpu.startswith("cortex-m") else None

def system_error(name, target_cpu, target, abi, threads, weights):
    """What there is under Linux alone; as `LibraryOptions` of plumbline/library_files.

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
    system = system_of(target_cpu)
    problem = None
    if not system:
        return None
    if target != "host":
        problem = "target = \"host\", as its kernels are its own"
    elif abi != "pointers":
        problem = "abi = \"pointers\", as it is called so alone"
    elif threads != 1 and system != _WINDOWS:
        problem = "threads = 1, as it has one"
    elif weights == "file":
        problem = "weights = \"embedded\" or \"arguments\", as it maps no files"
    return "aot_library(name = \"{}\"): target_cpu = \"{}\" goes with {}".format(name, target_cpu, problem) if problem else None

def library_for_other_system(name, target_cpu, threads, description, included, tags, testonly, visibility):
    """The files of such a library, which gen_foo_object makes.

    Of foo for WebAssembly, foo is what browsers load, for Windows what its programs load, and their
    linkers and compilers read; for a microcontroller what C programs link.

    Args:
      name: the library's name, foo.
      target_cpu: as for aot_library.
      threads: as for aot_library.
      description: the file that describes it.
      included: a list of the file of its weights, or of none.
      tags: of all targets.
      testonly: of all targets.
      visibility: of all targets.
    """
    system = system_of(target_cpu)
    archive = "lib{}.a".format(name)
    common = {"tags": tags, "testonly": testonly, "visibility": visibility}
    files = {option: pattern.format(name) for option, pattern in _FILES.get(system, {}).items()}
    if files:
        header = [name + ".h"] if system == _WINDOWS else []
        native.filegroup(name = name, srcs = files.values() + header, **common)
    else:
        cc_library(
            name = name,
            srcs = [archive],
            hdrs = [name + ".h"],
            includes = ["."],
            linkopts = ["-lm"],
            **common
        )
    options = dict(files, archive = archive, description = description)
    stage(
        name = "gen_{}_object".format(name),
        src = "_internal_{}.S".format(name),
        outs = [name + ".o", archive] + files.values(),
        program = Label("//tools/aot:assemble_for_other_system"),
        message = "{}: {}".format(name, "linking" if files else "assembling"),
        data = included_files(name, included) + [description],
        options = " ".join(
            ["--target-cpu={}".format(target_cpu), "--threads={}".format(threads)] +
            ["--{}=$(location {})".format(option, file) for option, file in options.items()],
        ),
        **common
    )

def other_system_test(name, target_cpu, tags, visibility):
    """The test that runs such a library on the reference inputs: foo_compile_execute_test.

    Args:
      name: the library's name, foo.
      target_cpu: as for aot_library.
      tags: of the test.
      visibility: of the test.
    """
    system = system_of(target_cpu)
    files = [_LOADED[system].format(name), "_internal_{}_reference_tensors.npz".format(name)]
    compiled_py_test(
        name = "{}_compile_execute_test".format(name),
        size = "small",
        srcs = [Label("//tools/aot:other_system_test.py")],
        args = ["$(rootpath {})".format(file) for file in files] + _RUNS_UNDER[system],
        data = files,
        main = Label("//tools/aot:other_system_test.py"),
        tags = ["aot_tests"] + tags,
        visibility = visibility,
        deps = [
            Label("//plumbline/archives:reference_archive"),
            Label("//plumbline/library_files:called_under"),
            Label("//plumbline/library_files:reference_check"),
        ],
    )
