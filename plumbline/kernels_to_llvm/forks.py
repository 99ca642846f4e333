"""Forks: functions that have threads of OpenMP's runtime library call another one.

What `parallel_loops.py` made of a kernel `foo` with a parallel loop becomes, in C, with 4 pieces:

    static void foo_chunks(int64_t shares, <arguments>) {
      if (shares < 2) {
        for (int64_t piece = 0; piece < shares * 4; ++piece)
          foo_chunk(0, 0, piece, shares, <arguments>);
        return;
      }
      int64_t begun[shares][8] = {0};
      struct { int64_t shares; <arguments>; int64_t (*begun)[8]; } context =
          {shares, <arguments>, begun};
      GOMP_parallel(foo_worker, &context, shares, 0);
    }

    static void foo_worker(void* context) {
      int64_t self = omp_get_thread_num();
      for (int64_t other = 0; other < shares; ++other) {
        int64_t share = (self + other) % shares, piece;
        while ((piece = atomic_fetch_add(begun[share], 1)) < 4)
          foo_chunk(self, share, piece, shares, <arguments>);
      }
    }

So each thread does its own share, near which its caches are, and then what is left of others: one
that comes late, or whose core something else has for a while, does not keep the others waiting for
long. A cache line counts how many pieces of a share have been begun.

`GOMP_parallel` and `omp_get_thread_num` are what GCC makes of a parallel region (libgomp's ABI),
and are found in libgomp and in LLVM's libomp. There may be fewer threads than shares, as where the
caller is in a parallel region itself.

Where a chunk can fail (`failures.py`), each has a failure of its own; that of the first chunk which
failed becomes that of the kernel, as if all had been done in order.
"""

from collections.abc import Sequence

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
from plumbline.kernels_to_llvm.parallel_loops import FORK, PIECES
from plumbline.runtime.openmp import PARALLEL, THREAD_NUMBER
from plumbline.runtime.requirement import MOST_VALUES

_FAILURE_WORDS = 1 + MOST_VALUES
"""Of a failure in a kernel: the format and its numbers."""

_LINE_WORDS = 8
"""Of a cache line."""

_WRAPS = llvm.IntegerOverflowFlags.none


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
        for fork in forks:
            with ir.InsertionPoint.after(fork), fork.location:
                _Fork(fork, symbols).build()


