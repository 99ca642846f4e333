"""The stage from linalg on tensors to kernels on buffers, from text to text."""

from plumbline.context import context_for
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.runtime.threads import check_threads
from plumbline.target.cpu import cpu_target
from plumbline.target.probe import vector_unit_of
from plumbline.tcp.assembly.module import parse_module, print_module


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
    with context_for(text, torch=True) as context:
        module = parse_module(text, context, filename)
        convert_linalg_to_kernels(module, unit, threads, temporaries)
        # With locations, as the stage before.
        lowered = print_module(module, debug_info=True, is_verified=True)
        # A context is lent again with no module in it alone.
        del module
    return lowered
