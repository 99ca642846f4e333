"""The stages of a program in one process, from the text of the first to machine code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.cache.key import key_of
from plumbline.cache.machine_code import MachineCode
from plumbline.context import lent_context
from plumbline.gpu_to_nvvm.options import GpuOptions
from plumbline.kernels_to_llvm.conversion import convert_kernels_to_llvm
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.linalg_to_kernels.conversion import convert_linalg_to_kernels
from plumbline.linalg_to_kernels.timed_calls import TimedCall, timed_calls
from plumbline.llvm_to_asm.assembly import LAUNCHES, emit_objects
from plumbline.llvm_to_asm.llvm_ir import translate_kernels_to_llvm_ir, translate_to_llvm_ir
from plumbline.llvm_to_asm.ptx import emit_ptx
from plumbline.llvm_to_asm.weights import embedded_weights
from plumbline.signature.function_name import CHECKED_SUFFIX, PACKED_SUFFIX
from plumbline.signature.signature import Signature
from plumbline.target.choices import RuntimeChecks
from plumbline.target.probe import vector_unit_of
from plumbline.target.target import Target
from plumbline.tcp.assembly.module import parse_module, print_module
from plumbline.tcp_to_linalg.conversion import convert_tcp_to_linalg
from plumbline.torch_to_tcp.conversion import convert_torch_to_tcp

STAGES = ("torch", "tcp", "linalg", "kernels", "llvm", "llvm_ir", "asm")
"""The stages whose texts a compiled program keeps, in order."""

GPU_STAGES = ("torch", "tcp", "linalg", "gpu", "nvvm", "ptx", "llvm_ir", "asm")
"""Those of a program for a GPU. The last two are of what launches its kernels."""

_STABLEHLO = "stablehlo"
"""The first stage of a program of StableHLO, in the place of "torch"."""


@dataclass(frozen=True)
class Source:
    """What the chain begins with: a text of the Torch dialect, or of StableHLO."""

    text: str
    is_stablehlo: bool = False

    @property
    def stage(self) -> str:
        """What that stage is called."""
        return _STABLEHLO if self.is_stablehlo else STAGES[0]

    def parse(self, context: ir.Context, who: str) -> ir.Module:
        """The module of the text, which messages call `who`.

        Raises:
          UserError: it is none.
        """
        if not self.is_stablehlo:
            return parse_module(self.text, context, who)
        # Knows StableHLO, which other programs do not need.
        from plumbline.loader_to_stablehlo.parsing import parse_stablehlo

        return parse_stablehlo(self.text, context, who)

    def lower_to_tcp(self, module: ir.Module, who: str, func_name: str) -> None:
        """Lowers that module in place; of StableHLO its function is called `func_name` then.

        Raises:
          UserError: it cannot be lowered.
        """
        if not self.is_stablehlo:
            convert_torch_to_tcp(module)
            return
        # As `parse` has it.
        from plumbline.stablehlo_to_tcp.stage import lower_entry

        lower_entry(module, who, func_name)


@dataclass(frozen=True)
class Lowering:
    """What the stages after the first make, and all that decides it."""

    source: Source
    func_name: str
    target: Target
    gpu: GpuOptions | None = None
    """With it kernels are for that, and what launches them is for the `target`."""
    opt_level: int = 2
    runtime_checks: RuntimeChecks = "values"
    threads: int = 1

    def entry(self, signature: Signature) -> str:
        """The function that is called, of such a program."""
        suffix = PACKED_SUFFIX if signature.are_results_bounded else CHECKED_SUFFIX
        return self.func_name + suffix

    @property
    def host_opt_level(self) -> int:
        """How much LLVM optimises what runs on the CPU."""
        # Functions for C take LLVM as long as that does, and grow with the arguments of a program.
        return self.opt_level if self.gpu is None else LAUNCHES

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of all stages."""
        return (self.source.stage, *(STAGES if self.gpu is None else GPU_STAGES)[1:])

    def key(self) -> bytes:
        """Under which the machine code is kept. It has no weights, but what the text has."""
        others = (self.target, self.gpu, self.opt_level, self.runtime_checks, self.threads)
        source = (self.source.stage, self.source.text)
        return key_of("machine code", *source, self.func_name, *map(repr, others))

    def machine_code(
        self, who: str, when_done: Callable[[str], None]
    ) -> tuple[MachineCode, dict[str, str]]:
        """All of it, and the texts of the stages.

        Raises:
          UserError: as `compile` does.
        """
        signature, texts = self.run(who, when_done)
        object_files = emit_objects(
            texts["llvm_ir"], self.target, self.host_opt_level, entry=self.entry(signature)
        )
        weights = tuple(symbol for symbol, _ in embedded_weights(texts["llvm_ir"]))
        return MachineCode(signature, object_files, weights, texts.get("ptx")), texts

    def run(
        self, who: str, when_done: Callable[[str], None], *, debug_info: bool = False
    ) -> tuple[Signature, dict[str, str]]:
        """The stages as far as LLVM IR, for a program that messages call `who`.

        With `debug_info`, the texts of MLIR have the locations of ops.

        Raises:
          UserError: as `compile` does.
        """
        source = self.source
        texts = {source.stage: source.text}
        with lent_context(torch=True, stablehlo=source.is_stablehlo) as context:
            mlir = source.parse(context, who)
            stages = _Stages(mlir, texts, when_done, debug_info=debug_info)
            source.lower_to_tcp(mlir, who, self.func_name)
            stages.lower_to_linalg(self.runtime_checks)
            if self.gpu is None:
                signature = stages.lower_for_cpu(self.func_name, self.target, self.threads)
            else:
                signature = stages.lower_for_gpu(self.func_name, self.gpu, self.opt_level)
            # A context is lent again with no module in it alone.
            del stages, mlir
        return signature, texts

    def with_timers(self, who: str) -> tuple[Sequence[TimedCall], tuple[bytes, ...]]:
        """Object files of the same kernels, with timers, and the calls that are timed.

        What holds the times is left open (`kernels_to_llvm/time_kernels.py`). It is for a CPU.

        Raises:
          UserError: as `compile` does.
        """
        with lent_context(torch=True, stablehlo=self.source.is_stablehlo) as context:
            mlir = self.source.parse(context, who)
            self.source.lower_to_tcp(mlir, who, self.func_name)
            convert_tcp_to_linalg(mlir, self.runtime_checks)
            convert_linalg_to_kernels(mlir, vector_unit_of(self.target), self.threads, timed=True)
            calls = timed_calls(mlir)
            signature = _to_llvm(mlir, self.func_name, timed=True)
            llvm_ir = translate_to_llvm_ir(mlir)
            # A context is lent again with no module in it alone.
            del mlir
        entry = self.entry(signature)
        return calls, emit_objects(llvm_ir, self.target, self.host_opt_level, entry=entry)


