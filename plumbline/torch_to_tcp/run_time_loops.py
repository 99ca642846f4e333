"""Loops over sizes and tensors, and branches by sizes, that lowerings build."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith, scf

from plumbline.tcp.building import sizes
from plumbline.tcp.building.sizes import Size
from plumbline.tcp.building.tensors import Tensor, TensorType


def is_equal(left: Size, right: Size) -> ir.Value:
    """Whether two sizes are the same, as a truth value."""
    return arith.cmpi(arith.CmpIPredicate.eq, sizes.value(left), sizes.value(right))


def is_less(left: Size, right: Size) -> ir.Value:
    """Whether a size is less than another, as a truth value."""
    return arith.cmpi(arith.CmpIPredicate.slt, sizes.value(left), sizes.value(right))


def is_multiple(number: Size, divisor: Size) -> ir.Value:
    """Whether a size is one of another, which is not 0, as a truth value."""
    remainder = arith.remui(sizes.value(number), sizes.value(divisor))
    return is_equal(remainder, 0)


def is_not(condition: ir.Value) -> ir.Value:
    """The other truth value."""
    return arith.xori(condition, arith.constant(condition.type, 1))


def chosen(condition: ir.Value, on_true: Size, on_false: Size) -> ir.Value:
    """One size or another."""
    return arith.select(condition, sizes.value(on_true), sizes.value(on_false))


def repeated(
    first: Sequence[Size],
    goes_on: Callable[..., ir.Value],
    turn: Callable[..., Sequence[Size]],
) -> list[ir.Value]:
    """What a loop makes of sizes, a turn at a time, for as long as it goes on."""
    types: list[ir.Type] = [ir.IndexType.get()] * len(first)
    loop = scf.WhileOp(types, sizes.values(first))
    locations = [ir.Location.current] * len(types)
    before = ir.Block.create_at_start(loop.before, types, locations)
    after = ir.Block.create_at_start(loop.after, types, locations)
    with ir.InsertionPoint(before):
        scf.ConditionOp(goes_on(*before.arguments), before.arguments)
    with ir.InsertionPoint(after):
        scf.YieldOp(sizes.values(turn(*after.arguments)))
    return [*loop.results]


def carried(
    count: Size, given: Tensor, turn: Callable[..., tuple[Tensor, *tuple[Size, ...]]], *first: Size
) -> Tensor:
    """What so many turns make of a tensor.

    A turn is told its number, the tensor, and sizes that are `first` in the first one; it gives the
    tensor and the sizes of the next one.
    """
    initial = [given.value, *sizes.values(first)]
    loop = scf.ForOp(sizes.value(0), sizes.value(count), sizes.value(1), initial)
    with ir.InsertionPoint(loop.body):
        before, *own = loop.inner_iter_args
        after, *following = turn(loop.induction_variable, Tensor(before, given.type), *own)
        scf.YieldOp([after.value, *sizes.values(following)])
    return Tensor(loop.results[0], given.type)


def one_of_two(
    condition: ir.Value,
    type_: TensorType,
    on_true: Callable[[], Tensor],
    on_false: Callable[[], Tensor],
) -> Tensor:
    """What one of two functions builds, both of that type, of which one is run."""
    branch = scf.IfOp(condition, [type_.builtin()], has_else=True)
    for block, build in ((branch.then_block, on_true), (branch.else_block, on_false)):
        with ir.InsertionPoint(block):
            scf.YieldOp([build().value])
    return Tensor(branch.results[0], type_)


def one_of_many(
    number: ir.Value,
    type_: TensorType,
    cases: Mapping[int, Callable[[], Tensor]],
    default: Callable[[], Tensor],
) -> Tensor:
    """The same of a function for each of some numbers, and one for all others."""
    # Not `scf.index_switch`: of branches alone buffers are known to be as large as each other.
    build = default
    for case, on_case in reversed([*cases.items()]):
        build = partial(one_of_two, is_equal(number, case), type_, on_case, build)
    return build()
