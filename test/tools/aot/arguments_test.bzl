"""Tests of what aot_compile says of wrong arguments."""

load("@bazel_skylib//lib:unittest.bzl", "asserts", "unittest")
load("//tools/aot:arguments.bzl", "argument_error")

def _error(name = "foo", tcp_source = None, torch_loader_lib = None, torch_loader_path = "", weights = "embedded"):
    return argument_error("some/package", name, tcp_source, torch_loader_lib, torch_loader_path, weights)

# Arguments, and what the message about them has to say.
_REFUSED = [
    (dict(), "nothing to compile; give tcp_source = \"x.mlir\", or torch_loader_lib"),
    (dict(tcp_source = "x.mlir", torch_loader_lib = ":lib"), "both tcp_source and a torch loader"),
    (dict(tcp_source = "x.mlir", torch_loader_path = "a.b"), "both tcp_source and a torch loader"),
    (dict(tcp_source = "x.py"), "\"x.py\" is not a .mlir file"),
    (dict(torch_loader_path = "a.b"), "torch_loader_path needs torch_loader_lib"),
    (dict(torch_loader_lib = ":lib"), "torch_loader_lib needs torch_loader_path, such as"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "loader"), "package.module.function"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "a/b.py"), "package.module.function"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "a..b"), "package.module.function"),
    (dict(torch_loader_lib = ":lib", torch_loader_path = "a.2b"), "package.module.function"),
    (dict(tcp_source = "x.mlir", weights = "inline"), "neither \"embedded\" nor \"arguments\""),
    (dict(tcp_source = "x.mlir", weights = "arguments"), "goes with a torch loader"),
    (dict(name = "foo-bar", tcp_source = "x.mlir"), "letters, digits and underscores"),
]

_ACCEPTED = [
    dict(tcp_source = "x.mlir"),
    dict(tcp_source = ":generated"),
    dict(torch_loader_lib = ":lib", torch_loader_path = "test.lib.foo_2"),
]

def _arguments_test_impl(ctx):
    env = unittest.begin(ctx)
    for arguments, expected in _REFUSED:
        message = _error(**arguments)
        asserts.true(
            env,
            message and message.startswith("aot_compile(name = \"{}\") in //some/package: ".format(arguments.get("name", "foo"))),
            "the message names the target: {}".format(message),
        )
        asserts.true(env, message and expected in message, "{} is in: {}".format(expected, message))
    for arguments in _ACCEPTED:
        asserts.equals(env, None, _error(**arguments))
    return unittest.end(env)

arguments_test = unittest.make(_arguments_test_impl)
