"""What aot_compile accepts, and what it says of the rest."""

load(":plain_text.bzl", "plain_text_problem")

# MOST_THREADS of plumbline/runtime/threads.py.
_MOST_THREADS = 1024

def argument_error(
        package,
        name,
        tcp_source,
        torch_loader_lib,
        torch_loader_path,
        func_name,
        weights,
        threads,
        macro = "aot_compile",
        target = "host",
        cubins = [],
        stablehlo_source = None,
        onnx_source = None,
        onnx_data = [],
        onnx_sizes = {},
        tflite_source = None,
        tflite_sizes = {},
        reference_tensors = None):
    """Finds what is wrong with the arguments of an aot_compile or an aot_library.

    Args:
      package: the package that calls it, for the message.
      name: as for aot_compile.
      tcp_source: as for aot_compile.
      torch_loader_lib: as for aot_compile.
      torch_loader_path: as for aot_compile.
      func_name: as for aot_compile.
      weights: as for aot_compile.
      threads: as for aot_compile.
      macro: which of them it is, for the message.
      target: as for aot_compile.
      cubins: as for aot_compile.
      stablehlo_source: as for aot_compile.
      onnx_source: as for aot_compile.
      onnx_data: as for aot_compile.
      onnx_sizes: as for aot_compile.
      tflite_source: as for aot_compile.
      tflite_sizes: as for aot_compile.
      reference_tensors: as for aot_compile.

    Returns:
      One message that names the target and says what to do, or None if all is well.
    """
    problem = _problem(package, name, tcp_source, torch_loader_lib, torch_loader_path, func_name, weights, threads, macro, stablehlo_source, onnx_source, onnx_data, onnx_sizes, tflite_source, tflite_sizes, reference_tensors) or _target_problem(target, threads, cubins)
    if not problem:
        return None
    return "{}(name = \"{}\") in //{}: {}".format(macro, name, package, problem)

_TARGETS = ["host", "nvptx"]

def targets_error(package, name, target, targets, macro):
    """Finds what is wrong with the targets that a program is to be compiled for.

    Args:
      package: as for `argument_error`.
      name: as for aot_compile.
      target: as for aot_compile.
      targets: as for aot_compile.
      macro: as for `argument_error`.

    Returns:
      A message, or None.
    """
    problem = None
    if targets == None:
        pass
    elif target != "host":
        problem = "it has both target and targets; give one or the other"
    elif type(targets) != "list" or not targets or [each for each in targets if each not in _TARGETS]:
        problem = "targets = {} is no list of \"host\" and \"nvptx\"".format(repr(targets))
    elif len(targets) > len(depset(targets).to_list()):
        problem = "targets = {} has one twice".format(repr(targets))
    return "{}(name = \"{}\") in //{}: {}".format(macro, name, package, problem) if problem else None

def _target_problem(target, threads, cubins):
    if target not in _TARGETS:
        return "target = {} is neither \"host\" nor \"nvptx\"".format(repr(target))
    if target == "nvptx" and threads != 1:
        return "threads = {} goes with target = \"host\"; on a GPU, kernels have threads of their own".format(threads)
    if type(cubins) != "list" or [each for each in cubins if plain_text_problem(each, "_")]:
        return "cubins = {} is no list of names such as \"sm_80\"".format(repr(cubins))
    if cubins and target != "nvptx":
        return "cubins goes with target = \"nvptx\""
    return None

