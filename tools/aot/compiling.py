"""What the programs share that compile a program in their own process: how they do."""

import argparse

from plumbline.target.choices import OPTIMISATION_LEVELS


def add_options(arguments: argparse.ArgumentParser) -> None:
    """Lets the command line say how to compile."""
    arguments.add_argument(
        "--target-cpu", default="native", help="as the flag --//tools/aot:target_cpu"
    )
    arguments.add_argument(
        "--opt-level",
        type=int,
        choices=OPTIMISATION_LEVELS,
        default=2,
        help="as the flag --//tools/aot:opt_level",
    )
    arguments.add_argument(
        "--threads", type=int, default=1, help="how many threads the program runs on (default 1)"
    )
