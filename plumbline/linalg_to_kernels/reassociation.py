"""Lets sums be added up in another order than that of the loops, and extremes be found so.

In order, each addition waits for the one before it. PyTorch adds in no promised order either; with
several sums at once, each is of fewer terms, so that errors rather grow smaller. Nor does it
promise which of several zeros is the greatest: to tell them by their signs takes a CPU more than
all else that is done.
"""

from torch_mlir import ir

from plumbline.bindings.walk import operations_named

_FLAGS = {
    "arith.addf": "#arith.fastmath<reassoc,contract>",
    "arith.mulf": "#arith.fastmath<reassoc,contract>",
    "arith.maximumf": "#arith.fastmath<nsz>",
    "arith.minimumf": "#arith.fastmath<nsz>",
}

_EXTREMES = ("arith.maximumf", "arith.minimumf")
"""Of these LLVM asks whether the first operand is a NaN. That is best the new element: to ask the
extreme so far makes the next one wait, and where that lies in memory LLVM then stores by a mask,
which takes AMD's CPUs ten times as long."""


def is_reassociable(op: ir.Operation) -> bool:
    """Whether an addition or a multiplication of floats is marked as one of any order."""
    # The bindings have no class for this attribute.
    return "reassoc" in str(op.attributes.get("fastmath"))


def reassociate_reductions(module: ir.Operation) -> None:
    """Marks the additions, multiplications and extremes that reductions of `module` consist of.

    Of extremes the operand that is not the one so far comes first.
    """
    with module.context:
        for op in operations_named(module, "linalg.generic"):
            if not any("reduction" in str(kind) for kind in op.attributes["iterator_types"]):
                continue
            block = op.regions[0].blocks[0]
            end = block.operations[len(block.operations) - 1]
            so_far = set(list(block.arguments)[-len(end.operands) :])
            for value in end.operands:
                if isinstance(value.owner, ir.Block) or value.owner.name not in _FLAGS:
                    continue
                first, second = value.owner.operands
                if first in so_far or second in so_far:
                    flags = ir.Attribute.parse(_FLAGS[value.owner.name])
                    value.owner.attributes["fastmath"] = flags
                    _contract(second if first in so_far else first)
                if first in so_far and value.owner.name in _EXTREMES:
                    value.owner.operands[0], value.owner.operands[1] = second, first


def _contract(added: ir.Value) -> None:
    """Lets a product be rounded together with the sum that it is added to, and nothing else reads.

    LLVM takes the flags of both for that.
    """
    if isinstance(added.owner, ir.Block) or added.owner.name != "arith.mulf":
        return
    if len(list(added.uses)) == 1:
        added.owner.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<contract>")
