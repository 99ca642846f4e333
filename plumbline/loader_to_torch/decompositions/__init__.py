"""Which ops reach the Torch dialect whole, and as what those do that it has no op for."""

from typing import Any

import torch
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

from plumbline.loader_to_torch.decompositions import (
    adaptive_pooling,
    attention,
    bessel_functions,
    block_products,
    box_suppression,
    complex_numbers,
    contraction,
    convolution,
    data_dependent_sizes,
    data_movement,
    decomposed_quantization,
    deformable_convolution,
    eigenvalues,
    elementwise,
    embedding_bag,
    error_functions,
    folding,
    foreach,
    fourier,
    gamma_functions,
    general_eigenvalues,
    grid_sampling,
    incomplete_gamma,
    indexing,
    integer_products,
    jagged_tensors,
    least_squares,
    linear_algebra,
    losses,
    matrix_exponential,
    normalization,
    orthogonal_polynomials,
    packed_weights,
    padding,
    pooling,
    quantization,
    random_numbers,
    recurrent,
    reduction,
    region_pooling,
    resampling,
    stored_types,
    symmetric_systems,
    transformer_layers,
    window_functions,
)
from plumbline.loader_to_torch.decompositions.rule import Rule, first_of

__all__ = ["KEPT_OPS", "decomposition_table", "effects_table"]

aten = torch.ops.aten

KEPT_OPS = (
    "aten._adaptive_avg_pool2d",
    "aten._adaptive_avg_pool3d",
    "aten._log_softmax",
    "aten._safe_softmax",
    "aten._softmax",
    "aten.adaptive_avg_pool1d",
    "aten.adaptive_avg_pool2d",
    "aten.adaptive_avg_pool3d",
    "aten.adaptive_max_pool1d",
    "aten.adaptive_max_pool2d",
    "aten.adaptive_max_pool3d",
    "aten.amax",
    "aten.amin",
    "aten.argmax",
    "aten.argmin",
    "aten.copysign.Tensor",
    "aten.elu",
    "aten.fmod.Tensor",
    "aten.isinf",
    "aten.isnan",
    "aten.leaky_relu",
    "aten.linalg_vector_norm",
    "aten.logcumsumexp",
    "aten.mean",
    "aten.mean.dim",
    "aten.nonzero",
    "aten.roll",
    "aten.round.decimals",
    "aten.sgn",
    "aten.sign",
    "aten.signbit",
    "aten.trunc",
    "aten.var.correction",
    "aten.var_mean.correction",
)
"""What torch-mlir would take apart with a loss: of precision (the remainder of a quotient that was
rounded first, exp(x) - 1 near 0, half precision rounded at each step), of the sign of zero, of a
turn by more places than there are, or into ops that go no further. Each has a pattern of its own
to TCP."""

# Ops of torch-mlir's table that have a pattern of their own to TCP.
_WHOLE = (
    aten._adaptive_avg_pool2d.default,
    aten._log_softmax.default,
    aten._safe_softmax.default,
)

_FAMILIES = (
    adaptive_pooling,
    attention,
    bessel_functions,
    block_products,
    contraction,
    convolution,
    data_dependent_sizes,
    data_movement,
    eigenvalues,
    elementwise,
    embedding_bag,
    error_functions,
    folding,
    foreach,
    fourier,
    gamma_functions,
    general_eigenvalues,
    grid_sampling,
    incomplete_gamma,
    indexing,
    integer_products,
    jagged_tensors,
    least_squares,
    linear_algebra,
    losses,
    matrix_exponential,
    normalization,
    orthogonal_polynomials,
    packed_weights,
    padding,
    pooling,
    quantization,
    recurrent,
    reduction,
    resampling,
    symmetric_systems,
    transformer_layers,
    window_functions,
)

_OF_LIBRARIES = (
    box_suppression,
    decomposed_quantization,
    deformable_convolution,
    region_pooling,
)
"""Of ops that libraries bring along, which may not be there."""


def decomposition_table() -> dict[Any, Rule]:
    """torch-mlir's table, and rules for ops that its dialect does not have, or gets wrong."""
    table: dict[Any, Rule] = dict(get_decomposition_table())
    for op in _WHOLE:
        del table[op]
    for family in _FAMILIES:
        table.update(family.RULES)
    table.update(contraction.grouped_mm_of_transformers())
    for library in _OF_LIBRARIES:
        table.update(library.rules_of_registered())
    for family in (complex_numbers, random_numbers, stored_types):
        for op, rule in family.RULES.items():
            table[op] = first_of(rule, table[op]) if op in table else rule
    return table


def effects_table() -> dict[Any, Rule]:
    """The rules of `decomposition_table` that show what a program does besides giving results.

    That is into which tensors it writes, and whether it draws random numbers. A composite op may do
    either without a word in its schema. An op that may draw does so with some arguments, and not
    with others. An op that PyTorch has in Python writes into tensors of its own, which is in the
    way of all that is looked for. All other rules are of ops that do neither.
    """
    composite = torch._C.DispatchKey.CompositeImplicitAutograd
    return {
        op: rule
        for op, rule in decomposition_table().items()
        if op in random_numbers.RULES
        or torch.Tag.nondeterministic_seeded in op.tags
        or op.namespace == "torch_nn"
        or op.has_kernel_for_dispatch_key(composite)
    }
