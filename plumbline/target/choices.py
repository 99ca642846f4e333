"""What a compilation can be told, by one word of a few; command lines list them from here.

It imports nothing that takes time, so that a command line is read before what compiles is loaded.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from plumbline.errors import UserError

RuntimeChecks: TypeAlias = Literal["off", "values", "all"]
"""What a program checks as it runs, beside the sizes of its arguments.

- "values": what PyTorch raises for: an index is out of range, an integer is divided by zero, a
  maximum is taken of no elements.
- "all": also that the sizes of the operands of each op agree, to debug the compiler or TCP.
- "off": neither; what PyTorch raises for is then undefined.
"""

RUNTIME_CHECKS: tuple[RuntimeChecks, ...] = get_args(RuntimeChecks)

TARGETS = ("host", "nvptx")
"""What a program is compiled for: this machine's kind of CPU, or a GPU of NVIDIA's."""

ABIS = ("memref", "pointers", "memref-status")
"""The calling conventions: that of `kernels_to_llvm/memref_entries.py` for tests, that of
`pointer_entries.py`, and that of `memref_entries.py` for libraries."""

LIBRARY_ABIS = {"pointers": "pointers", "memref": "memref-status"}
"""What the conventions of libraries are called, and which they are of `ABIS`."""

MEMORIES = ("malloc", "pool")
"""Where temporaries come from: the heap, or a workspace of the caller's (`workspace.py`)."""

TEMPORARIES = ("arena", "apart")
"""Where temporaries of static sizes lie: those of a function in one allocation, which they share by
lifetime; or each in an allocation of its own, between which a test has what nobody may touch."""

WEIGHTS = ("embedded", "arguments", "file")
"""What weights are: read-only data of the library, leading arguments of the function, or a file
that the library maps when it is told where (`kernels_to_llvm/load_weights.py`)."""

PLACES = ("host", "device")
"""Where callers of a program for a GPU have their tensors: in memory of the host, which calls copy
to the device and back, or there (`linalg_to_gpu/device_memory.py`)."""

QUEUES = ("own", "stream")
"""What a program for a GPU queues its work on: a call of its own, that returns when all is done, or
a stream of the caller's (`gpu_to_nvvm/device_calls.py`)."""

OPTIMISATION_LEVELS = (0, 1, 2, 3)
"""How much LLVM optimises, as in clang -O."""


def check_choice(what: str, given: object, known: Sequence[object]) -> None:
    """Refuses what a function of Python's is `given` for an option, if it is not `known`.

    Raises:
      UserError: it is not; `what` begins the message.
    """
    if isinstance(given, bool) or given not in known:
        raise UserError(f"{what} is {given!r}; it is one of {', '.join(map(repr, known))}")


def one_of(known: Sequence[str], option: str, given: Sequence[str]) -> str:
    """What a pass is `given` for an option; the first that is `known` where that is nothing.

    Raises:
      UserError: it is not known.
    """
    (value,) = given or known[:1]
    if value not in known:
        raise UserError(f"{option}={value} is none of {', '.join(known)}")
    return value
