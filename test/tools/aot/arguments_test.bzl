"""Tests of what aot_compile says of wrong arguments."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//tools/aot:arguments.bzl", "argument_error", "targets_error")

def _error(package = "some/package", name = "foo", tcp_source = None, torch_loader_lib = None, torch_loader_path = "", func_name = None, weights = "embedded", threads = 1, **kwargs):
    return argument_error(package, name, tcp_source, torch_loader_lib, torch_loader_path, func_name, weights, threads, **kwargs)

def _library_error(name):
    return argument_error("some/package", name, None, None, "", None, "embedded", 1, macro = "aot_library")

_LOADER = dict(torch_loader_lib = ":lib", torch_loader_path = "a.b")

# Arguments, and what the message about them has to say.
_REFUSED = [
    (dict(), "nothing to compile; give tcp_source = \"x.mlir\", stablehlo_source = \"x.mlir\", onnx_source = \"x.onnx\", tflite_source = \"x.tflite\", or torch_loader_lib"),
    (dict(tcp_source = "x.mlir", torch_loader_lib = ":lib"), "both tcp_source and a torch loader"),
    (dict(tcp_source = "x.mlir", torch_loader_path = "a.b"), "both tcp_source and a torch loader"),
    (dict(tcp_source = "x.py"), "\"x.py\" is not a .mlir file"),
    (dict(stablehlo_source = "x.mlir", **_LOADER), "both stablehlo_source and a torch loader"),
    (dict(stablehlo_source = "x.mlir", tcp_source = "y.mlir"), "both tcp_source and stablehlo_source"),
    (dict(stablehlo_source = "x.pb"), "stablehlo_source = \"x.pb\" is not a .mlir file"),
    (dict(stablehlo_source = "x y.mlir"), "stablehlo_source = \"x y.mlir\" has the character ' '"),
    (dict(stablehlo_source = "x.mlir", weights = "file"), "goes with aot_library"),
    (dict(stablehlo_source = "x.mlir", weights = "arguments"), "the arguments of a stablehlo_source are"),
    (dict(stablehlo_source = "x.mlir", reference_tensors = "x.pt"), "\"x.pt\" is not a .npz file"),
    (dict(onnx_source = "x.pb"), "onnx_source = \"x.pb\" is not a .onnx file"),
    (dict(onnx_source = "x.onnx", stablehlo_source = "x.mlir"), "both stablehlo_source and onnx_source"),
    (dict(tflite_source = "x.onnx"), "tflite_source = \"x.onnx\" is not a .tflite file"),
    (dict(onnx_source = "x.onnx", tflite_source = "x.tflite"), "both onnx_source and tflite_source"),
    (dict(tflite_source = "x.tflite", onnx_sizes = {"n": 1}), "onnx_sizes goes with onnx_source"),
    (dict(onnx_source = "x.onnx", tflite_sizes = {"n_0": 1}), "tflite_sizes goes with tflite_source"),
    (dict(tflite_source = "x.tflite", tflite_sizes = {"n_0": "1"}), "tflite_sizes = {\"n_0\": \"1\"} has not sizes by names"),
    (dict(onnx_data = ["x.bin"], **_LOADER), "onnx_data goes with onnx_source"),
    (dict(onnx_sizes = {"n": 1}, **_LOADER), "onnx_sizes goes with onnx_source"),
    (dict(onnx_source = "x.onnx", onnx_sizes = {"n": "1"}), "onnx_sizes = {\"n\": \"1\"} has not sizes by names"),
    (dict(onnx_source = "x.onnx", onnx_sizes = {"n;touch x": 1}), "has not sizes by names"),
    (dict(reference_tensors = "x.npz", **_LOADER), "reference_tensors goes with a file of TCP, StableHLO, ONNX or TensorFlow Lite"),
    (dict(torch_loader_path = "a.b"), "torch_loader_path needs torch_loader_lib"),
    (dict(torch_loader_lib = ":lib"), "torch_loader_lib needs torch_loader_path, such as"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "loader"), "package.module.function"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "a/b.py"), "package.module.function"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "a..b"), "package.module.function"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "a.2b"), "package.module.function"),
    (dict(tcp_source = "x.mlir", weights = "inline"), "none of \"embedded\", \"arguments\" and"),
    (dict(tcp_source = "x.mlir", weights = "arguments"), "goes with a torch loader"),
    (dict(weights = "file", **_LOADER), "goes with aot_library"),
    (dict(tcp_source = "x.mlir", threads = 0), "threads = 0 is no number from 1 to 1024"),
    (dict(tcp_source = "x.mlir", threads = 1025), "threads = 1025 is no number from 1 to 1024"),
    (dict(tcp_source = "x.mlir", threads = "2"), "threads = \"2\" is no number from 1 to 1024"),
    (dict(tcp_source = "x.mlir", target = "gpu"), "target = \"gpu\" is neither \"host\" nor \"nvptx\""),
    (dict(tcp_source = "x.mlir", target = "nvptx", threads = 2), "threads = 2 goes with target = \"host\""),
    (dict(tcp_source = "x.mlir", cubins = ["sm_80"]), "cubins goes with target = \"nvptx\""),
    (dict(tcp_source = "x.mlir", target = "nvptx", cubins = "sm_80"), "cubins = \"sm_80\" is no list of names"),
    (dict(tcp_source = "x.mlir", target = "nvptx", cubins = ["$(x)"]), "is no list of names"),
    (dict(name = "foo-bar", tcp_source = "x.mlir"), "letters, digits and underscores"),
    (dict(name = "foo$(touch x)", tcp_source = "x.mlir"), "letters, digits and underscores"),
    (dict(tcp_source = "x y.mlir"), "\"x y.mlir\" has the character ' '"),
    (dict(tcp_source = "$(touch x).mlir"), "has the character '$'"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "a.b;touch"), "package.module.function"),
    (dict(package = "my models", tcp_source = "x.mlir"), "the package's name has the character ' '"),
    (dict(package = "a;touch x", tcp_source = "x.mlir"), "the package's name has the character ';'"),
    (dict(package = "it's", tcp_source = "x.mlir"), "has the character '''; it becomes part of commands"),
    (dict(name = "2d", **_LOADER), "the name is no C identifier, so that the function cannot have it; give func_name"),
    (dict(func_name = "a-b", **_LOADER), "func_name = \"a-b\" is not a C identifier"),
    (dict(func_name = "2d", **_LOADER), "func_name = \"2d\" is not a C identifier"),
    (dict(func_name = "bar", tcp_source = "x.mlir"), "func_name goes with a torch loader"),
]

# Targets, and what the message about them has to say; None: nothing.
_TARGETS = [
    ("host", None, None),
    ("host", ["host", "nvptx"], None),
    ("nvptx", ["host"], "it has both target and targets"),
    ("host", [], "targets = [] is no list of \"host\" and \"nvptx\""),
    ("host", "nvptx", "targets = \"nvptx\" is no list"),
    ("host", ["gpu"], "targets = [\"gpu\"] is no list"),
    ("host", ["host", "host"], "has one twice"),
]

_ACCEPTED = [
    dict(tcp_source = "x.mlir"),
    dict(tcp_source = "x.mlir", threads = 2),
    dict(tcp_source = "x.mlir", target = "nvptx"),
    dict(tcp_source = ":generated"),
    dict(onnx_source = "x.onnx", weights = "arguments"),
    dict(tflite_source = "x.tflite", weights = "arguments"),
    dict(stablehlo_source = "x.mlir", weights = "file", macro = "aot_library"),
    dict(onnx_source = "//a:x.onnx", onnx_data = ["//a:x.data"], reference_tensors = "x.npz"),
    dict(tcp_source = "@googletest//some/package-1.2:x.mlir"),
    dict(name = "2d", tcp_source = "x.mlir"),
    dict(name = "2d", func_name = "conv2d", **_LOADER),
    dict(torch_loader_lib = ":lib", torch_loader_path = "test.lib.foo_2"),
]

def _arguments_test_impl(ctx):
    env = unittest.begin(ctx)
    for arguments, expected in _REFUSED:
        message = _error(**arguments)
        asserts.true(
            env,
            message and message.startswith("aot_compile(name = \"{}\") in //{}: ".format(arguments.get("name", "foo"), arguments.get("package", "some/package"))),
            "the message names the target: {}".format(message),
        )
        asserts.true(env, message and expected in message, "{} is in: {}".format(expected, message))
    for target, targets, expected in _TARGETS:
        message = targets_error("some/package", "foo", target, targets, "aot_compile")
        asserts.true(env, expected in message if expected else message == None, "{}: {}".format(targets, message))
    for arguments in _ACCEPTED:
        asserts.equals(env, None, _error(**arguments))
    message = _library_error("foo")
    asserts.true(env, message.startswith("aot_library(name = \"foo\") in //some/package: it has nothing to compile"), message)
    return unittest.end(env)

arguments_test = unittest.make(_arguments_test_impl)
