"""Stage program: lowers a .mlir file of the Torch dialect to TCP."""

from plumbline.context import make_context, prepare_context
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp
from tools.aot import stage

_SAMPLE = """
func.func @sample(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch.aten.tanh %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  return %0 : !torch.vtensor<[2],f32>
}
"""


def torch_to_tcp(text: str, filename: str) -> str:
    """The stage, from text to text."""
    module = parse_module(text, make_context(torch=True), filename)
    convert_torch_to_tcp(module)
    # With locations: a later stage that refuses an operation names the user's source by them.
    return print_module(module, debug_info=True)


def _warm_up() -> None:
    torch_to_tcp(_SAMPLE, "sample")
    prepare_context(torch=True)


if __name__ == "__main__":
    stage.run_text_stage(__doc__, torch_to_tcp, warm_up=_warm_up)
