"""The chain of stages from a program to assembly, which aot_compile and aot_library share."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_python//python:defs.bzl", "py_binary")
load(":loader_files.bzl", "loader_files")
load(":worker_genrule.bzl", "worker_genrule")

def label_of(name):
    """The label of a target of the package at hand."""
    return "//{}:{}".format(native.package_name(), name)

def program_symbol(text):
    """What a linker looks for in every binary that a library is part of.

    It does so lest it pass over one of two libraries with a function of the same name. Symbols with
    an @ have versions.

    Args:
      text: what tells the program from all others of the repository.
    """
    return (native.repository_name() + text).replace("@", "")

def link_options(symbol, threads):
    """What a program is linked with that a library is part of.

    Args:
      symbol: what `program_symbol` gives.
      threads: as for aot_compile.
    """
    return [
        # Functions such as tanhf come from the C library's mathematics.
        "-lm",
        "-Wl,-u," + symbol,
    ] + (["-lgomp"] if threads > 1 else [])

def _packed_weights_file(name, weights_file):
    """A list of the file of a program's packed weights, if it has a file of weights."""
    return ["_internal_{}_packed_weights.safetensors".format(name)] if weights_file else []

def _image_file(name, target, cubins):
    """A list of the file of a program's kernels for a GPU, as the driver takes them, if it has such."""
    return ["_internal_{}.{}".format(name, "fatbin" if cubins else "ptx")] if target == "nvptx" else []

def _output_folder():
    """The folder of the files that targets of the package at hand make."""
    repository = native.repository_name().replace("@", "")
    return "/".join(["$(BINDIR)"] + (["external", repository] if repository else []) + [native.package_name()])

def included_files(name, weights_file, target = "host", cubins = []):
    """The files that the assembler reads beside _internal_foo.S: it copies weights and kernels from them."""
    return weights_file + _packed_weights_file(name, weights_file) + _image_file(name, target, cubins)

def library_of_assembly(name, library, symbol, weights_file, threads, target = "host", cubins = [], **kwargs):
    """A cc_library of _internal_foo.S.

    Args:
      name: the program's name, foo.
      library: the name of the target.
      symbol: what `program_symbol` gives.
      weights_file: as for lower_to_assembly.
      threads: as for aot_compile.
      target: as for aot_compile.
      cubins: as for aot_compile.
      **kwargs: other attributes of the cc_library.
    """
    cc_library(
        name = library,
        srcs = ["_internal_{}.S".format(name)],
        # The compiler's preprocessor reads it, whose own names ("linux") weights may have as well. The
        # assembler finds the files of weights by their names.
        copts = ["-undef", "-Wa,-I" + _output_folder()],
        textual_hdrs = included_files(name, weights_file, target, cubins),
        linkopts = link_options(symbol, threads),
        # A shared object is linked only for who asks for it.
        linkstatic = True,
        deps = [Label("//plumbline/runtime/cuda:runtime")] if target == "nvptx" else [],
        **kwargs
    )

def loader_options(name, torch_loader_path, func_name):
    """What the programs that run a loader are told of it."""
    return [
        "--torch-loader-path={}".format(torch_loader_path),
        "--func-name={}".format(func_name) if func_name else "--target-name={}".format(name),
        "--loader-time-limit=$(AOT_LOADER_TIME_LIMIT)",
    ]

def export_to_tcp(name, torch_loader_lib, loader_options, weights, tags, testonly, visibility):
    """From a loader to TCP: gen_foo_mlir_torch, gen_foo_mlir_tcp, and what is recorded beside them.

    Args:
      name: the program's name, foo.
      torch_loader_lib: as for aot_compile.
      loader_options: what `loader_options` gives.
      weights: as for aot_compile.
      tags: of all targets.
      testonly: of all targets.
      visibility: of all targets.
    """
    _export(name, torch_loader_lib, loader_options, weights, tags, testonly, visibility)
    _torch_to_tcp(name, tags, testonly, visibility)

