"""Goes through a module and puts parts in the place of complex numbers, op by op.

At the boundary of a function the parts lie beside each other, as C, C++, numpy and PyTorch keep
them: there the tensor has one dimension more, the last, whose size is 2, and the function's
signature says that it is of complex numbers. Inside, the parts are tensors of their own. So all
later stages see real numbers, as they do in programs of PyTorch's
(`loader_to_torch/real_parts.py`).

What has no rule stays as it is, between casts to and from parts, for a verifier to report.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects import tensor as tensor_dialect
from torch_mlir.rewrite import RewritePatternSet, apply_patterns_and_fold_greedily

from plumbline.bindings.pipeline import PassFailure
from plumbline.bindings.walk import all_operations
from plumbline.errors.unsupported_ops import Unsupported
from plumbline.signature.name_attributes import is_known, note_names, noted_names
from plumbline.tcp.complex_numbers.parts import (
    CAST,
    Pair,
    dynamic_sizes,
    has_complex,
    is_complex,
    of_pairs,
    pairs_type,
    part_type,
    to_pairs,
    twice,
)

Replacement = Sequence[ir.Value | Pair]
"""For each result of an op what it becomes: pairs for complex ones."""

Rule = Callable[["Splitting", ir.Operation], Replacement]
"""Builds, before an op, what replaces its results.

Raises `Unsupported`, before it has built anything, for what it cannot express.
"""


class Splitting:
    """What has been split of a module so far."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self._rules = rules
        self._parts: dict[ir.Value, Pair] = {}

    def run(self, root: ir.Operation) -> bool:
        """Splits what is in the functions of a module; whether it holds complex numbers at all.

        Raises:
          PassFailure: one cannot be called with what it takes; that has been reported.
        """
        operations = all_operations(root)
        if not any(map(is_complex, _types(operations))):
            return False
        for function in [op for op in operations if op.name == "func.func"]:
            with function.location:
                self._split_function(function)
        # Reads constants, and clears away what stood for arguments.
        apply_patterns_and_fold_greedily(root, RewritePatternSet().freeze())
        return True

    # -- parts ---------------------------------------------------------------------------------

    def pair(self, value: ir.Value) -> Pair:
        """The parts of a value; of a real one, itself and zeros."""
        if value in self._parts:
            return self._parts[value]
        if is_complex(value.type):
            # Made by what has no rule.
            type_ = part_type(value.type)
            made = ir.Operation.create(CAST, results=[type_, type_], operands=[value])
            return made.results[0], made.results[1]
        zero = arith.constant(value.type.element_type, 0.0)
        return value, tensor_dialect.splat(value.type, zero, dynamic_sizes(value))

    def part(self, value: ir.Value, number: int) -> ir.Value:
        """One part of a complex value; a real one as it is."""
        return self.pair(value)[number] if is_complex(value.type) else value

    # -- boundaries ----------------------------------------------------------------------------

    def _split_function(self, function: ir.Operation) -> None:
        type_ = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        if any(map(is_complex, (*type_.inputs, *type_.results))):
            if not all(map(is_known, (*type_.inputs, *type_.results))):
                function.location.emit_error(
                    f"'func.func' op has type {type_}: beside complex numbers, which are tensors "
                    "of complex<f32> or complex<f64>, a function takes and returns ranked tensors "
                    "of integers or floats"
                )
                raise PassFailure
            names = noted_names(function.opview)
            inputs, results = (
                list(map(pairs_type, types)) for types in (type_.inputs, type_.results)
            )
            function.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get(inputs, results)
            )
            note_names(function.opview, names)
        for number, block in enumerate(list(function.regions[0].blocks)):
            if number == 0:
                with ir.InsertionPoint.at_block_begin(block):
                    for argument in block.arguments:
                        self._take_argument(argument)
            self._split_block(block)

    def _take_argument(self, argument: ir.Value) -> None:
        """Has an argument of a function be pairs; its uses are of what it was."""
        old = argument.type
        if not is_complex(old):
            return
        uses = list(argument.uses)
        argument.set_type(pairs_type(old))
        # Stands for the argument of old, until all that uses it is split.
        stand_in = ir.Operation.create(CAST, results=[old], operands=[argument]).result
        for use in uses:
            use.owner.operands[use.operand_number] = stand_in
        self._parts[stand_in] = of_pairs(argument)

    def _split_block(self, block: ir.Block) -> None:
        replaced: list[ir.Operation] = []
        for view in list(block.operations):
            op = view.operation
            if op.name == CAST or not has_complex(op):
                # In a body of linalg, numbers may be complex.
                for region in () if op.name.startswith("linalg.") else op.regions:
                    for inner in region.blocks:
                        self._split_block(inner)
                continue
            with ir.InsertionPoint(op), op.location:
                if self._split(op):
                    replaced.append(op)
        for op in reversed(replaced):
            op.erase()

    def _split(self, op: ir.Operation) -> bool:
        """Builds what an op stands for; whether that can be done."""
        rule = self._rules.get(op.name)
        try:
            if rule is None:
                raise Unsupported("there is no rule")
            made = rule(self, op)
        except Unsupported:
            for number, operand in enumerate(op.operands):
                if operand in self._parts:
                    joined = ir.Operation.create(
                        CAST, results=[operand.type], operands=[*self._parts[operand]]
                    )
                    op.operands[number] = joined.result
            return False
        for old, new in zip(op.results, made, strict=True):
            if isinstance(new, tuple):
                self._parts[old] = new
            else:
                old.replace_all_uses_with(new)
        return True

    # -- rules ---------------------------------------------------------------------------------

    def move(self, op: ir.Operation) -> Replacement:
        """Does to each part what an op does to complex numbers, by an op of the same name."""
        if op.regions and not all(map(_is_linear, op.regions)):
            raise Unsupported("its body does more with complex numbers than add them")
        real = self._moved(op, 0)
        if not any(is_complex(result.type) for result in op.results):
            return [*real.results]
        imaginary = self._moved(op, 1)
        return [
            pair if is_complex(old.type) else pair[0]
            for old, pair in zip(
                op.results, zip(real.results, imaginary.results, strict=True), strict=True
            )
        ]

    def _moved(self, op: ir.Operation, number: int) -> ir.Operation:
        made = ir.Operation.create(
            op.name,
            results=[part_type(result.type) for result in op.results],
            operands=[self.part(operand, number) for operand in op.operands],
            attributes={named: op.attributes[named] for named in op.attributes},
            regions=len(op.regions),
        )
        for source, target in zip(op.regions, made.regions, strict=True):
            _copy_linear(source.blocks[0], target)
        return made

    def flatten(self, op: ir.Operation) -> Replacement:
        """An op that hands values on, also to its regions, with both parts of complex ones."""
        types = [
            type_ for result in op.results for type_ in twice(result.type, part_type(result.type))
        ]
        made = ir.Operation.create(
            op.name,
            results=types,
            operands=self.flat(op.operands),
            attributes={named: op.attributes[named] for named in op.attributes},
            regions=len(op.regions),
        )
        for source, target in zip(op.regions, made.regions, strict=True):
            for block in list(source.blocks):
                block.append_to(target)
                self._flatten_arguments(block)
                self._split_block(block)
        results = iter(made.results)
        return [
            (next(results), next(results)) if is_complex(old.type) else next(results)
            for old in op.results
        ]

    def flat(self, values: Iterable[ir.Value]) -> list[ir.Value]:
        """Both parts of complex values, one after the other, among real ones."""
        return [
            part
            for value in values
            for part in (self.pair(value) if is_complex(value.type) else (value,))
        ]

    def _flatten_arguments(self, block: ir.Block) -> None:
        """Gives a block an argument for each part, in the place of what they are parts of."""
        old = list(block.arguments)
        if not any(is_complex(argument.type) for argument in old):
            return
        with ir.InsertionPoint.at_block_begin(block):
            for argument in old:
                made = [
                    block.add_argument(type_, argument.location)
                    for type_ in twice(argument.type, part_type(argument.type))
                ]
                if len(made) == 1:
                    argument.replace_all_uses_with(made[0])
                    continue
                stand_in = ir.Operation.create(CAST, results=[argument.type], operands=made).result
                argument.replace_all_uses_with(stand_in)
                self._parts[stand_in] = made[0], made[1]
        for number in reversed(range(len(old))):
            block.erase_argument(number)

    def as_pairs(self, op: ir.Operation) -> Replacement:
        """A call of a function, or a return from one, with pairs."""
        made = ir.Operation.create(
            op.name,
            results=[pairs_type(result.type) for result in op.results],
            operands=[
                to_pairs(self.pair(operand)) if is_complex(operand.type) else operand
                for operand in op.operands
            ],
            attributes={named: op.attributes[named] for named in op.attributes},
        )
        return [
            of_pairs(new) if is_complex(old.type) else new
            for old, new in zip(op.results, made.results, strict=True)
        ]


