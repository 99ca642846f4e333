"""Builds the kernel that a plan for a contraction says."""

from collections.abc import Sequence

from torch_mlir import ir

from plumbline.linalg_to_kernels.amx_tiles import build_amx_tiles
from plumbline.linalg_to_kernels.contraction_loops import Epilogue
from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan, Strategy
from plumbline.linalg_to_kernels.depthwise import build_depthwise
from plumbline.linalg_to_kernels.dot_products import build_dot_products
from plumbline.linalg_to_kernels.micro_kernel import build_register_tiles
from plumbline.linalg_to_kernels.weighted_rows import build_weighted_rows

_BUILDERS = {
    Strategy.REGISTER_TILES: build_register_tiles,
    Strategy.AMX_TILES: build_amx_tiles,
    Strategy.DOT_PRODUCTS: build_dot_products,
    Strategy.WEIGHTED_ROWS: build_weighted_rows,
    Strategy.DEPTHWISE: build_depthwise,
}


def build_contraction(
    plan: ContractionPlan,
    arguments: Sequence[ir.Value],
    summed_in: ir.Type,
    epilogue: Epilogue | None = None,
) -> None:
    """Builds a kernel's body at the insertion point, the start of its function.

    Args:
      plan: of `plan_contraction`.
      arguments: the buffers of operands 0 and 1 and of the result, which is written, not read. They
        may be of types that tell neither sizes nor strides. In place of an operand that the plan
        says is packed there is one of [batches..., panels, K, columns], contiguous.
      summed_in: the type that products are added up in.
      epilogue: what casts, if the result is of another type; None if there is none.
    """
    _BUILDERS[plan.strategy](plan, arguments, summed_in, epilogue)