def model_to_tcp(name, source, data, sizes, reference_tensors, func_name, weights, tags, testonly, visibility):
    """From a model of ONNX or TensorFlow Lite to TCP: gen_foo_mlir_torch, gen_foo_mlir_tcp, and what is recorded beside them.

    Args:
      name: the program's name, foo.
      source: the onnx_source or tflite_source of aot_compile.
      data: the onnx_data of aot_compile.
      sizes: the onnx_sizes or tflite_sizes of aot_compile.
      reference_tensors: as for aot_compile.
      func_name: as for aot_compile.
      weights: as for aot_compile.
      tags: of all targets.
      testonly: of all targets.
      visibility: of all targets.
    """
    mlir, references, safetensors = _exported_files(name)
    stage(
        name = "_gen_{}_export".format(name),
        src = source,
        outs = [mlir, references, safetensors],
        program = Label("//tools/aot:export_model"),
        message = "{}: exporting a model".format(name),
        data = data + ([reference_tensors] if reference_tensors else []),
        options = " ".join(model_options(name, sizes, reference_tensors, func_name) + [
            "--reference-tensors=$(location {})".format(references),
            "--weights=$(location {})".format(safetensors),
            "--weights-are={}".format(weights),
        ]),
        tags = tags,
        testonly = testonly,
        visibility = ["//visibility:private"],
    )
    _exported_targets(name, tags, testonly, visibility)
    _torch_to_tcp(name, tags, testonly, visibility)

def model_options(name, sizes, reference_tensors, func_name, path = "location"):
    """What the programs that take a model's file are told of it.

    Args:
      name: the program's name, foo.
      sizes: the onnx_sizes or tflite_sizes of aot_compile.
      reference_tensors: as for aot_compile.
      func_name: as for aot_compile.
      path: how Bazel is asked for the path of a file.
    """
    return (
        ["--func-name={}".format(func_name or name)] +
        ["--size={}={}".format(size, sizes[size]) for size in sorted(sizes)] +
        (["--expected=$({} {})".format(path, reference_tensors)] if reference_tensors else [])
    )

