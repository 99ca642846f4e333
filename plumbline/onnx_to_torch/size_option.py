"""The option by which a command line fixes sizes of a model; it imports neither torch nor ONNX."""

import argparse


def add_size(arguments: argparse.ArgumentParser) -> None:
    """Lets a command line say what sizes are fixed: `size` has pairs of a name and a number."""
    arguments.add_argument(
        "--size",
        type=_size,
        action="append",
        default=[],
        metavar="NAME=N",
        help="of a model of ONNX: the size that all dimensions of a name have, which is then fixed",
    )


def _size(text: str) -> tuple[str, int]:
    name, sign, number = text.rpartition("=")
    if not (sign and name and number.isascii() and number.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form batch=1")
    return name, int(number)
