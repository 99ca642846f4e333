"""Replaces ops of TCP by what patterns build in their place."""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.rewrite import PatternRewriter, RewritePatternSet, apply_patterns_and_fold_greedily

from plumbline.tcp.dialect import TcpOp

Pattern = Callable[[TcpOp], ir.Value | Sequence[ir.Value] | None]
"""From an op to what replaces its results; None leaves it. Insertion point and location are set."""


def lower(operation: ir.Operation, patterns: Mapping[type[TcpOp], Pattern]) -> None:
    """Applies `patterns` in `operation` until none does anything."""
    rewrites = RewritePatternSet()
    for op, pattern in patterns.items():
        rewrites.add(op, _rewrite_with(pattern))
    apply_patterns_and_fold_greedily(operation, rewrites.freeze())


def _rewrite_with(pattern: Pattern) -> Callable[[TcpOp, PatternRewriter], bool]:
    """`pattern` as the rewriter of the bindings calls it, where True means "no match"."""

    def rewrite(op: TcpOp, rewriter: PatternRewriter) -> bool:
        with rewriter.ip, op.location:
            replacement = pattern(op)
        if replacement is None:
            return True
        rewriter.replace_op(
            op, [replacement] if isinstance(replacement, ir.Value) else list(replacement)
        )
        return False

    return rewrite
