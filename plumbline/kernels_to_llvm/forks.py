"""Forks: functions that have threads of OpenMP's runtime library call another one.

What `parallel_loops.py` made of a kernel `foo` with a parallel loop becomes, in C:

    static void foo_chunks(int64_t chunks, <arguments>) {
      if (chunks < 2) {
        for (int64_t chunk = 0; chunk < chunks; ++chunk) foo_chunk(chunk, chunks, <arguments>);
        return;
      }
      struct { int64_t chunks; <arguments>; } context = {chunks, <arguments>};
      GOMP_parallel(foo_worker, &context, chunks, 0);
    }

    static void foo_worker(void* context) {
      for (int64_t chunk = omp_get_thread_num(); chunk < chunks; chunk += omp_get_num_threads())
        foo_chunk(chunk, chunks, <arguments>);
    }

These three are what GCC makes of a parallel region (libgomp's ABI), and are found in libgomp and in
LLVM's libomp. There may be fewer threads than chunks, as where the caller is in a parallel region
itself.

Where a chunk can fail (`failures.py`), each has a failure of its own; that of the first chunk which
failed becomes that of the kernel, as if all had been done in order.
"""

from torch_mlir import ir
from torch_mlir.dialects import llvm

from plumbline.bindings.pipeline import Pass
from plumbline.kernels_to_llvm.building import (
    address_of,
    call,
    counted_loop,
    declare,
    define,
    element,
    field,
    integer,
    integer_type,
    is_null,
    pointer_type,
)
from plumbline.kernels_to_llvm.failures import CAN_FAIL
from plumbline.kernels_to_llvm.parallel_loops import FORK
from plumbline.runtime.openmp import PARALLEL, THREAD_COUNT, THREAD_NUMBER
from plumbline.runtime.requirement import MOST_VALUES

_FAILURE_WORDS = 1 + MOST_VALUES
"""Of a failure in a kernel: the format and its numbers."""


def _fork_threads(module: ir.Operation) -> None:
    with module.context, module.location:
        symbols = ir.SymbolTable(module)
        forks = [
            view
            for view in module.regions[0].blocks[0].operations
            if isinstance(view, llvm.LLVMFuncOp) and FORK in view.attributes
        ]
        if forks:
            pointer, number = pointer_type(), integer_type(32)
            with ir.InsertionPoint(module.regions[0].blocks[0]):
                declare(symbols, PARALLEL, [pointer, pointer, number, number])
                declare(symbols, THREAD_NUMBER, [], number)
                declare(symbols, THREAD_COUNT, [], number)
        for fork in forks:
            with ir.InsertionPoint.after(fork), fork.location:
                _Fork(fork, symbols).build()


class _Fork:
    def __init__(self, function: llvm.LLVMFuncOp, symbols: ir.SymbolTable) -> None:
        self._function, self._symbols = function, symbols
        self._name = function.sym_name.value
        self._chunk = ir.StringAttr(function.attributes[FORK]).value
        self._inputs = list(llvm.FunctionType(function.function_type.value).inputs)
        self._can_fail = CAN_FAIL in function.attributes
        # In the place of the failure there are those of all chunks.
        self._context = llvm.StructType.get_literal(self._inputs)

    def build(self) -> None:
        """Puts the fork in the place of its function, and the worker before it."""
        worker = f"{self._chunk}_worker"
        self._build_worker(define(worker, [pointer_type()]))
        self._symbols.erase(self._function)
        self._build_fork(define(self._name, self._inputs), worker)

    def _build_worker(self, entry: ir.Block) -> None:
        with ir.InsertionPoint(entry):
            values = [
                llvm.LoadOp(type_, field(entry.arguments[0], number, self._context)).result
                for number, type_ in enumerate(self._inputs)
            ]
            first, threads = (
                llvm.SExtOp(integer_type(), call(callee, [], integer_type(32)).result).result
                for callee in (THREAD_NUMBER, THREAD_COUNT)
            )

        def chunk(number: ir.Value) -> None:
            *given, last = values
            if self._can_fail:
                last = _failure_of(number, last)
            call(self._chunk, [number, *given, last])

        done = counted_loop(entry, first, values[0], threads, chunk)
        with ir.InsertionPoint(done):
            llvm.ReturnOp()

    def _build_fork(self, entry: ir.Block, worker: str) -> None:
        chunks = entry.arguments[0]
        several = entry.create_after()
        at_most_one = entry.create_after()
        with ir.InsertionPoint(entry):
            none, one = integer(0), integer(1)
            is_few = llvm.ICmpOp(llvm.ICmpPredicate.sle, chunks, one).result
            llvm.CondBrOp(is_few, [], [], at_most_one, several)

        def chunk(number: ir.Value) -> None:
            call(self._chunk, [number, *entry.arguments])

        with ir.InsertionPoint(counted_loop(at_most_one, none, chunks, one, chunk)):
            llvm.ReturnOp()
        with ir.InsertionPoint(several):
            values = list(entry.arguments)
            if self._can_fail:
                values[-1] = self._no_failures(chunks)
            context = llvm.AllocaOp(pointer_type(), integer(1), self._context).result
            for number, value in enumerate(values):
                llvm.StoreOp(value, field(context, number, self._context))
            count = llvm.TruncOp(integer_type(32), chunks, llvm.IntegerOverflowFlags.none).result
            call(PARALLEL, [address_of(worker), context, count, integer(0, 32)])
        done = several
        if self._can_fail:
            done = self._take_first_failure(several, chunks, values[-1], entry.arguments[-1])
        with ir.InsertionPoint(done):
            llvm.ReturnOp()

    def _no_failures(self, chunks: ir.Value) -> ir.Value:
        """A failure for each chunk, none of which has happened."""
        flags = llvm.IntegerOverflowFlags.none
        words = llvm.MulOp(chunks, integer(_FAILURE_WORDS), flags).result
        failures = llvm.AllocaOp(pointer_type(), words, integer_type()).result
        size = llvm.MulOp(words, integer(integer_type().width // 8), flags).result
        llvm.MemsetOp(failures, integer(0, 8), size, isVolatile=False)
        return failures

    def _take_first_failure(
        self, block: ir.Block, chunks: ir.Value, failures: ir.Value, failure: ir.Value
    ) -> ir.Block:
        """Hands on what happened in the first chunk in which something did; gives what follows."""
        flags = llvm.IntegerOverflowFlags.none
        size = _FAILURE_WORDS * integer_type().width // 8

        def take(number: ir.Value) -> None:
            # The last that is copied is the first chunk's.
            from_end = llvm.SubOp(chunks, llvm.AddOp(number, integer(1), flags).result, flags)
            own = _failure_of(from_end.result, failures)
            format_ = llvm.LoadOp(pointer_type(), own).result
            copied = llvm.SelectOp(is_null(format_), integer(0), integer(size)).result
            llvm.MemcpyOp(failure, own, copied, isVolatile=False)

        with ir.InsertionPoint(block):
            none, one = integer(0), integer(1)
        return counted_loop(block, none, chunks, one, take)


def _failure_of(chunk: ir.Value, failures: ir.Value) -> ir.Value:
    flags = llvm.IntegerOverflowFlags.none
    first = llvm.MulOp(chunk, integer(_FAILURE_WORDS), flags).result
    return element(failures, first, integer_type())


FORK_THREADS = Pass(
    "fork-threads",
    "Have threads of OpenMP's runtime library do the chunks of parallel loops",
    _fork_threads,
)
