"""Stage program: lowers a .mlir file of linalg on tensors to kernels of a GPU, and launches."""

import argparse

from plumbline.archives import text_file
from plumbline.context import prepare_context
from plumbline.linalg_to_gpu.stage import linalg_to_gpu
from plumbline.target.choices import PLACES
from tools.aot import stage

_SAMPLE = """
#map = affine_map<(d0) -> (d0)>
func.func @sample(%x: tensor<2xf32>) -> tensor<2xf32> {
  %empty = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%empty : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = math.tanh %in : f32
    linalg.yield %1 : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def _lower(given: argparse.Namespace) -> None:
    lowered = linalg_to_gpu(
        text_file.read(given.input),
        str(given.input),
        gpu_arch=given.gpu_arch,
        allow_tf32=given.allow_tf32 == "true",
        tensors=given.tensors,
    )
    stage.write(given.output, lowered)


def _warm_up() -> None:
    linalg_to_gpu(_SAMPLE, "sample")
    prepare_context(torch=True)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_gpu_arch(arguments)
    arguments.add_argument(
        "--allow-tf32",
        choices=("false", "true"),
        default="false",
        help="whether products of f32 may be taken of numbers rounded to TF32, on tensor cores",
    )
    arguments.add_argument(
        "--tensors",
        choices=PLACES,
        default=PLACES[0],
        help="where callers have theirs: on the host, from where they are copied (the default), or "
        "on the device",
    )
    stage.run(arguments, _lower, warm_up=_warm_up)
