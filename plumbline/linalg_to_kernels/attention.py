"""Groups that are attention: products of products, with something done to each row between them.

The scores, a matrix of queries by keys, are large, and each row of them is needed once. So blocks
of some queries are done one after the other: their scores, what is done to these rows (scale, mask,
softmax), and the products with the values. What lies between both products stays in the cache; keys
and values are packed once for all blocks. (Dao et al., "FlashAttention", NeurIPS 2022, do blocks of
keys as well, for caches too small for a block's scores; those of CPUs hold thousands of keys.)
Where keys after a query are masked, a block goes as far as its last query. How many queries there
are may be known in a call only: of a single one, keys and values are read once, where they lie.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.amx_tiles import (
    AmxScratch,
    allocate_amx_scratch,
    build_amx_tiles,
)
from plumbline.linalg_to_kernels.building import ALIGNMENT, for_each, if_else, index, rounded_up
from plumbline.linalg_to_kernels.causal_masks import is_causal
from plumbline.linalg_to_kernels.computations import (
    DYNAMIC,
    Computation,
    Indices,
    is_copy,
    loops_in,
    viewed,
)
from plumbline.linalg_to_kernels.contraction_groups import (
    is_contraction_of_attention,
    root_axes,
    sources,
    starts_from_zero,
)
from plumbline.linalg_to_kernels.contraction_loops import Epilogue, LoopNest, Place
from plumbline.linalg_to_kernels.contraction_plan import (
    ContractionPlan,
    RightOperand,
    Strategy,
    packed_while_running,
    plan_contraction,
    plan_for_one_row,
)
from plumbline.linalg_to_kernels.dot_instructions import TileInstruction
from plumbline.linalg_to_kernels.dot_products import build_dot_products
from plumbline.linalg_to_kernels.evaluation import index_value
from plumbline.linalg_to_kernels.group import Group, form_group
from plumbline.linalg_to_kernels.layouts import layout_of
from plumbline.linalg_to_kernels.loop_nests import RowBlock, RowBlocks, build_loop_nests
from plumbline.linalg_to_kernels.micro_kernel import Scratch, allocate_scratch, build_register_tiles
from plumbline.linalg_to_kernels.packing import PanelPacking
from plumbline.linalg_to_kernels.products import Access, SumOfProducts, sum_of_accesses
from plumbline.linalg_to_kernels.softmax import Elements, softmax_of
from plumbline.linalg_to_kernels.vector_evaluation import Lanes, VectorEvaluation, can_be_vectors
from plumbline.target.vector_unit import VectorUnit

_LEAST_ROWS = 24
"""Of a block: a multiple of the rows that tiles have."""

_BYTES_FOR_A_ROW = 170
"""Of what a kernel may have on the stack: blocks have 96 rows at most where it is half of a first
cache."""

_SCORES = 1 << 15
"""How many scores a block has, if its rows allow: an eighth of a second cache."""

_FEWEST_OF_NARROW = 16
"""Queries of half precision, if their number is known. To multiply fewer, keys and values are not
packed: 12 queries take 0.9 of the time so, 2 queries 0.6 (AVX2 and AVX-512)."""

_QUERY, _COLUMN, _SUMMED = range(3)
"""The loops of a product of matrices."""


@dataclass(frozen=True)
class _Matrix:
    """Where an operand of a product lies, or its result, for one turn of the outer rows."""

    value: ir.Value
    places: Indices
    """Along each axis of the tensor, by the loops of the contraction: of two axes a loop each."""
    axes: tuple[int, int]
    loops: tuple[int, int]
    """Of `_QUERY`, `_COLUMN` and `_SUMMED`, those along these axes."""

    @property
    def type(self) -> ir.MemRefType:
        """As what a plan sees it: strides are those of the tensor in memory."""
        type_ = ir.RankedTensorType(self.value.type)
        strides, _ = layout_of(self.value).get_strides_and_offset()
        layout = ir.StridedLayoutAttr.get(DYNAMIC, [strides[axis] for axis in self.axes])
        shape = [type_.shape[axis] for axis in self.axes]
        return ir.MemRefType.get(shape, type_.element_type, layout)

    @property
    def access(self) -> Access:
        return Access(tuple(((loop, 1),) for loop in self.loops))


@dataclass(frozen=True)
class _Product:
    """A contraction, as a product of matrices for each turn of the outer rows."""

    contraction: Computation
    rows: dict[int, int]
    """Its loop for each outer row of the root."""
    left: _Matrix
    """Of which a block has some rows."""
    right: _Matrix
    plan: ContractionPlan
    packing: ContractionPlan
    """How to pack the right operand."""
    single: ContractionPlan | None
    """How to read it where it lies, where there turns out to be one query; None if that is not to
    be asked."""

    def in_blocks(self, rows: int) -> "_Product":
        """The same, which is done for no more than so many rows at once."""
        single = self.single and _for_rows(self.single, 1)
        return replace(self, plan=_for_rows(self.plan, rows), single=single)

    def of_seen_keys(self) -> "_Product":
        """The same of as many summed elements as a block has, which is not known."""
        dots = self.plan.dots
        if not isinstance(dots, TileInstruction):
            return self
        return replace(self, plan=replace(self.plan, dots=replace(dots, count=None)))


def _for_rows(plan: ContractionPlan, rows: int) -> ContractionPlan:
    return replace(plan, sums_at_once=min(plan.sums_at_once, rows * plan.tile.columns))


@dataclass(frozen=True)
class AttentionGroup:
    """A group that is attention."""

    group: Group
    row: int
    """The row loop of the root that counts queries."""
    size: int
    """How many of them a block has."""
    scores: _Product
    values: _Product
    result: _Matrix
    """By the loops of the values' contraction, as the root writes it."""
    until: Mapping[Computation, int]
    """If keys after a query are masked: for each step between the products its loop over keys."""


