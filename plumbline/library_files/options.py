"""How a library is made of a program: the arguments of aot_library, for callers without Bazel."""

import re
from dataclasses import dataclass

from plumbline.errors import UserError
from plumbline.gpu_to_nvvm.options import GpuOptions, check_convention
from plumbline.library_files.kinds import shipped
from plumbline.runtime.threads import check_threads
from plumbline.signature.function_name import check_function_name
from plumbline.target.choices import (
    LIBRARY_ABIS,
    MEMORIES,
    OPTIMISATION_LEVELS,
    RUNTIME_CHECKS,
    TARGETS,
    WEIGHTS,
    RuntimeChecks,
    check_choice,
)
from plumbline.target.gpu import gpu_target
from plumbline.target.gpu_chip import DEFAULT_ARCH
from plumbline.target.target import (
    MICROCONTROLLER,
    WEBASSEMBLY,
    WINDOWS,
    is_for_linux,
    is_for_windows,
    is_freestanding,
    is_microcontroller,
)

_LOADED = {WINDOWS: "dll", WEBASSEMBLY: "module", MICROCONTROLLER: "object"}
"""Where it is no shared object: the kind of file that is loaded of a library."""


@dataclass(frozen=True)
class LibraryOptions:
    """What is chosen for a library; the defaults are those of aot_library.

    Raises:
      UserError: there is no such choice.
    """

    name: str
    """Files are named after it, and the C function where neither `func_name` nor a loader says
    what that is called."""
    func_name: str | None = None
    """The name of the C function, whatever a loader says."""
    target_cpu: str = "baseline"
    """The CPU that code is made for: "baseline", "native", a name of LLVM's, or "wasm32". A
    "cortex-m4" is a microcontroller, and "skylake-windows" for Windows in place of Linux."""
    abi: str = "pointers"
    """How C calls it, one of `choices.LIBRARY_ABIS`."""
    memory: str = "malloc"
    """One of `choices.MEMORIES`."""
    threads: int = 1
    """How many a call runs on, unless the environment says another number."""
    weights: str = "embedded"
    """One of `choices.WEIGHTS`."""
    opt_level: int = 2
    """One of `choices.OPTIMISATION_LEVELS`."""
    runtime_checks: RuntimeChecks = "values"
    """One of `choices.RUNTIME_CHECKS`."""
    target: str = "host"
    """One of `choices.TARGETS`."""
    gpu_arch: str = DEFAULT_ARCH
    """What GPUs kernels are made for, with the target "nvptx"."""
    cubins: tuple[str, ...] = ()
    """The GPUs that there is machine code for, beside PTX, such as "sm_90"."""
    allow_tf32: bool = False
    """Whether products of f32 may be taken of numbers rounded to TF32."""
    on_gpu_tensors: bool = False
    """Whether callers have their tensors in memory of the GPU."""
    stream: bool = False
    """Whether calls are queued on a stream of the callers', with temporaries in a workspace."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not is_library_name(self.name):
            raise UserError(
                f"the name {self.name!r} becomes part of file names; use letters, digits and "
                "underscores only"
            )
        if self.func_name is not None:
            check_function_name(self.func_name)
        for what, value, known in (
            ("abi", self.abi, tuple(LIBRARY_ABIS)),
            ("memory", self.memory, MEMORIES),
            ("target", self.target, TARGETS),
            ("weights", self.weights, WEIGHTS),
            ("opt_level", self.opt_level, OPTIMISATION_LEVELS),
            ("runtime_checks", self.runtime_checks, RUNTIME_CHECKS),
        ):
            check_choice(what, value, known)
        for what, value, of_pointers in (
            ("memory", self.memory, "pool"),
            ("weights", self.weights, "file"),
        ):
            if self.abi == "memref" and value == of_pointers:
                raise UserError(f'{what} "{value}" goes with abi "pointers"')
        check_threads(f"library {self.name}", self.threads)
        check_convention(
            f"library {self.name}",
            self.target,
            threads=self.threads,
            on_gpu_tensors=self.on_gpu_tensors,
            stream=self.stream,
        )
        if self.on_gpu_tensors and self.abi == "memref":
            raise UserError('on_gpu_tensors goes with abi="pointers"')
        for cubin in self.cubins:
            if not isinstance(cubin, str) or not is_library_name(cubin):
                raise UserError(f"cubins has {cubin!r}; these are names of GPUs such as 'sm_90'")
        if self.cubins and self.target != "nvptx":
            raise UserError('cubins goes with target="nvptx"')
        if self.target == "nvptx" and self.memory == "pool" and not self.on_gpu_tensors:
            raise UserError('target="nvptx": memory="pool" goes with on_gpu_tensors')
        if not is_for_linux(self.target_cpu):
            self._check_system()
        if self.stream:
            # What is queued cannot allocate.
            object.__setattr__(self, "memory", "pool")

    @property
    def made_for(self) -> str:
        """Its target, of `choices.TARGETS`, or what is in place of these."""
        if is_for_windows(self.target_cpu):
            return WINDOWS
        if self.target_cpu == WEBASSEMBLY:
            return WEBASSEMBLY
        return MICROCONTROLLER if is_microcontroller(self.target_cpu) else self.target

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of files that are shipped of it, of `KINDS`."""
        kinds = shipped(self.made_for)
        return (*kinds, "weights-file") if self.weights == "file" else kinds

    @property
    def loaded_kind(self) -> str:
        """The kind of that file which `plumbline.load`, or `load_under`, takes."""
        return _LOADED.get(self.made_for, "shared-object")

    def _check_system(self) -> None:
        """Refuses what there is under Linux alone."""
        for what, value, only, reason in (
            ("target", self.target, "host", "its kernels are its own"),
            ("abi", self.abi, "pointers", "it is called so alone"),
            ("threads", self.threads, 1, "it has one"),
            ("weights", self.weights, ("embedded", "arguments"), "it maps no files"),
        ):
            known = only if isinstance(only, tuple) else (only,)
            has_threads = what == "threads" and not is_freestanding(self.target_cpu)
            if value not in known and not has_threads:
                allowed = " or ".join(f"{what}={each!r}" for each in known)
                raise UserError(
                    f"target_cpu={self.target_cpu!r} goes with {allowed}, as {reason}; "
                    f"it is {value!r}"
                )

    @property
    def gpu(self) -> GpuOptions:
        """What kernels are made for, and how they are called.

        Raises:
          UserError: there is no such GPU.
        """
        return GpuOptions(
            gpu_target(self.gpu_arch),
            on_gpu_tensors=self.on_gpu_tensors,
            stream=self.stream,
            allow_tf32=self.allow_tf32,
        )

    def symbol_text(self, origin: str) -> str:
        """What tells the library of the program `origin` from all others.

        It becomes a symbol of the library, which aot_library has linkers look for
        (`function_marks.py`); `_symbol_text` of tools/aot/aot_library.bzl says the same.
        """
        parts: tuple[str, ...] = (
            self.name,
            origin,
            self.func_name or "",
            self.target_cpu,
            self.abi,
            self.memory,
            str(self.threads),
            self.weights,
        )
        if self.target == "nvptx":
            parts += (self.target, *_flags(self.on_gpu_tensors, self.stream))
        return ":".join(parts)


def is_library_name(name: str) -> bool:
    """Whether files, and targets of Bazel's, can be named after it."""
    return re.fullmatch(r"[A-Za-z0-9_]+", name) is not None


def _flags(*flags: bool) -> tuple[str, ...]:
    return tuple(str(int(flag)) for flag in flags)
