"""Lowers a module from TCP to linalg on tensors."""

from torch_mlir import ir
from torch_mlir.rewrite import RewritePatternSet, apply_patterns_and_fold_greedily

from plumbline.errors import UserError
from plumbline.location import describe
from plumbline.pipeline import Pipeline
from plumbline.tcp_to_linalg import data_movement, elementwise
from plumbline.tcp_to_linalg.pattern import Patterns, rewrite_with
from plumbline.walk import operations_of

PATTERNS: Patterns = {**data_movement.PATTERNS, **elementwise.PATTERNS}

_CLEAN_UP = Pipeline("clean-up-linalg", ("canonicalize", "cse"))


def convert_tcp_to_linalg(module: ir.Module) -> None:
    """Lowers every TCP op of `module` in place; ops of other dialects stay.

    Raises:
      UserError: it holds TCP ops that have no lowering; the message lists all of them, with their
        places in the user's source.
    """
    with module.context:
        patterns = RewritePatternSet()
        for op, pattern in PATTERNS.items():
            patterns.add(op, rewrite_with(pattern))
        apply_patterns_and_fold_greedily(module, patterns.freeze())
    if remaining := operations_of(module, "tcp"):
        raise UserError(
            "these operations of TCP cannot be lowered to linalg:\n"
            + "\n".join(f"  {describe(op.location)}: {op.name}" for op in remaining)
        )
    _CLEAN_UP.run(module)