class _Fork:
    def __init__(self, function: llvm.LLVMFuncOp, symbols: ir.SymbolTable) -> None:
        self._function, self._symbols = function, symbols
        self._name = function.sym_name.value
        self._chunk = ir.StringAttr(function.attributes[FORK]).value
        self._inputs = list(llvm.FunctionType(function.function_type.value).inputs)
        self._pieces = ir.IntegerAttr(function.attributes[PIECES]).value
        self._can_fail = CAN_FAIL in function.attributes
        # In the place of the failure there are those of all chunks.
        self._context = llvm.StructType.get_literal([*self._inputs, pointer_type()])

    def build(self) -> None:
        """Puts the fork in the place of its function, and the worker before it."""
        worker = f"{self._chunk}_worker"
        self._build_worker(define(worker, [pointer_type()]))
        self._symbols.erase(self._function)
        self._build_fork(define(self._name, self._inputs), worker)

    def _build_worker(self, entry: ir.Block) -> None:
        with ir.InsertionPoint(entry):
            *values, begun = (
                llvm.LoadOp(type_, field(entry.arguments[0], number, self._context)).result
                for number, type_ in enumerate(self._context.body)
            )
            shares = values[0]
            thread = call(THREAD_NUMBER, [], integer_type(32)).result
            worker = llvm.SExtOp(integer_type(), thread).result
            none, one = integer(0), integer(1)

        def share(other: ir.Value) -> ir.Block:
            number = llvm.URemOp(llvm.AddOp(worker, other, _WRAPS).result, shares).result
            line = llvm.MulOp(number, integer(_LINE_WORDS), _WRAPS).result
            counter = element(begun, line, integer_type())
            return self._build_pieces(worker, number, counter, values)

        done = counted_loop(entry, none, shares, one, share)
        with ir.InsertionPoint(done):
            llvm.ReturnOp()

    def _build_pieces(
        self, worker: ir.Value, share: ir.Value, begun: ir.Value, values: Sequence[ir.Value]
    ) -> ir.Block:
        """Builds a loop that does what no thread has begun of a share; gives what follows on it."""
        entry = ir.InsertionPoint.current.block
        done, inside = entry.create_after(), entry.create_after()
        head = entry.create_after()
        llvm.BrOp([], head)
        with ir.InsertionPoint(head):
            piece = llvm.AtomicRMWOp(
                llvm.AtomicBinOp.add, begun, integer(1), llvm.AtomicOrdering.monotonic
            ).result
            pieces = integer(self._pieces)
            is_left = llvm.ICmpOp(llvm.ICmpPredicate.slt, piece, pieces).result
            llvm.CondBrOp(is_left, [], [], inside, done)
        with ir.InsertionPoint(inside):
            *given, last = values
            if self._can_fail:
                number = llvm.AddOp(llvm.MulOp(share, pieces, _WRAPS).result, piece, _WRAPS)
                last = _failure_of(number.result, last)
            call(self._chunk, [worker, share, piece, *given, last])
            llvm.BrOp([], head)
        return done

    def _build_fork(self, entry: ir.Block, worker: str) -> None:
        shares = entry.arguments[0]
        several = entry.create_after()
        at_most_one = entry.create_after()
        with ir.InsertionPoint(entry):
            none, one, pieces = integer(0), integer(1), integer(self._pieces)
            chunks = llvm.MulOp(shares, pieces, _WRAPS).result
            is_few = llvm.ICmpOp(llvm.ICmpPredicate.sle, shares, one).result
            llvm.CondBrOp(is_few, [], [], at_most_one, several)

        def chunk(piece: ir.Value) -> ir.Block | None:
            call(self._chunk, [none, none, piece, *entry.arguments])
            return _return_at_failure(entry.arguments[-1]) if self._can_fail else None

        with ir.InsertionPoint(counted_loop(at_most_one, none, chunks, one, chunk)):
            llvm.ReturnOp()
        with ir.InsertionPoint(several):
            values = list(entry.arguments)
            if self._can_fail:
                values[-1] = _zeros(chunks, _FAILURE_WORDS)
            values.append(_zeros(shares, _LINE_WORDS))
            context = llvm.AllocaOp(pointer_type(), integer(1), self._context).result
            for number, value in enumerate(values):
                llvm.StoreOp(value, field(context, number, self._context))
            count = llvm.TruncOp(integer_type(32), shares, _WRAPS).result
            call(PARALLEL, [address_of(worker), context, count, integer(0, 32)])
        done = several
        if self._can_fail:
            done = self._take_first_failure(several, chunks, values[-2], entry.arguments[-1])
        with ir.InsertionPoint(done):
            llvm.ReturnOp()

    def _take_first_failure(
        self, block: ir.Block, chunks: ir.Value, failures: ir.Value, failure: ir.Value
    ) -> ir.Block:
        """Hands on what happened in the first chunk in which something did; gives what follows."""
        size = _FAILURE_WORDS * integer_type().width // 8

        def take(number: ir.Value) -> None:
            # The last that is copied is the first chunk's.
            from_end = llvm.SubOp(chunks, llvm.AddOp(number, integer(1), _WRAPS).result, _WRAPS)
            own = _failure_of(from_end.result, failures)
            format_ = llvm.LoadOp(pointer_type(), own).result
            copied = llvm.SelectOp(is_null(format_), integer(0), integer(size)).result
            llvm.MemcpyOp(failure, own, copied, isVolatile=False)

        with ir.InsertionPoint(block):
            none, one = integer(0), integer(1)
        return counted_loop(block, none, chunks, one, take)


def _return_at_failure(failure: ir.Value) -> ir.Block:
    """Returns if something has failed; gives the block that follows if nothing has."""
    block = ir.InsertionPoint.current.block
    failed, going_on = block.create_after(), block.create_after()
    has_not = is_null(llvm.LoadOp(pointer_type(), failure).result)
    llvm.CondBrOp(has_not, [], [], going_on, failed)
    with ir.InsertionPoint(failed):
        llvm.ReturnOp()
    return going_on


def _zeros(count: ir.Value, words: int) -> ir.Value:
    """So many times so many words on the stack that are 0, from the beginning of a cache line."""
    all_ = llvm.MulOp(count, integer(words), _WRAPS).result
    bytes_ = integer_type().width // 8
    zeros = llvm.AllocaOp(pointer_type(), all_, integer_type(), alignment=_LINE_WORDS * bytes_)
    size = llvm.MulOp(all_, integer(bytes_), _WRAPS).result
    llvm.MemsetOp(zeros.result, integer(0, 8), size, isVolatile=False)
    return zeros.result


def _failure_of(chunk: ir.Value, failures: ir.Value) -> ir.Value:
    first = llvm.MulOp(chunk, integer(_FAILURE_WORDS), _WRAPS).result
    return element(failures, first, integer_type())


FORK_THREADS = Pass(
    "fork-threads",
    "Have threads of OpenMP's runtime library do the chunks of parallel loops",
    _fork_threads,
)
