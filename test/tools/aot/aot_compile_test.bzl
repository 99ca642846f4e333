"""Tests of the targets that aot_compile makes."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _marked_functions_test_impl(ctx):
    env = analysistest.begin(ctx)
    target = analysistest.target_under_test(env)
    marks = [
        library
        for linker_input in target[CcInfo].linking_context.linker_inputs.to_list()
        for library in linker_input.libraries
        if library.alwayslink
    ]
    asserts.equals(env, 1, len(marks))
    for library in marks:
        asserts.equals(env, None, library.dynamic_library, "a shared object would hide that its symbols clash")
        asserts.equals(
            env,
            ["_internal_basic_tcp_ops_functions"],
            [file.basename.partition(".")[0] for file in library.pic_objects or library.objects],
        )
    return analysistest.end(env)

# Whatever a compiled library becomes part of has the marks of its functions.
marked_functions_test = analysistest.make(_marked_functions_test_impl)
