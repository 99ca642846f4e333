"""Repositories that are folders beside this file."""

_HERE = Label("//third_party/bazel:BUILD")

def _stand_in_impl(repository_ctx):
    folder = repository_ctx.path(_HERE).dirname.get_child(repository_ctx.name)
    for file in folder.readdir():
        repository_ctx.symlink(file, file.basename)

stand_in = repository_rule(
    implementation = _stand_in_impl,
    doc = """The folder of its name beside this file, as a repository.

local_repository does this for a folder of the main workspace; this one may be that of an external
repository, whose place is not known.""",
    local = True,
)
