"""The name of the main workspace, which runfiles lie under, as a make variable."""

def _workspace_name_impl(ctx):
    return [platform_common.TemplateVariableInfo({"AOT_WORKSPACE": ctx.workspace_name})]

workspace_name = rule(
    implementation = _workspace_name_impl,
    doc = "What lists it in `toolchains` reads the name as $(AOT_WORKSPACE): as WORKSPACE says, or _main.",
)
