"""aot_compile: from a PyTorch program to a tested C library, every stage a target."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("@rules_python//python:defs.bzl", "py_binary")
load(":arguments.bzl", "argument_error")
load(":chain.bzl", "complete_references", "export_to_tcp", "label_of", "library_of_assembly", "loader_options", "lower_to_assembly", "model_options", "model_to_tcp", "page_of_stages", "program_symbol", "stablehlo_to_tcp")
load(":execute_test.bzl", "execute_test")
load(":gpu_test.bzl", "stand_in_for_driver")
load(":targets.bzl", "for_each_target")

def aot_compile(
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
        target = "host",
        targets = None,
        cubins = [],
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
        it becomes a C function of its own name.
      stablehlo_source: a .mlir file of StableHLO to start from, as JAX exports it. Its one public
        function becomes the C function.
      onnx_source: a .onnx file, a model of ONNX, to start from. Sizes to which it gives names differ at
        run time.
      onnx_data: files that lie beside it, in which it keeps tensors.
      onnx_sizes: sizes that are fixed of those to which it gives names, such as {"batch": 1}.
      tflite_source: a .tflite file, a model of TensorFlow Lite, to start from, of the sizes that it says.
      tflite_sizes: other sizes, where it may have others, such as {"image_0": 8}: the name of an input, and
        the number of a dimension.
      torch_loader_lib: the py_library that holds the loader function.
      torch_loader_path: the loader function, as package.module.function from the workspace's root.
        It returns a tools.aot.torch_loader_utils.TorchLoaderOutput.
      reference_tensors: for a file of TCP, StableHLO, ONNX or TensorFlow Lite, an .npz file of tensors
        to hold the C function against: its arguments Input0, Input1, ..., and what it is to return,
        Output0, ...; further ones, of other sizes, Case1.Input0, ..., Case1.Output0, ...; and, where
        they are not those of torch.testing.assert_close, tolerances for each output, rtol and atol.
        Without it a model of ONNX or TensorFlow Lite is held against what PyTorch answers to inputs
        that are made up.
      func_name: the name of the C function. Without one it is that which the loader gives, and else
        the `name` of the program. Programs of one binary have functions of different names; a binary
        with two of one name does not link, with a message that names both libraries.
      target: "host", or "nvptx": kernels then run on the first GPU that the NVIDIA driver gives as the
        C function is called, which copies its arguments there and its results back.
      targets: in place of `target`, several, such as ["host", "nvptx"]: the targets below then come
        out for each, those after the first with its name at the end of theirs, and of `func_name` if
        there is one: foo and foo_nvptx. What goes with one alone (`threads`, `cubins`) is for that.
      cubins: GPUs that the library has machine code for, such as ["sm_80", "sm_90"], beside PTX: on
        these the driver compiles nothing when the library is first called.
      weights: "embedded": the program's parameters, buffers and large constants are read-only data of
        the library. "arguments": parameters and buffers are leading arguments of the C function, in
        the order in which gen_foo_mlir_torch names them (plumbline.parameter), so that one library
        serves many checkpoints; constants stay in the library.
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
      | foo_profile                 | R | tells how long each kernel takes     |
      | gen_foo_page                | B | _internal_foo.html                   |

    foo_bisect is for when foo_compile_execute_test fails: it compiles the program with the values between
    its ops as outputs as well, and tells the first that is not PyTorch's. foo_profile runs the program on
    the loader's inputs, with timers around its kernels. gen_foo_page is all stages beside the source, line
    by line, for a browser. All three are built only when they are asked for.

    With target = "nvptx" these take the place of gen_foo_mlir_kernels and gen_foo_mlir_llvm, and of
    foo_bisect and foo_profile there are none:

      | gen_foo_mlir_gpu            | B | _internal_foo_gpu.mlir               |
      | gen_foo_mlir_nvvm           | B | _internal_foo_nvvm.mlir              |
      | gen_foo_ptx                 | B | _internal_foo.ptx                    |
      | gen_foo_ptx_report          | B | _internal_foo_ptx.txt                |
      | gen_foo_fatbin              | B | _internal_foo.fatbin, with `cubins`  |
      | foo_gpu_test                | T | runs the library on a GPU, or skips  |

    foo_compile_execute_test then runs the kernels on the CPU, by a stand-in for the driver
    (//tools/gpu); foo_gpu_test, with the tag gpu, is the same without that. --//tools/aot:gpu_arch says for what GPUs they are made.

    With onnx_source or tflite_source there is no foo_torch_exporter. With stablehlo_source the chain starts at
    gen_foo_mlir_tcp, and gen_foo_weights has the large constants of the file; with tcp_source it starts at
    gen_foo_mlir_linalg. Of both there are gen_foo_reference_tensors and the test with `reference_tensors`,
    and foo_bisect and foo_profile never.

    The flags --//tools/aot:target_cpu and --//tools/aot:opt_level say for what machine code is made
    and how much LLVM optimises it; --//tools/aot:runtime_checks says what the program checks as it runs:
    "values" what PyTorch raises for (an index out of range, an integer divided by zero), "all" also
    that the sizes of the operands of each op agree, "off" neither.
    --//tools/aot:loader_time_limit says how many seconds a loader may take, and its model after it.
    """
    for_each_target(
        _aot_compile,
        "aot_compile",
        name,
        target,
        targets,
        func_name,
        of_host = {"threads": threads},
        of_nvptx = {"cubins": cubins},
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
        skip_ci = skip_ci,
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

def _aot_compile(
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
        skip_ci,
        tags,
        testonly,
        visibility,
        threads = 1,
        cubins = []):
    error = argument_error(
        native.package_name(),
        name,
        tcp_source,
        torch_loader_lib,
        torch_loader_path,
        func_name,
        weights,
        threads,
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
    if error:
        fail(error)

    manual = ["manual"] if skip_ci else []
    model_source = onnx_source or tflite_source
    options = loader_options(name, torch_loader_path, func_name)
    weights_file = []
    if torch_loader_lib:
        export_to_tcp(name, torch_loader_lib, options, weights, manual, testonly, visibility)
        weights_file = ["_internal_{}_weights.safetensors".format(name)]
        tcp_source = "_internal_{}_tcp.mlir".format(name)
    elif model_source:
        model_to_tcp(name, model_source, onnx_data, onnx_sizes or tflite_sizes, reference_tensors, func_name, weights, manual, testonly, visibility)
        weights_file = ["_internal_{}_weights.safetensors".format(name)]
        tcp_source = "_internal_{}_tcp.mlir".format(name)
    elif stablehlo_source:
        stablehlo_to_tcp(name, stablehlo_source, func_name, manual, testonly, visibility)
        weights_file = ["_internal_{}_weights.safetensors".format(name)]
        tcp_source = "_internal_{}_tcp.mlir".format(name)
    if reference_tensors and not model_source:
        complete_references(name, reference_tensors, func_name, manual, testonly, visibility)

    symbol = program_symbol(label_of(name))
    lower_to_assembly(name, tcp_source, symbol, weights_file, manual, testonly, visibility, target = target, cubins = cubins, threads = threads)
    library_of_assembly(
        name,
        "aot_compiled_{}".format(name),
        symbol,
        weights_file,
        threads,
        target,
        cubins,
        testonly = testonly,
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

    page_of_stages(name, tcp_source, target, testonly, visibility, has_torch = bool(torch_loader_lib or model_source), has_loader = bool(torch_loader_lib))

    compiles_itself = (torch_loader_lib or model_source) and target == "host"
    if torch_loader_lib or model_source or reference_tensors:
        execute_test(
            name,
            ":aot_compiled_{}".format(name),
            manual,
            tags,
            testonly,
            visibility,
            bisect = label_of("{}_bisect".format(name)) if compiles_itself else None,
            stand_in = stand_in_for_driver(name, manual) if target == "nvptx" else [],
        )
    if compiles_itself and torch_loader_lib:
        for what in ["bisect", "profile"]:
            _compiles_itself(name, what, "program", options, threads, testonly, visibility, deps = [torch_loader_lib])
    elif compiles_itself:
        files = [model_source] + onnx_data + ([reference_tensors] if reference_tensors else [])
        options = model_options(name, onnx_sizes or tflite_sizes, reference_tensors, func_name, "rootpath")
        for what in ["bisect", "profile"]:
            _compiles_itself(name, what, "model", ["$(rootpath {})".format(model_source)] + options, threads, testonly, visibility, data = files)

def _compiles_itself(name, what, kind, options, threads, testonly, visibility, deps = [], data = []):
    """A program foo_bisect or foo_profile, which compiles another in its own process."""
    program = "{}_{}".format(what, kind)
    binary = "{}_{}".format(name, what)
    source = Label("//tools/aot:{}.py".format(program))
    py_binary(
        name = binary,
        testonly = testonly,
        srcs = [source],
        args = options + [
            "--target-cpu=$(AOT_TARGET_CPU)",
            "--opt-level=$(AOT_OPT_LEVEL)",
            "--threads={}".format(threads),
            "--label={}".format(label_of(binary)),
        ],
        data = data,
        main = source,
        tags = ["manual"],
        toolchains = [
            Label("//tools/aot:loader_time_limit"),
            Label("//tools/aot:opt_level"),
            Label("//tools/aot:target_cpu"),
        ],
        visibility = visibility,
        deps = [Label("//tools/aot:{}".format(program))] + deps,
    )