def attention_group(
    members: Sequence[Computation], outputs: frozenset[ir.Value], unit: VectorUnit
) -> AttentionGroup | None:
    """How computations, in the order of the program, are attention, if they are."""
    products = [member for member in members if is_contraction_of_attention(member, unit)]
    root = members[-1]
    if len(products) != 2 or outputs != frozenset(root.results) or len(root.results) != 1:
        return None
    scores, values = products
    weights = _weights(Group(tuple(members), outputs), values)
    group = form_group(members, outputs, frozenset(weights)) if weights else None
    if group is None or not all(map(starts_from_zero, products)):
        return None
    # With nothing to do to whole rows, as between layers, products by themselves are as fast, and
    # their right operands may be weights that are packed already.
    if not any(step.is_reduction for step in group.steps if step not in products):
        return None
    # Beside the products there are only steps between them, and an epilogue.
    if group.steps[0] is not scores or values not in group.steps[-2:]:
        return None
    return _Matching(group, scores, values, unit).match()


def _weights(draft: Group, values: Computation) -> set[Computation]:
    """What computes an operand of the second product."""
    found = set()
    for value, map_ in zip(values.inputs, values.maps, strict=False):
        for source, _ in sources(draft, value, tuple(map_.results), len(values.reduces)):
            producer = draft.producer(source)
            if producer is not None and not is_copy(producer):
                found.add(producer)
    return found