def _types(operations: Iterable[ir.Operation]) -> set[ir.Type]:
    """The types of all values that operations make, and that their blocks are given."""
    types: set[ir.Type] = set()
    for op in operations:
        types.update(result.type for result in op.results)
        for region in op.regions:
            for block in region.blocks:
                types.update(argument.type for argument in block.arguments)
    return types


def _is_linear(region: ir.Region) -> bool:
    """Whether a body, of one block, does to complex numbers what it does to each of their parts."""
    blocks = list(region.blocks)
    names = [op.operation.name for block in blocks for op in block.operations]
    return len(blocks) == 1 and set(names) <= _LINEAR


_LINEAR = frozenset(["stablehlo.add", "stablehlo.return"])


def _copy_linear(source: ir.Block, target: ir.Region) -> None:
    """Copies a body for parts."""
    types = [part_type(argument.type) for argument in source.arguments]
    places = [argument.location for argument in source.arguments]
    block = target.blocks.append(*types, arg_locs=places)
    known = dict(zip(source.arguments, block.arguments, strict=True))
    with ir.InsertionPoint(block):
        for view in source.operations:
            op = view.operation
            made = ir.Operation.create(
                op.name,
                results=[part_type(result.type) for result in op.results],
                operands=[known[operand] for operand in op.operands],
                attributes={named: op.attributes[named] for named in op.attributes},
                loc=op.location,
            )
            known |= dict(zip(op.results, made.results, strict=True))
