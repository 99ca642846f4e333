"""The function of a program that maps its weights from a file (`archives/weights_file.py`).

    int foo_load_weights(const char *path);

returns 0, or a code that `foo_error` has the text of. The first call that succeeds maps the file;
later ones change nothing. Calls wait for one another. Nothing of a file is read beyond its end: its
length is looked at first, and then the header, byte for byte. The program's checked entries refuse
to run before.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, llvm

from plumbline.archives.weights_file import WeightsFileSymbols
from plumbline.kernels_to_llvm.building import (
    INTERNAL,
    address_of,
    call,
    declare,
    declare_variadic,
    define,
    element,
    integer,
    integer_type,
    is_null,
    null,
    pointer_type,
)
from plumbline.kernels_to_llvm.failures import PROGRAM
from plumbline.runtime.requirement import require
from plumbline.signature.function_name import LOAD_WEIGHTS_SUFFIX

_PROBLEMS = (
    "the file of weights cannot be opened",
    "the file of weights is not of the size that the program was compiled for",
    "the file of weights cannot be mapped into memory",
    "the file of weights is not one of the weights that the program was compiled for",
)

# Of Linux, on x86-64 and AArch64 alike: O_RDONLY | O_NONBLOCK | O_CLOEXEC, as a pipe would wait for
# a writer; SEEK_END; PROT_READ; MAP_PRIVATE; MAP_FIXED.
_OPEN_FLAGS = 0x80800
_SEEK_END = 2
_PROT_READ = 1
_MAP_PRIVATE = 0x2
_MAP_FIXED = 0x10

_MUTEX_BYTES = 64
"""At least those of a pthread_mutex_t, of which zeros are one that is not locked."""


class LoadedWeights:
    """What loads the weights of a program, and says whether they are there."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._symbols = WeightsFileSymbols(program)
        self._loaded = f"{program}.weights.loaded"
        self._mutex = f"{program}.weights.mutex"
        self._map = f"{program}.weights.map"

    def require_loaded(self) -> None:
        """Builds a requirement of an entry."""
        require(
            self._is_loaded(),
            f"the weights are not loaded: call {self._program}{LOAD_WEIGHTS_SUFFIX} first",
        )

    def define(self, symbols: ir.SymbolTable) -> None:
        """Defines the function, at the insertion point; `symbols` are those of the module."""
        byte = integer_type(8)
        for symbol in (self._symbols.region, self._symbols.header, self._symbols.sizes):
            llvm.GlobalOp(byte, symbol, ir.Attribute.parse("#llvm.linkage<external>"), addr_space=0)
        self._define_zeros(self._loaded, 4)
        self._define_zeros(self._mutex, _MUTEX_BYTES)
        self._define_mapping(symbols)
        status, pointer = integer_type(32), pointer_type()
        entry = func.FuncOp(self._program + LOAD_WEIGHTS_SUFFIX, ([pointer], [status]))
        entry.attributes[PROGRAM] = ir.StringAttr.get(self._program)
        with ir.InsertionPoint(entry.add_entry_block()):
            (path,) = entry.arguments
            flag = llvm.XOrOp(is_null(path), integer(1, 1)).result
            require(flag, "the path of the file of weights is null")
            found = call(self._map, [path], status).result
            for number, problem in enumerate(_PROBLEMS, start=1):
                is_other = arith.cmpi(arith.CmpIPredicate.ne, found, integer(number, 32))
                require(is_other, problem)
            func.ReturnOp([integer(0, 32)])

    def _define_zeros(self, symbol: str, bytes_: int) -> None:
        type_ = llvm.ArrayType.get(integer_type(8), bytes_)
        llvm.GlobalOp(
            type_,
            symbol,
            ir.Attribute.parse(INTERNAL),
            value=ir.StringAttr.get("\0" * bytes_),
            alignment=min(bytes_, 16),
            addr_space=0,
        )

    def _is_loaded(self) -> ir.Value:
        loaded = llvm.LoadOp(
            integer_type(32),
            address_of(self._loaded),
            alignment=4,
            ordering=llvm.AtomicOrdering.acquire,
        ).result
        return llvm.ICmpOp(llvm.ICmpPredicate.ne, loaded, integer(0, 32)).result

    def _define_mapping(self, symbols: ir.SymbolTable) -> None:
        """Defines what maps a file, and gives 0 or the number of a problem, counted from 1."""
        pointer, word, status = pointer_type(), integer_type(), integer_type(32)
        for name, inputs, result in (
            ("close", [status], status),
            ("lseek", [status, word, status], word),
            ("memcmp", [pointer, pointer, word], status),
            ("mmap", [pointer, word, status, status, status, word], pointer),
            ("munmap", [pointer, word], status),
            ("pthread_mutex_lock", [pointer], status),
            ("pthread_mutex_unlock", [pointer], status),
        ):
            declare(symbols, name, inputs, result)
        open_ = declare_variadic(symbols, "open", [pointer, status])
        entry = define(self._map, [pointer], status)
        location = ir.Location.current
        finish = entry.create_after(status, arg_locs=[location])
        close = entry.create_after(status, status, arg_locs=[location] * 2)
        opening, measuring, looking, comparing, mapping, done = (
            entry.create_after() for _ in range(6)
        )

        def go_on(
            holds: ir.Value, then: ir.Block, problem: int, at: ir.Block, also: Sequence[ir.Value]
        ) -> None:
            llvm.CondBrOp(holds, [], [*also, integer(problem, 32)], then, at)

        with ir.InsertionPoint(entry):
            call("pthread_mutex_lock", [address_of(self._mutex)], status)
            llvm.CondBrOp(self._is_loaded(), [integer(0, 32)], [], finish, opening)
        with ir.InsertionPoint(opening):
            file = open_(entry.arguments[0], integer(_OPEN_FLAGS, 32))
            is_open = llvm.ICmpOp(llvm.ICmpPredicate.sge, file, integer(0, 32)).result
            go_on(is_open, measuring, 1, finish, [])
        with ir.InsertionPoint(measuring):
            sizes = address_of(self._symbols.sizes)
            header_bytes = llvm.LoadOp(word, element(sizes, 0, word)).result
            bytes_ = llvm.LoadOp(word, element(sizes, 1, word)).result
            size = call("lseek", [file, integer(0), integer(_SEEK_END, 32)], word).result
            go_on(_equal(size, bytes_), looking, 2, close, [file])
        with ir.InsertionPoint(looking):
            seen = self._mmap(null(), bytes_, file, _MAP_PRIVATE)
            go_on(_is_mapped(seen), comparing, 3, close, [file])
        with ir.InsertionPoint(comparing):
            header = address_of(self._symbols.header)
            difference = call("memcmp", [seen, header, header_bytes], status).result
            call("munmap", [seen, bytes_], status)
            go_on(_equal(difference, integer(0, 32)), mapping, 4, close, [file])
        with ir.InsertionPoint(mapping):
            region = address_of(self._symbols.region)
            mapped = self._mmap(region, bytes_, file, _MAP_PRIVATE | _MAP_FIXED)
            go_on(_is_mapped(mapped), done, 3, close, [file])
        with ir.InsertionPoint(done):
            llvm.StoreOp(
                integer(1, 32),
                address_of(self._loaded),
                alignment=4,
                ordering=llvm.AtomicOrdering.release,
            )
            llvm.BrOp([file, integer(0, 32)], close)
        with ir.InsertionPoint(close):
            file, found = close.arguments
            call("close", [file], status)
            llvm.BrOp([found], finish)
        with ir.InsertionPoint(finish):
            call("pthread_mutex_unlock", [address_of(self._mutex)], status)
            llvm.ReturnOp(arg=finish.arguments[0])

    def _mmap(self, place: ir.Value, bytes_: ir.Value, file: ir.Value, flags: int) -> ir.Value:
        operands = [place, bytes_, integer(_PROT_READ, 32), integer(flags, 32), file, integer(0)]
        return call("mmap", operands, pointer_type()).result


def _equal(left: ir.Value, right: ir.Value) -> ir.Value:
    return llvm.ICmpOp(llvm.ICmpPredicate.eq, left, right).result


def _is_mapped(place: ir.Value) -> ir.Value:
    # MAP_FAILED is the pointer of all ones.
    address = llvm.PtrToIntOp(integer_type(), place).result
    return llvm.ICmpOp(llvm.ICmpPredicate.ne, address, integer(-1)).result
