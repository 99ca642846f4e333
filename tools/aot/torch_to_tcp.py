"""Stage program: lowers a .mlir file of the Torch dialect to TCP."""

from plumbline.context import prepare_context
from plumbline.torch_to_tcp.stage import torch_to_tcp
from tools.aot import stage

_SAMPLE = """
func.func @sample(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch.aten.tanh %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
"""


def _warm_up() -> None:
    torch_to_tcp(_SAMPLE, "sample")
    prepare_context(torch=True)


if __name__ == "__main__":
    stage.run_text_stage(__doc__, torch_to_tcp, warm_up=_warm_up)
