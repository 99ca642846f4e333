"""What is said of loops, from branches of other dialects to branches of LLVM's.

An annotation is a property of LLVM's branches. From `scf` on it travels as an attribute that is
called `llvm.loop_annotation`, which the conversions keep and the translation to LLVM IR ignores.
"""

from torch_mlir import ir

from plumbline.bindings.walk import operations_named

CARRIED = "llvm.loop_annotation"
"""The attribute of a loop that is to be annotated."""


def attach_loop_annotations(module: ir.Operation) -> None:
    """Makes properties of the annotations that the branches of `module` carry."""
    with module.context:
        for op in operations_named(module, "llvm.br", "llvm.cond_br"):
            if CARRIED in op.attributes:
                op.attributes["loop_annotation"] = op.attributes[CARRIED]
                del op.attributes[CARRIED]
