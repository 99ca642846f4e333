"""Programs that one macro compiles for several targets."""

load(":arguments.bzl", "targets_error")

def for_each_target(macro, called, name, target, targets, func_name, of_host = {}, of_nvptx = {}, **arguments):
    """Calls a macro for each target that a program is compiled for.

    Args:
      macro: what is called.
      called: what the user calls it.
      name: the program's name, foo; those after the first are foo_nvptx.
      target: the one target, if there are no `targets`.
      targets: a list of them.
      func_name: the name of the C function, or None.
      of_host: arguments that are for the target "host" alone, where there are several.
      of_nvptx: the same for "nvptx".
      **arguments: all others.
    """
    error = targets_error(native.package_name(), name, target, targets, called)
    if error:
        fail(error)
    own = {"host": of_host, "nvptx": of_nvptx}
    if targets == None:
        given = dict(arguments)
        given.update(of_host)
        given.update(of_nvptx)
        macro(name = name, target = target, func_name = func_name, **given)
        return
    for number, each in enumerate(targets):
        suffix = "_" + each if number > 0 else ""
        given = dict(arguments)
        given.update(own[each])
        macro(
            name = name + suffix,
            target = each,
            func_name = func_name + suffix if func_name else None,
            **given
        )
