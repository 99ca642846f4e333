"""What a remote action sees of the machine that it runs on: its inputs and the machine's tools.

Neither the clone that asked for it nor Bazel's folders are there, nor a network, nor the sources
that Debian's packages bring: what an action reads and did not declare is missing.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from test.remote.input_root import Mount

EXECUTION_ROOT = PurePosixPath("/execution_root")

# What the C++ toolchain and Python need outside of /usr: the linker's cache, Debian's choice among
# compilers, and names for the user's number.
_CONFIGURATION = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/passwd", "/etc/group"]

# Sources of googletest, and rules of Bazel's: repositories of WORKSPACE, so that they are inputs.
_HIDDEN = ["/usr/src", "/usr/share/bazel"]


def command_line(
    command: Iterable[str],
    environment: Mapping[str, str],
    root: Path,
    mounts: Iterable[Mount],
    working_directory: str = "",
) -> list[str]:
    """The command line, of bubblewrap, that runs `command` in its input root.

    Args:
      command: the program and its arguments.
      environment: all environment variables that it sees.
      root: the input root; it alone can be written.
      mounts: what is to be seen in the input root as well.
      working_directory: where in the input root the command starts.
    """
    options = ["--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    options += ["--hostname", "worker", "--die-with-parent", "--new-session", "--clearenv"]
    options += ["--ro-bind", "/usr", "/usr"]
    for folder in ("bin", "lib", "lib64", "sbin"):
        options += ["--symlink", f"usr/{folder}", f"/{folder}"]
    for path in _CONFIGURATION:
        options += ["--ro-bind-try", path, path]
    for path in _HIDDEN:
        if Path(path).is_dir():
            options += ["--tmpfs", path]
    options += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    options += ["--bind", str(root), str(EXECUTION_ROOT)]
    for mount in mounts:
        options += ["--ro-bind", str(mount.source), str(EXECUTION_ROOT / mount.target)]
    options += ["--chdir", str(EXECUTION_ROOT / working_directory)]
    for name, value in environment.items():
        options += ["--setenv", name, value]
    return ["bwrap", *options, "--", *command]
