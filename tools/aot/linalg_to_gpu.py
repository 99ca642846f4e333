"""Stage program: lowers a .mlir file of linalg on tensors to kernels of a GPU, and launches."""

from plumbline.context import make_context, prepare_context
from plumbline.linalg_to_gpu.conversion import convert_linalg_to_gpu
from plumbline.tcp.assembly.module import parse_module, print_module
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


def linalg_to_gpu(text: str, filename: str) -> str:
    """The stage, from text to text."""
    module = parse_module(text, make_context(torch=True), filename)
    convert_linalg_to_gpu(module)
    # With locations, as the stages before: the next one may refuse what a kernel does.
    return print_module(module, debug_info=True)


def _warm_up() -> None:
    linalg_to_gpu(_SAMPLE, "sample")
    prepare_context(torch=True)


if __name__ == "__main__":
    stage.run_text_stage(__doc__, linalg_to_gpu, warm_up=_warm_up)
