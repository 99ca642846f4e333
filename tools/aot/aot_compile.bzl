"""aot_compile: from a PyTorch program to a tested C library, every stage a target."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load("@rules_python//python:defs.bzl", "py_binary")
load(":arguments.bzl", "argument_error")

def aot_compile(
        name,
        tcp_source = None,
        torch_loader_lib = None,
        torch_loader_path = "",
        weights = "embedded",
        skip_ci = False,
        tags = [],
        visibility = None):
    """Compiles a program ahead of time and tests the result against PyTorch.

    Args:
      name: the program's name; all targets and files are named after it.
      tcp_source: a .mlir file of TCP to start from, in place of a loader. Each public func.func in
        it becomes a C function of its own name; their test is written by hand.
      torch_loader_lib: the py_library that holds the loader function.
      torch_loader_path: the loader function, as package.module.function from the workspace's root.
        It returns a tools.aot.torch_loader_utils.TorchLoaderOutput.
      weights: "embedded": the program's parameters, buffers and large constants are read-only data of
        the library. "arguments": they are leading arguments of the C function, in the order in which
        gen_foo_mlir_torch names them (plumbline.parameter), so that one library serves many
        checkpoints.
      skip_ci: keeps all targets out of wildcards such as //... .
      tags: more tags for the generated test.
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
      | gen_foo_mlir_llvm           | B | _internal_foo_llvm.mlir              |
      | gen_foo_llvm_ir             | B | _internal_foo.ll                     |
      | gen_foo_host_asm            | B | _internal_foo.S                      |
      | aot_compiled_foo            | B | libaot_compiled_foo.a and .so        |
      | foo_execute_test_generator  | R | writes the test from its template    |
      | gen_foo_execute_test        | B | _internal_foo_execute_test.cpp       |
      | foo_compile_execute_test    | T | runs the library on the references   |
      | foo_bisect                  | R | finds the op whose numbers are wrong |

    foo_bisect is for when foo_compile_execute_test fails: it compiles the program with the values between
    its ops as outputs as well, and tells the first that is not PyTorch's. It is built only when it is
    asked for.

    With tcp_source the chain starts at gen_foo_mlir_linalg, and ends at aot_compiled_foo.

    All of them are testonly, as loaders may be.

    The flags --//tools/aot:target_cpu and --//tools/aot:opt_level say for what machine code is made
    and how much LLVM optimises it; --//tools/aot:runtime_checks says what the program checks as it runs:
    "values" what PyTorch raises for (an index out of range, an integer divided by zero), "all" also
    that the sizes of the operands of each op agree, "off" neither.
    """
    error = argument_error(native.package_name(), name, tcp_source, torch_loader_lib, torch_loader_path, weights)
    if error:
        fail(error)

    manual = ["manual"] if skip_ci else []
    weights_file = []
    if torch_loader_lib:
        _export(name, torch_loader_lib, torch_loader_path, weights, manual, visibility)
        weights_file = ["_internal_{}_weights.safetensors".format(name)]
        _stage(
            name = "gen_{}_mlir_tcp".format(name),
            src = "_internal_{}_torch.mlir".format(name),
            out = "_internal_{}_tcp.mlir".format(name),
            program = Label("//tools/aot:torch_to_tcp"),
            tags = manual,
            visibility = visibility,
        )
        tcp_source = "_internal_{}_tcp.mlir".format(name)

    _stage(
        name = "gen_{}_mlir_linalg".format(name),
        src = tcp_source,
        out = "_internal_{}_linalg.mlir".format(name),
        program = Label("//tools/aot:tcp_to_linalg"),
        options = "--runtime-checks=$(AOT_RUNTIME_CHECKS)",
        toolchains = [Label("//tools/aot:runtime_checks")],
        tags = manual,
        visibility = visibility,
    )
    _stage(
        name = "gen_{}_mlir_llvm".format(name),
        src = "_internal_{}_linalg.mlir".format(name),
        out = "_internal_{}_llvm.mlir".format(name),
        program = Label("//tools/aot:linalg_to_llvm"),
        options = "--target-cpu=$(AOT_TARGET_CPU)",
        toolchains = [Label("//tools/aot:target_cpu")],
        tags = manual,
        visibility = visibility,
    )
    _stage(
        name = "gen_{}_llvm_ir".format(name),
        src = "_internal_{}_llvm.mlir".format(name),
        out = "_internal_{}.ll".format(name),
        program = Label("//tools/aot:llvm_to_llvm_ir"),
        tags = manual,
        visibility = visibility,
    )
    _stage(
        name = "gen_{}_host_asm".format(name),
        src = "_internal_{}.ll".format(name),
        out = "_internal_{}.S".format(name),
        program = Label("//tools/aot:llvm_ir_to_asm"),
        data = weights_file,
        options = " ".join(
            ["--target-cpu=$(AOT_TARGET_CPU)", "--opt-level=$(AOT_OPT_LEVEL)"] +
            ["--weights=$(location {})".format(file) for file in weights_file],
        ),
        toolchains = [Label("//tools/aot:opt_level"), Label("//tools/aot:target_cpu")],
        tags = manual,
        visibility = visibility,
    )
    cc_library(
        name = "aot_compiled_{}".format(name),
        testonly = True,
        srcs = ["_internal_{}.S".format(name)],
        # The assembler copies the weights from their file, so it must see it.
        textual_hdrs = weights_file,
        # Functions such as tanhf come from the C library's mathematics.
        linkopts = ["-lm"],
        tags = manual,
        visibility = visibility,
    )

    if torch_loader_lib:
        _execute_test(name, manual, tags, visibility)
        _bisect(name, torch_loader_lib, torch_loader_path, visibility)

def _label(name):
    return "//{}:{}".format(native.package_name(), name)

def _export(name, torch_loader_lib, torch_loader_path, weights, manual, visibility):
    exporter = "{}_torch_exporter".format(name)
    py_binary(
        name = exporter,
        testonly = True,
        srcs = [Label("//tools/aot:export_torch.py")],
        args = ["--torch-loader-path={}".format(torch_loader_path)],
        main = Label("//tools/aot:export_torch.py"),
        tags = manual,
        visibility = visibility,
        deps = [
            Label("//tools/aot:export_torch"),
            torch_loader_lib,
        ],
    )

    # One run writes all files, so that all come from the same weights.
    mlir = "_internal_{}_torch.mlir".format(name)
    references = "_internal_{}_reference_tensors.npz".format(name)
    safetensors = "_internal_{}_weights.safetensors".format(name)
    native.genrule(
        name = "_gen_{}_export".format(name),
        testonly = True,
        outs = [mlir, references, safetensors],
        cmd = "$(location :{exporter}) --torch-loader-path={path} --mlir=$(location {mlir}) --reference-tensors=$(location {references}) --weights=$(location {safetensors}) --weights-are={weights} --label={label}".format(
            exporter = exporter,
            label = _label("gen_{}_mlir_torch".format(name)),
            mlir = mlir,
            path = torch_loader_path,
            references = references,
            safetensors = safetensors,
            weights = weights,
        ),
        message = "Exporting from PyTorch",
        tags = manual,
        tools = [":" + exporter],
        visibility = ["//visibility:private"],
    )
    native.filegroup(
        name = "gen_{}_mlir_torch".format(name),
        testonly = True,
        srcs = [mlir],
        tags = manual,
        visibility = visibility,
    )
    native.filegroup(
        name = "gen_{}_reference_tensors".format(name),
        testonly = True,
        srcs = [references],
        tags = manual,
        visibility = visibility,
    )
    native.filegroup(
        name = "gen_{}_weights".format(name),
        testonly = True,
        srcs = [safetensors],
        tags = manual,
        visibility = visibility,
    )

def _stage(name, src, out, program, tags, visibility, data = [], options = "", toolchains = []):
    native.genrule(
        name = name,
        testonly = True,
        srcs = [src] + data,
        outs = [out],
        cmd = "$(location {program}) $(location {src}) -o $@ --label={label} {options}".format(
            label = _label(name),
            options = options,
            program = program,
            src = src,
        ),
        message = "Lowering ({})".format(program.name),
        tags = tags,
        toolchains = toolchains,
        tools = [program],
        visibility = visibility,
    )

def _execute_test(name, manual, tags, visibility):
    generator = "{}_execute_test_generator".format(name)
    references = "_internal_{}_reference_tensors.npz".format(name)
    source = "_internal_{}_execute_test.cpp".format(name)
    template = Label("//tools/aot:execute_test.template.cpp")

    # The same program for all; an alias costs no runfiles of its own.
    native.alias(
        name = generator,
        actual = Label("//tools/aot:generate_execute_test"),
        tags = manual,
        visibility = visibility,
    )
    native.genrule(
        name = "gen_{}_execute_test".format(name),
        testonly = True,
        srcs = [references, template],
        outs = [source],
        cmd = "$(location :{generator}) --reference-tensors=$(location {references}) --runfile={package}/{references} --template=$(location {template}) --out=$@".format(
            generator = generator,
            package = native.package_name(),
            references = references,
            template = template,
        ),
        message = "Writing the test",
        tags = manual,
        tools = [":" + generator],
        visibility = visibility,
    )
    cc_test(
        name = "{}_compile_execute_test".format(name),
        size = "small",
        srcs = [source],
        data = [references],
        tags = ["aot_tests"] + manual + tags,
        visibility = visibility,
        deps = [
            ":aot_compiled_{}".format(name),
            Label("//tools/aot:execute_test"),
            "@googletest//:gtest_main",
        ],
    )

def _bisect(name, torch_loader_lib, torch_loader_path, visibility):
    bisect = "{}_bisect".format(name)
    py_binary(
        name = bisect,
        testonly = True,
        srcs = [Label("//tools/aot:bisect_program.py")],
        args = [
            "--torch-loader-path={}".format(torch_loader_path),
            "--target-cpu=$(AOT_TARGET_CPU)",
            "--opt-level=$(AOT_OPT_LEVEL)",
            "--label={}".format(_label(bisect)),
        ],
        main = Label("//tools/aot:bisect_program.py"),
        tags = ["manual"],
        toolchains = [Label("//tools/aot:opt_level"), Label("//tools/aot:target_cpu")],
        visibility = visibility,
        deps = [
            Label("//tools/aot:bisect_program"),
            torch_loader_lib,
        ],
    )
