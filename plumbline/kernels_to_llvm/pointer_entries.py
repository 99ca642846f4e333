"""The C functions of a program whose caller brings all memory along, which a header declares.

For inputs x and y, a result out0 and a size n that is known when the program runs only:

    int foo(const float *x, const float *y, float *out0, int64_t n);
    void foo_unchecked(const float *x, const float *y, float *out0, int64_t n);
    void foo_output_shape(int output, int64_t n, int64_t *shape);
    const char *foo_error(int code);
    char *foo_packed(const int64_t *arguments);

`foo` returns 0, or a code that `foo_error` has the text of: where a pointer is null or misaligned,
a size is outside its range, or the program fails. `foo_unchecked` takes its arguments on trust, and
ends the process with a message where the program fails. `foo_packed` is for other languages: it
takes the same arguments as words, one after the other, and returns null, or a message that the
caller gives back with free().

A number of Python's, a tensor of rank 0 further up, comes by value: `double temperature`. As a
result it is a pointer like any other.

A size of a result that depends on values, as that of `x.nonzero()`, goes where a pointer after the
results says: `int64_t *out0_size0`. The memory of the result has place for the most that the size
may be, which is what `foo_output_shape` writes; the result lies at its beginning, without gaps.

All tensors are row-major without gaps, and no result overlaps another tensor. An argument that the
program writes (`inout_arguments.py`) is a pointer that is not const, and overlaps none either.

With memory from a pool each of the three takes one pointer more, at the end: `void *workspace`, of
as many bytes as `int64_t foo_workspace_size(int64_t n)` says. No memory is allocated then.

Of a program for a GPU whose callers have tensors in device memory, all pointers are to that, the
workspace too. With a stream of the caller's, `void *stream` comes last of all, and what a call does
is queued there.

With weights from a file there is `int foo_load_weights(const char *path)` (`load_weights.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, builtin, func, llvm, scf

from plumbline.kernels_to_llvm.argument_checks import check_address
from plumbline.kernels_to_llvm.building import (
    element,
    integer,
    integer_type,
    memref_struct,
    null,
    pointer_type,
)
from plumbline.kernels_to_llvm.device_arguments import DeviceArguments, begins_device
from plumbline.kernels_to_llvm.failures import PROGRAM, declare_errors
from plumbline.kernels_to_llvm.load_weights import LoadedWeights
from plumbline.kernels_to_llvm.result_arguments import take_results_as_arguments
from plumbline.kernels_to_llvm.result_sizes import ResultSizes
from plumbline.kernels_to_llvm.size_building import build_size, index_constant
from plumbline.kernels_to_llvm.workspace import take_workspace, workspace_of
from plumbline.runtime.requirement import require
from plumbline.signature.argument_shapes import ArgumentShapes
from plumbline.signature.c_names import WORKSPACE, CNames
from plumbline.signature.device_tensors import drop_device_tensors, has_device_tensors
from plumbline.signature.function_name import (
    OUTPUT_SHAPE_SUFFIX,
    PACKED_SUFFIX,
    UNCHECKED_SUFFIX,
    WORKSPACE_SIZE_SUFFIX,
)
from plumbline.signature.signature import DEVICE_ALIGNMENT, WORKSPACE_ALIGNMENT
from plumbline.signature.size_expressions import Size, lower_bound

CHECK = "plumbline_check"
"""How the functions are called that check pointers."""

_MOST_CHECKED_AT_ONCE = 64
"""Pointers that an entry checks by itself."""

_CHECKED_BY_EACH = 32
"""Of more, how many a function checks."""


@dataclass(frozen=True)
class _Address:
    """What is required of a pointer."""

    number: int
    """Which of the pointers it is."""
    tensor: str
    """What messages call what it points to."""
    alignment: int
    unknown: Sequence[int]
    """The axes that may be of size 0, as that is then nowhere."""

    @property
    def types(self) -> list[ir.Type]:
        """Those of the pointer and of the sizes that are not known."""
        return [pointer_type(), *[ir.IndexType.get()] * len(self.unknown)]

    def check(self, values: Sequence[ir.Value]) -> None:
        """Requires it of the pointer, the first of the values; sizes that are not known follow."""
        pointer, *sizes = values
        address = llvm.PtrToIntOp(integer_type(), pointer).result
        check_address(self.tensor, address, self.alignment, sizes)


class PointerEntries:
    """The entries of one program."""

    def __init__(
        self,
        name: str,
        body: func.FuncOp,
        names: CNames,
        shapes: ArgumentShapes,
        results: ResultSizes,
        counted_shapes: Sequence[Sequence[Size | None]],
        scalars: Sequence[bool],
        memory: str,
        weights: LoadedWeights | None = None,
        queue: str = "own",
    ) -> None:
        """`body` then writes its results where it is told.

        `shapes` are closed; `counted_shapes` are those of the results as callers count them;
        `scalars` says which inputs come by value; `weights` are those that are mapped from a file;
        `queue` is one of `choices.QUEUES`.
        """
        self._name, self._body, self._names = name, body, names
        self._symbols = shapes.symbols
        self._shapes = [*shapes.shapes, *results.shapes]
        self._inputs: Sequence[ir.MemRefType] = body.type.inputs
        self._elements = [type_.element_type for type_ in (*body.type.inputs, *body.type.results)]
        self._counted_shapes = counted_shapes
        self._scalars = scalars
        self._weights = weights
        self._checks: list[func.FuncOp] = []
        take_results_as_arguments(body, results.unbacked)
        self._workspace: Size | None = None
        if memory == "pool":
            self._workspace = workspace_of(body, shapes, len(results.shapes)).bytes
            take_workspace(body)
        self._places: Sequence[ir.MemRefType] = body.type.inputs[len(self._inputs) :]
        self._has_stream = queue == "stream"
        self._device: DeviceArguments | None = None
        if begins_device(body):
            # Numbers are read as the call is made.
            repeats = self._has_stream and not self._symbols and not any(scalars)
            self._device = DeviceArguments(
                body, on_device=has_device_tensors(body), repeats=repeats
            )
        self._least_alignment = DEVICE_ALIGNMENT if has_device_tensors(body) else 1
        drop_device_tensors(body)
        self._types = [
            *(
                _passed(type_) if by_value else pointer_type()
                for type_, by_value in zip(body.type.inputs, scalars, strict=False)
            ),
            *[pointer_type()] * len(results.shapes),
            *[pointer_type()] * len(results.unbacked),
            *[integer_type()] * len(self._symbols),
        ]
        if memory == "pool":
            self._types.append(pointer_type())
        if self._has_stream:
            self._types.append(pointer_type())

    def build(self, symbols: ir.SymbolTable) -> None:
        """Defines all entries, at the insertion point, in the module with these `symbols`."""
        name = self._name
        if self._device is not None:
            self._device.declare(symbols)
        self._define_checks(symbols)
        status = integer_type(32)

        def succeed() -> None:
            func.ReturnOp([integer(0, 32)])

        self._define(name, [status], self._types, list, succeed, checked=True)
        self._define(
            name + UNCHECKED_SUFFIX,
            [],
            self._types,
            list,
            lambda: func.ReturnOp([]),
            checked=False,
        )
        self._define(
            name + PACKED_SUFFIX,
            [pointer_type()],
            [pointer_type()],
            self._unpacked,
            lambda: func.ReturnOp([null()]),
            checked=True,
        )
        declare_errors(name)
        self._define_output_shape()
        if self._workspace is not None:
            self._define_workspace_size(self._workspace)

    def _define(
        self,
        name: str,
        results: Sequence[ir.Type],
        parameters: Sequence[ir.Type],
        arguments: Callable[[Sequence[ir.Value]], list[ir.Value]],
        succeed: Callable[[], object],
        *,
        checked: bool,
    ) -> None:
        entry = func.FuncOp(name, (parameters, results))
        entry.attributes[PROGRAM] = ir.StringAttr.get(self._name)
        with ir.InsertionPoint(entry.add_entry_block()):
            given = arguments(entry.arguments)
            pointers, rest = given[: len(self._elements)], given[len(self._elements) :]
            told, sizes = rest[: len(self._names.unbacked)], rest[len(self._names.unbacked) :]
            for number, by_value in enumerate(self._scalars):
                if by_value:
                    pointers[number] = _spilled(pointers[number])
            stream = sizes.pop() if self._has_stream else None
            if self._workspace is not None:
                *sizes, workspace = sizes
            known = {
                number: arith.index_cast(ir.IndexType.get(), size)
                for number, size in enumerate(sizes)
            }
            shapes = [
                [build_size(size, known) for size in shape if size is not None]
                for shape in self._shapes
            ]
            if checked:
                if self._weights is not None:
                    self._weights.require_loaded()
                self._check_symbols(known)
                self._check_sizes(shapes)
                self._check_pointers(pointers, shapes)
                for size, place in zip(self._names.unbacked, told, strict=True):
                    address = llvm.PtrToIntOp(integer_type(), place).result
                    check_address(size, address, integer_type().width // 8, [])
                if self._workspace is not None:
                    _check_workspace(workspace, build_size(self._workspace, known))
            if self._workspace is not None:
                pointers = [*pointers, workspace]
            buffers = [*map(buffer_at, pointers, self._inputs, shapes)]
            # How many bytes there are for a result is for nobody to look at.
            some = [[index_constant(0)]] * len(self._places)
            buffers += map(buffer_at, pointers[len(self._inputs) :], self._places, some)
            if self._device is None:
                found = list(func.CallOp(self._body, buffers).results)
            else:
                found = self._call_on_device(
                    self._device, pointers, buffers, stream, checked=checked
                )
            for place, size in zip(told, found, strict=True):
                llvm.StoreOp(arith.index_cast(integer_type(), size), place)
            succeed()

    def _call_on_device(
        self,
        device: DeviceArguments,
        pointers: Sequence[ir.Value],
        buffers: Sequence[ir.Value],
        stream: ir.Value | None,
        *,
        checked: bool,
    ) -> list[ir.Value]:
        names = [*self._names.inputs, *self._names.outputs]
        if self._workspace is not None:
            names.append(WORKSPACE)
        by_value = [*self._scalars, *[False] * (len(names) - len(self._scalars))]
        tensors = [
            (name, pointer)
            for name, pointer, is_number in zip(names, pointers, by_value, strict=True)
            if not is_number
        ]
        known = device.check(*zip(*tensors, strict=True)) if checked and tensors else None
        return device.call(self._body, buffers, [pointer for _, pointer in tensors], known, stream)

    def _unpacked(self, arguments: Sequence[ir.Value]) -> list[ir.Value]:
        (words,) = arguments
        return [
            llvm.LoadOp(type_, element(words, number, integer_type())).result
            for number, type_ in enumerate(self._types)
        ]

    def _check_symbols(self, known: dict[int, ir.Value]) -> None:
        for number, symbol in enumerate(self._symbols):
            value = known[number]
            holds = arith.cmpi(arith.CmpIPredicate.sge, value, index_constant(symbol.min))
            if symbol.max is not None:
                most = index_constant(symbol.max)
                holds = arith.andi(holds, arith.cmpi(arith.CmpIPredicate.sle, value, most))
            require(holds, f"{self._names.symbols[number]} is {{}}; it is {symbol.range}", [value])

    def _check_sizes(self, shapes: Sequence[Sequence[ir.Value]]) -> None:
        """Requires that no size is below 0, which may be one that follows from others."""
        tensors = [*self._names.inputs, *self._names.outputs]
        for tensor, sizes, values in zip(tensors, self._shapes, shapes, strict=True):
            for axis, (size, value) in enumerate(zip(sizes, values, strict=True)):
                bound = None if size is None else lower_bound(size, self._symbols)
                if bound is None or bound < 0:
                    natural = arith.cmpi(arith.CmpIPredicate.sge, value, index_constant(0))
                    message = f"{tensor} has size {{}} in dimension {axis}, which is at least 0"
                    require(natural, message, [value])

    def _required_addresses(self) -> list["_Address"]:
        """What is required of each pointer to a tensor."""
        tensors = [*self._names.inputs, *self._names.outputs]
        no_results = [False] * len(self._counted_shapes)
        return [
            _Address(
                number,
                tensor,
                max(type_.width // 8, self._least_alignment),
                [axis for axis, size in enumerate(sizes) if not isinstance(size, int) or size == 0],
            )
            for number, (tensor, sizes, type_, by_value) in enumerate(
                zip(
                    tensors,
                    self._shapes,
                    self._elements,
                    [*self._scalars, *no_results],
                    strict=True,
                )
            )
            if not by_value
        ]

    def _define_checks(self, symbols: ir.SymbolTable) -> None:
        """Defines what checks some pointers each, if there are many.

        LLVM takes time for a function that grows faster than the number of its branches: for 1200
        pointers of one, 6 s.
        """
        required = self._required_addresses()
        if len(required) <= _MOST_CHECKED_AT_ONCE:
            return
        for first in range(0, len(required), _CHECKED_BY_EACH):
            some = required[first : first + _CHECKED_BY_EACH]
            types = [type_ for address in some for type_ in address.types]
            check = func.FuncOp(f"{CHECK}_{self._name}", (types, []), visibility="private")
            check.attributes["no_inline"] = ir.UnitAttr.get()
            with ir.InsertionPoint(check.add_entry_block()):
                values = iter(check.arguments)
                for address in some:
                    address.check([next(values) for _ in address.types])
                func.ReturnOp([])
            symbols.insert(check.operation)
            self._checks.append(check)

    def _check_pointers(
        self, pointers: Sequence[ir.Value], shapes: Sequence[Sequence[ir.Value]]
    ) -> None:
        required = self._required_addresses()
        given = [
            [pointers[each.number], *(shapes[each.number][axis] for axis in each.unknown)]
            for each in required
        ]
        if not self._checks:
            for each, values in zip(required, given, strict=True):
                each.check(values)
        for number, check in enumerate(self._checks):
            some = given[number * _CHECKED_BY_EACH :][:_CHECKED_BY_EACH]
            func.CallOp(check, [value for values in some for value in values])

    def _define_workspace_size(self, size: Size) -> None:
        parameters = [integer_type()] * len(self._symbols)
        entry = func.FuncOp(self._name + WORKSPACE_SIZE_SUFFIX, (parameters, [integer_type()]))
        with ir.InsertionPoint(entry.add_entry_block()):
            known = {
                index: arith.index_cast(ir.IndexType.get(), symbol)
                for index, symbol in enumerate(entry.arguments)
            }
            func.ReturnOp([arith.index_cast(integer_type(), build_size(size, known))])

    def _define_output_shape(self) -> None:
        """Writes the sizes of a result, by its number; of one that there is not, nothing."""
        number = integer_type(32)
        parameters = [number, *[integer_type()] * len(self._symbols), pointer_type()]
        entry = func.FuncOp(self._name + OUTPUT_SHAPE_SUFFIX, (parameters, []))
        with ir.InsertionPoint(entry.add_entry_block()):
            output, *sizes, place = entry.arguments
            known = {
                index: arith.index_cast(ir.IndexType.get(), size)
                for index, size in enumerate(sizes)
            }
            for index, shape in enumerate(self._counted_shapes):
                same = arith.cmpi(arith.CmpIPredicate.eq, output, integer(index, 32))
                branch = scf.IfOp(same)
                with ir.InsertionPoint(branch.then_block):
                    for axis, size in enumerate(shape):
                        assert size is not None, "a result without bound"
                        value = arith.index_cast(integer_type(), build_size(size, known))
                        llvm.StoreOp(value, element(place, axis, integer_type()))
                    scf.YieldOp([])
            func.ReturnOp([])


def _passed(type_: ir.MemRefType) -> ir.Type:
    """As what a number comes by value; a bool is a byte."""
    element_type = type_.element_type
    return integer_type(8) if element_type == integer_type(1) else element_type


def _spilled(value: ir.Value) -> ir.Value:
    """The address of a number that has come by value."""
    place = llvm.AllocaOp(pointer_type(), integer(1), elem_type=ir.TypeAttr.get(value.type)).res
    llvm.StoreOp(value, place)
    return place


def _check_workspace(workspace: ir.Value, size: ir.Value) -> None:
    address = llvm.PtrToIntOp(integer_type(), workspace).result
    check_address(WORKSPACE, address, WORKSPACE_ALIGNMENT, [size])


def buffer_at(pointer: ir.Value, type_: ir.MemRefType, sizes: Sequence[ir.Value]) -> ir.Value:
    """The memory at a pointer as a memref, row-major without gaps."""
    strides: list[ir.Value] = []
    stride = index_constant(1)
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = arith.muli(stride, size)
    descriptor = llvm.UndefOp(memref_struct(type_)).result
    for number, word in enumerate((pointer, pointer, integer(0))):
        descriptor = _insert(descriptor, word, [number])
    for number, numbers in enumerate((sizes, strides), start=3):
        for axis, value in enumerate(numbers):
            word = arith.index_cast(integer_type(), value)
            descriptor = _insert(descriptor, word, [number, axis])
    return builtin.unrealized_conversion_cast([type_], [descriptor])


def _insert(descriptor: ir.Value, word: ir.Value, position: list[int]) -> ir.Value:
    return llvm.InsertValueOp(descriptor, word, ir.DenseI64ArrayAttr.get(position)).result