def _torch_to_tcp(name, tags, testonly, visibility):
    stage(
        name = "gen_{}_mlir_tcp".format(name),
        src = "_internal_{}_torch.mlir".format(name),
        outs = ["_internal_{}_tcp.mlir".format(name)],
        program = Label("//tools/aot:torch_to_tcp"),
        message = "{}: lowering Torch to TCP".format(name),
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

def stablehlo_to_tcp(name, stablehlo_source, func_name, tags, testonly, visibility):
    """From a file of StableHLO to TCP: gen_foo_mlir_tcp, and its large constants: gen_foo_weights.

    Args:
      name: the program's name, foo.
      stablehlo_source: as for aot_compile.
      func_name: as for aot_compile.
      tags: of all targets.
      testonly: of all targets.
      visibility: of all targets.
    """
    _, _, safetensors = _exported_files(name)
    stage(
        name = "gen_{}_mlir_tcp".format(name),
        src = stablehlo_source,
        outs = ["_internal_{}_tcp.mlir".format(name), safetensors],
        program = Label("//tools/aot:stablehlo_to_tcp"),
        message = "{}: lowering StableHLO to TCP".format(name),
        options = "--func-name={} --weights=$(location {})".format(func_name or name, safetensors),
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    native.filegroup(
        name = "gen_{}_weights".format(name),
        testonly = testonly,
        srcs = [safetensors],
        tags = tags,
        visibility = visibility,
    )

def complete_references(name, reference_tensors, func_name, tags, testonly, visibility):
    """From the archive that a user wrote to that which the test reads: gen_foo_reference_tensors.

    Args:
      name: the program's name, foo.
      reference_tensors: as for aot_compile.
      func_name: as for aot_compile.
      tags: of the target.
      testonly: of the target.
      visibility: of the target.
    """
    stage(
        name = "gen_{}_reference_tensors".format(name),
        src = reference_tensors,
        outs = ["_internal_{}_reference_tensors.npz".format(name)],
        program = Label("//tools/aot:complete_references"),
        message = "{}: reading reference tensors".format(name),
        options = "--func-name={}".format(func_name or name),
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

def lower_to_assembly(
        name,
        tcp_source,
        symbol,
        weights_file,
        tags,
        testonly,
        visibility,
        abi = None,
        descriptions = [],
        memory = "malloc",
        target = "host",
        target_cpu = "$(AOT_TARGET_CPU)",
        gpu_arch = "$(AOT_GPU_ARCH)",
        cubins = [],
        tensors = "host",
        queue = "own",
        threads = 1,
        weights = "embedded",
        loaded_weights = []):
    """From TCP to _internal_foo.S: gen_foo_mlir_linalg and all stages after it.

    Args:
      name: the program's name, foo.
      tcp_source: the .mlir file to start from.
      symbol: what `program_symbol` gives.
      weights_file: a list of the file of the program's weights, or of none.
      tags: of all targets.
      testonly: of all targets.
      visibility: of all targets.
      abi: how C calls the program, as kernels_to_llvm takes it.
      descriptions: a list of the file that describes the library, or of none.
      memory: where temporaries come from, as kernels_to_llvm takes it.
      target: as for aot_compile.
      target_cpu: the CPU that code is made for.
      gpu_arch: the GPUs that kernels are made for, if they are.
      cubins: as for aot_compile.
      tensors: where callers have theirs, as linalg_to_gpu takes it.
      queue: what the work on a GPU is queued on, as gpu_to_nvvm takes it.
      threads: as for aot_compile.
      weights: as for aot_library.
      loaded_weights: a list of the file that the program maps its weights from, or of none.
    """
    stage(
        name = "gen_{}_mlir_linalg".format(name),
        src = tcp_source,
        outs = ["_internal_{}_linalg.mlir".format(name)],
        program = Label("//tools/aot:tcp_to_linalg"),
        message = "{}: lowering TCP to linalg".format(name),
        options = "--runtime-checks=$(AOT_RUNTIME_CHECKS)",
        toolchains = [Label("//tools/aot:runtime_checks")],
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    if target == "nvptx":
        _lower_to_ptx(name, tags, testonly, visibility, abi, memory, weights, gpu_arch, cubins, tensors, queue)
    else:
        _lower_to_llvm(name, tags, testonly, visibility, abi, memory, target_cpu, threads, weights)
    stage(
        name = "gen_{}_llvm_ir".format(name),
        src = "_internal_{}_{}.mlir".format(name, "nvvm" if target == "nvptx" else "llvm"),
        outs = ["_internal_{}.ll".format(name)],
        program = Label("//tools/aot:llvm_to_llvm_ir"),
        message = "{}: translating to LLVM IR".format(name),
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

    packed = [] if loaded_weights else _packed_weights_file(name, weights_file)
    image = _image_file(name, target, cubins)
    stage(
        name = "gen_{}_host_asm".format(name),
        src = "_internal_{}.ll".format(name),
        outs = ["_internal_{}.S".format(name)] + packed + loaded_weights,
        program = Label("//tools/aot:llvm_ir_to_asm"),
        message = "{}: making assembly".format(name),
        data = weights_file + descriptions + image,
        options = " ".join(
            ["--target-cpu={}".format(target_cpu), "--opt-level=$(AOT_OPT_LEVEL)", "--program=" + symbol] +
            ["--weights=$(location {})".format(file) for file in weights_file] +
            ["--packed-weights=$(location {})".format(file) for file in packed] +
            ["--weights-file=$(location {})".format(file) for file in loaded_weights] +
            ["--gpu-image=$(location {})".format(file) for file in image] +
            ["--description=$(location {})".format(file) for file in descriptions],
        ),
        toolchains = [Label("//tools/aot:opt_level"), Label("//tools/aot:target_cpu")],
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

def page_of_stages(name, tcp_source, target, testonly, visibility, has_torch = False, has_loader = False):
    """The page of all stages of a program, beside its source: gen_foo_page. It is built when it is asked for.

    Args:
      name: the program's name, foo.
      tcp_source: as for lower_to_assembly.
      target: as for aot_compile.
      testonly: of the target.
      visibility: of the target.
      has_torch: whether there is gen_foo_mlir_torch.
      has_loader: whether that comes of a loader.
    """
    internal = "_internal_{}".format(name)
    of_target = {"gpu": "_gpu.mlir", "nvvm": "_nvvm.mlir", "ptx": ".ptx"} if target == "nvptx" else {"kernels": "_kernels.mlir", "llvm": "_llvm.mlir"}
    stages = {"torch": internal + "_torch.mlir"} if has_torch else {}
    stages.update({"tcp": tcp_source, "linalg": internal + "_linalg.mlir"})
    stages.update({kind: internal + ending for kind, ending in of_target.items()})
    stages.update({"llvm-ir": internal + ".ll", "asm": internal + ".S"})
    loader = [internal + "_loader_files.json"] if has_loader else []
    worker_genrule(
        name = "gen_{}_page".format(name),
        testonly = testonly,
        srcs = stages.values() + loader + ([":_{}_loader_files".format(name)] if has_loader else []),
        outs = [internal + ".html"],
        cmd = " ".join(
            ["$(location {})".format(Label("//tools/aot:explore")), "--name=" + name] +
            ["--stage={}=$(location {})".format(kind, file) for kind, file in stages.items()] +
            ["--loader-files=$(location {})".format(file) for file in loader] +
            ["-o $(location {}.html)".format(internal), "--label=" + label_of("gen_{}_page".format(name))],
        ),
        message = "{}: writing the page of its stages".format(name),
        tags = ["manual"],
        tools = [Label("//tools/aot:explore")],
        visibility = visibility,
    )

def _lower_to_llvm(name, tags, testonly, visibility, abi, memory, target_cpu, threads, weights):
    """From linalg to the LLVM dialect, for a CPU: gen_foo_mlir_kernels, gen_foo_mlir_llvm."""
    stage(
        name = "gen_{}_mlir_kernels".format(name),
        src = "_internal_{}_linalg.mlir".format(name),
        outs = ["_internal_{}_kernels.mlir".format(name)],
        program = Label("//tools/aot:linalg_to_kernels"),
        message = "{}: lowering linalg to kernels".format(name),
        options = "--target-cpu={} --threads={} --temporaries=$(AOT_TEMPORARIES)".format(target_cpu, threads),
        toolchains = [Label("//tools/aot:target_cpu"), Label("//tools/aot:temporaries")],
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    stage(
        name = "gen_{}_mlir_llvm".format(name),
        src = "_internal_{}_kernels.mlir".format(name),
        outs = ["_internal_{}_llvm.mlir".format(name)],
        program = Label("//tools/aot:kernels_to_llvm"),
        message = "{}: lowering kernels to the LLVM dialect".format(name),
        options = "--abi={} --memory={} --weights-are={}".format(abi, memory, weights) if abi else "",
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

def _lower_to_ptx(name, tags, testonly, visibility, abi, memory, weights, gpu_arch, cubins, tensors, queue):
    """From linalg to NVVM and PTX: gen_foo_mlir_gpu to gen_foo_ptx_report, and gen_foo_fatbin."""
    stage(
        name = "gen_{}_mlir_gpu".format(name),
        src = "_internal_{}_linalg.mlir".format(name),
        outs = ["_internal_{}_gpu.mlir".format(name)],
        program = Label("//tools/aot:linalg_to_gpu"),
        message = "{}: lowering linalg to kernels of a GPU".format(name),
        options = "--gpu-arch={} --allow-tf32=$(AOT_GPU_ALLOW_TF32) --tensors={}".format(gpu_arch, tensors),
        toolchains = [Label("//tools/aot:gpu_arch"), Label("//tools/aot:gpu_allow_tf32")],
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    stage(
        name = "gen_{}_mlir_nvvm".format(name),
        src = "_internal_{}_gpu.mlir".format(name),
        outs = ["_internal_{}_nvvm.mlir".format(name)],
        program = Label("//tools/aot:gpu_to_nvvm"),
        message = "{}: lowering kernels of a GPU to NVVM".format(name),
        options = "--abi={} --memory={} --weights-are={} --queue={}".format(abi, memory, weights, queue) if abi else "",
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    stage(
        name = "gen_{}_ptx".format(name),
        src = "_internal_{}_nvvm.mlir".format(name),
        outs = ["_internal_{}.ptx".format(name)],
        program = Label("//tools/aot:nvvm_to_ptx"),
        message = "{}: making PTX".format(name),
        options = "--gpu-arch={} --opt-level=$(AOT_OPT_LEVEL)".format(gpu_arch),
        toolchains = [Label("//tools/aot:gpu_arch"), Label("//tools/aot:opt_level")],
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )
    if cubins:
        stage(
            name = "gen_{}_fatbin".format(name),
            src = "_internal_{}.ptx".format(name),
            outs = _image_file(name, "nvptx", cubins),
            program = Label("//tools/aot:ptx_to_fatbin"),
            message = "{}: assembling PTX for {}".format(name, ", ".join(cubins)),
            options = "--gpu-arch={} --cubins={}".format(gpu_arch, ",".join(cubins)),
            toolchains = [Label("//tools/aot:gpu_arch")],
            tags = tags,
            testonly = testonly,
            visibility = visibility,
        )
    stage(
        name = "gen_{}_ptx_report".format(name),
        src = "_internal_{}.ptx".format(name),
        outs = ["_internal_{}_ptx.txt".format(name)],
        program = Label("//tools/aot:ptx_report"),
        message = "{}: assembling PTX".format(name),
        data = ["_internal_{}_gpu.mlir".format(name)],
        options = "--gpu=$(location _internal_{}_gpu.mlir) --gpu-arch={}".format(name, gpu_arch),
        toolchains = [Label("//tools/aot:gpu_arch")],
        tags = tags,
        testonly = testonly,
        visibility = visibility,
    )

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
    mlir, references, safetensors = _exported_files(name)
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
            label = label_of("gen_{}_mlir_torch".format(name)),
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
    _exported_targets(name, manual, testonly, visibility)

def _exported_files(name):
    """The files that an exporter writes: the Torch dialect, reference tensors and weights."""
    return [pattern.format(name) for pattern in ["_internal_{}_torch.mlir", "_internal_{}_reference_tensors.npz", "_internal_{}_weights.safetensors"]]

def _exported_targets(name, manual, testonly, visibility):
    mlir, references, safetensors = _exported_files(name)
    for kind, file in [("mlir_torch", mlir), ("reference_tensors", references), ("weights", safetensors)]:
        native.filegroup(
            name = "gen_{}_{}".format(name, kind),
            testonly = testonly,
            srcs = [file],
            tags = manual,
            visibility = visibility,
        )

def stage(name, src, outs, program, message, tags, testonly, visibility, data = [], options = "", toolchains = []):
    """A target that turns one file into another.

    Args:
      name: of the target.
      src: the file that the program reads first.
      outs: a list of the file that it writes.
      program: the stage program.
      message: what to tell while it runs.
      tags: of the target.
      testonly: of the target.
      visibility: of the target.
      data: other files that it reads.
      options: what else its command line says.
      toolchains: the flags that the options read.
    """
    worker_genrule(
        name = name,
        testonly = testonly,
        srcs = [src] + data,
        outs = outs,
        cmd = "$(location {program}) $(location {src}) -o $(location {out}) --label={label} {options}".format(
            label = label_of(name),
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
