"""Groups that multiply rows of integers of 8 bits with weights, block by block, and scale each.

Weights of few bits have a scale for some summed elements, a block, and so have the rows that they
are multiplied with, if these are rounded to int8. The products of a block are summed in int32, for
each of these sums there is something to be done, and that is summed in turn:

    result[row, column] = sum over blocks of f(sum over k of rows[block, row, k] * weights[...])

Neither the weights as integers of 8 bits nor the sums of blocks are ever in memory: the group reads
the bytes that weights are kept in, each of which has a weight of several columns, or of one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir

from plumbline.bindings.walk import defining_operation
from plumbline.linalg_to_kernels.computations import (
    Computation,
    Indices,
    is_copy,
    is_tensor,
    is_zero,
    number_everywhere,
    viewed,
)
from plumbline.linalg_to_kernels.constants import is_constant
from plumbline.linalg_to_kernels.contraction_groups import root_axes
from plumbline.linalg_to_kernels.group import Group, group_of_steps
from plumbline.linalg_to_kernels.products_of_blocks import Products, products_of_blocks
from plumbline.linalg_to_kernels.vector_evaluation import Lanes, can_be_vectors, can_read_vectors


@dataclass(frozen=True)
class BlockProductsGroup:
    """A group that is such."""

    group: Group
    products: Products
    total: Computation
    """Adds up what becomes of the sums of blocks."""
    loops: tuple[int, int, int]
    """Of `total`, over blocks, rows and columns."""
    axes: tuple[int | None, ...]
    """For each axis of the root's result the loop of `total` along it."""

    @property
    def of_columns(self) -> dict[ir.Value, Indices]:
        """Weights that have a number for each block and column, and where it lies by the loops."""
        block, _, column = self.loops
        of_block = {ir.AffineDimExpr.get(block), ir.AffineConstantExpr.get(0)}
        found = {}
        for value in (value for member in self.group.members for value in member.sources):
            sites = self.group.sites(value) if is_constant(value) else ()
            if len(sites) == 1 and sites[0].step is self.total:
                *others, last = sites[0].indices
                if last == ir.AffineDimExpr.get(column) and of_block.issuperset(others):
                    found[value] = sites[0].indices
        return found

    @property
    def lanes(self) -> Lanes:
        """What lanes are in the loops of `total`."""
        column = self.loops[-1]
        return Lanes((column,), (self.total.sizes[column],))

    @property
    def lanes_of_root(self) -> Lanes:
        """What they are in those of the root, which go along the same columns."""
        root = self.group.root
        along = root.result_loops(0)
        assert along is not None
        return Lanes(along[-1:], (root.sizes[along[-1]],))


def block_products_group(
    members: Sequence[Computation], outputs: frozenset[ir.Value]
) -> BlockProductsGroup | None:
    """How computations, in the order of the program, are such a group, if they are."""
    root = members[-1]
    totals = [member for member in members if _is_total(member)]
    found = [each for member in members if (each := products_of_blocks(member)) is not None]
    if len(totals) != 1 or len(found) != 1 or outputs != frozenset(root.results):
        return None
    (total,), (products,) = totals, found
    weights = [member for member in members if member.results == products.weights.results]
    if not weights:
        return None
    products = replace(products, weights=weights[0])
    steps = [products.weights, products.sums, total, *([] if root is total else [root])]
    group = group_of_steps(members, outputs, steps)
    if any(member.is_reduction and member not in steps for member in members):
        return None
    loops, axes = _loops_of_total(group, products, total), root_axes(group, total)
    if loops is None or axes is None:
        return None
    result = BlockProductsGroup(group, products, total, loops, axes)
    return result if _is_of_vectors(result) else None


