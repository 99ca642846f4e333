"""Builds what a group of block products does.

Some columns, a panel, are done at a time, for which the bytes that weights are kept in lie
contiguously: of four summed elements those of each column side by side, as instructions take them
that add up four products in each lane. Bytes become weights in registers, once for as many rows as
have their sums there too. A panel stays in the first cache until all rows are done, so that those
that are left over are done by fewer at a time.
"""

import functools
from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from plumbline.linalg_to_kernels.block_products import BlockProductsGroup
from plumbline.linalg_to_kernels.building import (
    FlatView,
    for_each,
    index,
    least,
    rounded_down,
    total,
)
from plumbline.linalg_to_kernels.byte_products import ByteProducts
from plumbline.linalg_to_kernels.computations import DYNAMIC, Indices
from plumbline.linalg_to_kernels.dot_instructions import LANE_BITS
from plumbline.linalg_to_kernels.evaluation import index_value
from plumbline.linalg_to_kernels.products_of_blocks import IN_LANE
from plumbline.linalg_to_kernels.vector_evaluation import Lanes, VectorEvaluation
from plumbline.linalg_to_kernels.vectors import add, cast, mask_of_first, masked_store, splat
from plumbline.signature.packed_layout import PackedLayout
from plumbline.target.vector_unit import VectorUnit

_VECTORS = 2
"""Of sums of a row, so that what is loaded of the row is used so often."""

_LEFT_OVER = 4
"""Registers that hold neither sums nor weights."""

_SUMMED_AT_ONCE = 256
"""How many blocks are added up one after the other, as in `contraction_plan.py`."""

_UNROLLED = 8
"""How many times four summed elements are done in a turn of a loop, at most."""


def packed_weights(found: BlockProductsGroup, unit: VectorUnit) -> dict[ir.Value, PackedLayout]:
    """How weights lie: bytes as [panels, blocks, elements of a block, columns of a panel]."""
    bytes_ = found.products.bytes
    layouts = {bytes_: PackedLayout((2, 0, 1), 2, _Tile(found, unit).columns, IN_LANE)}
    for value in _packed_by_lanes(found, unit):
        last = ir.RankedTensorType(value.type).rank - 1
        layouts[value] = PackedLayout((last, *range(last)), last, unit.lanes(LANE_BITS))
    return layouts


def _packed_by_lanes(found: BlockProductsGroup, unit: VectorUnit) -> dict[ir.Value, Indices]:
    """Weights of blocks and columns of which those of a vector lie behind those of other blocks.

    As rows of a matrix they would be on as many pages as there are blocks.
    """
    are_whole = found.products.weights.sizes[-1] % unit.lanes(LANE_BITS) == 0
    return found.of_columns if are_whole else {}


def build_block_products(
    found: BlockProductsGroup,
    given: Mapping[ir.Value, ir.Value],
    output: ir.Value,
    unit: VectorUnit,
) -> None:
    """Builds a kernel's body at the insertion point.

    Args:
      found: its tensors are those of a function.
      given: for each argument of that function a contiguous buffer or a scalar; those of
        weights lie as `packed_weights` says.
      output: the buffer that takes the result.
      unit: the CPU's vectors.
    """
    _BlockProducts(found, given, output, unit).build()


