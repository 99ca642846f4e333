"""The whole chain in one process: from a PyTorch module to a function that can be called.

A program of StableHLO, as JAX and TensorFlow have one, comes in after the first stage.
"""

import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch.export import ExportedProgram

from plumbline.archives.reference_archive import Tensor
from plumbline.archives.torch_tensors import to_numpy, to_torch
from plumbline.cache.folder import CacheFolder
from plumbline.cache.machine_code import MachineCode
from plumbline.cache.place import CachePlace, cache_folder
from plumbline.errors import UserError, showing_the_message_alone
from plumbline.garbage import collecting_seldom
from plumbline.gpu_to_nvvm.options import GpuOptions, check_convention
from plumbline.library.linked_code import LinkedCode
from plumbline.library.memref_entry import checked_entry
from plumbline.library.native_function import NativeFunction
from plumbline.library.packed_entry import PackedEntry
from plumbline.library.torch_arguments import give
from plumbline.library.weight_memory import copied
from plumbline.llvm_to_asm.assembly import emit_assembly
from plumbline.llvm_to_asm.ptx import IMAGE, PROGRAM, PROGRAM_WORDS
from plumbline.loader_to_stablehlo.nested_arguments import NestedArguments
from plumbline.loader_to_stablehlo.nested_tensors import NestedTensors
from plumbline.loader_to_stablehlo.program import (
    HoldsStablehlo,
    refuse_beside,
    stablehlo_of,
)
from plumbline.loader_to_torch.export import DialectText, export
from plumbline.loader_to_torch.generator import GENERATOR
from plumbline.loader_to_torch.loader import (
    Mutation,
    TorchLoaderOutput,
    check_dynamic_shapes,
    check_func_name,
    check_inputs,
    check_module,
    check_mutable,
    check_mutation,
    given_program,
    with_flat_inputs,
)
from plumbline.loader_to_torch.returned_mutations import state_of
from plumbline.loader_to_torch.state import with_mutations_returned
from plumbline.loader_to_torch.structure import Nested
from plumbline.lowering import Lowering, Source
from plumbline.runtime.cuda import shared_library as cuda
from plumbline.runtime.threads import check_threads
from plumbline.signature.axis_orders import AxisOrders
from plumbline.signature.function_name import DEFAULT_FUNCTION_NAME
from plumbline.signature.signature import Signature
from plumbline.signature.weight_arguments import EmbeddedWeight
from plumbline.signature.weight_layout import WeightLayout
from plumbline.target.choices import (
    OPTIMISATION_LEVELS,
    RUNTIME_CHECKS,
    TARGETS,
    RuntimeChecks,
    check_choice,
)
from plumbline.target.cpu import cpu_target_here
from plumbline.target.gpu import gpu_target
from plumbline.target.gpu_chip import DEFAULT_ARCH
from plumbline.target.target import Target


class CompiledProgram(NativeFunction):
    """A compiled program: call it with the arguments of the module's `forward`.

    One of JAX's or TensorFlow's takes those of the function. It returns numpy arrays if all
    arguments are such, or torch tensors.
    """

    def __init__(
        self,
        signature: Signature,
        code: LinkedCode,
        lowering: Lowering,
        texts: Mapping[str, str],
        *,
        from_cache: bool = False,
    ) -> None:
        entry = PackedEntry if signature.are_results_bounded else checked_entry
        super().__init__(signature, entry(signature, code.address), code)
        self._give_without_arguments = give
        self._code = code
        self.state: dict[str, torch.Tensor] = {}
        """The first values of the arguments after the module's own: buffers and parameters that it
        writes in place, where it was compiled with `mutation = "return"`, or that are `mutable`."""
        self.draws = False
        """Whether the state of a generator of random numbers is an in-out argument, the last one.
        A call that leaves it out draws from `torch.default_generator`, and leaves that where the
        module would."""
        self.nested: Nested | NestedArguments | NestedTensors | None = None
        """What takes tensors out of the arguments, where those were nested when it was compiled."""
        self.from_cache = from_cache
        """Whether its machine code is what another compilation has left in files."""
        self.lowering = lowering
        """What its stages are made by."""
        self._texts = dict(texts)

    @property
    def code_bytes(self) -> int:
        """The size of the machine code, as object files."""
        return self._code.code_bytes

    @property
    def weight_bytes(self) -> int:
        """The size of the weights, which a library holds beside the machine code."""
        return self._code.data_bytes

    def stage(self, name: str) -> str:
        """The text of a stage, one of `lowering.STAGES` or, for a GPU, `GPU_STAGES`.

        Of a program that is `from_cache`, all but the first are made when one is asked for.

        Raises:
          UserError: there is no stage of that name.
        """
        stages = self.lowering.stages
        if name not in stages:
            raise UserError(f"there is no stage {name!r}; these are: {', '.join(stages)}")
        if name not in self._texts and "llvm_ir" not in self._texts:
            _, texts = self.lowering.run(self.signature.name, lambda stage: None)
            self._texts.update(texts)
        if name == "asm" and name not in self._texts:
            self._texts[name] = emit_assembly(
                self._texts["llvm_ir"], self.lowering.target, self.lowering.host_opt_level
            )
        return self._texts[name]

    def with_code(
        self, object_files: Sequence[bytes], data: Mapping[str, Tensor]
    ) -> "CompiledProgram":
        """The same program by other machine code, on the same weights.

        `data` has the elements of symbols that this code leaves open beside them.
        """
        first, *others = object_files
        entry = self.lowering.entry(self.signature)
        code = LinkedCode(first, entry, {**self._code.data, **data}, others=others)
        other = CompiledProgram(self.signature, code, self.lowering, self._texts)
        other.state, other.draws, other.nested = self.state, self.draws, self.nested
        return other

    def __call__(self, *arguments: Any, out: Any = None) -> tuple[Any, ...]:
        """Runs the program, as `NativeFunction` does, on arguments nested as the example inputs.

        The generator of random numbers, where it has one, may be left out: see `draws`.
        """
        if self.nested is not None:
            own = arguments[: self.nested.count]
            arguments = (
                *self.nested.flattened("what the program is given", own),
                *arguments[self.nested.count :],
            )
        if self.draws and len(arguments) == len(self.signature.inputs) - 1:
            generator = torch.get_rng_state()
            results = self._call((*arguments, generator), out)
            torch.set_rng_state(generator)
            return results
        return self._call(arguments, out)


