"""Lets sums be added up in another order than that of the loops.

In order, each addition waits for the one before it. PyTorch adds in no promised order either; with
several sums at once, each is of fewer terms, so that errors rather grow smaller.
"""

from torch_mlir import ir

from plumbline.walk import all_operations

_REASSOCIABLE = frozenset({"arith.addf", "arith.mulf"})


def reassociate_reductions(module: ir.Operation) -> None:
    """Marks the additions and multiplications that reductions of `module` consist of."""
    with module.context:
        flags = ir.Attribute.parse("#arith.fastmath<reassoc,contract>")
        for op in all_operations(module):
            if op.name != "linalg.generic":
                continue
            if not any("reduction" in str(kind) for kind in op.attributes["iterator_types"]):
                continue
            block = op.regions[0].blocks[0]
            end = block.operations[len(block.operations) - 1]
            so_far = set(list(block.arguments)[-len(end.operands) :])
            for value in end.operands:
                if isinstance(value.owner, ir.Block) or value.owner.name not in _REASSOCIABLE:
                    continue
                if any(operand in so_far for operand in value.owner.operands):
                    value.owner.attributes["fastmath"] = flags
