"""Stage program: lowers a file of StableHLO, of text or bytecode, to TCP."""

import argparse

from plumbline.archives.serialised_weights import serialised
from plumbline.context import prepare_context
from plumbline.loader_to_stablehlo.program import stablehlo_of_file
from plumbline.stablehlo_to_tcp.stage import stablehlo_to_tcp
from tools.aot import stage

_SAMPLE = """
func.func @sample(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def _lower(given: argparse.Namespace) -> None:
    program = stablehlo_of_file(given.input)
    stage.write(given.output, stablehlo_to_tcp(program.text, program.who, given.func_name))
    if given.weights is not None:
        stage.write_bytes(given.weights, serialised(program.weights))


def _warm_up() -> None:
    stablehlo_to_tcp(_SAMPLE, "sample", "sample")
    prepare_context(torch=True, stablehlo=True)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    arguments.add_argument(
        "--func-name", required=True, metavar="NAME", help="the name of the C function"
    )
    arguments.add_argument(
        "--weights", type=stage.path, help="the .safetensors file to write, of large constants"
    )
    stage.run(arguments, _lower, warm_up=_warm_up)