def check_compiled(caller: str, program: object) -> None:
    """Refuses what is no compiled program, where `caller` is given one.

    Raises:
      UserError: it is not.
    """
    if not isinstance(program, CompiledProgram):
        raise UserError(
            f"{caller}: it takes what plumbline.compile gives, not {type(program).__name__}"
        )


@showing_the_message_alone
@collecting_seldom()
def compile(  # noqa: A001 - the word that PyTorch's users expect
    module: torch.nn.Module | TorchLoaderOutput | ExportedProgram | HoldsStablehlo,
    example_inputs: Sequence[Any] | None = None,
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None,
    *,
    func_name: str = DEFAULT_FUNCTION_NAME,
    target: str = "host",
    target_cpu: str = "native",
    gpu_arch: str = DEFAULT_ARCH,
    allow_tf32: bool = False,
    on_gpu_tensors: bool = False,
    stream: bool = False,
    opt_level: int = 2,
    runtime_checks: RuntimeChecks = "values",
    mutation: Mutation = "refuse",
    mutable: Sequence[str] = (),
    threads: int = 1,
    cache: CachePlace = True,
    when_done: Callable[[str], None] = lambda stage: None,
) -> CompiledProgram:
    """Compiles `module` for this machine, by the stages that `aot_compile` makes targets of.

    It is compiled in the mode that it is in, and stays as it was. For inference that is
    `module.eval()`; in training mode, layers that draw random numbers are refused, and so are those
    that write running statistics, unless `mutable` or `mutation` says otherwise: with
    `mutable=["torch.default_generator"]` a call draws the numbers that PyTorch does. The program
    has a copy of its weights: what becomes of the module's own later does not change the program.
    Machine code, without the weights, is kept in a folder, from where the next process has it that
    compiles the same program for the same CPU with the same versions of all that compiles.
    Several threads may compile at once, the same module too. PyTorch exports one program at a time,
    so that they wait for one another there. Of a large program LLVM makes machine code on several
    threads, where the process has CPUs for them.

    Args:
      module: its `forward` takes and returns tensors and numbers, also in tuples, lists and dicts,
        which count as what is in them, in order; a None counts as nothing. Or what a loader
        returns, `plumbline.load_onnx` say, which has all that follows as far as `mutable`. Or what
        `torch.export.export` gives, which has inputs and sizes, as `plumbline.load_exported`. Or a
        program of JAX's: what `jax.export.export(jax.jit(f))(...)` or `jax.jit(f).lower(...)`
        gives, or another of StableHLO (`plumbline.load_stablehlo`). A call then takes the arguments
        of `f`, nested as they are, those by keyword last, in the order of their names. Or a program
        of TensorFlow's: what `tf.function(f)` gives, one of its concrete functions, such as a
        signature of a SavedModel, or a `keras.Model`. Calls take the arguments of `f` that hold
        tensors; variables are weights, as they are then.
      example_inputs: one for each argument of `forward`. A number is part of the program, and calls
        have the same one, unless `dynamic_shapes` says that it may differ. The program reads
        tensors as those of the example lie in memory, `channels_last` say, if they have no gaps,
        and copies others; where one is not row-major, results lie as the module's do, but
        for those whose sizes depend on values, which are row-major. Those that it writes are, too,
        and all are with the target "nvptx". Of a function of TensorFlow's or a model of Keras a
        sample or a `tf.TensorSpec` for each argument, unless it says itself what these are.
      dynamic_shapes: which dimensions may differ, as `torch.export.export` takes it, and which
        numbers: those that have `Dim.DYNAMIC`.
      func_name: the name of the compiled function.
      target: "host", or "nvptx": its kernels then run on the first GPU that the NVIDIA driver gives
        when it is called. Arguments and results are tensors on the CPU all the same, which the call
        copies to the GPU and back, unless `on_gpu_tensors` says otherwise.
      target_cpu: as the flag --//tools/aot:target_cpu.
      gpu_arch: as the flag --//tools/aot:gpu_arch.
      allow_tf32: as the flag --//tools/aot:gpu_allow_tf32.
      on_gpu_tensors: of the target "nvptx": arguments and results are tensors on one GPU, where the
        program then runs, and nothing is copied. Arguments are tensors of PyTorch's, or others that
        have `__cuda_array_interface__` or lend their memory by DLPack.
      stream: with `on_gpu_tensors`: a call returns when its work is queued on the stream that its
        arguments are on, which is PyTorch's current one where one of them is PyTorch's.
      opt_level: as the flag --//tools/aot:opt_level.
      runtime_checks: as the flag --//tools/aot:runtime_checks.
      mutation: what becomes of a module that writes in place into its arguments, buffers or
        parameters: it is refused, or with "return" the new values are results after its own, and
        the buffers and parameters arguments after its own, of which the program's `state` has the
        values that they are to begin with.
      mutable: names of arguments, buffers and parameters that the program writes in place as the
        module does, as `TorchLoaderOutput.mutable`. The tensors that a call is given for them have
        the new values when it returns: with `program(x, *program.state.values())`, the state does.
        `torch.default_generator`, the last of them, may be left out: then PyTorch's own is meant.
      threads: how many threads each call runs on, unless the environment variable PLUMBLINE_THREADS
        says another number as the program is first called. For 1 all runs on the caller's thread,
        whatever the environment says.
      cache: the folder in which machine code is kept, or False for none. True stands for that of
        the environment variable PLUMBLINE_CACHE_DIR, none if that is empty, and
        `~/.cache/plumbline`, or what XDG_CACHE_HOME says, if there is no such variable.
      when_done: called after each stage with its name, to measure or to show progress: those of
        `STAGES` or `GPU_STAGES` as far as "llvm_ir", then "machine_code". Where the machine code
        comes from the cache, only the first and "machine_code" are.

    Raises:
      UserError: the program cannot be compiled; the message says what is in the way.
    """
    caller = "plumbline.compile"
    check_mutation(caller, mutation)
    check_mutable(caller, mutable)
    stablehlo = stablehlo_of(module, example_inputs)
    if stablehlo is None:
        given = given_program(
            caller,
            cast("torch.nn.Module | TorchLoaderOutput | ExportedProgram", module),
            example_inputs,
            dynamic_shapes=dynamic_shapes,
            func_name=func_name,
            mutation=mutation,
            mutable=mutable,
        )
        check_module(caller, "module", given.model)
        check_inputs(caller, "example_inputs", given.inputs)
        check_dynamic_shapes(caller, given.dynamic_shapes, given.model, given.inputs)
    else:
        refuse_beside(
            caller,
            stablehlo,
            example_inputs=example_inputs is not None,
            dynamic_shapes=dynamic_shapes,
            mutation=mutation,
            mutable=mutable,
        )
    check_func_name(caller, func_name)
    check_choice(f"{caller}: target", target, TARGETS)
    if not isinstance(gpu_arch, str):
        raise UserError(f"{caller}: gpu_arch is {gpu_arch!r}; it is a string")
    if not isinstance(allow_tf32, bool):
        raise UserError(f"{caller}: allow_tf32 is {allow_tf32!r}; it is True or False")
    if not isinstance(target_cpu, str):
        raise UserError(f"{caller}: target_cpu is {target_cpu!r}; it is a string")
    check_choice(f"{caller}: opt_level", opt_level, OPTIMISATION_LEVELS)
    check_choice(f"{caller}: runtime_checks", runtime_checks, RUNTIME_CHECKS)
    check_threads(caller, threads)
    check_convention(caller, target, threads=threads, on_gpu_tensors=on_gpu_tensors, stream=stream)
    if not callable(when_done):
        raise UserError(f"{caller}: when_done is {when_done!r}; it is a function")
    folder = cache_folder(caller, cache)
    cpu = cpu_target_here(target_cpu)
    gpu = None
    if target == "nvptx":
        gpu = GpuOptions(
            gpu_target(gpu_arch),
            on_gpu_tensors=on_gpu_tensors,
            stream=stream,
            allow_tf32=allow_tf32,
        )

    def lowering(source: Source) -> Lowering:
        return Lowering(source, func_name, cpu, gpu, opt_level, runtime_checks, threads)

    if stablehlo is not None:
        source = Source(stablehlo.text, is_stablehlo=True)
        weights = {name: to_torch(value) for name, value in stablehlo.weights.items()}
        compiled = _compiled(stablehlo.who, lowering(source), weights, folder, when_done)
        if stablehlo.nested is not None:
            stablehlo.nested.check(stablehlo.who, len(compiled.signature.inputs))
            if not stablehlo.nested.are_flat:
                compiled.nested = stablehlo.nested
        return compiled
    flat = with_flat_inputs(caller, given)
    flat.inputs = tuple(tensor.detach().clone() for tensor in flat.inputs)
    who = type(given.model).__name__
    program = with_mutations_returned(who, flat)
    exported = export(who, program, as_they_lie=gpu is None)
    source = Source(exported.text)
    weights, orders = exported.weights, exported.orders
    compiled = _compiled(who, lowering(source), weights, folder, when_done, orders)
    compiled.state.update(state_of(program))
    compiled.draws = GENERATOR in given.mutable
    if isinstance(flat.model, Nested):
        compiled.nested = flat.model
    return compiled


