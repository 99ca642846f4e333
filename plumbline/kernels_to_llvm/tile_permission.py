"""Has a program ask Linux for AMX's registers before kernels use them.

A process may use these 8 kB once it has asked, which it need not do twice, and all of its threads
may then (Linux's Documentation/arch/x86/xstate.rst). Without, the first instruction that names one
ends it. That it may is kept in a variable, which is 0 until then.
"""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.pipeline import Pass
from plumbline.bindings.walk import operations_named
from plumbline.kernels_to_llvm.building import (
    call,
    declare,
    define,
    define_kept,
    integer,
    integer_type,
    keep,
    kept,
)
from plumbline.runtime.requirement import require

_FUNCTION, _KEPT = "plumbline_may_use_tiles", "plumbline_uses_tiles"
_CONFIGURES = "ldtilecfg "
"""How the instruction begins that all use of the registers begins with."""

_SYSTEM_CALL = "syscall"
_ARCH_PRCTL = 158
"""Of x86-64, in Linux's <asm/unistd_64.h>."""

_REQUEST, _TILE_DATA = 0x1023, 18
"""ARCH_REQ_XCOMP_PERM of Linux's <asm/prctl.h>, and of which registers, by Intel's numbers."""

_MESSAGE = (
    "the system does not let this process use AMX's registers, which the library is made for: it "
    "takes Linux from 5.16 on; compile for a CPU without, such as icelake-server"
)


def _ask_for_tiles(module: ir.Operation) -> None:
    if not any(map(_configures_tiles, operations_named(module, "llvm.inline_asm"))):
        return
    with module.context, module.location:
        block = module.regions[0].blocks[0]
        public = [op for op in block.operations if _is_public(op.operation)]
        with ir.InsertionPoint(block):
            _define(ir.SymbolTable(module))
        for function in public:
            with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
                may = call(_FUNCTION, [], integer_type(1)).result
                require(may, _MESSAGE)


def _configures_tiles(assembly: ir.Operation) -> bool:
    text = str(ir.StringAttr(assembly.attributes["asm_string"]).value)
    return text.startswith(_CONFIGURES)


def _is_public(op: ir.Operation) -> bool:
    if op.name != "func.func" or not op.regions[0].blocks:
        return False
    return "sym_visibility" not in op.attributes


def _define(symbols: ir.SymbolTable) -> None:
    bit, word = integer_type(1), integer_type()
    define_kept(_KEPT)
    type_ = declare(symbols, _SYSTEM_CALL, [word], word, variadic=True)
    entry = define(_FUNCTION, [], bit)
    asks, told = entry.create_after(), entry.create_after(word, arg_locs=[ir.Location.current])
    with ir.InsertionPoint(entry):
        found = kept(_KEPT)
        is_new = llvm.ICmpOp(llvm.ICmpPredicate.eq, found, integer(0)).result
        llvm.CondBrOp(is_new, [], [found], asks, told)
    with ir.InsertionPoint(asks):
        operands = [integer(_ARCH_PRCTL), integer(_REQUEST), integer(_TILE_DATA)]
        code = llvm.CallOp(word, operands, [], [], callee=_SYSTEM_CALL, var_callee_type=type_)
        may = llvm.ICmpOp(llvm.ICmpPredicate.eq, code.operation.result, integer(0)).result
        answer = llvm.ZExtOp(word, may).result
        keep(answer, _KEPT)
        llvm.BrOp([answer], told)
    with ir.InsertionPoint(told):
        may = llvm.ICmpOp(llvm.ICmpPredicate.ne, told.arguments[0], integer(0)).result
        llvm.ReturnOp(arg=may)


ASK_FOR_TILES = Pass(
    "ask-for-tiles",
    "Have a program whose kernels use AMX's registers ask the system for them",
    _ask_for_tiles,
)
