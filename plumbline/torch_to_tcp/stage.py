"""The stage from the Torch dialect to TCP, from text to text."""

from plumbline.stages.text_stage import lower_text
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp


def torch_to_tcp(text: str, filename: str) -> str:
    """Lowers `text`, which messages call `filename`.

    Raises:
      UserError: it is no such module, or has what cannot be lowered.
    """
    return lower_text(text, filename, convert_torch_to_tcp)
