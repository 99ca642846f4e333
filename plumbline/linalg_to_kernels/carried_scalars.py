"""Has loops carry numbers as numbers, not as tensors of rank 0.

A tensor that a loop carries becomes a buffer that is allocated in each round and released in the
next one. A number is in a register:

    scf.while (%count = %zero) : (tensor<i64>) -> tensor<i64>
    scf.while (%count = %0) : (i64) -> i64
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import tensor

from plumbline.bindings.walk import defining_operation, operations_of
from plumbline.linalg_to_kernels.work import LOOPS


def carry_scalars(module: ir.Operation) -> None:
    """Replaces each `scf.for` and `scf.while` of `module` that carries tensors of rank 0."""
    with module.context:
        # An inner loop first, as what is around it is built anew.
        for op in reversed(operations_of(module, "scf")):
            if op.name in LOOPS and any(_is_scalar(type_) for type_ in _carried_types(op)):
                _replace(op)


def _carried_types(loop: ir.Operation) -> list[ir.Type]:
    types = [argument.type for region in loop.regions for argument in region.blocks[0].arguments]
    return [*types, *(result.type for result in loop.results)]


def _replace(loop: ir.Operation) -> None:
    first = 3 if loop.name == "scf.for" else 0
    with ir.InsertionPoint(loop), loop.location:
        operands = [*list(loop.operands)[:first], *_numbers(list(loop.operands)[first:])]
    replacement = ir.Operation.create(
        loop.name,
        results=[_number_type(result.type) for result in loop.results],
        operands=operands,
        attributes={entry.name: entry.attr for entry in loop.attributes},
        regions=len(loop.regions),
        loc=loop.location,
        ip=ir.InsertionPoint(loop),
    )
    for region, new in zip(loop.regions, replacement.regions, strict=True):
        region.blocks[0].append_to(new)
        _take_numbers(new.blocks[0])
    with ir.InsertionPoint.after(replacement), loop.location:
        for result, number in zip(loop.results, replacement.results, strict=True):
            result.replace_all_uses_with(_as_tensor(number, result.type))
    loop.erase()


def _take_numbers(block: ir.Block) -> None:
    """Has a block take and hand on numbers for tensors of rank 0."""
    end = list(block.operations)[-1].operation
    first = 1 if end.name == "scf.condition" else 0
    start = next(iter(block.operations))
    for argument in block.arguments:
        if not _is_scalar(argument.type):
            continue
        type_ = argument.type
        argument.set_type(_number_type(type_))
        users = [(use.owner.operation, use.operand_number) for use in argument.uses]
        with ir.InsertionPoint(start), argument.location:
            made = _as_tensor(argument, type_)
        for user, place in users:
            user.operands[place] = made
    with ir.InsertionPoint(end), end.location:
        handed = _numbers(list(end.operands)[first:])
    for place, value in enumerate(handed, first):
        end.operands[place] = value


def _numbers(values: Sequence[ir.Value]) -> list[ir.Value]:
    return [_number(value) if _is_scalar(value.type) else value for value in values]


def _number(value: ir.Value) -> ir.Value:
    owner = defining_operation(value)
    if owner is not None and owner.name == "tensor.from_elements":
        return owner.operands[0]
    return tensor.extract(value, [])


def _as_tensor(number: ir.Value, type_: ir.Type) -> ir.Value:
    return tensor.from_elements(type_, [number]) if _is_scalar(type_) else number


def _number_type(type_: ir.Type) -> ir.Type:
    return ir.RankedTensorType(type_).element_type if _is_scalar(type_) else type_


def _is_scalar(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType) and type_.rank == 0
