"""What the programs share that run a loader function: its options, and a watch over it."""

import argparse
import contextlib
import functools
import sys
from collections.abc import Callable

from plumbline.loader_to_torch.loader import TorchLoaderOutput, load
from plumbline.loader_to_torch.loader_import import find_loaders_in, folders_of_loaders
from plumbline.loader_to_torch.watch import Watch, run_in_child
from tools.aot import stage
from tools.aot.loader_files import LoaderFiles


def add_options(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say which program there is to load."""
    arguments.add_argument(
        "--torch-loader-path",
        required=True,
        metavar="PACKAGE.MODULE.FUNCTION",
        help="the loader function: test.AotCompile.model_loader_lib.foo_loader",
    )
    arguments.add_argument(
        "--func-name", help="the name of the compiled function, whatever the loader says"
    )
    arguments.add_argument(
        "--target-name", help="its name if neither --func-name nor the loader gives one"
    )
    arguments.add_argument(
        "--loader-files",
        type=stage.path,
        metavar="JSON",
        help="a list of the files of the loader's library, where they are not this program's own",
    )
    arguments.add_argument(
        "--loader-time-limit",
        type=int,
        default=600,
        metavar="SECONDS",
        help="how long the loader may take, and after it the model; 0: any time (default: 600)",
    )


def run(
    arguments: argparse.ArgumentParser,
    program: Callable[[argparse.Namespace, TorchLoaderOutput, Watch], None],
    *,
    warm_up: Callable[[], object] = lambda: None,
) -> None:
    """Runs `program` on the parsed command line and on what its loader returns.

    A mistake of the user's ends it with a message. `program` puts the user's code, in whatever of
    PyTorch it runs it, under the watch that it is given. `warm_up` is as for `stage.run`.
    """

    def load_and_run(given: argparse.Namespace, watch: Watch) -> None:
        path = given.torch_loader_path
        find_loaders_in(folders_of_loaders())
        with watch.over(f"loader {path}"):
            loaded = load(path, func_name=given.func_name, target=given.target_name)
        program(given, loaded, watch)

    add_options(arguments)

    def run_with_files(given: argparse.Namespace) -> None:
        with _files_of(given) as folders:
            sys.path[:0] = folders
            run_in_child(
                functools.partial(load_and_run, given),
                loader=f"loader {given.torch_loader_path}",
                time_limit=given.loader_time_limit,
                limit_option="--//tools/aot:loader_time_limit",
            )

    stage.run(arguments, run_with_files, warm_up=warm_up, watched=False)


def _files_of(given: argparse.Namespace) -> contextlib.AbstractContextManager[list[str]]:
    """The folders that the loader's files lie in, other than those of this program's."""
    if given.loader_files is None:
        return contextlib.nullcontext([])
    return LoaderFiles.read(given.loader_files).laid_out()
