"""The files of a loader library, as inputs of the action that exports its programs."""

load("@rules_python//python:py_info.bzl", "PyInfo")

def _runfile(workspace_name, short_path):
    if short_path.startswith("../"):
        return short_path[len("../"):]
    return workspace_name + "/" + short_path

def _loader_files_impl(ctx):
    loader = ctx.attr.loader
    files = loader[DefaultInfo].default_runfiles.files.to_list()
    runfiles = {_runfile(ctx.workspace_name, file.short_path): file.path for file in files}

    # As in a py_binary: what `imports` says, and each repository.
    repositories = {runfile.split("/")[0]: True for runfile in runfiles}
    imports = [ctx.workspace_name] + [
        folder
        for folder in loader[PyInfo].imports.to_list() + sorted(repositories)
        if folder != ctx.workspace_name
    ]
    ctx.actions.write(ctx.outputs.out, json.encode(struct(files = runfiles, imports = imports)))
    return [DefaultInfo(files = depset([ctx.outputs.out] + files))]

loader_files = rule(
    implementation = _loader_files_impl,
    doc = """Lists the files of a py_library; tools/aot/loader_files.py lays them out.

Its default outputs are the list and the files.""",
    attrs = {
        "loader": attr.label(
            doc = "The py_library.",
            mandatory = True,
            providers = [PyInfo],
        ),
        "out": attr.output(
            doc = "The list, a .json file.",
            mandatory = True,
        ),
    },
)
