"""What follows a contraction in its group: it is done to each sum, when that is complete."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_gpu.element_runs import (
    Read,
    common_length,
    load_run,
    runs_of,
    store_run,
)
from plumbline.linalg_to_kernels.building import FlatView, index
from plumbline.linalg_to_kernels.computations import Computation, Indices
from plumbline.linalg_to_kernels.contraction_groups import starts_from_zero
from plumbline.linalg_to_kernels.evaluation import Evaluation, index_value
from plumbline.linalg_to_kernels.group import Group

Values = Mapping[ir.Value, ir.Value]


class Epilogue:
    """What a group does to a sum of its contraction, element by element.

    Args:
      group: the root takes each sum once, or is the contraction.
      contraction: what is summed up.
      axes: for each axis of the root's result the loop of the contraction along it.
      given: for each argument of the group's function a buffer or a scalar.
      output: the buffer that takes the result.
    """

    def __init__(
        self,
        group: Group,
        contraction: Computation,
        axes: tuple[int | None, ...],
        given: Values,
        output: ir.Value,
    ) -> None:
        self._group, self._contraction, self._axes = group, contraction, axes
        self._given, self._output = given, output
        self._from_zero = starts_from_zero(contraction)

    def run_length(self, loop: int) -> int:
        """How many sums next to one another along a loop of the contraction are taken at once."""
        if not self._axes or self._axes[-1] != loop:
            return 1
        reads = [source for source, _ in self._runs]
        values = [*self._group.root.results, *reads]
        types = [ir.RankedTensorType(value.type).element_type for value in values]
        return common_length(types, self._contraction.sizes[loop])

    def store(self, values: Sequence[ir.Value], loops: Mapping[int, ir.Value]) -> None:
        """Stores what becomes of sums, by the loops of the contraction.

        Args:
          values: one, or `run_length` of them, next to one another along the last axis.
          loops: where the first of them is.
        """
        zero = index(0)
        places = [zero if loop is None else loops.get(loop, zero) for loop in self._axes]
        count = len(values)
        if count == 1:
            memref.store(self._result(values[0], loops, {}), self._output, places)
            return
        last = self._axes[-1]
        assert last is not None
        own = self._own(loops)
        runs = {
            (source, indices): load_run(
                FlatView(self._given[source]), [index_value(at, own) for at in indices], count
            )
            for source, indices in self._runs
        }
        results = []
        for lane, value in enumerate(values):
            there = {**loops, last: arith.addi(loops[last], index(lane))}
            known = {read: run[lane] for read, run in runs.items()}
            results.append(self._result(value, there, known))
        store_run(FlatView(self._output), places, results)

    @property
    def _runs(self) -> list[Read]:
        """What the root reads that is contiguous along the last axis of its result."""
        root, axes = self._group.root, self._group.root.result_loops(0)
        if root is self._contraction or not axes:
            return []
        return runs_of(self._group, root, axes[-1])

    def _result(
        self, value: ir.Value, loops: Mapping[int, ir.Value], known: Mapping[Read, ir.Value]
    ) -> ir.Value:
        """What becomes of the sum at a place, where some elements are known."""
        contraction, root = self._contraction, self._group.root
        if not self._from_zero:
            evaluation = self._evaluation(contraction, loops, value)
            init = converted(evaluation.init(contraction, 0, contraction.loops), value.type)
            is_float = isinstance(value.type, ir.FloatType)
            value = arith.addf(value, init) if is_float else arith.addi(value, init)
        value = converted(value, ir.RankedTensorType(contraction.results[0].type).element_type)
        if root is contraction:
            return value
        evaluation = self._evaluation(root, self._own(loops), value)
        for read, element in known.items():
            evaluation.know(*read, element)
        inits = evaluation.needed_inits(root, root.loops)
        (result,) = evaluation.results(root, root.loops, inits)
        return result

    def _own(self, loops: Mapping[int, ir.Value]) -> dict[int, ir.Value]:
        """The root's loops by those of the contraction."""
        along = self._group.root.result_loops(0)
        assert along is not None
        zero = index(0)
        own = dict.fromkeys(range(len(self._group.root.reduces)), zero)
        for loop, other in zip(along, self._axes, strict=True):
            own[loop] = zero if other is None else loops.get(other, zero)
        return own

    def _evaluation(
        self, step: Computation, loops: Mapping[int, ir.Value], value: ir.Value
    ) -> Evaluation:
        def load(producer: Computation, source: ir.Value, indices: Indices) -> ir.Value:
            return value

        evaluation = Evaluation(self._group, step, self._given, load)
        evaluation.loops = dict.fromkeys(range(len(step.reduces)), index(0)) | dict(loops)
        return evaluation


def converted(value: ir.Value, type_: ir.Type) -> ir.Value:
    """A float of another width."""
    if value.type == type_:
        return value
    convert = arith.extf if value.type.width < type_.width else arith.truncf
    return convert(type_, value)


def scaled(value: ir.Value, factor: float) -> ir.Value:
    """A sum of products, multiplied by what was taken out of these."""
    if factor == 1.0:
        return value
    return arith.mulf(value, arith.constant(value.type, factor))