def compile_export(
    who: str,
    exported: DialectText,
    func_name: str,
    target: Target,
    gpu: GpuOptions | None = None,
    *,
    opt_level: int = 2,
    runtime_checks: RuntimeChecks = "values",
    threads: int = 1,
    cache: CacheFolder | None = None,
    when_done: Callable[[str], None] = lambda stage: None,
) -> CompiledProgram:
    """The stages after the first, for a program that messages call `who`.

    With a `gpu` its kernels are for that, and what launches them is for the `target`. With a
    `cache`, machine code comes from there, or goes there.

    Raises:
      UserError: as `compile` does.
    """
    source = Source(exported.text)
    lowering = Lowering(source, func_name, target, gpu, opt_level, runtime_checks, threads)
    return _compiled(who, lowering, exported.weights, cache, when_done)


def _compiled(
    who: str,
    lowering: Lowering,
    weights: Mapping[str, torch.Tensor],
    cache: CacheFolder | None,
    when_done: Callable[[str], None],
    orders: AxisOrders | None = None,
) -> CompiledProgram:
    source = lowering.source
    texts = {source.stage: source.text}
    when_done(source.stage)
    key = b"" if cache is None else lowering.key()
    kept = None if cache is None else cache.read(key)
    if kept is not None:
        machine_code = MachineCode.from_bytes(kept)
    else:
        machine_code, texts = lowering.machine_code(who, when_done)
        content = machine_code.to_bytes()
        if cache is not None and MachineCode.from_bytes(content) == machine_code:
            cache.write(key, content)
    when_done("machine_code")
    data = _data(machine_code.weights, weights)
    symbols = {}
    if machine_code.kernels is not None:
        data[IMAGE] = np.frombuffer(machine_code.kernels.encode() + b"\0", np.uint8)
        state = data[PROGRAM] = np.zeros(PROGRAM_WORDS, np.uint64)
        symbols = cuda.addresses()
    first, *others = machine_code.object_files
    code = LinkedCode(first, lowering.entry(machine_code.signature), data, symbols, others=others)
    if machine_code.kernels is not None:
        weakref.finalize(code, cuda.unload, state).atexit = False
    signature = machine_code.signature
    if orders is not None:
        signature = orders.for_callers(signature)
    return CompiledProgram(signature, code, lowering, texts, from_cache=kept is not None)


def _data(symbols: Iterable[str], weights: Mapping[str, torch.Tensor]) -> dict[str, Tensor]:
    """What the symbols of weights stand for: copies, of which equal ones are one."""
    distinct: dict[Hashable, tuple[Tensor, WeightLayout | None]] = {}
    keys = {}
    for symbol in symbols:
        weight = EmbeddedWeight.of_symbol(symbol)
        assert weight is not None
        value = weights[weight.name]
        # Tied weights share memory.
        key = keys[symbol] = (value.data_ptr(), value.shape, value.dtype, weight.layout)
        if key not in distinct:
            distinct[key] = (to_numpy(value), weight.layout)
    copies = copied(distinct)
    return {symbol: copies[key] for symbol, key in keys.items()}
