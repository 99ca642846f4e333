"""The entries of a program that take and return memrefs, as `tools/aot/abi.h` declares them.

Each tensor argument of rank N arrives as 3 + 2 N scalars: allocated pointer, aligned pointer,
offset, N sizes, N strides; that is how MLIR takes memrefs apart. One result goes as a struct of the
same fields to where the caller says, several as a struct of such structs. A program `foo` has two
entries over one body:

    void foo(foo_results* results, <arguments>)
    char* foo_checked(foo_results* results, <arguments>)

`foo` takes its arguments on trust; where the body fails (there is no memory, an index is out of
range), it writes a message to standard error and ends the process, as no result could say so.
`foo_checked` holds all sizes, strides and offsets against what is known of them before it does what
`foo` does. It returns null, and has then written `*results`; or a message that the caller gives
back with free(), which is also what comes of a failure on the way. What becomes of failures in both
is made by `failures.py`. An argument that the program writes (`inout_arguments.py`) is memory that
no other argument has.

A library to ship has others, as it has no message to give back: a status of 0, or a code that
`foo_error` has the text of.

    int foo(foo_results *results, <arguments>);
    void foo_unchecked(foo_results *results, <arguments>);
    const char *foo_error(int code);

Its `foo` also holds that no pointer is null or misaligned.

MLIR's own lowering returns a struct as a first-class LLVM aggregate, which is the C ABI by luck
only: LLVM hands {ptr, ptr, i64} (rank 0) back in three registers on x86-64, and up to eight words
in registers on AArch64, where C compilers expect memory behind a hidden pointer for every struct
over 16 bytes. An explicit `sret` pointer makes it right for every rank on every 64-bit target
(System V AMD64 ABI 3.2.3, AAPCS64 6.9, RISC-V integer calling convention).
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import builtin, func, llvm, memref

from plumbline.kernels_to_llvm.argument_checks import (
    check_address,
    check_arguments,
    check_pointers,
)
from plumbline.kernels_to_llvm.building import (
    field,
    integer,
    integer_type,
    memref_struct,
    null,
    pointer_type,
)
from plumbline.kernels_to_llvm.failures import PROGRAM, declare_errors
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.function_name import CHECKED_SUFFIX, UNCHECKED_SUFFIX


def build_memref_entries(name: str, body: func.FuncOp, shapes: ArgumentShapes) -> None:
    """Defines `foo` and `foo_checked` of the program `name`, whose arguments have `shapes`."""
    _build_entry(name, name, body, [], list, by_value=True)
    _build_entry(
        name,
        name + CHECKED_SUFFIX,
        body,
        [pointer_type()],
        lambda: [null()],
        check=lambda _, arguments: check_arguments(shapes, arguments),
    )


def build_status_entries(name: str, body: func.FuncOp, shapes: ArgumentShapes) -> None:
    """Defines `foo`, `foo_unchecked` and `foo_error` for a library, as its header declares them."""

    def check(results: ir.Value | None, arguments: Sequence[ir.Value]) -> None:
        check_arguments(shapes, arguments)
        check_pointers(arguments)
        if results is not None:
            check_address("results", llvm.PtrToIntOp(integer_type(), results).result, 8)

    _build_entry(name, name, body, [integer_type(32)], lambda: [integer(0, 32)], check=check)
    _build_entry(name, name + UNCHECKED_SUFFIX, body, [], list)
    declare_errors(name)


def _build_entry(
    program: str,
    name: str,
    body: func.FuncOp,
    returned: Sequence[ir.Type],
    succeed: Callable[[], Sequence[ir.Value]],
    *,
    check: Callable[[ir.Value | None, Sequence[ir.Value]], None] = lambda *_: None,
    by_value: bool = False,
) -> None:
    """Defines an entry.

    Args:
      program: what it is an entry of.
      name: its own.
      body: what it calls.
      returned: the types of what it returns.
      succeed: builds what it returns then.
      check: builds what it requires of the place of the results, if there are any, and of the
        arguments.
      by_value: whether C sees the results as what it returns.
    """
    taken = body.type.inputs
    structs = [memref_struct(type_) for type_ in body.type.results]
    hidden = [pointer_type()] if structs else []
    entry = func.FuncOp(name, ([*hidden, *map(_without_layout, taken)], returned))
    entry.attributes[PROGRAM] = ir.StringAttr.get(program)
    results = structs[0] if len(structs) == 1 else llvm.StructType.get_literal(structs)
    if structs and by_value:
        sret = ir.DictAttr.get({"llvm.sret": ir.TypeAttr.get(results)})
        entry.arg_attrs = ir.ArrayAttr.get([sret, *[ir.DictAttr.get({})] * len(taken)])
    with ir.InsertionPoint(entry.add_entry_block()):
        arguments = list(entry.arguments)[len(hidden) :]
        check(entry.arguments[0] if hidden else None, arguments)
        cast = [memref.cast(type_, value) for type_, value in zip(taken, arguments, strict=True)]
        call = func.CallOp(body, cast)
        for number, (value, struct) in enumerate(zip(call.results, structs, strict=True)):
            place = entry.arguments[0]
            if len(structs) > 1:
                place = field(place, number, results)
            llvm.StoreOp(builtin.unrealized_conversion_cast([struct], [value]), place)
        func.ReturnOp(succeed())


def _without_layout(type_: ir.MemRefType) -> ir.MemRefType:
    """The type of the same rank, of which nothing is known: what C hands over, as it is."""
    layout = ir.StridedLayoutAttr.get_fully_dynamic(type_.rank)
    sizes = [ir.ShapedType.get_dynamic_size()] * type_.rank
    return ir.MemRefType.get(sizes, type_.element_type, layout)