class _Tile:
    """What is done at once."""

    def __init__(self, found: BlockProductsGroup, unit: VectorUnit) -> None:
        self.parts = found.products.parts
        self.lanes = unit.lanes(LANE_BITS)
        self.vectors = max(_VECTORS // self.parts, 1)
        self.columns = self.lanes * self.vectors
        of_row = self.parts * self.vectors
        # A row has sums of a block and of all blocks.
        most = max((unit.registers - of_row - _LEFT_OVER) // (2 * of_row), 1)
        self.rows = 1 << (most.bit_length() - 1)


class _BlockProducts:
    def __init__(
        self,
        found: BlockProductsGroup,
        given: Mapping[ir.Value, ir.Value],
        output: ir.Value,
        unit: VectorUnit,
    ) -> None:
        self._found, self._given, self._tile = found, given, _Tile(found, unit)
        self._by_lanes = _packed_by_lanes(found, unit)
        self._dots = ByteProducts(unit, found.products.are_below_128)
        products = found.products
        self._blocks, self._block = (
            products.sums.sizes[loop] for loop in (products.block, products.summed)
        )
        self._bytes = products.weights.sizes[-1]
        self._rows = FlatView(given[products.rows])
        self._packed = FlatView(given[products.bytes])
        self._out = FlatView(output)
        lane = ir.IntegerType.get_signless(LANE_BITS)
        self._sums = ir.VectorType.get([self._tile.lanes], lane)
        self._totals = ir.VectorType.get([self._tile.lanes], ir.F32Type.get())

    def build(self) -> None:
        panels = -(-self._bytes // self._tile.columns)
        for_each(index(0), index(panels), 1, self._panel, parallel=True)

    def _panel(self, number: ir.Value) -> list[ir.Value]:
        """All rows of a panel, as many at once as there may be, and then those that are left."""
        products = self._found.products
        count, rows = self._rows.sizes[1], products.sums.sizes[products.row]
        height, done, first = self._tile.rows, 0, index(0)
        while height:
            tile = functools.partial(self._rows_of_panel, number, height)
            if rows == DYNAMIC:
                beyond = rounded_down(count, height)
                for_each(first, beyond, height, tile)
                first = beyond
            elif tiles := (rows - done) // height:
                for_each(index(done), index(done + tiles * height), height, tile)
                done += tiles * height
            height //= 2
        return []

    def _rows_of_panel(self, panel: ir.Value, height: int, first: ir.Value) -> list[ir.Value]:
        zeros = [splat(self._totals, 0)] * (height * self._tile.parts * self._tile.vectors)

        def of_blocks(lower: ir.Value, upper: ir.Value) -> list[ir.Value]:
            def block(at: ir.Value, *totals: ir.Value) -> list[ir.Value]:
                sums = self._sums_of_block(panel, at, first, height)
                return [
                    add(total_, self._term(panel, at, first, place, sum_))
                    for place, (total_, sum_) in enumerate(zip(totals, sums, strict=True))
                ]

            return for_each(lower, upper, 1, block, zeros)

        if self._blocks <= _SUMMED_AT_ONCE:
            totals = of_blocks(index(0), index(self._blocks))
        else:

            def several(lower: ir.Value, *totals: ir.Value) -> list[ir.Value]:
                upper = least(arith.addi(lower, index(_SUMMED_AT_ONCE)), index(self._blocks))
                return [*map(add, totals, of_blocks(lower, upper))]

            totals = for_each(index(0), index(self._blocks), _SUMMED_AT_ONCE, several, zeros)
        for place, value in enumerate(totals):
            self._store(panel, first, place, value)
        return []

    # The sums of a block.

    def _sums_of_block(
        self, panel: ir.Value, block: ir.Value, first: ir.Value, height: int
    ) -> list[ir.Value]:
        """The sums of some rows, one row after the other, of each part by vectors."""
        tile, packed = self._tile, self._packed
        of_row = tile.parts * tile.vectors
        start = total(
            [arith.muli(at, by) for at, by in zip((panel, block), packed.strides, strict=False)]
        )
        strides = self._rows.strides
        rows = [
            total([arith.muli(block, strides[0]), arith.muli(at, strides[1])])
            for at in (arith.addi(first, index(row)) for row in range(height))
        ]
        quads = self._block // IN_LANE
        at_once = max(count for count in range(1, _UNROLLED + 1) if quads % count == 0)
        offsets = height if self._dots.adds_128 else 0

        def several(quad: ir.Value, *sums: ir.Value) -> list[ir.Value]:
            for more in range(at_once):
                here = arith.addi(quad, index(more))
                place = arith.addi(start, arith.muli(here, index(IN_LANE * tile.columns)))
                weights = self._weights(block, place)
                element = arith.muli(here, index(IN_LANE))
                next_, added = list[ir.Value](), list[ir.Value]()
                for number, row in enumerate(rows):
                    factor = self._lanes_of_row(arith.addi(row, element))
                    so_far = sums[number * of_row : (number + 1) * of_row]
                    next_ += [
                        self._dots.add(each, factor, sum_)
                        for each, sum_ in zip(weights, so_far, strict=True)
                    ]
                    if offsets:
                        added.append(self._dots.added(factor, sums[height * of_row + number]))
                sums = (*next_, *added)
            return [*sums]

        zeros = [splat(self._sums, 0)] * (height * of_row + offsets)
        sums = for_each(index(0), index(quads), at_once, several, zeros)
        if not offsets:
            return sums
        added = sums[height * of_row :]
        return [
            arith.subi(sum_, added[place // of_row])
            for place, sum_ in enumerate(sums[: height * of_row])
        ]

    def _weights(self, block: ir.Value, place: ir.Value) -> list[ir.Value]:
        """What bytes hold from a place on, as lanes of four weights: of each part by vectors."""
        products, tile = self._found.products, self._tile
        weights = products.weights
        count = IN_LANE * tile.lanes
        type_ = ir.VectorType.get([count], ir.IntegerType.get_signless(8))
        loaded = [
            vector.load(type_, self._packed.elements, [arith.addi(place, index(at * count))])
            for at in range(tile.vectors)
        ]
        last = len(weights.sizes) - 1
        lanes = Lanes((1, last), (weights.sizes[1], weights.sizes[last]))
        found = []
        for part in range(tile.parts):
            loops = {0: block, 1: index(0), 2: index(part)} | {last: index(0)}
            for value in loaded:
                evaluation = VectorEvaluation(
                    self._found.group,
                    weights,
                    self._given,
                    loops,
                    lanes,
                    mask_of_first(index(count), count),
                    {products.bytes: value},
                )
                made = vector.bitcast(self._sums, evaluation.result())
                found.append(self._dots.weights(made))
        return found

    def _lanes_of_row(self, place: ir.Value) -> ir.Value:
        """Four elements of a row in each lane."""
        several = ir.VectorType.get([IN_LANE], ir.IntegerType.get_signless(8))
        one = ir.VectorType.get([1], self._sums.element_type)
        loaded = vector.bitcast(one, vector.load(several, self._rows.elements, [place]))
        return vector.broadcast(self._sums, vector.extract(loaded, [], [0]))

    # What becomes of them.

    def _place(
        self, panel: ir.Value, first: ir.Value, place: int
    ) -> tuple[ir.Value, ir.Value, ir.Value]:
        """The row of a vector of sums, its first column, and the lanes that are inside."""
        tile = self._tile
        row, rest = divmod(place, tile.parts * tile.vectors)
        part, number = divmod(rest, tile.vectors)
        byte = arith.addi(arith.muli(panel, index(tile.columns)), index(number * tile.lanes))
        is_whole = self._bytes % tile.columns == 0
        inside = index(tile.lanes) if is_whole else arith.subi(index(self._bytes), byte)
        column = arith.addi(byte, index(part * self._bytes))
        return arith.addi(first, index(row)), column, mask_of_first(inside, tile.lanes)

    def _term(
        self, panel: ir.Value, block: ir.Value, first: ir.Value, place: int, sums: ir.Value
    ) -> ir.Value:
        """What a vector of sums of a block adds to the result."""
        found = self._found
        row, column, mask = self._place(panel, first, place)
        evaluation = VectorEvaluation(
            found.group,
            found.total,
            self._given,
            dict(zip(found.loops, (block, row, column), strict=True)),
            found.lanes,
            mask,
            {found.products.sums.results[0]: sums, **self._of_columns(block, column)},
        )
        term = evaluation.element(found.total.inputs[0], tuple(found.total.maps[0].results))
        return evaluation.vector(term)

    def _of_columns(self, block: ir.Value, column: ir.Value) -> dict[ir.Value, ir.Value]:
        """The vectors of a block's packed weights from a column on."""
        found, lanes = dict[ir.Value, ir.Value](), index(self._tile.lanes)
        for value, indices in self._by_lanes.items():
            view = FlatView(self._given[value])
            places = [arith.divui(column, lanes)]
            places += [index_value(at, {self._found.loops[0]: block}) for at in indices[:-1]]
            steps = zip(places, view.strides, strict=False)
            place = total([arith.muli(at, by) for at, by in steps])
            element = ir.MemRefType(view.elements.type).element_type
            type_ = ir.VectorType.get([self._tile.lanes], element)
            found[value] = vector.load(type_, view.elements, [place])
        return found

    def _store(self, panel: ir.Value, first: ir.Value, place: int, value: ir.Value) -> None:
        found, root = self._found, self._found.group.root
        row, column, mask = self._place(panel, first, place)
        by_loop = dict(zip(found.loops[1:], (row, column), strict=True))
        at = [index(0) if loop is None else by_loop[loop] for loop in found.axes]
        value = cast(value, ir.RankedTensorType(found.total.results[0].type).element_type)
        if root is not found.total:
            along = root.result_loops(0)
            assert along is not None
            loops = {loop: index(0) for loop in range(len(root.sizes))}
            loops |= dict(zip(along, at, strict=True))
            known = {found.total.results[0]: value}
            evaluation = VectorEvaluation(
                found.group, root, self._given, loops, found.lanes_of_root, mask, known
            )
            value = evaluation.result()
        steps: Sequence[ir.Value] = [
            arith.muli(each, by) for each, by in zip(at, self._out.strides, strict=True)
        ]
        to = total(steps)
        if self._bytes % self._tile.columns == 0:
            vector.store(value, self._out.elements, [to])
        else:
            masked_store(value, self._out.elements, to, mask)