def lower_to_linalg(who: str, text: str) -> None:
    """The stages that are the same for all targets, to see whether they are there for a program.

    Its `text` is of the Torch dialect.

    Raises:
      UserError: as `Lowering.run` does.
    """
    with lent_context(torch=True) as context:
        mlir = parse_module(text, context, who)
        stages = _Stages(mlir, {}, lambda stage: None)
        convert_torch_to_tcp(mlir)
        stages.lower_to_linalg("values")
        # A context is lent again with no module in it alone.
        del stages, mlir


def _to_llvm(mlir: ir.Module, func_name: str, *, timed: bool = False) -> Signature:
    """Lowers kernels for a CPU; gives how they are called.

    Where nothing bounds how large a result is, nobody brings memory for it.
    """
    signature = program_signature(mlir, func_name, bounded=False)
    abi = "pointers" if signature.are_results_bounded else "memref"
    convert_kernels_to_llvm(mlir, abi, timed=timed)
    return signature


class _Stages:
    """The stages after the first, of which each adds its text, as far as LLVM IR."""

    def __init__(
        self,
        mlir: ir.Module,
        texts: dict[str, str],
        when_done: Callable[[str], None],
        *,
        debug_info: bool = False,
    ) -> None:
        self._mlir, self._texts, self._when_done = mlir, texts, when_done
        self._debug_info = debug_info

    def _done(self, stage: str, text: str) -> None:
        self._texts[stage] = text
        self._when_done(stage)

    def _printed(self) -> str:
        return print_module(self._mlir, debug_info=self._debug_info, is_verified=True)

    def lower_to_linalg(self, runtime_checks: RuntimeChecks) -> None:
        """From TCP on, what is the same for all targets."""
        self._done("tcp", self._printed())
        convert_tcp_to_linalg(self._mlir, runtime_checks)
        self._done("linalg", self._printed())

    def lower_for_cpu(self, func_name: str, target: Target, threads: int) -> Signature:
        """From linalg on."""
        convert_linalg_to_kernels(self._mlir, vector_unit_of(target), threads)
        self._done("kernels", self._printed())
        signature = _to_llvm(self._mlir, func_name)
        self._done("llvm", self._printed())
        self._done("llvm_ir", translate_to_llvm_ir(self._mlir))
        return signature

    def lower_for_gpu(self, func_name: str, gpu: GpuOptions, opt_level: int) -> Signature:
        """The same for kernels of a GPU, and what launches them."""
        # Their imports take a tenth of a second, which programs for a CPU need not pay for.
        from plumbline.gpu_to_nvvm.conversion import convert_gpu_to_nvvm
        from plumbline.linalg_to_gpu.conversion import convert_linalg_to_gpu

        convert_linalg_to_gpu(
            self._mlir, gpu.target.cpu, allow_tf32=gpu.allow_tf32, tensors=gpu.tensors
        )
        self._done("gpu", self._printed())
        signature = program_signature(self._mlir, func_name, gpu.memory, queue=gpu.queue)
        convert_gpu_to_nvvm(self._mlir, "pointers", gpu.memory, queue=gpu.queue)
        self._done("nvvm", self._printed())
        ptx = emit_ptx(translate_kernels_to_llvm_ir(self._mlir), gpu.target, opt_level)
        self._done("ptx", ptx)
        self._done("llvm_ir", translate_to_llvm_ir(self._mlir))
        return signature
