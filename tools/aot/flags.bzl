"""Build settings whose value a genrule reads as a make variable."""

load(":plain_text.bzl", "plain_text_problem")

def value_problem(value, values, number):
    """Finds what is wrong with the value of a flag.

    Args:
      value: it.
      values: the values allowed; none: any that is one plain word.
      number: whether it is a number, such as 600.

    Returns:
      What to say of it, as the rest of a sentence, or None if all is well.
    """
    if values and value not in values:
        return "is not one of " + ", ".join(values)
    if number and not value.isdigit():
        return "is not a whole number"
    return None if values else plain_text_problem(value)

def _make_variable_flag_impl(ctx):
    value = ctx.build_setting_value
    problem = value_problem(value, ctx.attr.values, ctx.attr.number)
    if problem:
        fail("--{}={} {}".format(ctx.label, value, problem))
    return [platform_common.TemplateVariableInfo({ctx.attr.variable: value})]

make_variable_flag = rule(
    implementation = _make_variable_flag_impl,
    doc = """A string flag, set as --//its:label=value.

A genrule that lists it in `toolchains` reads its value as $(<variable>). The string_flag of
bazel_skylib does so only in versions that Debian does not have.""",
    build_setting = config.string(flag = True),
    attrs = {
        "number": attr.bool(doc = "Whether the value is a whole number."),
        "values": attr.string_list(doc = "The values allowed; none listed: any plain word."),
        "variable": attr.string(mandatory = True, doc = "The name of the make variable."),
    },
)
