"""aot_library: from a PyTorch program to a C library to ship, with its header."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load(":arguments.bzl", "argument_error")
load(":chain.bzl", "complete_references", "export_to_tcp", "included_files", "link_options", "loader_options", "lower_to_assembly", "model_to_tcp", "program_symbol", "stablehlo_to_tcp", "stage")
load(":execute_test.bzl", "LIBRARY_TEMPLATES", "execute_test")
load(":gpu_test.bzl", "stand_in_for_driver")
load(":link.bzl", "link")
load(":other_systems.bzl", "library_for_other_system", "other_system_test", "system_error", "system_of")
load(":plain_text.bzl", "plain_text_problem")
load(":targets.bzl", "for_each_target")

def aot_library(
        name,
        tcp_source = None,
        stablehlo_source = None,
        onnx_source = None,
        onnx_data = [],
        onnx_sizes = {},
        tflite_source = None,
        tflite_sizes = {},
        torch_loader_lib = None,
        torch_loader_path = "",
        reference_tensors = None,
        func_name = None,
        weights = "embedded",
        target_cpu = None,
        abi = "pointers",
        memory = "malloc",
        threads = 1,
        target = "host",
        targets = None,
        gpu_arch = None,
        cubins = [],
        on_gpu_tensors = False,
        stream = False,
        skip_ci = False,
        tags = [],
        testonly = None,
        visibility = None):
    """Compiles a program ahead of time to a library that C, C++ and Python programs call.

    The chain is that of aot_compile; what differs is how the program is called, as the header says.

    Args:
      name: the library's name; all targets and files are named after it.
      tcp_source: a .mlir file of TCP to start from, in place of a loader, with one public func.func.
      stablehlo_source: as for aot_compile.
      onnx_source: as for aot_compile.
      onnx_data: as for aot_compile.
      onnx_sizes: as for aot_compile.
      tflite_source: as for aot_compile.
      tflite_sizes: as for aot_compile.
      torch_loader_lib: as for aot_compile.
      torch_loader_path: as for aot_compile.
      reference_tensors: as for aot_compile.
      func_name: as for aot_compile.
      weights: as for aot_compile; or "file": the program maps them from foo.safetensors, which its
        users hand to foo_load_weights before the first call.
      target_cpu: the CPU that code is made for, in place of what --//tools/aot:target_cpu says. Or
        "wasm32": a module of WebAssembly, in place of a shared object. Or a microcontroller,
        "cortex-m55": no shared object. Or Windows, "x86_64-windows": a DLL. With the name of another
        CPU before, "haswell-windows", it is for that.
      abi: "pointers": by pointers to memory that is all the caller's. "memref": by MLIR's descriptors,
        as the libraries of aot_compile; results are memory that the caller gives back.
      memory: "malloc": temporaries come from the heap. "pool": from a workspace that the caller hands
        over, whose size the header says; no memory is allocated in a call.
      threads: as for aot_compile.
      target: as for aot_compile; the library then has the runtime that it needs.
      targets: as for aot_compile: foo and foo_nvptx. What goes with a GPU alone (`gpu_arch`, `cubins`,
        `on_gpu_tensors`, `stream`) is for "nvptx".
      gpu_arch: the GPUs that kernels are made for, in place of what --//tools/aot:gpu_arch says.
      cubins: as for aot_compile.
      on_gpu_tensors: with target = "nvptx": all pointers are to memory of one GPU, where the program
        then runs, and nothing is copied.
      stream: with on_gpu_tensors: calls have a trailing `void *stream`, on which all is queued, and
        which they do not wait for. Temporaries are in a workspace in memory of the GPU then, as with
        memory = "pool".
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
      | gen_foo_cmake            | fooConfig.cmake, for `find_package(foo CONFIG)` of CMake
      | gen_foo_weights_file     | foo.safetensors, with weights = "file"
      | foo_compile_execute_test | runs the library on the references of a loader, or on `reference_tensors`

    With target_cpu = "wasm32" foo is foo.wasm, foo.mjs, which loads it from JavaScript, and what
    TypeScript is told of that, in place of shared objects and foo.pc; node runs the test. It takes Debian's lld, llvm and wasi-libc.
    For a microcontroller there is libfoo.a, made by arm-none-eabi-gcc or clang; an emulated board runs
    the test, which takes Debian's gcc-arm-none-eabi, libnewlib-arm-none-eabi and qemu-system-arm.
    For Windows foo is foo.dll, foo.lib, which linkers read, and foo.h; wine runs the test. It takes
    Debian's gcc-mingw-w64-x86-64 and wine.

    With target = "nvptx" the test runs kernels on the CPU, by a stand-in for the driver, and
    foo_gpu_test on a GPU, if there is one.
    """
    for_each_target(
        _aot_library,
        "aot_library",
        name,
        target,
        targets,
        func_name,
        of_host = {"threads": threads},
        of_nvptx = {"gpu_arch": gpu_arch, "cubins": cubins, "on_gpu_tensors": on_gpu_tensors, "stream": stream},
        tcp_source = tcp_source,
        stablehlo_source = stablehlo_source,
        onnx_source = onnx_source,
        onnx_data = onnx_data,
        onnx_sizes = onnx_sizes,
        tflite_source = tflite_source,
        tflite_sizes = tflite_sizes,
        torch_loader_lib = torch_loader_lib,
        torch_loader_path = torch_loader_path,
        reference_tensors = reference_tensors,
        weights = weights,
        target_cpu = target_cpu,
        abi = abi,
        memory = memory,
        skip_ci = skip_ci,
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

def _aot_library(
        name,
        target,
        func_name,
        tcp_source,
        stablehlo_source,
        onnx_source,
        onnx_data,
        onnx_sizes,
        tflite_source,
        tflite_sizes,
        torch_loader_lib,
        torch_loader_path,
        reference_tensors,
        weights,
        target_cpu,
        abi,
        memory,
        skip_ci,
        tags,
        testonly,
        visibility,
        threads = 1,
        gpu_arch = None,
        cubins = [],
        on_gpu_tensors = False,
        stream = False):
    error = argument_error(
        native.package_name(),
        name,
        tcp_source,
        torch_loader_lib,
        torch_loader_path,
        func_name,
        weights,
        threads,
        macro = "aot_library",
        target = target,
        cubins = cubins,
        stablehlo_source = stablehlo_source,
        onnx_source = onnx_source,
        onnx_data = onnx_data,
        onnx_sizes = onnx_sizes,
        tflite_source = tflite_source,
        tflite_sizes = tflite_sizes,
        reference_tensors = reference_tensors,
    )
    error = error or _gpu_error(name, target, gpu_arch, on_gpu_tensors, stream, abi, memory)
    if not error and target_cpu and plain_text_problem(target_cpu, "_-.+"):
        error = "aot_library(name = \"{}\"): target_cpu {}".format(name, plain_text_problem(target_cpu, "_-.+"))
    if not error and memory not in ["malloc", "pool"]:
        error = "aot_library(name = \"{}\"): memory = \"{}\" is neither \"malloc\" nor \"pool\"".format(name, memory)
    if not error and abi not in LIBRARY_TEMPLATES:
        error = "aot_library(name = \"{}\"): abi = \"{}\" is neither \"pointers\" nor \"memref\"".format(name, abi)
    if not error and abi == "memref" and memory == "pool":
        error = "aot_library(name = \"{}\"): memory = \"pool\" goes with abi = \"pointers\"".format(name)
    if not error and abi == "memref" and weights == "file":
        error = "aot_library(name = \"{}\"): weights = \"file\" goes with abi = \"pointers\"".format(name)
    error = error or system_error(name, target_cpu, target, abi, threads, weights)
    if error:
        fail(error)

    if stream:
        # What is queued cannot allocate.
        memory = "pool"
    is_for_gpu = target == "nvptx"
    queue = "stream" if stream else "own"
    arch = gpu_arch or "$(AOT_GPU_ARCH)"
    manual = ["manual"] if skip_ci else []
    cpu = target_cpu or "$(AOT_TARGET_CPU)"
    common = {"tags": manual, "testonly": testonly, "visibility": visibility}
    weights_file, loaded_weights, included = [], [], []
    model_source = onnx_source or tflite_source
    file = tcp_source or stablehlo_source or model_source
    origin = _path_of(file) if file else torch_loader_path
    if torch_loader_lib or model_source or stablehlo_source:
        if stablehlo_source:
            stablehlo_to_tcp(name, stablehlo_source, func_name, manual, testonly, visibility)
        elif model_source:
            model_to_tcp(name, model_source, onnx_data, onnx_sizes or tflite_sizes, reference_tensors, func_name, weights, manual, testonly, visibility)
        else:
            options = loader_options(name, torch_loader_path, func_name)
            export_to_tcp(name, torch_loader_lib, options, weights, manual, testonly, visibility)
        weights_file = ["_internal_{}_weights.safetensors".format(name)]
        if weights == "file":
            loaded_weights = [name + ".safetensors"]
            native.filegroup(name = "gen_{}_weights_file".format(name), srcs = loaded_weights, **common)
        else:
            included = weights_file
        tcp_source = "_internal_{}_tcp.mlir".format(name)
    if reference_tensors and not model_source:
        complete_references(name, reference_tensors, func_name, manual, testonly, visibility)
    symbol = program_symbol(_symbol_text(name, origin, func_name, cpu, abi, memory, threads, weights, target, on_gpu_tensors, stream))
    description = name + ".json"
    lower_to_assembly(
        name,
        tcp_source,
        symbol,
        weights_file,
        manual,
        testonly,
        visibility,
        # LIBRARY_ABIS of plumbline/target/choices.py.
        abi = {"memref": "memref-status"}.get(abi, abi),
        descriptions = [description],
        loaded_weights = loaded_weights,
        weights = weights,
        memory = memory,
        target = target,
        target_cpu = cpu,
        gpu_arch = arch,
        cubins = cubins,
        tensors = "device" if on_gpu_tensors else "host",
        queue = queue,
        threads = threads,
    )
    stage(
        name = "gen_{}_description".format(name),
        src = "_internal_{}_{}.mlir".format(name, "gpu" if is_for_gpu else "kernels"),
        outs = [description],
        program = Label("//tools/aot:describe_library"),
        message = "{}: describing the library".format(name),
        options = "--target-cpu={} --origin={} --abi={} --memory={} --weights-are={}".format(cpu, origin, abi, memory, weights) +
                  (" --queue={} --gpu-arch={}".format(queue, arch) if is_for_gpu else ""),
        toolchains = [Label("//tools/aot:gpu_arch"), Label("//tools/aot:target_cpu")],
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
    _package_file(name, description, "cmake", name + "Config.cmake", threads, common)
    if system_of(target_cpu):
        library_for_other_system(name, target_cpu, threads, description, included, manual, testonly, visibility)
        if torch_loader_lib or reference_tensors:
            other_system_test(name, target_cpu, manual + tags, visibility)
        return
    _package_file(name, description, "pkg-config", name + ".pc", threads, common)
    archive = "lib{}.a".format(name)
    shared_object = "lib{}.so".format(name)
    stage(
        name = "gen_{}_object".format(name),
        src = "_internal_{}.S".format(name),
        outs = [name + ".o", archive, shared_object],
        program = Label("//tools/aot:assemble_library"),
        message = "{}: assembling".format(name),
        data = included_files(name, included, target, cubins) + ["@bazel_tools//tools/cpp:current_cc_toolchain"],
        options = "--archive=$(location {}) --shared-object=$(location {}) --threads={} --target={} --target-cpu={} --archiver=$(AR) --compiler $(CC) $(CC_FLAGS)".format(archive, shared_object, threads, target, cpu),
        toolchains = [
            Label("//tools/aot:target_cpu"),
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
        linkopts = link_options(symbol, threads) + (["-ldl", "-lpthread"] if is_for_gpu else []),
        toolchains = [Label("//tools/aot:target_cpu")],
        **common
    )
    if torch_loader_lib or reference_tensors:
        execute_test(
            name,
            ":" + name,
            manual,
            tags,
            testonly,
            visibility,
            abi = abi,
            description = description,
            loaded_weights = loaded_weights,
            stand_in = stand_in_for_driver(name, manual) if is_for_gpu else [],
        )

def _gpu_error(name, target, gpu_arch, on_gpu_tensors, stream, abi, memory):
    """What keeps a library from being one for a GPU; as `LibraryOptions` of plumbline/library_files."""
    problem = None
    if target != "nvptx" and (gpu_arch or on_gpu_tensors or stream):
        problem = "gpu_arch, on_gpu_tensors and stream go with target = \"nvptx\""
    elif stream and not on_gpu_tensors:
        problem = "stream goes with on_gpu_tensors: copies of what is on the host have to be waited for"
    elif on_gpu_tensors and abi == "memref":
        problem = "on_gpu_tensors goes with abi = \"pointers\""
    elif target == "nvptx" and memory == "pool" and not on_gpu_tensors:
        problem = "memory = \"pool\" of a GPU goes with on_gpu_tensors"
    elif gpu_arch and plain_text_problem(gpu_arch, "_"):
        problem = "gpu_arch " + plain_text_problem(gpu_arch, "_")
    return "aot_library(name = \"{}\"): {}".format(name, problem) if problem else None

def _package_file(name, description, build_system, file, threads, common):
    """What tells a build system of the library: gen_foo_pkg_config and gen_foo_cmake."""
    stage(
        name = "gen_{}_{}".format(name, build_system.replace("-", "_")),
        src = description,
        outs = [file],
        program = Label("//tools/aot:generate_package_file"),
        message = "{}: writing the file for {}".format(name, build_system),
        options = "--library={} --build-system={} --threads={}".format(name, build_system, threads),
        **common
    )

def _path_of(source):
    """The path of a source file from the workspace's root, as the compiler's command has it."""
    if source.startswith("//") or source.startswith("@"):
        return source.split("//")[1].replace(":", "/").lstrip("/")
    return "/".join([part for part in [native.package_name(), source.lstrip(":")] if part])

def _symbol_text(name, origin, func_name, target_cpu, abi, memory, threads, weights, target, on_gpu_tensors, stream):
    """What tells a library from all others; `symbol_text` of plumbline/library_files/options.py."""
    parts = [name, origin, func_name or "", target_cpu, abi, memory, str(threads), weights]
    if target == "nvptx":
        parts += [target] + ["1" if flag else "0" for flag in [on_gpu_tensors, stream]]
    return ":".join(parts)