class _Matching:
    def __init__(
        self, group: Group, scores: Computation, values: Computation, unit: VectorUnit
    ) -> None:
        self._group, self._scores, self._values, self._unit = group, scores, values, unit

    def match(self) -> AttentionGroup | None:
        group, scores, values = self._group, self._scores, self._values
        for row in reversed(group.rows):
            result = self._result(row)
            first = self._product(scores, row, None)
            second = self._product(values, row, result)
            if result is None or first is None or second is None:
                continue
            until = self._loops_over_seen_keys(row, second)
            size = self._size(row, first.plan.tile.rows)
            if until:
                second = second.of_seen_keys()
            first, second = first.in_blocks(size), second.in_blocks(size)
            found = AttentionGroup(group, row, size, first, second, result, until)
            (computed,) = values.results
            if group.root is values or can_be_vectors(group, group.root, lanes(found), computed):
                return found
        return None

    def _loops_over_seen_keys(self, row: int, product_: _Product) -> dict[Computation, int]:
        """The loops over keys of what is done to rows, if that is softmax of a causal mask.

        All that it computes of masked keys is what sums begin with, or is added as 0.
        """
        values, group = self._values, self._group
        loops = self._loops(values, row)
        elements = Elements(group, values)
        found = [softmax_of(elements, elements.operand(n), loops[_SUMMED]) for n in range(2)]
        softmax = found[0] or found[1]
        if softmax is None:
            return {}
        reductions = {step for step in group.steps if step.is_reduction}
        weights = group.producer(product_.left.value)
        if weights is None or reductions != {self._scores, values, *softmax.reductions}:
            return {}
        if not is_causal(elements, softmax.x, loops[_QUERY], loops[_SUMMED]):
            return {}
        along = weights.result_loops(0)
        if along is None:
            return {}
        reduced = {step: step.reduces.index(True) for step in softmax.reductions}
        return reduced | {weights: along[product_.left.axes[product_.left.loops.index(_SUMMED)]]}

    def _size(self, row: int, tile: int) -> int:
        """How many rows a block has, by tiles of so many."""
        least = _LEAST_ROWS if _LEAST_ROWS % tile == 0 else tile
        loops = self._loops(self._scores, row)
        queries, keys = (self._scores.sizes[loops[role]] for role in (_QUERY, _COLUMN))
        rows = _SCORES // max(keys, 1) if keys != DYNAMIC else 0
        most = max(self._unit.scratch_bytes // _BYTES_FOR_A_ROW, least)
        rows = min(max(rows, least), most)
        if queries != DYNAMIC:
            # As few blocks as there must be, alike.
            rows = -(-queries // -(-queries // rows))
        return -(-rows // least) * least

    def _loops(self, product_: Computation, row: int) -> dict[int, int]:
        """The loops of a product by what they are in it."""
        rows = self._group.row_loops[product_]
        long = [
            loop
            for loop, size in enumerate(product_.sizes)
            if size != 1 and loop not in rows.values()
        ]
        columns = [loop for loop in long if not product_.reduces[loop]]
        summed = [loop for loop in long if product_.reduces[loop]]
        if len(columns) != 1 or len(summed) != 1:
            return {}
        return {_QUERY: rows[row], _COLUMN: columns[0], _SUMMED: summed[0]}

    def _matrix(
        self, value: ir.Value, indices: Indices, product_: Computation, row: int
    ) -> _Matrix | None:
        """A tensor as a matrix by the loops of a product; None if it is none."""
        loops = {loop: role for role, loop in self._loops(product_, row).items()}
        axes, roles = [], []
        for axis, at in enumerate(indices):
            dim = at.maybe_downcast()
            if isinstance(dim, ir.AffineDimExpr) and dim.position in loops:
                axes.append(axis)
                roles.append(loops[dim.position])
            elif not loops_in(at).isdisjoint(loops):
                return None
        if len(axes) != 2 or roles[0] == roles[1]:
            return None
        return _Matrix(value, indices, (axes[0], axes[1]), (roles[0], roles[1]))

    def _operand(
        self, value: ir.Value, map_: ir.AffineMap, product_: Computation, row: int
    ) -> _Matrix | None:
        """An operand as it lies in memory or, computed by a step, in a buffer."""
        count = len(product_.reduces)
        found = None
        for source, indices in sources(self._group, value, tuple(map_.results), count):
            producer = self._group.producer(viewed(source))
            if producer is None or (
                not self._group.is_inlined(producer) and source in producer.results
            ):
                found = self._matrix(source, indices, product_, row) or found
        return found

    def _result(self, row: int) -> _Matrix | None:
        """The root's result by the loops of the second product."""
        group, values = self._group, self._values
        along = root_axes(group, values)
        if along is None or not self._loops(values, row):
            return None
        places = tuple(
            ir.AffineConstantExpr.get(0) if loop is None else ir.AffineDimExpr.get(loop)
            for loop in along
        )
        return self._matrix(group.root.results[0], places, values, row)

    def _product(self, product_: Computation, row: int, result: _Matrix | None) -> _Product | None:
        if not self._loops(product_, row):
            return None
        found = [
            self._operand(value, map_, product_, row)
            for value, map_ in zip(product_.inputs, product_.maps, strict=False)
        ]
        operands = [operand for operand in found if operand is not None]
        if len(operands) != 2:
            return None
        left, right = sorted(operands, key=lambda operand: _QUERY not in operand.loops)
        if {*left.loops} != {_QUERY, _SUMMED} or {*right.loops} != {_SUMMED, _COLUMN}:
            return None
        is_first = result is None
        # The scores are steps' of this group alone; the left operand of the values is theirs.
        if self._group.producer(right.value) is not None:
            return None
        if (self._group.producer(left.value) is None) != is_first:
            return None
        if result is None:
            result = self._matrix(
                product_.results[0], tuple(product_.maps[2].results), product_, row
            )
        if result is None or result.loops != (_QUERY, _COLUMN) or left.loops[0] != _QUERY:
            return None
        element = ir.RankedTensorType(product_.results[0].type).element_type
        matrices = (left, right, result)
        sum_ = sum_of_accesses(
            (left.access, right.access, result.access), {_QUERY, _COLUMN, _SUMMED}, {_SUMMED}
        )
        loops = self._loops(product_, row)
        sizes = [product_.sizes[loops[role]] for role in (_QUERY, _COLUMN, _SUMMED)]
        if sum_ is None or not isinstance(element, ir.FloatType) or sizes[_QUERY] == 1:
            return None
        types = [matrix.type for matrix in matrices]
        if not all(isinstance(type_.element_type, ir.FloatType) for type_ in types):
            return None
        outer = {
            other: loop for other, loop in self._group.row_loops[product_].items() if other != row
        }
        are_wide = all(type_.element_type == element for type_ in types[:2])
        plan_by = self._plan_of_floats if are_wide else self._plan_of_narrow
        plans = plan_by(sum_, types, sizes, element)
        if plans is None:
            return None
        plan, packing, single = plans
        # Before there is a block there is only the right operand to tell sizes.
        packing = replace(packing, sum=replace(sum_, accesses=(right.access,) * 3))
        return _Product(product_, outer, left, right, plan, packing, single)

    def _plan_of_floats(
        self,
        sum_: SumOfProducts,
        types: Sequence[ir.MemRefType],
        sizes: Sequence[int],
        element: ir.Type,
    ) -> tuple[ContractionPlan, ContractionPlan, ContractionPlan | None] | None:
        """How to multiply, how to pack the right operand, and how to do a single row."""
        plan = plan_contraction(sum_, types, sizes, self._unit, element, frozenset({1}))
        if (
            plan is None
            or plan.strategy is not Strategy.REGISTER_TILES
            or plan.right_operand is not RightOperand.PACKED
            or not _is_of_rows(plan)
        ):
            return None
        packing = packed_while_running(plan, types, sizes)
        single = plan_for_one_row(packing, types, sizes, self._unit, element)
        if single is not None and single.strategy is Strategy.WEIGHTED_ROWS:
            # These have sums of their own, on the stack.
            single = None
        return plan, packing, single

    def _plan_of_narrow(
        self,
        sum_: SumOfProducts,
        types: Sequence[ir.MemRefType],
        sizes: Sequence[int],
        element: ir.Type,
    ) -> tuple[ContractionPlan, ContractionPlan, ContractionPlan | None] | None:
        """The same of half precision: by AMX, if it has such, or widened as it is packed."""
        by_amx = self._plan_by_amx(sum_, types, sizes, element)
        if by_amx is not None:
            return by_amx
        are_few = sizes[_QUERY] != DYNAMIC and sizes[_QUERY] < _FEWEST_OF_NARROW
        return None if are_few else self._plan_of_floats(sum_, types, sizes, element)

    def _plan_by_amx(
        self,
        sum_: SumOfProducts,
        types: Sequence[ir.MemRefType],
        sizes: Sequence[int],
        element: ir.Type,
    ) -> tuple[ContractionPlan, ContractionPlan, ContractionPlan | None] | None:
        """The same of narrow elements by AMX.

        Weights are rounded before they are multiplied with values, if the result is: PyTorch's
        kernel does so, too.
        """
        left, right, result = types
        if right.element_type not in (left.element_type, result.element_type):
            return None
        of_left = _retyped(left, right.element_type)
        narrow = (of_left, right, result)
        packing = plan_contraction(sum_, narrow, sizes, self._unit, element)
        if packing is None or packing.strategy is not Strategy.AMX_TILES:
            return None
        plan = replace(
            packing,
            right_operand=RightOperand.PACKED,
            copies_left=True,
            rows_outermost=False,
            packs_blocks=False,
        )
        packing = replace(packing, packs_blocks=False)
        single = plan_for_one_row(packing, types, sizes, self._unit, element)
        return (plan, packing, single) if _is_of_rows(plan) else None


def _is_of_rows(plan: ContractionPlan) -> bool:
    """Whether a plan is for rows of the left operand, and one matrix."""
    return plan.left == 0 and plan.stores_columns and not plan.batches


def _retyped(type_: ir.MemRefType, element: ir.Type) -> ir.MemRefType:
    return ir.MemRefType.get(type_.shape, element, type_.layout)


def lanes(found: AttentionGroup) -> Lanes:
    """What lanes of the result are in the loops of the root."""
    along = found.group.root.result_loops(0)
    assert along is not None
    loop = along[found.result.axes[1]]
    return Lanes((loop,), (found.group.root.sizes[loop],))


def build_attention(
    found: AttentionGroup, given: Mapping[ir.Value, ir.Value], output: ir.Value
) -> None:
    """Builds what a group does that is attention, as `build_contraction_group` does."""
    _Attention(found, given, output).build()


@dataclass(frozen=True)
class _Panels:
    """Memory of all panels of a right operand."""

    buffer: ir.Value
    rows: ir.Value
    """How many summed elements a panel has."""


class _Attention:
    def __init__(
        self, found: AttentionGroup, given: Mapping[ir.Value, ir.Value], output: ir.Value
    ) -> None:
        self._found, self._given, self._output = found, given, output
        element = ir.RankedTensorType(found.scores.contraction.results[0].type).element_type
        self._type = element
        self._scratch: dict[int, Scratch] = {}
        self._panels: dict[int, _Panels] = {}
        self._of_single: dict[int, Scratch] = {}
        self._is_single: ir.Value | None = None

    def build(self) -> None:
        found = self._found
        for number, product_ in enumerate((found.scores, found.values)):
            self._panels[number] = self._panel_buffer(product_)
            if product_.plan.strategy is Strategy.AMX_TILES:
                copied = found.size, self._size_of_right(product_, _SUMMED)
                scratch: Scratch = allocate_amx_scratch(product_.plan, self._type, copied)
            else:
                scratch = allocate_scratch(product_.plan, self._type)
            self._scratch[number] = scratch
        self._look_for_a_single_query()
        steps: dict[Computation, Callable[[RowBlock], None]] = {
            found.scores.contraction: self._build_scores,
            found.values.contraction: self._build_values,
        }
        if found.group.root is not found.values.contraction:
            steps[found.group.root] = lambda block: None
        blocks = RowBlocks(found.row, found.size, steps, self._pack, found.until)
        outputs = {found.group.root.results[0]: self._output}
        build_loop_nests(found.group, self._given, outputs, blocks)

    def _look_for_a_single_query(self) -> None:
        """Builds whether there is one, if that makes a difference."""
        plans = [product_.single for product_ in (self._found.scores, self._found.values)]
        if not all(plans):
            return
        for number, plan in enumerate(plans):
            if plan is not None and plan.strategy is Strategy.REGISTER_TILES:
                self._of_single[number] = allocate_scratch(plan, self._type)
        matrix = self._found.scores.left
        axis = matrix.axes[matrix.loops.index(_QUERY)]
        queries = memref.dim(self._given[matrix.value], index(axis))
        self._is_single = arith.cmpi(arith.CmpIPredicate.eq, queries, index(1))

    def _panel_buffer(self, product_: _Product) -> _Panels:
        """A buffer for all panels of a right operand."""
        plan, tile = product_.plan, product_.plan.tile
        columns, rows = (self._size_of_right(product_, loop) for loop in (_COLUMN, _SUMMED))
        rows = rounded_up(rows, plan.summed_in_lane)
        panels = arith.ceildivui(columns, index(tile.columns))
        # A panel may be longer by what fills its last vectors.
        summed = arith.addi(arith.muli(panels, rows), index(tile.lanes * plan.summed_in_lane))
        count = arith.muli(summed, index(tile.columns))
        element = self._type if plan.dots is None else ir.Type.parse(plan.dots.of)
        type_ = ir.MemRefType.get([DYNAMIC], element)
        return _Panels(memref.alloc(type_, [count], [], alignment=ALIGNMENT), rows)

    def _size_of_right(self, product_: _Product, loop: int) -> ir.Value:
        matrix = product_.right
        axis = matrix.axes[matrix.loops.index(loop)]
        return memref.dim(self._given[matrix.value], index(axis))

    def _pack(self, rows: Mapping[int, ir.Value]) -> None:
        def pack() -> None:
            for number, product_ in enumerate((self._found.scores, self._found.values)):
                view = self._view(product_, product_.right, self._given[product_.right.value], rows)
                self._pack_panels(product_.packing, view, self._panels[number])

        if self._is_single is None:
            pack()
        else:
            if_else(self._is_single, lambda: None, pack)

    def _pack_panels(self, plan: ContractionPlan, right: ir.Value, panels: _Panels) -> None:
        nest = LoopNest(plan, [right] * 3)
        packing = PanelPacking(nest, plan, panels.buffer)
        columns, width = nest.size(plan.columns), index(plan.tile.columns)
        rows_of_lanes = arith.divui(panels.rows, index(plan.summed_in_lane))

        def panel(number: ir.Value) -> list[ir.Value]:
            column = arith.muli(number, width)
            packing.pack(index(0), column, arith.muli(column, rows_of_lanes))
            return []

        for_each(index(0), arith.ceildivui(columns, width), 1, panel)

    def _build_scores(self, block: RowBlock) -> None:
        found = self._found
        product_ = found.scores
        left = self._view(
            product_, product_.left, self._given[product_.left.value], block.rows, block
        )
        out = _rows_of(block.buffers[product_.contraction.results[0]], block)
        self._multiply(0, product_, (left, out), block, None)

    def _multiply(
        self,
        number: int,
        product_: _Product,
        matrices: tuple[ir.Value, ir.Value],
        block: RowBlock,
        epilogue: Epilogue | None,
    ) -> None:
        """Builds a block's product by panels, or by the operand itself if there is one query."""
        left, out = matrices

        def by_panels() -> None:
            scratch, panels = self._scratch[number], self._panels[number]
            arguments = [left, panels.buffer, out]
            # Those of values are of all keys, be there more than are seen.
            if isinstance(scratch, AmxScratch):
                build_amx_tiles(
                    product_.plan, arguments, self._type, epilogue, scratch, panels.rows
                )
            else:
                build_register_tiles(
                    product_.plan, arguments, self._type, epilogue, scratch, panels.rows
                )

        def in_place() -> None:
            given = self._given[product_.right.value]
            right = self._view(product_, product_.right, given, block.rows)
            arguments, plan = [left, right, out], product_.single
            assert plan is not None
            if plan.strategy is Strategy.DOT_PRODUCTS:
                build_dot_products(plan, arguments, self._type, epilogue)
            else:
                scratch = self._of_single[number]
                build_register_tiles(plan, arguments, self._type, epilogue, scratch)

        if self._is_single is None:
            by_panels()
        else:
            if_else(self._is_single, in_place, by_panels)

    def _build_values(self, block: RowBlock) -> None:
        found = self._found
        product_, root = found.values, found.group.root
        left = _rows_of(block.buffers[product_.left.value], block)
        out = self._view(product_, found.result, self._output, block.rows, block)

        def evaluation(place: Place, known: Mapping[ir.Value, ir.Value]) -> VectorEvaluation:
            along = root.result_loops(0)
            assert along is not None
            query, column = (along[axis] for axis in found.result.axes)
            at = {loop: index(0) for loop in range(len(root.reduces))} | dict(block.rows)
            at[query] = arith.addi(block.first, place.index(0))
            at[column] = place.index(1)
            return VectorEvaluation(
                found.group, root, self._given, at, lanes(found), place.mask, known
            )

        (sums,) = product_.contraction.results

        def finish(value: ir.Value, place: Place) -> ir.Value:
            return evaluation(place, {sums: value}).result()

        epilogue = None if root is product_.contraction else Epilogue(finish)
        self._multiply(1, product_, (left, out), block, epilogue)

    def _view(
        self,
        product_: _Product,
        matrix: _Matrix,
        buffer: ir.Value,
        rows: Mapping[int, ir.Value],
        block: RowBlock | None = None,
    ) -> ir.Value:
        """A matrix for one turn of the outer rows; of a block, only its queries."""
        at = {loop: index(0) for loop in range(len(product_.contraction.reduces))}
        at |= {loop: rows[row] for row, loop in product_.rows.items()}
        metadata = memref.ExtractStridedMetadataOp(buffer).results
        rank = len(matrix.places)
        sizes, strides = list(metadata[2 : 2 + rank]), list(metadata[2 + rank : 2 + 2 * rank])
        offset = metadata[1]
        shape = []
        for axis, place in enumerate(matrix.places):
            if axis not in matrix.axes:
                moved = arith.muli(index_value(place, at), strides[axis])
                offset = arith.addi(offset, moved)
            elif block is not None and matrix.loops[matrix.axes.index(axis)] == _QUERY:
                offset = arith.addi(offset, arith.muli(block.first, strides[axis]))
                shape.append(block.size)
            else:
                shape.append(sizes[axis])
        return _matrix_view(metadata[0], offset, shape, [strides[axis] for axis in matrix.axes])


def _rows_of(buffer: ir.Value, block: RowBlock) -> ir.Value:
    """The rows of a block in its buffer, as far as they go."""
    metadata = memref.ExtractStridedMetadataOp(buffer).results
    length = metadata[3] if block.length is None else block.length
    return _matrix_view(metadata[0], metadata[1], [block.size, length], list(metadata[4:6]))


def _matrix_view(
    base: ir.Value, offset: ir.Value, sizes: Sequence[ir.Value], strides: Sequence[ir.Value]
) -> ir.Value:
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    layout = ir.StridedLayoutAttr.get_fully_dynamic(2)
    type_ = ir.MemRefType.get([DYNAMIC] * 2, ir.MemRefType(base.type).element_type, layout)
    return memref.ReinterpretCastOp(
        type_, base, [offset], sizes, strides, [dynamic], [DYNAMIC] * 2, [dynamic] * 2
    ).result
