"""Launches of kernels, as they are built: `gpu.launch` with one dimension of blocks and of threads.

Kernels go round their iterations in strides of the whole grid, so that every number of blocks is
right for every size.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith, func, gpu, memref, nvvm, scf

from plumbline.bindings.walk import module_around
from plumbline.linalg_to_kernels.building import if_else, index, least
from plumbline.linalg_to_kernels.planned_memory import element_bytes

WARP = 32
"""Threads that run as one, and can exchange values without memory."""

THREADS = 256
"""Of a block: eight warps, of which some wait for memory while others compute."""

_BARRIER, _COMMIT, _WAIT = "plumbline_barrier", "plumbline_commit", "plumbline_wait_for_copies"
_SHOW = "plumbline_show_copies"
_BEGIN_PRODUCTS, _COMMIT_PRODUCTS = "plumbline_begin_products", "plumbline_commit_products"
_WAIT_FOR_PRODUCTS = "plumbline_wait_for_products"

_MOST_UNDER_WAY = 2
"""Groups of copies that a thread leaves under way as it waits for those before."""

STAND_INS: Mapping[str, Callable[..., ir.OpView]] = {
    _BARRIER: gpu.BarrierOp,
    _COMMIT: nvvm.CpAsyncCommitGroupOp,
    **{
        f"{_WAIT}_{groups}": partial(nvvm.CpAsyncWaitGroupOp, groups)
        for groups in range(_MOST_UNDER_WAY + 1)
    },
    _SHOW: lambda: nvvm.FenceProxyOp(
        ir.Attribute.parse("#nvvm.proxy_kind<async.shared>"),
        space=ir.Attribute.parse("#nvvm.shared_space<cta>"),
    ),
    _BEGIN_PRODUCTS: nvvm.WgmmaFenceAlignedOp,
    _COMMIT_PRODUCTS: nvvm.WgmmaGroupSyncAlignedOp,
    **{
        f"{_WAIT_FOR_PRODUCTS}_{groups}": partial(nvvm.WgmmaWaitGroupSyncOp, groups)
        for groups in range(2)
    },
}
"""Functions that stand for operations until tensors are buffers: buffer deallocation refuses those
of which it does not know what they do to memory. They are called with the operands of these."""

_MOST_BLOCKS = 1 << 16
"""More than any GPU runs at once, by far."""

WORKGROUP = "#gpu.address_space<workgroup>"
"""The memory space of what the threads of a block share. The bindings have no class for it."""


def shared_type(shape: Sequence[int], element: ir.Type) -> ir.MemRefType:
    """The type of a buffer in shared memory."""
    return ir.MemRefType.get(shape, element, memory_space=ir.Attribute.parse(WORKGROUP))


def buffer_bytes(type_: ir.MemRefType) -> int:
    """How many bytes a buffer takes of which all sizes are known."""
    return math.prod(list[int](type_.shape)) * element_bytes(type_.element_type)


@dataclass(frozen=True)
class Thread:
    """What a thread knows of itself, as values of type index."""

    block: ir.Value
    blocks: ir.Value
    number: ir.Value
    """Its own, in the block."""
    threads: int
    """In each block."""
    launch: ir.Operation

    def shared(self, shape: Sequence[int], element: ir.Type) -> ir.Value:
        """A buffer that the threads of a block share; `name_launches` makes it an attribution."""
        type_ = shared_type(shape, element)
        with ir.InsertionPoint.at_block_begin(self.launch.regions[0].blocks[0]):
            return memref.alloca(type_, [], [])

    def wait(self) -> None:
        """Waits for all threads of the block, and for what they have written."""
        self.call(_BARRIER)

    def once(self, work: Callable[[], object]) -> None:
        """Does work by the first thread of the block."""
        if_else(arith.cmpi(arith.CmpIPredicate.eq, self.number, index(0)), work)

    def commit(self) -> None:
        """Says that all copies which were begun are waited for together."""
        self.call(_COMMIT)

    def wait_for_copies(self, under_way: int = 0) -> None:
        """Waits for what the thread has begun to copy, but for so many groups begun last."""
        self.call(f"{_WAIT}_{under_way}")

    def show_copies(self) -> None:
        """Has what the thread has put into shared memory be seen by what reads that for itself."""
        self.call(_SHOW)

    def begin_products(self) -> None:
        """Says that a warp group has its sums ready for products that it begins."""
        self.call(_BEGIN_PRODUCTS)

    def commit_products(self) -> None:
        """Says that all products which were begun are waited for together."""
        self.call(_COMMIT_PRODUCTS)

    def wait_for_products(self, under_way: int = 0) -> None:
        """Waits for the products that the warp group has begun, but for so many groups of them."""
        self.call(f"{_WAIT_FOR_PRODUCTS}_{under_way}")

    def call(
        self, name: str, operands: Sequence[ir.Value] = (), results: Sequence[ir.Type] = ()
    ) -> list[ir.Value]:
        """Calls a function that stands for an operation; gives the results of that."""
        module = module_around(self.launch)
        if name not in ir.SymbolTable(module):
            with ir.InsertionPoint(module.regions[0].blocks[0]), module.location:
                types = [operand.type for operand in operands]
                func.FuncOp(name, (types, list(results)), visibility="private")
        return list(func.CallOp(results, ir.FlatSymbolRefAttr.get(name), operands).results)


def launch(teams: ir.Value, threads: int, body: Callable[[Thread], None]) -> None:
    """Builds a launch of so many blocks as there are `teams`, if these are not too many."""
    one = index(1)
    blocks = arith.maxsi(least(teams, index(_MOST_BLOCKS)), one)
    op = gpu.LaunchOp((blocks, one, one), (index(threads), one, one))
    block = op.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        thread = Thread(
            block.arguments[0], block.arguments[6], block.arguments[3], threads, op.operation
        )
        body(thread)
        gpu.TerminatorOp()


def strided(
    first: ir.Value, end: ir.Value, stride: ir.Value, body: Callable[[ir.Value], object]
) -> None:
    """A loop in strides that may be known only when it runs."""
    loop = scf.ForOp(first, end, stride)
    with ir.InsertionPoint(loop.body):
        body(loop.induction_variable)
        scf.YieldOp([])


def delinearized(number: ir.Value, sizes: Sequence[ir.Value]) -> list[ir.Value]:
    """The indices of an iteration by its number, of nested loops of which the last runs fastest."""
    indices: list[ir.Value] = []
    for size in reversed(sizes[1:]):
        indices.append(arith.remui(number, size))
        number = arith.divui(number, size)
    return [number, *reversed(indices)] if sizes else []
