"""What follows a contraction in its group: it is done to each sum, when that is complete."""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from plumbline.linalg_to_kernels.building import index
from plumbline.linalg_to_kernels.computations import Computation, Indices
from plumbline.linalg_to_kernels.contraction_groups import starts_from_zero
from plumbline.linalg_to_kernels.evaluation import Evaluation
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

    def store(self, value: ir.Value, loops: Mapping[int, ir.Value]) -> None:
        """Stores what becomes of the sum at a place, by the loops of the contraction."""
        contraction, root = self._contraction, self._group.root
        if not self._from_zero:
            evaluation = self._evaluation(contraction, loops, value)
            init = converted(evaluation.init(contraction, 0, contraction.loops), value.type)
            is_float = isinstance(value.type, ir.FloatType)
            value = arith.addf(value, init) if is_float else arith.addi(value, init)
        value = converted(value, ir.RankedTensorType(contraction.results[0].type).element_type)
        zero = index(0)
        if root is not contraction:
            along = root.result_loops(0)
            assert along is not None
            own = {
                loop: zero if other is None else loops.get(other, zero)
                for loop, other in zip(along, self._axes, strict=True)
            }
            evaluation = self._evaluation(root, own, value)
            inits = evaluation.needed_inits(root, root.loops)
            (value,) = evaluation.results(root, root.loops, inits)
        places = [zero if loop is None else loops.get(loop, zero) for loop in self._axes]
        memref.store(value, self._output, places)

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
