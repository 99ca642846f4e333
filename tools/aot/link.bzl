"""A symbolic link to a file that another target makes."""

def _link_impl(ctx):
    ctx.actions.symlink(
        output = ctx.outputs.out,
        progress_message = "Linking {}".format(ctx.label),
        target_file = ctx.file.src,
    )
    return [DefaultInfo(files = depset([ctx.outputs.out, ctx.file.src]))]

link = rule(
    implementation = _link_impl,
    doc = "Makes a file another name of one that is there; it takes no memory of its own.",
    attrs = {
        "out": attr.output(
            doc = "The name.",
            mandatory = True,
        ),
        "src": attr.label(
            allow_single_file = True,
            doc = "The file.",
            mandatory = True,
        ),
    },
)
