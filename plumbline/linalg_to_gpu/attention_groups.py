"""Finds attention: a softmax between two products, of which the first gives it a row of scores.

With x what is made of the scores (scale, mask), of each row the weights are exp(x - max x), divided
by their sum, and where a whole row is masked they may be told to be zero. All that is done to rows
is this, so that a kernel can do a row in parts: it keeps the maximum and the sum so far, and when
the maximum grows, makes what it has summed up smaller (Milakov and Gimelshein, "Online normalizer
calculation for softmax", 2018; Dao et al., "FlashAttention", NeurIPS 2022).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.linalg_to_gpu.contraction_tiles import (
    FEW,
    Instruction,
    Operand,
    Origin,
    best_order,
    instruction_for,
    origin_of,
    scaling,
    suits_warp_groups,
    usual_product,
)
from plumbline.linalg_to_gpu.launches import WARP
from plumbline.linalg_to_kernels.causal_masks import without_causal_mask
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    composed,
)
from plumbline.linalg_to_kernels.contraction_groups import (
    is_large_sum_of_products,
    root_axes,
    starts_from_zero,
    sum_at_root,
)
from plumbline.linalg_to_kernels.group import Group, group_of_steps
from plumbline.linalg_to_kernels.products import SumOfProducts, access_of
from plumbline.linalg_to_kernels.softmax import Element, Elements, Softmax, softmax_of
from plumbline.target.gpu_chip import GpuChip

MOST_COLUMNS = 128
"""Of values: a block has the sums of all of them in registers."""

_QUERIES = {False: 64, True: 128}
"""Of a block, by whether these are many: warps read each key for twice as many rows then.

Tensor cores read keys for a warp group, of which a block has one, so that it waits for no other: on
an H200 that was 5 to 15% faster than two of them with 128 queries.
"""

_FEW_COLUMNS = 64
"""Of values: more of them need registers."""

WARPS = 4
"""Of a block; each has a part of the queries."""

WARP_GROUP_WIDTH = 64
"""What the columns of values are a multiple of that warp groups multiply, and what the summed
elements of a query are filled up to: a line of a swizzled tile."""

MOST_REGISTERS = 160
"""That a thread has numbers in which are multiplied or added up, of 255: others have addresses."""

_FOR_SIZES = 16
"""Registers more that it needs for sizes, if these are not known."""

_KEYS = (64, 32, 16)
"""That are done at a time."""

_KEYS_OF_WARP_GROUP = 64, 128
"""The same where a warp group has few columns and no masks. On an H100 the more took 0.93 of the
time of the fewer, but 1.03 with a causal mask, of which blocks do keys that no query sees."""

_LONG_KEYS = 512
"""From so many keys on it matters little how many of the last ones are not there."""


@dataclass(frozen=True)
class AttentionGroup:
    """A group that is attention.

    Loops are those of the second product, and after them the first product's that it sums over.
    """

    group: Group
    scores: Computation
    values: Computation
    axes: tuple[int | None, ...]
    """For each axis of the root's result the loop along it."""
    factor: float
    """What scores are multiplied by, before anything else is done to them."""
    x: Element
    """What is made of the scores, but for a causal mask and for `scale`."""
    is_score: bool
    """Whether that is the score itself."""
    scale: float
    """What x is multiplied by at last, more than 0, before the maximum and the exponentials are
    taken of it."""
    is_safe: bool
    """Whether rows that are masked as a whole have weights of zero."""
    is_causal: bool
    """Whether keys after a query are masked."""
    batches: tuple[int, ...]
    key_loop: int
    query: Operand
    key: Operand
    summed: tuple[int, ...]
    """The loops that scores are summed over."""
    value: Operand
    sizes: tuple[int, ...]
    """Of all loops, `DYNAMIC` where that is not known."""
    instruction: Instruction
    queries: int
    """That a block of threads has."""
    keys: int
    """That it does at a time."""
    shared_bytes: int
    """How much shared memory it may take."""

    @property
    def is_of_warp_groups(self) -> bool:
        """Whether four warps multiply together."""
        return self.instruction is Instruction.WGMMA


def attention_group(
    members: Sequence[Computation], outputs: frozenset[ir.Value], chip: GpuChip
) -> AttentionGroup | None:
    """How computations, in the order of the program, are attention, if they are."""
    products = [member for member in members if is_large_sum_of_products(member)]
    root = members[-1]
    if len(products) != 2 or outputs != frozenset(root.results) or len(root.results) != 1:
        return None
    if not chip.has_asynchronous_copies or not all(map(starts_from_zero, products)):
        return None
    scores, values = products
    steps = (scores, values) if root is values else (scores, values, root)
    group = group_of_steps(members, outputs, steps)
    return _Matching(group, scores, values, chip).match()


