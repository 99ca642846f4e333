"""Lowers a module from the Torch dialect to TCP."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.rewrite import RewritePatternSet, apply_patterns_and_fold_greedily

from plumbline.bindings.pipeline import LoweringError, Nested, Option, Pass, Pipeline
from plumbline.errors import UserError
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.transforms.canonicalize import TCP_CANONICALIZE
from plumbline.tcp.transforms.simplify_sizes import TCP_SIMPLIFY_SIZES
from plumbline.torch_to_tcp import symbolic_shapes
from plumbline.torch_to_tcp.backend_contract import TORCH_VERIFY_TCP_BACKEND_CONTRACT
from plumbline.torch_to_tcp.beside_tcp import CONVERT_TORCH_TO_LINALG_BESIDE_TCP, NO_LOWERING
from plumbline.torch_to_tcp.counted_places import COMPUTE_COUNTED_PLACES
from plumbline.torch_to_tcp.custom_op import CONVERT_TORCH_TO_TCP_CUSTOM_OP
from plumbline.torch_to_tcp.eliminate_unused_torch_ops import ELIMINATE_UNUSED_TORCH_OPS
from plumbline.torch_to_tcp.pattern import (
    Pattern,
    Patterns,
    convert_carried,
    join_casts,
    rewrite_with,
)
from plumbline.torch_to_tcp.patterns import PATTERNS
from plumbline.torch_to_tcp.torch_ops import full_name, full_names
from plumbline.torch_to_tcp.unsupported import unsupported

CONVERT_TORCH_OPS = Option(
    "convert-torch-ops", "the ops to convert, such as aten.tanh; all that can be if empty"
)


def _convert(operation: ir.Operation, convert_torch_ops: tuple[str, ...]) -> None:
    wanted = full_names(convert_torch_ops)
    # Of those that the Torch dialect has, some have no pattern: they are made of ops that have.
    without = sorted(wanted - PATTERNS.keys())
    registered = operation.context.is_registered_operation
    if unknown := [name for name in without if not registered(name)]:
        raise UserError(f"no pattern to TCP is there for: {', '.join(unknown)}")
    chosen = {name: PATTERNS[name] for name in PATTERNS if not wanted or name in wanted}
    patterns = RewritePatternSet()
    for name, pattern in {**chosen, "torch.operator": _by_attribute(chosen)}.items():
        patterns.add(name, rewrite_with(pattern))
    if not wanted:
        symbolic_shapes.convert(operation)
    apply_patterns_and_fold_greedily(operation, patterns.freeze())
    join_casts(operation)


def _by_attribute(patterns: Patterns) -> Pattern:
    """The pattern of ops of PyTorch's that torch-mlir has no op for and carries by their names."""

    def convert(op: ir.OpView) -> ir.Value | Sequence[ir.Value]:
        name = full_name(op.operation)
        if name not in patterns:
            raise Unsupported("no pattern to TCP")
        return convert_carried(patterns[name], op)

    return convert


CONVERT_TORCH_TO_TCP = Pass(
    "convert-torch-to-tcp",
    "Convert ops of the Torch dialect that TCP has ops for",
    _convert,
    (CONVERT_TORCH_OPS,),
)

_OPAQUE = tuple(
    f"torch.aten.fake_quantize_per_{what}_affine{how}"
    for what in ("tensor", "channel")
    for how in ("", ".tensor_qparams", "_cachemask", "_cachemask.tensor_qparams")
)
"""What stays one op in TCP, for a backend that knows it."""

_TO_TCP = Pipeline(
    "torch-to-tcp",
    (
        "torch-func-backend-type-conversion",
        CONVERT_TORCH_TO_TCP,
        ELIMINATE_UNUSED_TORCH_OPS,
        CONVERT_TORCH_TO_LINALG_BESIDE_TCP,
        "canonicalize",
        "cse",
        Nested("func.func", ("torch-finalizing-backend-type-conversion",)),
        ELIMINATE_UNUSED_TORCH_OPS,
        # Sizes of what a loop carries are those of what it starts from.
        "scf-for-loop-canonicalization",
        "canonicalize",
        "cse",
        COMPUTE_COUNTED_PLACES,
        TCP_SIMPLIFY_SIZES,
        "canonicalize",
        TCP_CANONICALIZE,
        TORCH_VERIFY_TCP_BACKEND_CONTRACT,
    ),
    summary="Lower ops of the Torch dialect that have a lowering to TCP's backend contract",
)

_KEPT = ",".join(sorted(name.removeprefix("torch.") for name in (*PATTERNS, *_OPAQUE)))

TORCH_BACKEND_TO_TCP_BACKEND = Pipeline(
    "torch-backend-to-tcp-backend-pipeline",
    (
        # What a loader exports has been taken apart by then; other Torch IR need not be.
        Nested("func.func", (f"torch-decompose-complex-ops{{legal-ops={_KEPT}}}",)),
        CONVERT_TORCH_TO_TCP_CUSTOM_OP.with_options(f"convert-torch-ops={','.join(_OPAQUE)}"),
        _TO_TCP,
    ),
    summary="Lower the backend contract of the Torch dialect to that of TCP",
)


def convert_torch_to_tcp(module: ir.Module) -> None:
    """Lowers `module` in place, from the backend contract of the Torch dialect.

    Raises:
      LoweringError: it holds operations that can be lowered neither to TCP nor to linalg; the
        message lists all of them, with their places in the user's source.
    """
    try:
        _TO_TCP.run(module)
    except LoweringError as error:
        # After any other failure, ops are left over that would have been lowered.
        if NO_LOWERING in str(error) and (listed := unsupported(module)):
            raise LoweringError(listed) from error
        raise
