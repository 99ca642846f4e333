"""Stage program: lowers a .mlir file of TCP to linalg on tensors."""

import argparse

from plumbline.archives import text_file
from plumbline.context import prepare_context
from plumbline.target.choices import RUNTIME_CHECKS
from plumbline.tcp_to_linalg.stage import tcp_to_linalg
from tools.aot import stage

_SAMPLE = """
func.func @sample(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tcp.tanh %x : tensor<2xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def _lower(given: argparse.Namespace) -> None:
    text = text_file.read(given.input)
    stage.write(given.output, tcp_to_linalg(text, str(given.input), given.runtime_checks))


def _warm_up() -> None:
    tcp_to_linalg(_SAMPLE, "sample", runtime_checks="values")
    prepare_context(torch=True)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--runtime-checks",
        choices=RUNTIME_CHECKS,
        default="values",
        help="what the program checks as it runs: what PyTorch raises for (values, the default), "
        "also that the sizes of operands agree (all), or neither (off)",
    )
    stage.run(arguments, _lower, warm_up=_warm_up)
