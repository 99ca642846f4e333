"""How warps do a product, by what multiplies."""

from plumbline.linalg_to_gpu.contraction_tiles import Instruction, TileProduct
from plumbline.linalg_to_gpu.launches import Thread
from plumbline.linalg_to_gpu.warp_groups import WarpGroups
from plumbline.linalg_to_gpu.warp_tiles import TensorCores, Threads, WarpTile


def warp_tile(product: TileProduct, thread: Thread) -> WarpTile:
    """The part of warps in a product."""
    match product.instruction:
        case Instruction.WGMMA:
            return WarpGroups(product, thread)
        case Instruction.MMA:
            return TensorCores(product, thread)
        case Instruction.FMA:
            return Threads(product, thread)
