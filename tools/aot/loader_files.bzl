"""The files of a loader library, as inputs of the action that exports its programs."""

load("@rules_python//python:py_info.bzl", "PyInfo")

def _runfile(workspace_name, short_path):
    if short_path.startswith("../"):
        return short_path[len("../"):]
    return workspace_name + "/" + short_path

def _loader_files_impl(ctx):
    loader = ctx.attr.loader
    exporters = {file: True for file in ctx.attr.exporter[DefaultInfo].default_runfiles.files.to_list()}
    files = [file for file in loader[DefaultInfo].default_runfiles.files.to_list() if file not in exporters]
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

Those that the exporter has itself, all of Plumbline, are found there: to lay them out for each
program was a tenth of its export. Its default outputs are the list and the files.""",
    attrs = {
        "exporter": attr.label(
            cfg = "exec",
            default = Label("//tools/aot:export_torch"),
            doc = "The program that runs the loader.",
        ),
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
