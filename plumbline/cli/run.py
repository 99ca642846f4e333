"""`plumbline run`: calls a library on tensors from a file."""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plumbline.cli.exit_status import DIFFERS, SUCCESS
from plumbline.cli.run_under import add_run_under, load_as_told

if TYPE_CHECKING:
    from plumbline.library.load import Library

_EPILOG = """\
A file of tensors is what numpy.savez writes. Inputs have the names that `plumbline show` tells, or
are Input0, Input1, ...; so the reference tensors that `plumbline compile --emit references` writes
are both inputs and what to compare with.

examples:
  plumbline run out/blur.so --inputs in.npz --outputs out.npz
  plumbline run out/blur.so --inputs in.npz --compare expected.npz --time
"""

_TIME = 1.0
"""So many seconds of calls are measured, at least."""
_LEAST_CALLS = 5


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to a command line."""
    arguments = commands.add_parser(
        "run",
        help="calls a library on tensors from a file",
        description="Calls a library on tensors from a file, without PyTorch.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument(
        "library", type=Path, metavar="LIBRARY.so", help="the shared object, .wasm file or object"
    )
    arguments.add_argument(
        "--inputs", type=Path, required=True, metavar="NPZ", help="the file of the inputs"
    )
    arguments.add_argument(
        "--outputs", type=Path, metavar="NPZ", help="where to write the outputs, by their names"
    )
    arguments.add_argument(
        "--compare",
        type=Path,
        metavar="NPZ",
        help=f"what the outputs should be; the exit status is {DIFFERS} where they differ",
    )
    arguments.add_argument(
        "--weights",
        type=Path,
        metavar="SAFETENSORS",
        help="the weights of a library that is to load them",
    )
    arguments.add_argument("--time", action="store_true", help="tell how long a call takes")
    add_run_under(arguments)
    arguments.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    # These import numpy.
    from plumbline.bisect.comparison import compare
    from plumbline.cli.library_file import existing
    from plumbline.cli.tensor_files import read_expected, read_inputs, write_outputs
    from plumbline.library_files.array_calls import arguments_of, written_by, written_rows
    from plumbline.library_files.c_header import input_rows

    library = load_as_told(given, existing(given.library))
    if given.weights:
        library.load_weights(given.weights)
    rows = written_rows(library.signature)
    inputs = read_inputs(given.inputs, input_rows(library.signature))
    expected = given.compare and read_expected(given.compare, rows)
    names = [name for name, _ in rows]
    outputs = written_by(library, arguments_of(library, inputs))
    if given.outputs:
        write_outputs(given.outputs, names, outputs)
    status = SUCCESS
    if expected:
        for name, output, tensor, tolerance in zip(
            names, outputs, expected.tensors, expected.tolerances, strict=True
        ):
            comparison = compare(output, tensor, tolerance)
            print(f"{name}: {comparison}")
            if not comparison.agrees:
                status = DIFFERS
    if given.time:
        print(_timing(library, arguments_of(library, inputs)))
    return status


def _timing(library: "Library", arguments: Sequence[Any]) -> str:
    """How long calls take, from Python."""
    clock: Callable[[], float] = time.perf_counter
    seconds: list[float] = []
    end = clock() + _TIME
    while clock() < end or len(seconds) < _LEAST_CALLS:
        begin = clock()
        library(*arguments)
        seconds.append(clock() - begin)
    seconds.sort()
    middle, fastest = seconds[len(seconds) // 2], seconds[0]
    return f"{1e3 * middle:.4g} ms a call, {1e3 * fastest:.4g} at best, of {len(seconds)} calls"
