"""Stage program: lowers a .mlir file of TCP to linalg on tensors."""

import argparse

from plumbline.context import make_context
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from tools.aot import stage


def tcp_to_linalg(text: str, filename: str, *, runtime_checks: bool) -> str:
    """The stage, from text to text."""
    # Programs with ops that TCP lacks carry dialects of torch-mlir (tm_tensor) beside TCP.
    module = parse_module(text, make_context(torch=True), filename)
    convert_tcp_to_linalg(module, runtime_checks=runtime_checks)
    return print_module(module)


def _lower(given: argparse.Namespace) -> None:
    text = stage.read(given.input)
    checks = given.runtime_checks == "on"
    stage.write(given.output, tcp_to_linalg(text, str(given.input), runtime_checks=checks))


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--runtime-checks",
        choices=("off", "on"),
        default="off",
        help="whether the program checks, as it runs, that the sizes of operands agree",
    )
    stage.run(arguments, _lower)
