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

_FlagInfo = provider(
    doc = "A flag, for a list of flags.",
    fields = {
        "help": "What it says.",
        "value": "What it is.",
        "values": "What it may be; none: any plain word.",
    },
)

def _make_variable_flag_impl(ctx):
    value = ctx.build_setting_value
    problem = value_problem(value, ctx.attr.values, ctx.attr.number)
    if problem:
        fail("--{}={} {}".format(ctx.label, value, problem))
    return [
        _FlagInfo(help = ctx.attr.help, value = value, values = ctx.attr.values),
        platform_common.TemplateVariableInfo({ctx.attr.variable: ctx.attr.meant.get(value, value)}),
    ]

make_variable_flag = rule(
    implementation = _make_variable_flag_impl,
    doc = """A string flag, set as --//its:label=value.

A genrule that lists it in `toolchains` reads its value as $(<variable>). The string_flag of
bazel_skylib does so only in versions that Debian does not have.""",
    build_setting = config.string(flag = True),
    attrs = {
        "help": attr.string(
            doc = "What it says, for who lists the flags.",
            mandatory = True,
        ),
        "meant": attr.string_dict(
            doc = "What the make variable is for a value that means something else on the platform at hand.",
        ),
        "number": attr.bool(doc = "Whether the value is a whole number."),
        "values": attr.string_list(doc = "The values allowed; none listed: any plain word."),
        "variable": attr.string(mandatory = True, doc = "The name of the make variable."),
    },
)

def _list_of_flags_impl(ctx):
    lines = ["Flags of bazel build, test and run, with their present values:"]
    for flag in ctx.attr.flags:
        lines += ["", "--{}={}".format(flag.label, flag[_FlagInfo].value), "    " + flag[_FlagInfo].help]
        if flag[_FlagInfo].values:
            lines.append("    One of: " + ", ".join(flag[_FlagInfo].values))
    script = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        script,
        "\n".join(["#!/bin/sh", "cat << 'END'"] + lines + ["END", ""]),
        is_executable = True,
    )
    return [DefaultInfo(executable = script)]

_list_of_flags = rule(
    implementation = _list_of_flags_impl,
    doc = "A program that prints flags, what they are and what they may be.",
    attrs = {
        "flags": attr.label_list(
            mandatory = True,
            providers = [_FlagInfo],
        ),
    },
    executable = True,
)

def list_of_flags(name):
    """A program that prints all flags of the package that are defined above it.

    Args:
      name: of the program.
    """
    rules = native.existing_rules()
    _list_of_flags(
        name = name,
        flags = sorted([":" + flag for flag in rules if rules[flag]["kind"] == "make_variable_flag"]),
    )
