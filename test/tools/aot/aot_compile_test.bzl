"""Tests of the targets that aot_compile makes."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _marked_library_test_impl(ctx):
    env = analysistest.begin(ctx)
    linker_inputs = analysistest.target_under_test(env)[CcInfo].linking_context.linker_inputs.to_list()
    flags = [flag for linker_input in linker_inputs for flag in linker_input.user_link_flags]
    asserts.true(env, "-Wl,-u,//test/AotCompile:basic_tcp_ops" in flags, str(flags))
    for linker_input in linker_inputs:
        for library in linker_input.libraries:
            asserts.equals(env, None, library.dynamic_library, "a shared object would hide that its symbols clash")
    return analysistest.end(env)

# Whatever a compiled library becomes part of takes its object, with the marks of its functions.
marked_library_test = analysistest.make(_marked_library_test_impl)

def _stage_action_test_impl(ctx):
    env = analysistest.begin(ctx)
    (stage,) = [action for action in analysistest.target_actions(env) if action.mnemonic == "WorkerGenrule"]
    (file,) = [action for action in analysistest.target_actions(env) if action.mnemonic == "FileWrite"]
    asserts.true(env, stage.argv[0].endswith("/tools/aot/torch_to_tcp"), str(stage.argv))
    (arguments,) = file.outputs.to_list()
    asserts.equals(env, ["@" + arguments.path], stage.argv[1:])
    asserts.true(env, arguments in stage.inputs.to_list(), "the command cannot be run by hand")
    bin = arguments.dirname
    asserts.equals(
        env,
        "\n".join([
            bin + "/_internal_relu_torch.mlir",
            "-o",
            bin + "/_internal_relu_tcp.mlir",
            "--label=//test/AotCompile:gen_relu_mlir_tcp",
            "",
        ]),
        file.content,
    )
    asserts.equals(env, ["_internal_relu_tcp.mlir"], [file.basename for file in stage.outputs.to_list()])
    return analysistest.end(env)

# What a stage runs can be read, and run by hand.
stage_action_test = analysistest.make(_stage_action_test_impl)
