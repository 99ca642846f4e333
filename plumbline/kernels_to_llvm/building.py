"""What functions of the LLVM dialect are built of, where no other dialect has what they need."""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import llvm

INTERNAL = "#llvm.linkage<internal>"
"""The linkage of what other object files do not see. The bindings have no class for it."""

_WORD_BYTES = 8

_DYNAMIC = -(2**31)
"""Stands in `rawConstantIndices` for an index that is a value (`LLVM::GEPOp::kDynamicIndex`)."""


def pointer_type() -> llvm.PointerType:
    """The type of pointers."""
    return llvm.PointerType.get()


def integer_type(bits: int = 64) -> ir.IntegerType:
    """The type of integers of so many bits."""
    return ir.IntegerType.get_signless(bits)


def integer(number: int, bits: int = 64) -> ir.Value:
    """A constant."""
    type_ = integer_type(bits)
    return llvm.ConstantOp(type_, ir.IntegerAttr.get(type_, number)).result


def null() -> ir.Value:
    """The null pointer."""
    return llvm.ZeroOp(pointer_type()).result


def is_null(pointer: ir.Value) -> ir.Value:
    """Whether a pointer is null."""
    return llvm.ICmpOp(llvm.ICmpPredicate.eq, pointer, null()).result


def element(base: ir.Value, index: int | ir.Value, type_: ir.Type) -> ir.Value:
    """The address of an element of an array of elements of `type_`."""
    if isinstance(index, int):
        return _address(base, [], [index], type_)
    return _address(base, [index], [_DYNAMIC], type_)


def field(base: ir.Value, number: int, type_: ir.Type) -> ir.Value:
    """The address of a field of a struct of `type_`."""
    return _address(base, [], [0, number], type_)


def call(callee: str, operands: Sequence[ir.Value], result: ir.Type | None = None) -> ir.Operation:
    """A call."""
    return llvm.CallOp(result, list(operands), [], [], callee=callee).operation


def address_of(symbol: str) -> ir.Value:
    """The address of a global variable."""
    return llvm.AddressOfOp(pointer_type(), symbol).result


def memref_struct(type_: ir.MemRefType) -> llvm.StructType:
    """What MLIR makes of a memref: allocated and aligned pointer, offset, sizes, strides."""
    words = [llvm.ArrayType.get(integer_type(), type_.rank)] * 2 if type_.rank else []
    return llvm.StructType.get_literal([pointer_type(), pointer_type(), integer_type(), *words])


def define_string(symbol: str, text: str) -> None:
    """Defines a string of C's, which the module alone sees."""
    value = ir.StringAttr.get(text + "\0")
    llvm.GlobalOp(
        llvm.ArrayType.get(integer_type(8), len(value.value_bytes)),
        symbol,
        ir.Attribute.parse(INTERNAL),
        constant=True,
        value=value,
        addr_space=0,
    )


def define_kept(symbol: str) -> None:
    """Defines a variable of 64 bits, 0 at first, that keeps what was found out.

    Of threads that find it out at once each is told the same.
    """
    llvm.GlobalOp(
        integer_type(),
        symbol,
        ir.Attribute.parse(INTERNAL),
        value=ir.IntegerAttr.get(integer_type(), 0),
        alignment=_WORD_BYTES,
        addr_space=0,
    )


def kept(symbol: str) -> ir.Value:
    """What such a variable keeps."""
    return llvm.LoadOp(
        integer_type(),
        address_of(symbol),
        alignment=_WORD_BYTES,
        ordering=llvm.AtomicOrdering.monotonic,
    ).result


def keep(value: ir.Value, symbol: str) -> None:
    """Has such a variable keep a value."""
    llvm.StoreOp(
        value,
        address_of(symbol),
        alignment=_WORD_BYTES,
        ordering=llvm.AtomicOrdering.monotonic,
    )


def declare(
    symbols: ir.SymbolTable,
    name: str,
    inputs: Sequence[ir.Type],
    result: ir.Type | None = None,
    *,
    variadic: bool = False,
    noreturn: bool | None = None,
) -> ir.TypeAttr:
    """Declares a function of the C library, unless it is; gives its type."""
    type_ = ir.TypeAttr.get(_function_type(inputs, result, variadic=variadic))
    if name not in symbols:
        llvm.LLVMFuncOp(name, type_, noreturn=noreturn)
    return type_


def declare_variadic(
    symbols: ir.SymbolTable, name: str, inputs: Sequence[ir.Type]
) -> Callable[..., ir.Value]:
    """Declares a function of the printf family; gives what builds calls of it."""
    result = integer_type(32)
    type_ = declare(symbols, name, inputs, result, variadic=True)

    def build(*operands: ir.Value) -> ir.Value:
        op = llvm.CallOp(result, operands, [], [], callee=name, var_callee_type=type_)
        return op.operation.result

    return build


def define(
    name: str,
    inputs: Sequence[ir.Type],
    result: ir.Type | None = None,
    *,
    noreturn: bool | None = None,
) -> ir.Block:
    """Defines a function that the module alone sees and that is not inlined; gives its entry."""
    function = llvm.LLVMFuncOp(
        name,
        ir.TypeAttr.get(_function_type(inputs, result)),
        linkage=ir.Attribute.parse(INTERNAL),
        no_inline=True,
        noreturn=noreturn,
    )
    locations = [ir.Location.current] * len(inputs)
    return function.regions[0].blocks.append(*inputs, arg_locs=locations)


def counted_loop(
    entry: ir.Block,
    first: ir.Value,
    end: ir.Value,
    step: ir.Value,
    body: Callable[[ir.Value], ir.Block | None],
) -> ir.Block:
    """Ends a block with a loop that counts from `first`; gives the block that follows on it.

    `body` gives the block that it ends in, if that is not the one that it begins in.
    """
    done, inside = entry.create_after(), entry.create_after()
    head = entry.create_after(first.type, arg_locs=[ir.Location.current])
    (index,) = head.arguments
    with ir.InsertionPoint(entry):
        llvm.BrOp([first], head)
    with ir.InsertionPoint(head):
        more = llvm.ICmpOp(llvm.ICmpPredicate.slt, index, end).result
        llvm.CondBrOp(more, [], [], inside, done)
    with ir.InsertionPoint(inside):
        last = body(index) or inside
    with ir.InsertionPoint(last):
        following = llvm.AddOp(index, step, llvm.IntegerOverflowFlags.none).result
        llvm.BrOp([following], head)
    return done


def _address(
    base: ir.Value, indices: Sequence[ir.Value], raw_indices: Sequence[int], type_: ir.Type
) -> ir.Value:
    flags = llvm.GEPNoWrapFlags.inbounds
    return llvm.GEPOp(pointer_type(), base, indices, raw_indices, type_, flags).result


def _function_type(
    inputs: Sequence[ir.Type], result: ir.Type | None, *, variadic: bool = False
) -> ir.Type:
    nothing = ir.Type.parse("!llvm.void")
    return llvm.FunctionType.get(result or nothing, list(inputs), is_var_arg=variadic)