def _problem(package, name, tcp_source, torch_loader_lib, torch_loader_path, func_name, weights, threads, macro, stablehlo_source, onnx_source, onnx_data, onnx_sizes, tflite_source, tflite_sizes, reference_tensors):
    if plain_text_problem(name, "_"):
        return "the name becomes part of file names; use letters, digits and underscores only"
    problem = plain_text_problem(package, "_-.+@/")
    if problem:
        return "the package's name " + problem
    if tcp_source and func_name:
        return "func_name goes with a torch loader; the functions of a tcp_source are called what it says"
    if func_name and not _is_identifier(func_name):
        return "func_name = \"{}\" is not a C identifier".format(func_name)
    if not tcp_source and not func_name and not _is_identifier(name):
        return "the name is no C identifier, so that the function cannot have it; give func_name"
    has_loader = torch_loader_lib or torch_loader_path
    given = [kind for kind, source in [
        ("tcp_source", tcp_source),
        ("stablehlo_source", stablehlo_source),
        ("onnx_source", onnx_source),
        ("tflite_source", tflite_source),
        ("a torch loader", has_loader),
    ] if source]
    if len(given) > 1:
        return "it has both {} and {}; give one or the other".format(given[0], given[1])
    if not given:
        return "it has nothing to compile; give tcp_source = \"x.mlir\", stablehlo_source = \"x.mlir\", onnx_source = \"x.onnx\", tflite_source = \"x.tflite\", or torch_loader_lib and torch_loader_path"
    if reference_tensors and has_loader:
        return "reference_tensors goes with a file of TCP, StableHLO, ONNX or TensorFlow Lite; those of a torch loader are what PyTorch answers"
    for argument, file, suffix in [
        ("tcp_source", tcp_source, ".mlir"),
        ("stablehlo_source", stablehlo_source, ".mlir"),
        ("onnx_source", onnx_source, ".onnx"),
        ("tflite_source", tflite_source, ".tflite"),
        ("reference_tensors", reference_tensors, ".npz"),
    ]:
        if file and not file.endswith(suffix) and ":" not in file:
            return "{} = \"{}\" is not a {} file".format(argument, file, suffix)
        if file and plain_text_problem(file, "_-.+@/:"):
            return "{} = \"{}\" {}".format(argument, file, plain_text_problem(file, "_-.+@/:"))
    if torch_loader_path and not torch_loader_lib:
        return "torch_loader_path needs torch_loader_lib, the py_library that holds the loader"
    if torch_loader_lib and not torch_loader_path:
        return "torch_loader_lib needs torch_loader_path, such as \"test.AotCompile.model_loader_lib.{}_loader\"".format(name)
    if torch_loader_path and not _is_dotted_path(torch_loader_path):
        return "torch_loader_path = \"{}\" is not of the form package.module.function".format(torch_loader_path)
    if weights not in ["embedded", "arguments", "file"]:
        return "weights = \"{}\" is none of \"embedded\", \"arguments\" and, in aot_library, \"file\"".format(weights)
    if weights == "file" and macro != "aot_library":
        return "weights = \"file\" goes with aot_library, which has a function to load it"
    if (onnx_data or onnx_sizes) and not onnx_source:
        return "{} goes with onnx_source".format("onnx_data" if onnx_data else "onnx_sizes")
    if tflite_sizes and not tflite_source:
        return "tflite_sizes goes with tflite_source"
    for argument, sizes, example in [("onnx_sizes", onnx_sizes, "batch"), ("tflite_sizes", tflite_sizes, "image_0")]:
        for size in sizes:
            if plain_text_problem(size, "_") or type(sizes[size]) != "int" or sizes[size] < 0:
                return "{} = {} has not sizes by names, such as {{\"{}\": 1}}".format(argument, repr(sizes), example)
    if not (has_loader or onnx_source or tflite_source) and weights != "embedded" and not (stablehlo_source and weights == "file"):
        return "weights = \"{}\" goes with a torch loader, onnx_source or tflite_source; the arguments of a {} are what it says".format(weights, given[0])
    if type(threads) != "int" or threads < 1 or threads > _MOST_THREADS:
        return "threads = {} is no number from 1 to {}".format(repr(threads), _MOST_THREADS)
    return None

def _is_dotted_path(path):
    parts = path.split(".")
    return len(parts) > 1 and all([_is_identifier(part) for part in parts])

def _is_identifier(text):
    return text and not text[0].isdigit() and not plain_text_problem(text, "_")