class _Matching:
    def __init__(
        self, group: Group, scores: Computation, values: Computation, chip: GpuChip
    ) -> None:
        self._group, self._scores, self._values, self._chip = group, scores, values, chip
        self._count = len(values.reduces)
        self._elements = Elements(group, values)

    def match(self) -> AttentionGroup | None:
        values = self._values
        axes = self._root_axes()
        summed = [loop for loop, reduces in enumerate(values.reduces) if reduces]
        if axes is None or len(summed) != 1:
            return None
        (key_loop,) = summed
        for number in range(2):
            weights = self._elements.operand(number)
            softmax = softmax_of(self._elements, weights, key_loop)
            if softmax is not None:
                return self._planned(number, softmax, axes, key_loop)
        return None

    def _root_axes(self) -> tuple[int | None, ...] | None:
        group, values = self._group, self._values
        root = group.root
        # What lies between is done to each element of the sums by itself.
        if root is not values and not self._reads_of(root, root.loops, len(root.reduces), values):
            return None
        return root_axes(group, values)

    def _reads_of(
        self, member: Computation, loops: Indices, count: int, target: Computation
    ) -> set[Indices] | None:
        """Where a member reads what `target` computes, itself or through others.

        None if what lies between is not done to each element by itself.
        """
        found: set[Indices] = set()
        for source, indices in member.reads(loops, count):
            producer = self._group.producer(source)
            if producer is target:
                found.add(indices)
            elif producer is not None:
                if producer.is_reduction or len(producer.results) != 1:
                    return None
                inner = self._reads_of(producer, producer.loops_for(indices), count, target)
                if inner is None:
                    return None
                found |= inner
        return found

    def _planned(
        self,
        weights: int,
        softmax: Softmax,
        axes: tuple[int | None, ...],
        key_loop: int,
    ) -> AttentionGroup | None:
        group, values, scores = self._group, self._values, self._scores
        x = softmax.x
        read = self._scores_read(x)
        if read is None:
            return None
        # The loops of the first product that it sums over come after those of the second one.
        summed_scores = [loop for loop, reduces in enumerate(scores.reduces) if reduces]
        count = self._count + len(summed_scores)
        loops = list(scores.loops_for(read))
        for number, loop in enumerate(summed_scores):
            loops[loop] = ir.AffineDimExpr.get(self._count + number)
        sizes = (*values.sizes, *(scores.sizes[loop] for loop in summed_scores))
        value = origin_of(
            group,
            values.inputs[1 - weights],
            tuple(values.maps[1 - weights].results),
            self._count,
        )
        by_weights = access_of(values.maps[weights])
        if value is None or by_weights is None:
            return None
        sum_ = sum_at_root(values, (by_weights, value.access), axes)
        if sum_ is None or sum_.left != 0:
            return None
        of_scores = [
            origin_of(
                group, scores.inputs[number], composed(scores.maps[number], loops, count), count
            )
            for number in range(2)
        ]
        found = [origin for origin in of_scores if origin is not None]
        if len(found) != 2 or not sum_.rows:
            return None
        query, key = sorted(found, key=lambda origin: key_loop in origin.access.loops)
        summed = tuple(range(self._count, count))
        batches = set(sum_.batches)
        scattered = query.scattered | key.scattered | value.scattered
        if (
            scattered - batches
            or query.access.loops - batches - {*sum_.rows, *summed}
            or key.access.loops - batches - {key_loop, *summed}
            or value.access.loops - batches - {key_loop, *sum_.columns}
        ):
            return None
        if _length(sizes, sum_.rows) < FEW or not 0 < _length(sizes, sum_.columns) <= MOST_COLUMNS:
            return None
        instruction = self._instruction([query, key, value])
        if instruction is None:
            return None
        order, (of_query, of_key) = best_order(
            sizes, summed, (query, sum_.rows), (key, (key_loop,))
        )
        _, (of_value, _) = best_order(
            sizes, (key_loop,), (value, sum_.columns), (value, sum_.columns)
        )
        columns = _length(sizes, sum_.columns)
        if suits_warp_groups(instruction, (of_query, of_key, of_value), self._chip) and (
            columns % WARP_GROUP_WIDTH == 0 and _length(sizes, summed) <= MOST_COLUMNS
        ):
            instruction = Instruction.WGMMA
        shown = None
        if len(sum_.rows) == 1:
            shown = without_causal_mask(self._elements, x, sum_.rows[0], key_loop)
        x, scale = self._without_scale(shown or x)
        factor = query.factor * key.factor
        producer, _ = self._elements.producer(x)
        is_score = producer is scores
        if is_score and factor > 0.0:
            factor, scale = 1.0, factor * scale
        # Many columns, masks, and rows that a thread multiplies by itself need registers: next to
        # many queries there is room for one of the three.
        taken = (columns > _FEW_COLUMNS, not is_score, instruction is Instruction.FMA)
        is_group = instruction is Instruction.WGMMA
        queries = _QUERIES[sum(taken) <= 1 and self._has_blocks(sizes, sum_) and not is_group]
        keys = _keys(queries, columns, is_score=is_score, is_known=DYNAMIC not in sizes)
        if is_group and is_score and shown is None and columns <= _FEW_COLUMNS:
            keys = _keys_of_warp_group(sizes[key_loop])
        return AttentionGroup(
            group,
            scores,
            values,
            axes,
            factor,
            x,
            is_score,
            scale,
            softmax.is_safe,
            shown is not None,
            sum_.batches,
            key_loop,
            of_query,
            of_key,
            order,
            of_value,
            sizes,
            instruction,
            queries,
            keys,
            self._chip.shared_bytes,
        )

    def _without_scale(self, x: Element) -> tuple[Element, float]:
        """What x is a positive multiple of, and by how much."""
        scale = 1.0
        while True:
            producer, place = self._elements.producer(x)
            scaled = scaling(producer) if producer is not None else None
            if producer is None or scaled is None or not scaled[2] > 0.0:
                return x, scale
            value, map_, times = scaled
            loops = producer.loops_for(place.indices)
            x, scale = Element(value, self._elements.composed(map_, loops)), scale * times

    def _has_blocks(self, sizes: Sequence[int], sum_: SumOfProducts) -> bool:
        """Whether all multiprocessors have work if blocks have many queries."""
        batches, rows = (usual_product(sizes, loops) for loops in (sum_.batches, sum_.rows))
        blocks = batches * math.ceil(rows / _QUERIES[True])
        return blocks >= self._chip.multiprocessors

    def _scores_read(self, x: Element) -> Indices | None:
        """Where the scores are that x is made of, if it is made of one of them each."""
        producer, place = self._elements.producer(x)
        if producer is self._scores:
            found: set[Indices] | None = {place.indices}
        elif producer is None or producer.is_reduction:
            return None
        else:
            loops = producer.loops_for(place.indices)
            found = self._reads_of(producer, loops, self._count, self._scores)
        if found is None or len(found) != 1:
            return None
        (indices,) = found
        plain = [index.maybe_downcast() for index in indices]
        is_plain = all(isinstance(at, ir.AffineDimExpr | ir.AffineConstantExpr) for at in plain)
        return indices if is_plain else None

    def _instruction(self, origins: Sequence[Origin]) -> Instruction | None:
        """What multiplies: tensor cores if all that is in memory is of half precision alike."""
        types = [origin.element for origin in origins]
        f32 = ir.F32Type.get()
        results = [
            ir.RankedTensorType(product.results[0].type).element_type
            for product in (self._scores, self._values)
        ]
        if any(not isinstance(type_, ir.FloatType) for type_ in types) or results != [f32, f32]:
            return None
        if any(type_.width > 32 for type_ in types):
            return None
        found = instruction_for(self._scores, types[:2], self._chip)
        if found is Instruction.MMA and len(set(types)) == 1 and types[0] != f32:
            return Instruction.MMA
        return Instruction.FMA


def _keys(queries: int, columns: int, *, is_score: bool, is_known: bool) -> int:
    """So many at a time that scores, what masks add to these, and the sums fit in registers."""
    room = WARPS * WARP * (MOST_REGISTERS if is_known else MOST_REGISTERS - _FOR_SIZES)
    for keys in _KEYS:
        if queries * (columns + (keys if is_score else 2 * keys)) <= room:
            break
    return keys


def _keys_of_warp_group(count: int) -> int:
    """The same where products go on as weights are made, of so many keys in all."""
    fewer, more = (-(-count // keys) * keys for keys in _KEYS_OF_WARP_GROUP)
    is_short = count != DYNAMIC and count < _LONG_KEYS
    return _KEYS_OF_WARP_GROUP[more == fewer or not is_short]


def _length(sizes: Sequence[int], loops: Sequence[int]) -> int:
    """How many iterations loops have, or many."""
    if any(sizes[loop] == DYNAMIC for loop in loops):
        return MOST_COLUMNS if not loops else 1 << 20
    return math.prod(sizes[loop] for loop in loops)
