"""Turns LLVM IR into assembly text for a CPU, or into objects, with llvmlite."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

import llvmlite.binding as llvm

from plumbline.errors import UserError
from plumbline.llvm_to_asm.missing_functions import define_missing_functions
from plumbline.llvm_to_asm.named_instructions import refuse_missing_instructions
from plumbline.llvm_to_asm.replaced_calls import replace_calls
from plumbline.llvm_to_asm.units import may_be_several, units_of
from plumbline.llvm_to_asm.unlocked import object_of, run_passes
from plumbline.target.machine import target_machine
from plumbline.target.target import THUMB, Target

LAUNCHES = 0
"""The level for what launches kernels of a GPU: it takes the driver 2 us to launch one, to which a
few instructions make no difference, and LLVM up to twenty seconds to optimise hundreds."""


_DEFINITION = re.compile(r"^(define .*) \{$", re.MULTILINE)
"""What the text of a function begins with. On Windows all tell how they are left, by tables, as
debuggers and exceptions find callers so; LLVM leaves out those that call nothing outside."""


def emit_assembly(
    llvm_ir: str, target: Target, optimisation_level: int = 2, *, has_its_data: bool = False
) -> str:
    """Optimises `llvm_ir` like `clang -O<level>` and gives assembly.

    With `has_its_data`, the data that the text declares will be in the same assembly.

    Raises:
      UserError: LLVM cannot read the text, or the target does not exist or lacks instructions that
        the text names.
    """
    refuse_missing_instructions(llvm_ir, target)
    machine = target_machine(target, optimisation_level)
    module = _optimise(llvm_ir, machine, optimisation_level)
    if has_its_data and (target.architecture == "aarch64" or target.is_for_windows):
        _hide_declared_data(module)
    return str(machine.emit_assembly(module))


def _hide_declared_data(module: llvm.ModuleRef) -> None:
    """Says of data that other libraries do not see it, so that it is addressed where it lies.

    Else addresses are looked up in the global offset table, which also reaches farther: on x86-64,
    beyond 2 GB. But there GNU's assembler and linker for AArch64 (2.40) make one entry of all
    symbols of a section that are not global. And for Windows each symbol had a pointer of its own.
    """
    for variable in module.global_variables:
        if variable.is_declaration:
            variable.visibility = llvm.Visibility.hidden


def emit_object(
    llvm_ir: str, target: Target, optimisation_level: int = 2, *, entry: str | None = None
) -> bytes:
    """The same as an object file.

    With an `entry`, the function of that name is in it, and what that calls, and nothing else.

    Raises:
      UserError: as `emit_assembly` does.
    """
    refuse_missing_instructions(llvm_ir, target)
    return _object(llvm_ir, target, optimisation_level, entry)


def emit_objects(
    llvm_ir: str, target: Target, optimisation_level: int = 2, *, entry: str
) -> tuple[bytes, ...]:
    """The same as several object files, if it is much; the `entry` is in the first.

    They are made on as many threads as there are CPUs for, and are the same on any number.

    Raises:
      UserError: as `emit_assembly` does.
    """
    refuse_missing_instructions(llvm_ir, target)
    if optimisation_level == 0 or not may_be_several(llvm_ir):
        return (_object(llvm_ir, target, optimisation_level, entry),)
    units = units_of(_specialised(llvm_ir, target, optimisation_level, entry))

    def made(number: int) -> bytes:
        return _object(units[number], target, optimisation_level, None if number else entry)

    threads = min(len(units), len(os.sched_getaffinity(0)))
    if threads == 1:
        return tuple(map(made, range(len(units))))
    with ThreadPoolExecutor(threads) as pool:
        return tuple(pool.map(made, range(len(units))))


def _specialised(llvm_ir: str, target: Target, optimisation_level: int, entry: str) -> str:
    """What an entry calls, of which functions take no arguments but those that calls tell apart.

    Else no unit would know what arguments are that are the same in all calls, as offsets are, nor
    that a function in another one does not look at them: the calls alone came to be twice as much
    code as kernels.
    """
    module, builder = _read(llvm_ir, target_machine(target, optimisation_level), optimisation_level)
    _leave_out_all_but(entry, module, builder)
    manager = llvm.create_new_module_pass_manager()
    manager.add_ipsccp_pass()
    manager.add_dead_arg_elimination_pass()
    run_passes(manager, module, builder)
    return str(module)


def _object(llvm_ir: str, target: Target, optimisation_level: int, entry: str | None) -> bytes:
    machine = target_machine(target, optimisation_level)
    return object_of(machine, _optimise(llvm_ir, machine, optimisation_level, entry))


def _optimise(
    llvm_ir: str, machine: llvm.TargetMachine, optimisation_level: int, entry: str | None = None
) -> llvm.ModuleRef:
    module, builder = _read(llvm_ir, machine, optimisation_level)
    if entry is not None:
        _leave_out_all_but(entry, module, builder)
    run_passes(builder.getModulePassManager(), module, builder)
    return module


def _read(
    llvm_ir: str, machine: llvm.TargetMachine, optimisation_level: int
) -> tuple[llvm.ModuleRef, llvm.PassBuilder]:
    """The module of a text, and what makes the passes over it."""
    try:
        # Each in a context of its own: types of earlier modules would rename those of later ones.
        context = llvm.create_context()
        text = _without_debug_info(llvm_ir)
        if Target(machine.triple, "").is_for_windows:
            text = _DEFINITION.sub(r"\1 uwtable {", text)
        module = llvm.parse_assembly(text, context)
        module.verify()
    except RuntimeError as error:
        raise UserError(f"LLVM cannot read this LLVM IR: {error}") from None
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    target = Target(machine.triple, "")
    replace_calls(module, target)
    if target.architecture == THUMB:
        define_missing_functions(module, context, machine)
    options = llvm.create_pipeline_tuning_options(speed_level=optimisation_level)
    options.loop_vectorization = options.slp_vectorization = optimisation_level >= 2
    return module, llvm.create_pass_builder(machine, options)


def _leave_out_all_but(entry: str, module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
    for function in module.functions:
        if not function.is_declaration and function.name != entry:
            function.linkage = llvm.Linkage.internal
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(module, builder)


def _without_debug_info(llvm_ir: str) -> str:
    """The text with a mark of no version on its debug information, which is then not looked at.

    MLIR marks all it makes, though there is none. Reading a module that is marked, LLVM verifies it
    first and ends the process if it is broken, where `verify` says what is wrong.
    """
    return llvm_ir.replace('!"Debug Info Version", i32 3}', '!"Debug Info Version", i32 0}')
