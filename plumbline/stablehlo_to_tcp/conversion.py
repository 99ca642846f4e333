"""Converts ops of StableHLO to TCP, as far as TCP has ops that mean the same."""

from torch_mlir import ir
from torch_mlir.rewrite import RewritePatternSet, apply_patterns_and_fold_greedily

from plumbline.pipeline import Pass
from plumbline.stablehlo_to_tcp import contraction, data_movement, elementwise
from plumbline.stablehlo_to_tcp.pattern import Patterns, rewrite_with

PATTERNS: Patterns = {
    **contraction.PATTERNS,
    **data_movement.PATTERNS,
    **elementwise.PATTERNS,
}


def _convert(operation: ir.Operation) -> None:
    patterns = RewritePatternSet()
    for name, pattern in PATTERNS.items():
        patterns.add(name, rewrite_with(pattern))
    apply_patterns_and_fold_greedily(operation, patterns.freeze())


CONVERT_STABLEHLO_TO_TCP = Pass(
    "convert-stablehlo-to-tcp",
    "Convert ops of StableHLO that TCP has ops for",
    _convert,
)
