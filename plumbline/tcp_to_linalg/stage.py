"""The stage from TCP to linalg on tensors, from text to text."""

from plumbline.stages.text_stage import lower_text
from plumbline.target.choices import RuntimeChecks
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg


def tcp_to_linalg(text: str, filename: str, runtime_checks: RuntimeChecks) -> str:
    """Lowers `text`, which messages call `filename`.

    Raises:
      UserError: it is no such module, or has what cannot be lowered.
    """
    return lower_text(text, filename, lambda module: convert_tcp_to_linalg(module, runtime_checks))
