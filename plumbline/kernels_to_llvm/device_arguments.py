"""How entries of a program for a GPU hand over where its tensors are, and hold them against that.

The runtime (`plumbline/runtime/cuda/runtime.h`) is asked of each pointer where it points to. A
program whose callers have tensors on a device runs there, on the stream that they say. Where all
calls of it with the same pointers do the same, it is asked first whether it has a graph of that.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, llvm, scf

from plumbline.bindings.walk import all_operations, callee
from plumbline.kernels_to_llvm.building import (
    address_of,
    call,
    declare,
    element,
    integer,
    integer_type,
    null,
    pointer_type,
)
from plumbline.runtime.requirement import require

DEVICE_BEGIN = "plumbline_cuda_begin"
"""Takes the program, its kernels, two counts, and then what `DeviceArguments` hands over: a device,
a stream, a key and its length."""

_REPLAY = "plumbline_cuda_replay"
_DEVICE_OF = "plumbline_cuda_device_of"

_HOST = -1
"""What the latter says of memory of the host; of what may be anywhere it says less."""


def begins_device(body: ir.OpView) -> bool:
    """Whether a function is one of a program for a GPU."""
    return _begin(body) is not None


def _begin(body: ir.OpView) -> ir.Operation | None:
    return next(
        (
            op
            for op in all_operations(body.operation)
            if op.name == "llvm.call" and "callee" in op.attributes and callee(op) == DEVICE_BEGIN
        ),
        None,
    )


class DeviceArguments:
    """What entries hand over beside the tensors of one program for a GPU."""

    def __init__(self, body: func.FuncOp, *, on_device: bool, repeats: bool) -> None:
        """Adds arguments to `body`, at its end.

        Args:
          body: what entries call, which begins a call of the runtime's.
          on_device: whether its tensors are there.
          repeats: whether calls with the same pointers do the same.
        """
        self._on_device, self._repeats = on_device, repeats
        begin = _begin(body)
        assert begin is not None
        self._program = begin.operands[0].owner.attributes["global_name"]
        if on_device:
            types = [integer_type(32), pointer_type(), pointer_type(), integer_type()]
            given = [body.entry_block.add_argument(type_, body.location) for type_ in types]
            type_ = body.type
            body.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get([*type_.inputs, *types], type_.results)
            )
            for number, value in enumerate(given, start=len(begin.operands) - len(given)):
                begin.operands[number] = value

    def declare(self, symbols: ir.SymbolTable) -> None:
        """Declares what the entries call, at the insertion point."""
        number, pointer, word = integer_type(32), pointer_type(), integer_type()
        declare(symbols, _DEVICE_OF, [pointer], number)
        if self._repeats:
            declare(symbols, _REPLAY, [pointer, number, pointer, pointer, word], number)

    def check(self, names: Sequence[str], pointers: Sequence[ir.Value]) -> ir.Value:
        """Requires that all are where the program has them; gives their device, or less than 0.

        A null pointer, of an empty tensor, may be anywhere.
        """
        device = integer(_HOST, 32)
        for name, pointer in zip(names, pointers, strict=True):
            place = call(_DEVICE_OF, [pointer], integer_type(32)).result
            if not self._on_device:
                require(
                    arith.cmpi(arith.CmpIPredicate.slt, place, integer(0, 32)),
                    f"{name} is in device memory, where this program takes memory of the host: "
                    "copy it there, or compile with on_gpu_tensors = True",
                )
                continue
            require(
                arith.cmpi(arith.CmpIPredicate.ne, place, integer(_HOST, 32)),
                f"{name} is in memory of the host, where this program takes device memory: copy it "
                "there, or compile without on_gpu_tensors",
            )
            is_first = arith.cmpi(arith.CmpIPredicate.slt, device, integer(0, 32))
            is_anywhere = arith.cmpi(arith.CmpIPredicate.slt, place, integer(0, 32))
            same = arith.cmpi(arith.CmpIPredicate.eq, place, device)
            require(
                arith.ori(arith.ori(is_first, is_anywhere), same),
                f"{name} is on device {{}}, and what is before it on device {{}}: a call takes "
                "tensors of one device",
                [_word(place), _word(device)],
            )
            device = arith.select(is_first, place, device)
        return device

    def call(
        self,
        body: func.FuncOp,
        buffers: Sequence[ir.Value],
        pointers: Sequence[ir.Value],
        device: ir.Value | None,
        stream: ir.Value | None,
    ) -> list[ir.Value]:
        """Calls the body on a device, unless there is a graph of what it would do.

        Without a `device` that of the `pointers`, which nobody has checked. Gives what the body
        returns, which is nothing where calls repeat.
        """
        if not self._on_device:
            return list(func.CallOp(body, buffers).results)
        if device is None:
            device = _device_of(pointers)
        queue = null() if stream is None else stream
        if not self._repeats:
            return list(func.CallOp(body, [*buffers, device, queue, null(), integer(0)]).results)
        count = integer(len(pointers))
        key = llvm.AllocaOp(pointer_type(), count, pointer_type()).result
        for number, pointer in enumerate(pointers):
            llvm.StoreOp(pointer, element(key, number, pointer_type()))
        of_call = [device, queue, key, count]
        program = address_of(ir.FlatSymbolRefAttr(self._program).value)
        done = call(_REPLAY, [program, *of_call], integer_type(32)).result
        is_new = arith.cmpi(arith.CmpIPredicate.eq, done, integer(0, 32))
        branch = scf.IfOp(is_new)
        with ir.InsertionPoint(branch.then_block):
            func.CallOp(body, [*buffers, *of_call])
            scf.YieldOp([])
        return []


def _device_of(pointers: Sequence[ir.Value]) -> ir.Value:
    """The device of the first that is on one; else less than 0."""
    device = integer(_HOST, 32)
    for pointer in reversed(pointers):
        place = call(_DEVICE_OF, [pointer], integer_type(32)).result
        is_known = arith.cmpi(arith.CmpIPredicate.sge, place, integer(0, 32))
        device = arith.select(is_known, place, device)
    return device


def _word(number: ir.Value) -> ir.Value:
    return arith.extsi(integer_type(), number)
