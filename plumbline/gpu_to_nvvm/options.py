"""How a program for a GPU is called, beside what there is for every program."""

from dataclasses import dataclass

from plumbline.errors import UserError
from plumbline.target.target import Target


def check_convention(
    caller: str, target: str, *, threads: int, on_gpu_tensors: bool, stream: bool
) -> None:
    """Refuses conventions that do not go together; the message begins with `caller`.

    Raises:
      UserError: they do not.
    """
    for name, value in (("on_gpu_tensors", on_gpu_tensors), ("stream", stream)):
        if not isinstance(value, bool):
            raise UserError(f"{caller}: {name} is {value!r}; it is True or False")
        if value and target != "nvptx":
            raise UserError(f'{caller}: {name} goes with target="nvptx", not {target!r}')
    if target == "nvptx" and threads != 1:
        raise UserError(
            f'{caller}: threads={threads} goes with target="host"; on a GPU, kernels have threads '
            "of their own"
        )
    if stream and not on_gpu_tensors:
        raise UserError(
            f"{caller}: stream goes with on_gpu_tensors: copies of what is on the host have to be "
            "waited for"
        )


@dataclass(frozen=True)
class GpuOptions:
    """What a program for a GPU is compiled for."""

    target: Target
    """The chip."""
    on_gpu_tensors: bool = False
    stream: bool = False
    allow_tf32: bool = False
    """Whether products of f32 may be taken of numbers rounded to TF32."""

    @property
    def tensors(self) -> str:
        """One of `choices.PLACES`."""
        return "device" if self.on_gpu_tensors else "host"

    @property
    def queue(self) -> str:
        """One of `choices.QUEUES`."""
        return "stream" if self.stream else "own"

    @property
    def memory(self) -> str:
        """One of `choices.MEMORIES`: what is queued cannot allocate, so that a caller does."""
        return "pool" if self.stream else "malloc"
