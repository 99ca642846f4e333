"""The layout in which micro-kernels read a right operand: panels, one after the other.

A panel has as many columns as the register tile, and for each summed element the elements of these
columns contiguous: [ceil(N / columns)][K][columns], with zeros beyond the last column.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plumbline.linalg_to_kernels.contraction_plan import ContractionPlan


def pack_panels(matrices: NDArray[Any], columns: int) -> NDArray[Any]:
    """Panels of that many columns of matrices [..., K, N], as [..., ceil(N / columns), K, columns].

    For weights [N, K] of a linear layer pass their transpose: a view will do.
    """
    *batches, summed, width = matrices.shape
    panels = -(-width // columns)
    packed = np.zeros((*batches, panels, summed, columns), matrices.dtype)
    whole = width // columns
    inside = matrices[..., : whole * columns].reshape(*batches, summed, whole, columns)
    packed[..., :whole, :, :] = np.moveaxis(inside, -2, -3)
    packed[..., whole:, :, : width - whole * columns] = matrices[..., None, :, whole * columns :]
    return packed


def pack_operand(plan: ContractionPlan, operand: NDArray[Any]) -> NDArray[Any]:
    """What a kernel takes for its right operand where the plan says that it is packed."""
    access = plan.sum.accesses[plan.right]
    axis_of = {loop: axis for axis, terms in enumerate(access.axes) for loop, _ in terms}
    loops = [*plan.batches, *plan.summed, *plan.columns]
    axes = [axis_of[loop] for loop in loops]
    rest = [axis for axis in range(operand.ndim) if axis not in axes]
    ordered = operand.transpose(*rest, *axes)
    sizes = ordered.shape[len(rest) :]
    batches, summed = len(plan.batches), len(plan.summed)
    matrices = ordered.reshape(
        *sizes[:batches],
        int(np.prod(sizes[batches : batches + summed])),
        int(np.prod(sizes[batches + summed :])),
    )
    return pack_panels(matrices, plan.tile.columns)
