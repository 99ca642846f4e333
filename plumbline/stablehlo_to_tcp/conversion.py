"""Lowers a module from StableHLO to TCP."""

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.rewrite import RewritePatternSet, apply_patterns_and_fold_greedily

from plumbline.bindings.pipeline import Nested, Pass, PassFailure, Pipeline
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.stablehlo_to_tcp import functions
from plumbline.stablehlo_to_tcp.complex_numbers import STABLEHLO_SPLIT_COMPLEX_NUMBERS
from plumbline.stablehlo_to_tcp.pattern import CAST, conform
from plumbline.stablehlo_to_tcp.patterns import PATTERNS
from plumbline.stablehlo_to_tcp.random_bits import STABLEHLO_EXPAND_RANDOM_BITS
from plumbline.stablehlo_to_tcp.signatures import STABLEHLO_NOTE_SIGNATURES
from plumbline.stablehlo_to_tcp.tuples import STABLEHLO_SPLIT_TUPLES
from plumbline.tcp.backend_contract import dialect_violation, type_violation
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.transforms.canonicalize import TCP_CANONICALIZE
from plumbline.tcp.transforms.resolve_sizes import TCP_RESOLVE_SIZES

_DIALECTS = ("stablehlo", "chlo")


def _convert(operation: ir.Operation) -> None:
    functions.convert_signatures(operation)
    _convert_inside(operation)
    # Folds, and clears away what is not used.
    apply_patterns_and_fold_greedily(operation, RewritePatternSet().freeze())


def _convert_inside(operation: ir.Operation) -> None:
    """Converts what is in the regions of an op, in the order of the text."""
    for region in operation.regions:
        for block in region.blocks:
            for op in list(block.operations):
                _convert_op(op.operation)


def _convert_op(op: ir.Operation) -> None:
    if not is_of_stablehlo(op):
        _convert_inside(op)
        return
    try:
        replacement, made = _build(op)
    except Unsupported:
        return
    with ir.InsertionPoint(op), op.location:
        for old, new in zip(op.results, replacement, strict=True):
            old.replace_all_uses_with(conform(new, old))
    op.erase()
    # Ops of control flow take over regions as they are.
    for new_op in made:
        _convert_inside(new_op)


def is_of_stablehlo(op: ir.Operation) -> bool:
    """Whether an op is of StableHLO, or of CHLO, which it is made of."""
    return op.name.partition(".")[0] in _DIALECTS


def _build(op: ir.Operation) -> tuple[Sequence[Tensor], Sequence[ir.Operation]]:
    """Builds before `op` what replaces its results; also gives the ops with regions among it.

    Raises:
      Unsupported: it cannot be; nothing is left of the attempt.
    """
    pattern = PATTERNS.get(op.name)
    if pattern is None:
        raise Unsupported("there is no pattern for it")
    with ir.InsertionPoint(op), op.location:
        # In a block of its own, so that nobody looks for what is made among all there is.
        apart = ir.Operation.create(CAST, regions=1)
        block = ir.Block.create_at_start(apart.regions[0])
        try:
            with ir.InsertionPoint(block):
                end = ir.Operation.create(CAST)
            with ir.InsertionPoint(end):
                replacement = pattern(op.opview)
            made = [view.operation for view in block.operations][:-1]
            for each in made:
                each.move_before(op)
        finally:
            apart.erase()
    results = [replacement] if isinstance(replacement, Tensor) else replacement
    return results, [each for each in made if op.regions and each.regions]


CONVERT_STABLEHLO_TO_TCP = Pass(
    "convert-stablehlo-to-tcp",
    "Convert ops of StableHLO that TCP has ops for",
    _convert,
)


def _verify(operation: ir.Operation) -> None:
    # Types are looked at last: what has a type of StableHLO's mostly has it from an op that is
    # refused, and the reason for that says more.
    if not (_is_legal(operation, _refusal) and _is_legal(operation, type_violation)):
        raise PassFailure


def _is_legal(operation: ir.Operation, violation: Callable[[ir.Operation], str | None]) -> bool:
    """Whether TCP may hold all that is in an op; reports what it may not."""
    legal = True
    for region in operation.regions:
        for block in region.blocks:
            for op in list(block.operations):
                # Of an op that is refused, what is inside is not looked at.
                if reason := violation(op.operation):
                    op.location.emit_error(f"'{op.operation.name}' op {reason}")
                legal = not reason and _is_legal(op.operation, violation) and legal
    return legal


def _refusal(op: ir.Operation) -> str | None:
    if not is_of_stablehlo(op):
        # A cast stands beside an op that is refused.
        return None if op.name == CAST else dialect_violation(op)
    try:
        _build(op)
    except Unsupported as reason:
        return f"cannot be lowered to TCP: {reason}"
    raise AssertionError(f"{op.name} was left, but can be converted")


STABLEHLO_VERIFY_TCP_BACKEND_CONTRACT = Pass(
    "stablehlo-verify-tcp-backend-contract",
    "Check that a module holds only TCP and what may stand beside it; says why an op is left",
    _verify,
)

STABLEHLO_TO_TCP = Pipeline(
    "stablehlo-to-tcp-pipeline",
    (
        STABLEHLO_NOTE_SIGNATURES,
        STABLEHLO_SPLIT_TUPLES,
        STABLEHLO_EXPAND_RANDOM_BITS,
        # Inlining knows StableHLO, and not TCP.
        Nested("func.func", ("stablehlo-legalize-composite-to-call",)),
        "inline",
        "symbol-dce",
        # What has no other spelling is left, to be refused with what to do.
        Nested("func.func", ("stablehlo-legalize-deprecated-ops{fail-on-unused=false}",)),
        CONVERT_STABLEHLO_TO_TCP,
        # What is made of several ops, once those that TCP has ops for are converted.
        Nested("func.func", ("chlo-legalize-to-stablehlo",)),
        # Makes ops of CHLO of those of StableHLO, for dynamic sizes.
        Nested("func.func", ("stablehlo-complex-math-expander", "chlo-legalize-to-stablehlo")),
        STABLEHLO_SPLIT_COMPLEX_NUMBERS,
        # Sizes that have to fit are asserted to: what assumes that they do stands free then.
        Nested("func.func", ("convert-shape-constraints", "canonicalize")),
        "convert-shape-to-std",
        CONVERT_STABLEHLO_TO_TCP,
        Nested("func.func", ("convert-elementwise-to-linalg",)),
        TCP_RESOLVE_SIZES,
        "canonicalize",
        "cse",
        TCP_CANONICALIZE,
        STABLEHLO_VERIFY_TCP_BACKEND_CONTRACT,
    ),
    summary="Lower StableHLO to TCP and what may stand beside it",
)


def convert_stablehlo_to_tcp(module: ir.Module) -> None:
    """Lowers `module` in place.

    Raises:
      LoweringError: it holds ops that cannot be lowered; the message lists all of them, with their
        places in the source, and why.
    """
    STABLEHLO_TO_TCP.run(module)
