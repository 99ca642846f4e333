"""Stage program: lowers a file of StableHLO, of text or bytecode, to TCP."""

import argparse

from plumbline.context import prepare_context
from plumbline.loader_to_stablehlo import bytecode
from plumbline.stablehlo_to_tcp.stage import stablehlo_to_tcp
from tools.aot import stage

_SAMPLE = """
func.func @sample(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def _lower(given: argparse.Namespace) -> None:
    text = bytecode.read(given.input)
    stage.write(given.output, stablehlo_to_tcp(text, str(given.input), given.func_name))


def _warm_up() -> None:
    stablehlo_to_tcp(_SAMPLE, "sample", "sample")
    prepare_context(torch=True, stablehlo=True)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--func-name", required=True, metavar="NAME", help="the name of the C function"
    )
    stage.run(arguments, _lower, warm_up=_warm_up)
