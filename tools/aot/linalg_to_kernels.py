"""Stage program: lowers a .mlir file of linalg on tensors to kernels on buffers, for a CPU."""

import argparse
import importlib

from plumbline.archives import text_file
from plumbline.context import prepare_context
from plumbline.linalg_to_kernels.stage import linalg_to_kernels
from plumbline.target.choices import TEMPORARIES
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
    kernels = linalg_to_kernels(
        text_file.read(given.input),
        str(given.input),
        target_cpu=given.target_cpu,
        threads=given.threads,
        temporaries=given.temporaries,
    )
    stage.write(given.output, kernels)


def _warm_up() -> None:
    # The bindings import it, in 85 ms, where a kernel has an op of LLVM's, as one in four has.
    importlib.import_module("torch_mlir.dialects.llvm")
    linalg_to_kernels(_SAMPLE, "sample", target_cpu="baseline")
    prepare_context(torch=True)


if __name__ == "__main__":
    arguments = stage.text_stage_parser(__doc__)
    stage.add_target_cpu(arguments)
    arguments.add_argument(
        "--threads",
        type=int,
        default=1,
        help="how many threads the program runs on (default 1); PLUMBLINE_THREADS, where it runs, "
        "says another number",
    )
    arguments.add_argument(
        "--temporaries",
        choices=TEMPORARIES,
        default=TEMPORARIES[0],
        help="where temporaries lie: those of a function in one allocation (the default), or each "
        "in one of its own",
    )
    stage.run(arguments, _lower, warm_up=_warm_up)
