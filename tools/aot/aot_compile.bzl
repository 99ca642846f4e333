"""aot_compile: from a PyTorch program to a tested C library, every stage a target."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("@rules_python//python:defs.bzl", "py_binary")
load(":arguments.bzl", "argument_error")
load(":loader_files.bzl", "loader_files")
load(":worker_genrule.bzl", "worker_genrule")

def aot_compile(
        name,
        tcp_source = None,
        torch_loader_lib = None,
        torch_loader_path = "",
        func_name = None,
        weights = "embedded",
        threads = 1,
        skip_ci = False,
        tags = [],
        testonly = None,
        visibility = None):
    """Compiles a program ahead of time and tests the result against PyTorch.

    Args:
      name: the program's name; all targets and files are named after it.
      tcp_source: a .mlir file of TCP to start from, in place of a loader. Each public func.func in
        it becomes a C function of its own name; their test is written by hand.
      torch_loader_lib: the py_library that holds the loader function.
      torch_loader_path: the loader function, as package.module.function from the workspace's root.
        It returns a tools.aot.torch_loader_utils.TorchLoaderOutput.
      func_name: the name of the C function. Without one it is that which the loader gives, and else
        the `name` of the program. Programs of one binary have functions of different names; a binary
        with two of one name does not link, with a message that names both libraries.
      weights: "embedded": the program's parameters, buffers and large constants are read-only data of
        the library. "arguments": they are leading arguments of the C function, in the order in which
        gen_foo_mlir_torch names them (plumbline.parameter), so that one library serves many
        checkpoints.
      threads: how many threads a call of the C function runs on, where there is enough to do. The
        environment variable PLUMBLINE_THREADS says another number, from 1 on, as the program runs.
        With more than one the library is linked with GCC's runtime library of OpenMP, libgomp.
      skip_ci: keeps all targets out of wildcards such as //... .
      tags: more tags for the generated test.
      testonly: as for all rules. The library depends on the loader, so a testonly loader makes a
        testonly library.
      visibility: of all targets; the package's default where it is not given.

    With a loader these targets come out, for name = "foo" (B: `bazel build` it and read the file,
    R: `bazel run` it, T: `bazel test` it):

      | target                      |   | file                                 |
      | --------------------------- | - | ------------------------------------ |
      | foo_torch_exporter          | R | runs the loader, exports, saves references
      | gen_foo_mlir_torch          | B | _internal_foo_torch.mlir             |
      | gen_foo_reference_tensors   | B | _internal_foo_reference_tensors.npz  |
      | gen_foo_weights             | B | _internal_foo_weights.safetensors    |
      | gen_foo_mlir_tcp            | B | _internal_foo_tcp.mlir               |
      | gen_foo_mlir_linalg         | B | _internal_foo_linalg.mlir            |
      | gen_foo_mlir_kernels        | B | _internal_foo_kernels.mlir           |
      | gen_foo_mlir_llvm           | B | _internal_foo_llvm.mlir              |
      | gen_foo_llvm_ir             | B | _internal_foo.ll                     |
      | gen_foo_host_asm            | B | _internal_foo.S                      |
      |                             |   | _internal_foo_packed_weights.safetensors |
      | aot_compiled_foo            | B | libaot_compiled_foo.a                |
      | libaot_compiled_foo.so      | B | the same as a shared object          |
      | foo_execute_test_generator  | R | writes the test from its template    |
      | gen_foo_execute_test        | B | _internal_foo_execute_test.cpp       |
      | foo_compile_execute_test    | T | runs the library on the references   |
      | foo_bisect                  | R | finds the op whose numbers are wrong |

    foo_bisect is for when foo_compile_execute_test fails: it compiles the program with the values between
    its ops as outputs as well, and tells the first that is not PyTorch's. It is built only when it is
    asked for.

    With tcp_source the chain starts at gen_foo_mlir_linalg, and ends at aot_compiled_foo.

    The flags --//tools/aot:target_cpu and --//tools/aot:opt_level say for what machine code is made
    and how much LLVM optimises it; --//tools/aot:runtime_checks says what the program checks as it runs:
    "values" what PyTorch raises for (an index out of range, an integer divided by zero), "all" also
    that the sizes of the operands of each op agree, "off" neither.
    --//tools/aot:loader_time_limit says how many seconds a loader may take, and its model after it.
    """
    error = argument_error(native.package_name(), name, tcp_source, torch_loader_lib, torch_loader_path, func_name, weights, threads)
    if error:
        fail(error)

    manual = ["manual"] if skip_ci else []
    loader_options = [
        "--torch-loader-path={}".format(torch_loader_path),
        "--func-name={}".format(func_name) if func_name else "--target-name={}".format(name),
        "--loader-time-limit=$(AOT_LOADER_TIME_LIMIT)",
    ]
    weights_file = []
    packed_weights_file = []
    if torch_loader_lib:
        _export(name, torch_loader_lib, loader_options, weights, manual, testonly, visibility)
        weights_file = ["_internal_{}_weights.safetensors".format(name)]
        packed_weights_file = ["_internal_{}_packed_weights.safetensors".format(name)]
        _stage(
            name = "gen_{}_mlir_tcp".format(name),
            src = "_internal_{}_torch.mlir".format(name),
            outs = ["_internal_{}_tcp.mlir".format(name)],
            program = Label("//tools/aot:torch_to_tcp"),
            message = "{}: lowering Torch to TCP".format(name),
            tags = manual,
            testonly = testonly,
            visibility = visibility,
        )
        tcp_source = "_internal_{}_tcp.mlir".format(name)

    _stage(
        name = "gen_{}_mlir_linalg".format(name),
        src = tcp_source,
        outs = ["_internal_{}_linalg.mlir".format(name)],
        program = Label("//tools/aot:tcp_to_linalg"),
        message = "{}: lowering TCP to linalg".format(name),
        options = "--runtime-checks=$(AOT_RUNTIME_CHECKS)",
        toolchains = [Label("//tools/aot:runtime_checks")],
        tags = manual,
        testonly = testonly,
        visibility = visibility,
    )
    _stage(
        name = "gen_{}_mlir_kernels".format(name),
        src = "_internal_{}_linalg.mlir".format(name),
        outs = ["_internal_{}_kernels.mlir".format(name)],
        program = Label("//tools/aot:linalg_to_kernels"),
        message = "{}: lowering linalg to kernels".format(name),
        options = "--target-cpu=$(AOT_TARGET_CPU) --threads={}".format(threads),
        toolchains = [Label("//tools/aot:target_cpu")],
        tags = manual,
        testonly = testonly,
        visibility = visibility,
    )
    _stage(
        name = "gen_{}_mlir_llvm".format(name),
        src = "_internal_{}_kernels.mlir".format(name),
        outs = ["_internal_{}_llvm.mlir".format(name)],
        program = Label("//tools/aot:kernels_to_llvm"),
        message = "{}: lowering kernels to the LLVM dialect".format(name),
        tags = manual,
        testonly = testonly,
        visibility = visibility,
    )
    _stage(
        name = "gen_{}_llvm_ir".format(name),
        src = "_internal_{}_llvm.mlir".format(name),
        outs = ["_internal_{}.ll".format(name)],
        program = Label("//tools/aot:llvm_to_llvm_ir"),
        message = "{}: translating to LLVM IR".format(name),
        tags = manual,
        testonly = testonly,
        visibility = visibility,
    )

    # What a linker looks for in every binary that the library is part of, lest it pass over one of
    # two libraries with a function of the same name. Symbols with an @ have versions.
    program = "{}{}".format(native.repository_name(), _label(name)).replace("@", "")
    _stage(
        name = "gen_{}_host_asm".format(name),
        src = "_internal_{}.ll".format(name),
        outs = ["_internal_{}.S".format(name)] + packed_weights_file,
        program = Label("//tools/aot:llvm_ir_to_asm"),
        message = "{}: making assembly".format(name),
        data = weights_file,
        options = " ".join(
            ["--target-cpu=$(AOT_TARGET_CPU)", "--opt-level=$(AOT_OPT_LEVEL)", "--program=" + program] +
            ["--weights=$(location {})".format(file) for file in weights_file] +
            ["--packed-weights=$(location {})".format(file) for file in packed_weights_file],
        ),
        toolchains = [Label("//tools/aot:opt_level"), Label("//tools/aot:target_cpu")],
        tags = manual,
        testonly = testonly,
        visibility = visibility,
    )
    cc_library(
        name = "aot_compiled_{}".format(name),
        testonly = testonly,
        srcs = ["_internal_{}.S".format(name)],
        # The compiler's preprocessor reads it, whose own names ("linux") weights may have as well.
        copts = ["-undef"],
        # The assembler copies the weights from their file, so it must see it.
        textual_hdrs = weights_file + packed_weights_file,
        # Functions such as tanhf come from the C library's mathematics.
        linkopts = [
            "-lm",
            "-Wl,-u," + program,
        ] + (["-lgomp"] if threads > 1 else []),
        # A shared object is linked only for who asks for it, just below.
        linkstatic = True,
        tags = manual,
        visibility = visibility,
    )
    cc_binary(
        name = "libaot_compiled_{}.so".format(name),
        testonly = testonly,
        linkshared = True,
        tags = ["manual"],
        visibility = visibility,
        deps = [":aot_compiled_{}".format(name)],
    )

    if torch_loader_lib:
        _execute_test(name, manual, tags, testonly, visibility)
        _bisect(name, torch_loader_lib, loader_options, threads, testonly, visibility)

def _label(name):
    return "//{}:{}".format(native.package_name(), name)

def _export(name, torch_loader_lib, loader_options, weights, manual, testonly, visibility):
    exporter = "{}_torch_exporter".format(name)
    py_binary(
        name = exporter,
        testonly = testonly,
        srcs = [Label("//tools/aot:export_torch.py")],
        args = loader_options,
        main = Label("//tools/aot:export_torch.py"),
        # For `bazel run` alone: what builds all targets need not lay out its runfiles.
        tags = ["manual"],
        toolchains = [Label("//tools/aot:loader_time_limit")],
        visibility = visibility,
        deps = [
            Label("//tools/aot:export_torch_library"),
            torch_loader_lib,
        ],
    )
    files = "_internal_{}_loader_files.json".format(name)
    loader_files(
        name = "_{}_loader_files".format(name),
        testonly = testonly,
        out = files,
        loader = torch_loader_lib,
        tags = manual,
        visibility = ["//visibility:private"],
    )

    # One run writes all files, so that all come from the same weights.
    mlir = "_internal_{}_torch.mlir".format(name)
    references = "_internal_{}_reference_tensors.npz".format(name)
    safetensors = "_internal_{}_weights.safetensors".format(name)
    worker_genrule(
        name = "_gen_{}_export".format(name),
        testonly = testonly,
        srcs = [
            files,
            ":_{}_loader_files".format(name),
        ],
        outs = [mlir, references, safetensors],
        cmd = "$(location {exporter}) --loader-files=$(location {files}) {loader_options} --mlir=$(location {mlir}) --reference-tensors=$(location {references}) --weights=$(location {safetensors}) --weights-are={weights} --label={label}".format(
            exporter = Label("//tools/aot:export_torch"),
            files = files,
            label = _label("gen_{}_mlir_torch".format(name)),
            loader_options = " ".join(loader_options),
            mlir = mlir,
            references = references,
            safetensors = safetensors,
            weights = weights,
        ),
        message = "{}: exporting from PyTorch".format(name),
        tags = manual,
        toolchains = [Label("//tools/aot:loader_time_limit")],
        tools = [Label("//tools/aot:export_torch")],
        visibility = ["//visibility:private"],
    )
    native.filegroup(
        name = "gen_{}_mlir_torch".format(name),
        testonly = testonly,
        srcs = [mlir],
        tags = manual,
        visibility = visibility,
    )
    native.filegroup(
        name = "gen_{}_reference_tensors".format(name),
        testonly = testonly,
        srcs = [references],
        tags = manual,
        visibility = visibility,
    )
    native.filegroup(
        name = "gen_{}_weights".format(name),
        testonly = testonly,
        srcs = [safetensors],
        tags = manual,
        visibility = visibility,
    )

def _stage(name, src, outs, program, message, tags, testonly, visibility, data = [], options = "", toolchains = []):
    worker_genrule(
        name = name,
        testonly = testonly,
        srcs = [src] + data,
        outs = outs,
        cmd = "$(location {program}) $(location {src}) -o $(location {out}) --label={label} {options}".format(
            label = _label(name),
            out = outs[0],
            options = options,
            program = program,
            src = src,
        ),
        message = message,
        tags = tags,
        toolchains = toolchains,
        tools = [program],
        visibility = visibility,
    )

def _execute_test(name, manual, tags, testonly, visibility):
    generator = "{}_execute_test_generator".format(name)
    references = "_internal_{}_reference_tensors.npz".format(name)
    source = "_internal_{}_execute_test.cpp".format(name)
    template = Label("//tools/aot:execute_test.template.cpp")

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
        srcs = [references, template],
        outs = [source],
        cmd = "$(location {generator}) --reference-tensors=$(location {references}) --runfile={repository}/{package}/{references} --bisect={bisect} --template=$(location {template}) --out=$@".format(
            bisect = _label("{}_bisect".format(name)),
            generator = Label("//tools/aot:generate_execute_test"),
            package = native.package_name(),
            references = references,
            repository = native.repository_name().replace("@", "") or "$(AOT_WORKSPACE)",
            template = template,
        ),
        message = "{}: writing the test".format(name),
        tags = manual,
        toolchains = [Label("//tools/aot:workspace_name")],
        tools = [Label("//tools/aot:generate_execute_test")],
        visibility = visibility,
    )
    cc_test(
        name = "{}_compile_execute_test".format(name),
        size = "small",
        srcs = [source],
        # Of a workspace that has Plumbline as an external repository, the flags are its own.
        copts = ["-std=c++17"],
        data = [references],
        tags = ["aot_tests"] + manual + tags,
        visibility = visibility,
        deps = [
            ":aot_compiled_{}".format(name),
            Label("//tools/aot:execute_test"),
            "@googletest//:gtest_main",
        ],
    )

def _bisect(name, torch_loader_lib, loader_options, threads, testonly, visibility):
    bisect = "{}_bisect".format(name)
    py_binary(
        name = bisect,
        testonly = testonly,
        srcs = [Label("//tools/aot:bisect_program.py")],
        args = loader_options + [
            "--target-cpu=$(AOT_TARGET_CPU)",
            "--opt-level=$(AOT_OPT_LEVEL)",
            "--threads={}".format(threads),
            "--label={}".format(_label(bisect)),
        ],
        main = Label("//tools/aot:bisect_program.py"),
        tags = ["manual"],
        toolchains = [
            Label("//tools/aot:loader_time_limit"),
            Label("//tools/aot:opt_level"),
            Label("//tools/aot:target_cpu"),
        ],
        visibility = visibility,
        deps = [
            Label("//tools/aot:bisect_program"),
            torch_loader_lib,
        ],
    )