def _is_total(member: Computation) -> bool:
    """Whether a computation adds up floats along one loop, without another one along it."""
    (first, *others) = member.yielded
    op = defining_operation(first)
    if others or sum(member.reduces) != 1 or len(member.inputs) != 1 or op is None:
        return False
    if op.name != "arith.addf" or not is_zero(number_everywhere(member.inits[0])):
        return False
    number, so_far = member.body.arguments
    terms = [operand for operand in op.operands if operand != so_far]
    if len(terms) != 1 or not is_tensor(member.inputs[0]):
        return False
    cast = defining_operation(terms[0])
    if cast is not None and cast.name == "arith.extf" and len(member.body_ops) == 2:
        return bool(cast.operands[0] == number)
    return bool(terms[0] == number) and len(member.body_ops) == 1


def _loops_of_total(
    group: Group, products: Products, total: Computation
) -> tuple[int, int, int] | None:
    """The loops of a total over blocks, rows and columns, if it takes each sum of a block once."""
    sites, sums = group.sites(products.sums.results[0]), products.sums
    if len(sites) != 1 or sites[0].step is not total:
        return None
    along = sums.result_loops(0)
    assert along is not None
    found: dict[int, int] = {}
    for loop, at in zip(along, sites[0].indices, strict=True):
        dim = at.maybe_downcast()
        if isinstance(dim, ir.AffineDimExpr) and sums.sizes[loop] == total.sizes[dim.position]:
            found[loop] = dim.position
    rest = {*range(len(total.sizes))}.difference(found.values())
    if len(rest) == 1:
        # Of one row, no place depends on which it is.
        found.setdefault(products.row, rest.pop())
    if rest or len({*found.values()}) != len(along):
        return None
    block, row, column = (found[loop] for loop in (products.block, products.row, products.column))
    is_row = total.sizes[row] == sums.sizes[products.row]
    return (block, row, column) if is_row and total.reduces[block] else None


def _is_of_vectors(found: BlockProductsGroup) -> bool:
    """Whether all that is done to sums of blocks, and to the result, is done by vectors."""
    group, total, root = found.group, found.total, found.group.root
    column = found.loops[-1]
    (sums,), (of_total,) = found.products.sums.results, total.results
    if found.axes[-1:] != (column,) or not can_read_vectors(group, total, found.lanes, sums, 0):
        return False
    return root is total or can_be_vectors(group, root, found.lanes_of_root, of_total)


def members_of_total(
    total: Computation, producers: Callable[[Computation], list[Computation]]
) -> set[Computation] | None:
    """What a group of block products is made of up to its total, if that is one of such."""
    if not _is_total(total):
        return None
    columns = ir.RankedTensorType(total.inputs[0].type).shape[-1:]
    members, pending = {total}, [total]
    products = None
    while pending:
        for member in producers(pending.pop()):
            if member in members:
                continue
            if (here := products_of_blocks(member)) is not None:
                if products is not None:
                    return None
                products = here
                members.add(member)
            elif member.is_reduction:
                continue
            elif _is_of_columns(member, columns) or is_copy(member):
                members.add(member)
                pending.append(member)
    if products is None:
        return None
    found = products.weights.results
    of_sums = producers(products.sums)
    pending = [member for member in of_sums if member.results == found]
    # The zeros that sums begin with.
    zeros = {member for member in of_sums if [*member.results] == [*products.sums.inits]}
    members |= {*pending, *zeros}
    while pending:
        for member in producers(pending.pop()):
            if member not in members and not member.is_reduction:
                members.add(member)
                pending.append(member)
    return members


def _is_of_columns(member: Computation, columns: list[int]) -> bool:
    """Whether a computation has something for each column; others are done before, for all."""
    return bool(ir.RankedTensorType(member.results[0].type).shape[-1:] == columns)


def reshapes_of_weights(members: Sequence[Computation]) -> frozenset[ir.Value]:
    """The reshapes of weights that computations read."""
    found = set()
    for value in (value for member in members for value in filter(is_tensor, member.inputs)):
        if is_constant(viewed(value)):
            while (op := defining_operation(value)) is not None:
                found.add(value)
                value = op.operands[0]
    return frozenset(found)
