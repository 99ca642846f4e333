"""Programs that need not compile their modules each time they are started.

Python keeps the bytecode of a module beside it, but a sandbox, and a machine that runs actions for
another, have only what is declared. So the bytecode is made by actions, one for each library.
"""

load("@local_python//:version.bzl", "VERSION")
load("@rules_python//python:defs.bzl", "py_binary", "py_test")
load("@rules_python//python:py_info.bzl", "PyInfo")

_BytecodeInfo = provider(
    doc = "The bytecode of a library and what it depends on.",
    fields = {"files": "A depset, each file where Python looks for it."},
)

_TOOLCHAIN = "@rules_python//python:toolchain_type"

def _bytecode_aspect_impl(target, ctx):
    if PyInfo not in target:
        return []
    deps = getattr(ctx.rule.attr, "deps", [])
    transitive = [dep[_BytecodeInfo].files for dep in deps if _BytecodeInfo in dep]

    # Several libraries may have the __init__.py of their folder, but an output is of one action. It
    # is short.
    sources = [
        source
        for source in ctx.rule.files.srcs
        if source.extension == "py" and source.basename != "__init__.py" and source.owner.package == target.label.package
    ]

    # Packages from elsewhere bring their own.
    if not sources or ctx.rule.kind != "py_library":
        return [_BytecodeInfo(files = depset(transitive = transitive))]
    outputs = []
    pairs = []
    for source in sources:
        name = "__pycache__/{}.cpython-{}.pyc".format(source.basename[:-len(".py")], VERSION.replace(".", ""))
        output = ctx.actions.declare_file(name, sibling = source)
        outputs.append(output)
        pairs += [source.path, output.path]
    ctx.actions.run(
        arguments = ["-I", "-S", ctx.file._compiler.path] + pairs,
        executable = ctx.toolchains[_TOOLCHAIN].py3_runtime.interpreter_path,
        inputs = sources + [ctx.file._compiler],
        mnemonic = "PyCompile",
        outputs = outputs,
        progress_message = "Compiling to bytecode {}".format(target.label),
    )
    return [_BytecodeInfo(files = depset(outputs, transitive = transitive))]

_bytecode_aspect = aspect(
    implementation = _bytecode_aspect_impl,
    attr_aspects = ["deps"],
    attrs = {
        "_compiler": attr.label(
            allow_single_file = True,
            default = "//tools/python:compile_bytecode.py",
        ),
    },
    toolchains = [_TOOLCHAIN],
)

def _bytecode_impl(ctx):
    files = depset(transitive = [dep[_BytecodeInfo].files for dep in ctx.attr.deps])
    return [DefaultInfo(runfiles = ctx.runfiles(transitive_files = files))]

_bytecode = rule(
    implementation = _bytecode_impl,
    doc = "The bytecode of libraries, as runfiles.",
    attrs = {
        "deps": attr.label_list(
            aspects = [_bytecode_aspect],
            providers = [PyInfo],
        ),
    },
)

def compiled_py_binary(name, deps, data = [], testonly = None, **attrs):
    """A py_binary with the bytecode of what it imports.

    Args:
      name: as for py_binary.
      deps: as for py_binary.
      data: as for py_binary.
      testonly: as for py_binary.
      **attrs: as for py_binary.
    """
    py_binary(
        name = name,
        testonly = testonly,
        data = data + [_bytecode_of(name, deps, testonly)],
        deps = deps,
        **attrs
    )

def compiled_py_test(name, deps, data = [], **attrs):
    """A py_test with the bytecode of what it imports.

    Args:
      name: as for py_test.
      deps: as for py_test.
      data: as for py_test.
      **attrs: as for py_test.
    """
    py_test(
        name = name,
        data = data + [_bytecode_of(name, deps, True)],
        deps = deps,
        **attrs
    )

def _bytecode_of(name, deps, testonly):
    bytecode = "_{}_bytecode".format(name)
    _bytecode(
        name = bytecode,
        testonly = testonly,
        visibility = ["//visibility:private"],
        deps = deps,
    )
    return ":" + bytecode
