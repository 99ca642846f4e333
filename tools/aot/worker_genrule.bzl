"""A genrule whose tool may stay warm, as a persistent worker of Bazel's."""

load(":plain_text.bzl", "plain_text_problem")

_EXECUTION_REQUIREMENTS = {
    # One process of the tool serves requests side by side, each in a fork (persistent_worker.py).
    "supports-multiplex-sandboxing": "1",
    "supports-multiplex-workers": "1",
    "supports-worker-cancellation": "1",
    "supports-workers": "1",
}

def _worker_genrule_impl(ctx):
    command = ctx.expand_location(ctx.attr.cmd)
    outs = [out.path for out in ctx.outputs.outs]
    command = ctx.expand_make_variables("cmd", command, {
        "<": ctx.files.srcs[0].path if len(ctx.files.srcs) == 1 else "$<",
        "@": outs[0] if len(outs) == 1 else "$@",
        "OUTS": " ".join(outs),
        "SRCS": " ".join([file.path for file in ctx.files.srcs]),
    })
    words = [word for word in command.split(" ") if word]
    for word in words:
        problem = plain_text_problem(word, "_-.+@/:=,")
        if problem:
            fail("{}: cmd is one command, which no shell reads: {} {}".format(ctx.label, word, problem))
    tools = {tool[DefaultInfo].files_to_run.executable.path: tool[DefaultInfo].files_to_run for tool in ctx.attr.tools if tool[DefaultInfo].files_to_run.executable}
    if not words or words[0] not in tools:
        fail("{}: cmd does not begin with the $(location) of one of its tools".format(ctx.label))

    # Bazel hands a worker what such a file says, and else the tool reads it. It stays, so that the
    # command that `bazel build -s` shows can be run by hand.
    arguments = ctx.actions.declare_file(ctx.label.name + ".arguments")
    ctx.actions.write(arguments, "".join([word + "\n" for word in words[1:]]))
    ctx.actions.run(
        arguments = ["@" + arguments.path],
        executable = tools[words[0]],
        execution_requirements = _EXECUTION_REQUIREMENTS,
        inputs = ctx.files.srcs + [arguments],
        mnemonic = "WorkerGenrule",
        outputs = ctx.outputs.outs,
        progress_message = "{} {}".format(ctx.attr.message or "Executing worker_genrule", ctx.label),
        tools = [tool[DefaultInfo].files_to_run for tool in ctx.attr.tools],
        use_default_shell_env = True,
    )
    return [DefaultInfo(
        files = depset(ctx.outputs.outs),
        runfiles = ctx.runfiles(files = ctx.outputs.outs),
    )]

worker_genrule = rule(
    implementation = _worker_genrule_impl,
    doc = """Runs one command to make files, as a genrule does; its tool may stay for the next.

The attributes are those of a genrule and mean the same, but that `cmd` is one plain command, which
begins with the $(location) of a tool: no shell reads it. The tool takes its arguments from a file
where the only argument is "@" and its path, an argument on each line, and serves requests where it
is started with --persistent_worker. Whether it is, Bazel's flags say (--strategy=WorkerGenrule=...).""",
    attrs = {
        "cmd": attr.string(
            doc = "The command, with $(location ...), $@, $<, $(SRCS), $(OUTS) and make variables.",
            mandatory = True,
        ),
        "message": attr.string(doc = "What to tell while it runs."),
        "outs": attr.output_list(
            doc = "The files that it makes.",
            mandatory = True,
        ),
        "srcs": attr.label_list(
            allow_files = True,
            doc = "The files that it reads.",
        ),
        "tools": attr.label_list(
            allow_files = True,
            cfg = "exec",
            doc = "The programs that it runs, and what they need beside their runfiles.",
        ),
    },
)
