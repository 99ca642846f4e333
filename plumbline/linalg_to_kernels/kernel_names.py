"""What kernels are called: after what they compute."""

from collections.abc import Container

from torch_mlir import ir

from plumbline.linalg_to_kernels.computations import Computation
from plumbline.linalg_to_kernels.group import Group

_MOST_WORDS = 6

_WORDS = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.divf": "div",
    "arith.divsi": "div",
    "arith.divui": "div",
    "arith.extf": "cast",
    "arith.extsi": "cast",
    "arith.extui": "cast",
    "arith.fptosi": "cast",
    "arith.maximumf": "max",
    "arith.maxsi": "max",
    "arith.maxui": "max",
    "arith.minimumf": "min",
    "arith.minsi": "min",
    "arith.minui": "min",
    "arith.mulf": "mul",
    "arith.muli": "mul",
    "arith.negf": "neg",
    "arith.select": "select",
    "arith.sitofp": "cast",
    "arith.subf": "sub",
    "arith.subi": "sub",
    "arith.truncf": "cast",
    "arith.uitofp": "cast",
    "tensor.extract": "gather",
}

_REDUCTIONS = {"add": "sum", "mul": "product"}


def kernel_name(group: Group, contractions: Container[Computation]) -> str:
    """A name such as `max_sub_exp_sum_div`: what members do, in order, without repetition.

    That of one word has a second one, as LLVM takes a function called `exp` for that of libm.
    """
    words: list[str] = []
    for member in group.members:
        for word in _words(member, is_contraction=member in contractions):
            if word not in words:
                words.append(word)
    if sum(member in contractions for member in group.members) > 1:
        words = ["attention", *(word for word in words if word != "matmul")]
    # Where there is much to tell, casts tell least.
    if len(words) > _MOST_WORDS:
        words = [word for word in words if word != "cast"]
    if len(words) < 2:
        words = [*(words or ["copy"]), "kernel"]
    return "_".join(words[:_MOST_WORDS])


def _words(member: Computation, *, is_contraction: bool) -> list[str]:
    if is_contraction:
        return ["matmul" if all(map(_is_permuted, member.maps)) else "conv"]
    if member.is_pad:
        return ["pad"]
    if member.parts_loop is not None:
        return ["interleave"]
    words = []
    for op in member.body_ops:
        word = _WORDS.get(op.name, op.name.partition(".")[2] if op.name[:5] == "math." else "")
        if member.is_reduction:
            word = _REDUCTIONS.get(word, word)
        if word:
            words.append(word)
    return words


def _is_permuted(map_: ir.AffineMap) -> bool:
    """Whether each axis is along a loop, as none is of a tensor that windows move over."""
    return all(
        isinstance(index.maybe_downcast(), ir.AffineDimExpr | ir.AffineConstantExpr)
        for index in map_.results
    )
