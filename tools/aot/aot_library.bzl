"""aot_library: from a PyTorch program to a C library to ship, with its header."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load(":arguments.bzl", "argument_error")
load(":chain.bzl", "export_to_tcp", "included_files", "link_options", "loader_options", "lower_to_assembly", "program_symbol", "stage")
load(":execute_test.bzl", "LIBRARY_TEMPLATES", "execute_test")
load(":link.bzl", "link")
load(":plain_text.bzl", "plain_text_problem")

def aot_library(
        name,
        tcp_source = None,
        torch_loader_lib = None,
        torch_loader_path = "",
        func_name = None,
        weights = "embedded",
        target_cpu = None,
        abi = "pointers",
        memory = "malloc",
        threads = 1,
        skip_ci = False,
        tags = [],
        testonly = None,
        visibility = None):
    """Compiles a program ahead of time to a library that C, C++ and Python programs call.

    The chain is that of aot_compile; what differs is how the program is called, as the header says.

    Args:
      name: the library's name; all targets and files are named after it.
      tcp_source: a .mlir file of TCP to start from, in place of a loader, with one public func.func.
      torch_loader_lib: as for aot_compile.
      torch_loader_path: as for aot_compile.
      func_name: as for aot_compile.
      weights: as for aot_compile; or "file": the program maps them from foo.safetensors, which its
        users hand to foo_load_weights before the first call.
      target_cpu: the CPU that code is made for, in place of what --//tools/aot:target_cpu says.
      abi: "pointers": by pointers to memory that is all the caller's. "memref": by MLIR's descriptors,
        as the libraries of aot_compile; results are memory that the caller gives back.
      memory: "malloc": temporaries come from the heap. "pool": from a workspace that the caller hands
        over, whose size the header says; no memory is allocated in a call.
      threads: as for aot_compile.
      skip_ci: as for aot_compile.
      tags: more tags for the generated test.
      testonly: as for all rules; a library to ship is not, and neither is its loader then.
      visibility: of all targets; the package's default where it is not given.

    Beside the stages of aot_compile, gen_foo_mlir_torch to gen_foo_host_asm, these targets come out
    for name = "foo":

      | target                   | file                                             |
      | ------------------------ | ------------------------------------------------ |
      | foo                      | libfoo.a, a cc_library; #include "foo.h"
      | libfoo.so                | the shared object, which shows its entries alone
      | foo.so                   | a link to it, by the library's own name
      | gen_foo_object           | foo.o; libfoo.a and libfoo.so are made of it
      | gen_foo_header           | foo.h
      | gen_foo_description      | foo.json: names, element types, shapes
      | gen_foo_pkg_config       | foo.pc, for `pkg-config --with-path`
      | gen_foo_weights_file     | foo.safetensors, with weights = "file"
      | foo_compile_execute_test | runs the library on the references of a loader
    """
    error = argument_error(native.package_name(), name, tcp_source, torch_loader_lib, torch_loader_path, func_name, weights, threads, macro = "aot_library")
    if not error and target_cpu and plain_text_problem(target_cpu, "_-.+"):
        error = "aot_library(name = \"{}\"): target_cpu {}".format(name, plain_text_problem(target_cpu, "_-.+"))
    if not error and memory not in ["malloc", "pool"]:
        error = "aot_library(name = \"{}\"): memory = \"{}\" is neither \"malloc\" nor \"pool\"".format(name, memory)
    if not error and abi not in LIBRARY_TEMPLATES:
        error = "aot_library(name = \"{}\"): abi = \"{}\" is neither \"pointers\" nor \"memref\"".format(name, abi)
    if not error and abi == "memref" and memory == "pool":
        error = "aot_library(name = \"{}\"): memory = \"pool\" goes with abi = \"pointers\"".format(name)
    if error:
        fail(error)

    manual = ["manual"] if skip_ci else []
    cpu = target_cpu or "$(AOT_TARGET_CPU)"
    common = {"tags": manual, "testonly": testonly, "visibility": visibility}
    weights_file, loaded_weights, included = [], [], []
    origin = _path_of(tcp_source) if tcp_source else torch_loader_path
    if torch_loader_lib:
        options = loader_options(name, torch_loader_path, func_name)
        export_to_tcp(name, torch_loader_lib, options, weights, manual, testonly, visibility)
        weights_file = ["_internal_{}_weights.safetensors".format(name)]
        if weights == "file":
            loaded_weights = [name + ".safetensors"]
            native.filegroup(name = "gen_{}_weights_file".format(name), srcs = loaded_weights, **common)
        else:
            included = weights_file
        tcp_source = "_internal_{}_tcp.mlir".format(name)
    symbol = program_symbol(_symbol_text(name, origin, func_name, cpu, abi, memory, threads, weights))
    description = name + ".json"
    lower_to_assembly(
        name,
        tcp_source,
        symbol,
        weights_file,
        manual,
        testonly,
        visibility,
        # LIBRARY_ABIS of plumbline/choices.py.
        abi = {"memref": "memref-status"}.get(abi, abi),
        descriptions = [description],
        loaded_weights = loaded_weights,
        weights = weights,
        memory = memory,
        target_cpu = cpu,
        threads = threads,
    )
    stage(
        name = "gen_{}_description".format(name),
        src = "_internal_{}_kernels.mlir".format(name),
        outs = [description],
        program = Label("//tools/aot:describe_library"),
        message = "{}: describing the library".format(name),
        options = "--target-cpu={} --origin={} --abi={} --memory={} --weights-are={}".format(cpu, origin, abi, memory, weights),
        toolchains = [Label("//tools/aot:target_cpu")],
        **common
    )
    stage(
        name = "gen_{}_header".format(name),
        src = description,
        outs = [name + ".h"],
        program = Label("//tools/aot:generate_header"),
        message = "{}: writing the header".format(name),
        **common
    )
    stage(
        name = "gen_{}_pkg_config".format(name),
        src = description,
        outs = [name + ".pc"],
        program = Label("//tools/aot:generate_pkg_config"),
        message = "{}: writing the pkg-config file".format(name),
        options = "--library={} --threads={}".format(name, threads),
        **common
    )
    archive = "lib{}.a".format(name)
    shared_object = "lib{}.so".format(name)
    stage(
        name = "gen_{}_object".format(name),
        src = "_internal_{}.S".format(name),
        outs = [name + ".o", archive, shared_object],
        program = Label("//tools/aot:assemble_library"),
        message = "{}: assembling".format(name),
        data = included_files(name, included) + ["@bazel_tools//tools/cpp:current_cc_toolchain"],
        options = "--archive=$(location {}) --shared-object=$(location {}) --threads={} --archiver=$(AR) --compiler $(CC) $(CC_FLAGS)".format(archive, shared_object, threads),
        toolchains = [
            "@bazel_tools//tools/cpp:cc_flags",
            "@bazel_tools//tools/cpp:current_cc_toolchain",
        ],
        **common
    )
    link(
        name = "gen_{}_link".format(name),
        src = shared_object,
        out = name + ".so",
        **common
    )
    cc_library(
        name = name,
        srcs = [archive],
        hdrs = [name + ".h"],
        includes = ["."],
        linkopts = link_options(symbol, threads),
        toolchains = [Label("//tools/aot:target_cpu")],
        **common
    )
    if torch_loader_lib:
        execute_test(name, ":" + name, manual, tags, testonly, visibility, abi = abi, description = description, loaded_weights = loaded_weights)

def _path_of(source):
    """The path of a source file from the workspace's root, as the compiler's command has it."""
    if source.startswith("//") or source.startswith("@"):
        return source.split("//")[1].replace(":", "/").lstrip("/")
    return "/".join([part for part in [native.package_name(), source.lstrip(":")] if part])

def _symbol_text(name, origin, func_name, target_cpu, abi, memory, threads, weights):
    """What tells a library from all others; `symbol_text` of plumbline/library_files/options.py."""
    return ":".join([name, origin, func_name or "", target_cpu, abi, memory, str(threads), weights])
