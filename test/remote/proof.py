"""What the proofs share: their command line, their scratch folder, and how they end."""

import argparse
import contextlib
import getpass
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from test.remote import build_outputs
from test.remote.checkout import Build, Checkout, ProofFailed

PAGE = "docs/remote.md"

Hashes = dict[Path, str]

# The program of README's first command, one with its libraries, and one that starts as TCP.
_TARGETS = [
    "//test/AotCompile:broadcast_add_mixed_ranks_compile_execute_test",
    "//test/AotCompile:add_mul_f64_compile_execute_test",
    "//test/AotCompile:aot_compiled_add_mul_f64",
    "//test/AotCompile:basic_tcp_ops_test",
]


def run(description: str | None, prove: Callable[[Path, list[str]], None]) -> None:
    """The whole program of a proof.

    `prove` is given a folder to work in, and the targets to test there.
    """
    arguments = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "targets",
        nargs="*",
        default=_TARGETS,
        help="targets to build and test, such as //test/AotCompile:all (default: three programs)",
    )
    given = arguments.parse_args()
    # Then, too, servers are ended and files removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    # What is in /tmp may lie in memory.
    scratch = Path(tempfile.mkdtemp(prefix="plumbline-remote-", dir="/var/tmp"))
    # A server may have a user of its own.
    scratch.chmod(0o711)
    try:
        prove(scratch, given.targets)
    except ProofFailed as error:
        sys.exit(f"\nNOT PROVED: {error}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def checkout(scratch: Path, name: str, **environment: str) -> Iterator[Checkout]:
    """A copy of the checkout in a folder of that name, which the end of the block removes."""
    made = Checkout(scratch / name, scratch / f"{name}.bazel", environment)
    made.copy()
    try:
        yield made
    finally:
        made.remove()


def page(made: Checkout) -> str:
    """The page that a proof holds to truth."""
    return (made.folder / PAGE).read_text(encoding="utf-8")


def check_only(build: Build, *kinds: str) -> None:
    """Fails unless all actions ran in one of these ways, besides those within Bazel itself."""
    others = {kind: n for kind, n in build.processes.items() if kind not in ("internal", *kinds)}
    if others or not any(build.processes.get(kind) for kind in kinds):
        raise ProofFailed(f"expected nothing but {' and '.join(kinds)}, and got {build}")
    say(f"nothing but {' and '.join(kinds)}: {build}")


def check_no_traces(made: Checkout) -> None:
    """Fails if an output, or a test's log, says where, by whom or on what machine it was made."""
    words = [str(made.folder), str(made.output_user_root), socket.gethostname(), getpass.getuser()]
    words += [word for word in made.environment.values() if "/" not in word]
    # "vm" and "root" are words that any file may hold.
    searched = [word for word in dict.fromkeys(words) if len(word) > 5]
    found = []
    for folder in ("bazel-bin", "bazel-testlogs"):
        found += build_outputs.traces(made.path(folder), searched)
    if found:
        raise ProofFailed("outputs name the place they were made at:\n  " + "\n  ".join(found))
    say(f"no output holds any of {', '.join(searched)}")


def hashes(made: Checkout) -> Hashes:
    """The hashes of all outputs of the last build."""
    return build_outputs.hashes(made.path("bazel-bin"))


def check_same_outputs(ours: Hashes, theirs: Hashes) -> None:
    """Fails unless two builds have left the same files, bit by bit."""
    differences = build_outputs.differences(ours, theirs)
    if differences:
        raise ProofFailed(f"{len(differences)} outputs differ:\n  " + "\n  ".join(differences))
    kinds: dict[str, int] = {}
    for path in ours:
        kinds[path.suffix or "program"] = kinds.get(path.suffix or "program", 0) + 1
    told = ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds))
    say(f"{len(ours)} outputs are the same, bit by bit: {told}")


def say(text: str) -> None:
    """Tells what is proved."""
    print(f"\nPROVED: {text}", flush=True)
