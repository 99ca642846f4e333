"""What all stage programs share: their command line, and what a user sees when one refuses."""

import argparse
import os
import resource
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from plumbline.archives import atomic_file, text_file
from plumbline.errors import UserError
from plumbline.errors.watched_process import Death, run_watched
from plumbline.garbage import collecting_seldom
from plumbline.target.choices import ABIS, MEMORIES, OPTIMISATION_LEVELS, QUEUES, WEIGHTS

_WORKER_FLAG = "--persistent_worker"
"""What Bazel starts a program with that is to stay for more requests."""

_LEAST_MEMORY = 8 << 30
"""In bytes, of address space that every stage may have."""


def parser(description: str | None) -> argparse.ArgumentParser:
    """An argument parser with the conventions of the stage programs."""
    return argparse.ArgumentParser(
        description=description,
        # A worker's request is such a file, with an argument on each line.
        fromfile_prefix_chars="@",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def path(text: str) -> Path:
    """A path from the command line; under `bazel run`, relative to where the user stands."""
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ""), text)


def text_stage_parser(description: str | None) -> argparse.ArgumentParser:
    """The command line of a stage that turns one file into another."""
    arguments = parser(description)
    arguments.add_argument("input", type=path, help="the file of the stage before")
    arguments.add_argument("-o", "--output", type=path, required=True, help="the file to write")
    return arguments


def add_target_cpu(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say what CPU code is made for."""
    arguments.add_argument(
        "--target-cpu",
        default="baseline",
        help='"baseline" (the default: fixed, widely available), "native", or a name of LLVM\'s; '
        'one of another architecture, too: "cortex-a76", "spacemit-x60", and "aarch64" or '
        '"riscv64" for its baseline; "wasm32", for browsers; or a microcontroller, "cortex-m55"',
    )


def add_opt_level(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say how much LLVM optimises."""
    arguments.add_argument(
        "--opt-level",
        type=int,
        choices=OPTIMISATION_LEVELS,
        default=2,
        help="how much LLVM optimises, as in clang -O (default: 2)",
    )


def add_gpu_arch(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say what GPUs kernels are made for."""
    arguments.add_argument(
        "--gpu-arch",
        default="sm_80",
        help="the oldest GPUs that kernels run on, such as sm_80 (the default) or sm_90a",
    )


def add_abi(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say how C calls a program."""
    arguments.add_argument(
        "--abi",
        choices=ABIS,
        default=ABIS[0],
        help="how C calls the program: with memrefs (tools/aot/abi.h; the default), or with "
        "pointers to memory that is the caller's",
    )


def add_memory(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say where the memory of temporaries comes from."""
    arguments.add_argument(
        "--memory",
        choices=MEMORIES,
        default=MEMORIES[0],
        help="where temporaries come from: the heap (the default), or a workspace that the caller "
        "brings along",
    )


def add_queue(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say what a program for a GPU queues its work on."""
    arguments.add_argument(
        "--queue",
        choices=QUEUES,
        default=QUEUES[0],
        help="its own calls, which return when all is done (the default), or a stream of the "
        "caller's",
    )


def add_threads(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say how many threads there are, where kernels are made already."""
    arguments.add_argument(
        "--threads", type=int, default=1, help="as the kernels were made for (default 1)"
    )


def add_weights(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say what weights are."""
    arguments.add_argument(
        "--weights-are",
        choices=WEIGHTS,
        default=WEIGHTS[0],
        help="read-only data of the library (the default), leading arguments of the function, or a "
        "file that the library maps",
    )


def run_text_stage(
    description: str | None,
    transform: Callable[[str, str], str],
    *,
    warm_up: Callable[[], object],
) -> None:
    """The whole program of a stage that turns one text into another.

    `transform` takes the text of the input file and its name for messages, and returns the text
    of the output file. `warm_up` is as for `run`.
    """
    run(
        text_stage_parser(description),
        lambda given: write(given.output, transform(text_file.read(given.input), str(given.input))),
        warm_up=warm_up,
    )


@collecting_seldom()
def run(
    arguments: argparse.ArgumentParser,
    program: Callable[[argparse.Namespace], None],
    *,
    warm_up: Callable[[], object] = lambda: None,
    watched: bool = True,
) -> None:
    """Runs `program` on the parsed command line; a mistake of the user's ends it with a message.

    So does a fault of LLVM's or MLIR's that ends their process, as `program` has one of its own,
    unless it is not to be `watched`. The memory of that is what the machine has, at most, and what
    it prints to standard error appears at its end.

    Bazel may start it as a persistent worker; then it runs `program` for each request, after a
    `warm_up` that does once what all requests would do anew: imports, mostly, and tables that
    libraries make when they are first needed.
    """
    arguments.add_argument("--label", help="the Bazel target to name in messages")

    def run_words(words: Sequence[str]) -> None:
        given = arguments.parse_args(words)
        if watched:
            _limit_memory()
        try:
            program(given)
        except UserError as error:
            sys.exit(_message(given, str(error)))
        except MemoryError:
            sys.exit(_message(given, f"{_subject(given)}: there is not enough memory for it"))

    def report(words: Sequence[str], death: Death) -> str:
        return _report(arguments.parse_args(words), words, death)

    if _WORKER_FLAG in sys.argv:
        # 15 ms to import, which a single run need not pay.
        from tools.aot import persistent_worker

        warm_up()
        # Each request has a process of its own there.
        persistent_worker.serve(run_words, report)
    elif watched:
        words = sys.argv[1:]
        ending = run_watched(lambda: run_words(words), keep_back_errors=True)
        sys.exit(report(words, ending) if isinstance(ending, Death) else ending)
    else:
        run_words(sys.argv[1:])


def _message(given: argparse.Namespace, text: str) -> str:
    return f"error: {given.label}: {text}" if given.label else f"error: {text}"


def _subject(given: argparse.Namespace) -> str:
    """What a program works on, or else the name of the program."""
    return str(getattr(given, "input", Path(sys.argv[0]).stem))


def _limit_memory() -> None:
    """Has an allocation fail that is larger than the machine, before it takes the machine down."""
    # Libraries that are mapped count, too: on a small machine they alone are much.
    most = max(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), _LEAST_MEMORY)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _report(given: argparse.Namespace, words: Sequence[str], death: Death) -> str:
    """What to tell of a program that did not come to its end; keeps what shows it again."""
    name = Path(sys.argv[0]).stem
    command = [name, *words]
    kept = ""
    source = getattr(given, "input", None)
    if source is not None and source.is_file():
        folder = tempfile.mkdtemp(prefix=f"plumbline-{name}-")
        copy = shutil.copy(source, folder)
        kept = f"its input is kept as {copy}, and "
        command = [copy if Path(word) == source else word for word in command]
    last_words = " ".join(death.printed.split("\n", 3)[:3]).strip()
    said = f", saying: {last_words}" if last_words else ""
    return _message(
        given,
        f"{_subject(given)}: {name} was ended by {death.cause} within LLVM or MLIR{said}\n"
        f"  This is a fault of theirs or of Plumbline's; nothing was written. To see it again, "
        f"{kept}the command is: {shlex.join(command)}",
    )


def write(file: Path, content: str) -> None:
    """Writes `content` to `file`, whole or not at all.

    Raises:
      UserError: it cannot be written.
    """
    write_bytes(file, content.encode())


def write_bytes(file: Path, content: bytes) -> None:
    """The same for content that is not text."""
    try:
        atomic_file.write_bytes(file, content)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
