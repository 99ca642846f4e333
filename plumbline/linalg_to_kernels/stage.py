"""The stage from linalg on tensors to kernels on buffers, from text to text."""

from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.runtime.threads import check_threads
from plumbline.stages.text_stage import lower_text
from plumbline.target.cpu import cpu_target
from plumbline.target.probe import vector_unit_of


def linalg_to_kernels(
    text: str, filename: str, *, target_cpu: str, threads: int = 1, temporaries: str = "arena"
) -> str:
    """Lowers `text`, which messages call `filename`; `temporaries` is one of `choices.TEMPORARIES`.

    Raises:
      UserError: it is no such module, or has what cannot be lowered; or there is no such CPU, or no
        such number of threads.
    """
    check_threads("linalg_to_kernels", threads)
    unit = vector_unit_of(cpu_target(target_cpu))
    return lower_text(
        text, filename, lambda module: convert_linalg_to_kernels(module, unit, threads, temporaries)
    )
