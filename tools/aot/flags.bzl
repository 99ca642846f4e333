"""Build settings whose value a genrule reads as a make variable."""

def _make_variable_flag_impl(ctx):
    value = ctx.build_setting_value
    if ctx.attr.values and value not in ctx.attr.values:
        fail("{}={} is not one of {}".format(ctx.label, value, ", ".join(ctx.attr.values)))
    return [platform_common.TemplateVariableInfo({ctx.attr.variable: value})]

make_variable_flag = rule(
    implementation = _make_variable_flag_impl,
    doc = """A string flag, set as --//its:label=value.

A genrule that lists it in `toolchains` reads its value as $(<variable>). The string_flag of
bazel_skylib does so only in versions that Debian does not have.""",
    build_setting = config.string(flag = True),
    attrs = {
        "values": attr.string_list(doc = "The values allowed; none listed: any."),
        "variable": attr.string(mandatory = True, doc = "The name of the make variable."),
    },
)
