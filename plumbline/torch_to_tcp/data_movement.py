"""Ops that make tensors, or place the elements of tensors anew."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from plumbline.errors.unsupported_ops import Unsupported
from plumbline.tcp.building import sizes as size_arithmetic
from plumbline.tcp.building.data_movement import (
    concatenate,
    insert,
    iota,
    pad,
    reverse,
    slice_along,
    transpose,
)
from plumbline.tcp.building.reshape import reshape
from plumbline.tcp.building.shapes import broadcast, broadcast_to, cast, from_size, scalar
from plumbline.tcp.building.sizes import Size, divide_up, greatest, least, subtract, value
from plumbline.tcp.building.tensors import Tensor
from plumbline.tcp.ops import data_movement as tcp
from plumbline.tcp.ops.elementwise import AddOp, MulOp
from plumbline.tcp.shapes import DYNAMIC
from plumbline.torch_to_tcp.pattern import (
    Patterns,
    axis,
    integer,
    items,
    number,
    tensor,
    tensor_type,
)
from plumbline.torch_to_tcp.run_time_numbers import (
    evaluate,
    is_place_of_round,
    run_time_number,
)

_INT64_MAX = 2**63 - 1


# -- making ----------------------------------------------------------------------------------------


def convert_vtensor_literal(op: ir.OpView) -> ir.Value:
    """A literal tensor; its integers lose their sign, as builtin tensors carry none."""
    type_ = tensor_type(op.result).builtin()
    if "value" not in op.attributes:
        # A `torch.operator` may say that it is one, and holds nothing but that name.
        raise Unsupported("one without its value")
    literal = op.attributes["value"]
    if literal.type != type_:
        if not isinstance(literal, ir.DenseElementsAttr):
            # torch-mlir's own conversion can: the bindings have no way to a resource's bytes.
            raise Unsupported("integers that are kept in a resource")
        elements, _, _ = str(literal).rpartition(" : ")
        literal = ir.Attribute.parse(f"{elements} : {type_}")
    return tcp.ConstOp(value=literal).out


def convert_prim_num_to_tensor(op: ir.OpView) -> ir.Value:
    """A number as a tensor of rank 0."""
    type_ = tensor_type(op.result)
    return cast(run_time_number(op.operands[0]), type_.dtype).value


def convert_aten_empty(op: ir.OpView) -> ir.Value:
    """Elements that nobody should read, and which are 0 for those who do."""
    sizes = [evaluate(size) for size in items(op.operands[0])]
    return _filled(0, tensor_type(op.result).dtype, sizes).value


def _filled(constant: int | float, dtype: str, sizes: Sequence[Size]) -> Tensor:
    return broadcast_to(scalar(constant, dtype), sizes)


def convert_aten_arange(op: ir.OpView) -> ir.Value:
    """start, start + step, ... as long as it is below end, or above it for a negative step."""
    dtype = tensor_type(op.result).dtype
    start, end, step = list(op.operands)[:3]
    if not _is_whole(start, end, step):
        return _float_range(op).value
    stride = integer(step)
    first, last = evaluate(start), evaluate(end)
    distance = subtract(last, first) if stride > 0 else subtract(first, last)
    places = iota([greatest(divide_up(distance, abs(stride)), 0)], 0, "si64")
    if stride != 1:
        places = _times(places, scalar(stride, "si64"))
    if first != 0:
        places = _plus(places, from_size(first))
    return cast(places, dtype).value


def _is_whole(*numbers: ir.Value) -> bool:
    return all(str(number_.type) == "!torch.int" for number_ in numbers)


def _float_range(op: ir.OpView) -> Tensor:
    # In double precision, as in PyTorch, which its own export has counted the elements in too.
    type_ = tensor_type(op.result)
    start, _, step = (number(operand) or 0 for operand in list(op.operands)[:3])
    if type_.sizes[0] == DYNAMIC:
        raise Unsupported("a range of floats whose length is computed at run time")
    places = cast(iota(type_.sizes, 0, "si64"), "f64")
    stepped = _times(places, scalar(step, "f64"))
    return cast(_plus(stepped, scalar(start, "f64")), type_.dtype)


def _times(left: Tensor, right: Tensor) -> Tensor:
    right = broadcast(right, (left,), left.type.sizes)
    return Tensor(MulOp(left.value, right.value).out, left.type)


def _plus(left: Tensor, right: Tensor) -> Tensor:
    right = broadcast(right, (left,), left.type.sizes)
    return Tensor(AddOp(left.value, right.value).out, left.type)


# -- shapes ----------------------------------------------------------------------------------------


def convert_aten_view(op: ir.OpView) -> ir.Value:
    """The same elements in other dimensions, one of which may be -1: as many as are left."""
    requested = [evaluate(size) for size in items(op.operands[1])]
    known = tensor_type(op.result).sizes
    sizes = [
        have if have != DYNAMIC else None if want == -1 else want
        for want, have in zip(requested, known, strict=True)
    ]
    return reshape(tensor(op.operands[0]), sizes).value


def convert_aten_unsqueeze(op: ir.OpView) -> ir.Value:
    """One more dimension, of size 1."""
    operand = tensor(op.operands[0])
    sizes = size_arithmetic.all_of(operand)
    sizes.insert(axis(op.operands[1], operand.type.rank + 1), 1)
    return reshape(operand, sizes).value


def convert_aten_squeeze_dim(op: ir.OpView) -> ir.Value:
    """One dimension less, if its size is 1."""
    operand = tensor(op.operands[0])
    dropped = axis(op.operands[1], operand.type.rank)
    if tensor_type(op.result).rank == operand.type.rank:
        return operand.value
    return _squeeze(operand, [dropped]).value


def convert_aten_squeeze(op: ir.OpView) -> ir.Value:
    """All dimensions of size 1 less."""
    operand = tensor(op.operands[0])
    return _squeeze(operand, [a for a, size in enumerate(operand.type.sizes) if size == 1]).value


def _squeeze(operand: Tensor, dropped: Sequence[int]) -> Tensor:
    sizes = size_arithmetic.all_of(operand)
    return reshape(operand, [size for a, size in enumerate(sizes) if a not in dropped])


def convert_aten_expand(op: ir.OpView) -> ir.Value:
    """Dimensions of size 1 repeated, and new ones in front; -1 leaves a dimension as it is."""
    operand = tensor(op.operands[0])
    requested = [evaluate(size) for size in items(op.operands[1])]
    known = tensor_type(op.result).sizes
    sizes: list[Size] = []
    for place, (want, have) in enumerate(zip(requested, known, strict=True)):
        own = place - (len(known) - operand.type.rank)
        if have != DYNAMIC:
            sizes.append(have)
        elif want == -1:
            sizes.append(size_arithmetic.of(operand, own))
        else:
            sizes.append(want)
    return broadcast_to(operand, sizes).value


# -- order -----------------------------------------------------------------------------------------


def convert_aten_permute(op: ir.OpView) -> ir.Value:
    """The dimensions in the order given."""
    operand = tensor(op.operands[0])
    order = [axis(dim, operand.type.rank) for dim in items(op.operands[1])]
    return transpose(operand, order).value


def convert_aten_transpose(op: ir.OpView) -> ir.Value:
    """Two dimensions swapped."""
    operand = tensor(op.operands[0])
    order = list(range(operand.type.rank))
    if order:
        first, second = (axis(dim, len(order)) for dim in list(op.operands)[1:])
        order[first], order[second] = second, first
    return transpose(operand, order).value


def convert_aten_t(op: ir.OpView) -> ir.Value:
    """The dimensions of a matrix swapped; what is no matrix stays."""
    operand = tensor(op.operands[0])
    return transpose(operand, list(reversed(range(operand.type.rank)))).value


def convert_aten_flip(op: ir.OpView) -> ir.Value:
    """The order of elements turned along some dimensions."""
    operand = tensor(op.operands[0])
    axes = {axis(dim, operand.type.rank) for dim in items(op.operands[1])}
    return (reverse(operand, sorted(axes)) if operand.type.rank else operand).value


# -- parts -----------------------------------------------------------------------------------------


def _bounds(sliced: ir.Value, dim: int, start: ir.Value, end: ir.Value) -> tuple[Size, Size]:
    """Start and length of a Python slice, which counts from the end below 0, within the size."""
    if is_place_of_round(start, end, sliced, dim):
        return evaluate(start), 1
    operand = tensor(sliced)
    whole = size_arithmetic.of(operand, dim)
    begin = 0 if _is_none(start) else _clip(evaluate(start), whole)
    stop = whole if _is_none(end) else _clip(evaluate(end), whole)
    return begin, greatest(subtract(stop, begin), 0) if stop != begin else 0


def _is_none(value_: ir.Value) -> bool:
    return str(value_.type) == "!torch.none"


def _clip(place: Size, whole: Size) -> Size:
    if isinstance(place, int):
        if place == _INT64_MAX:
            return whole
        if place >= 0:
            return 0 if place == 0 else least(place, whole)
        return greatest(size_arithmetic.add(whole, place), 0)
    negative = arith.cmpi(arith.CmpIPredicate.slt, place, value(0))
    from_end = arith.select(negative, value(size_arithmetic.add(place, whole)), place)
    return greatest(least(from_end, whole), 0)


def convert_aten_slice(op: ir.OpView) -> ir.Value:
    """A Python slice along one dimension."""
    operand = tensor(op.operands[0])
    dim = axis(op.operands[1], operand.type.rank)
    stride = integer(op.operands[4])
    start, length = _bounds(op.operands[0], dim, op.operands[2], op.operands[3])
    return slice_along(
        operand, dim, start, _known(op, dim, divide_up(length, stride)), stride
    ).value


def _known(op: ir.OpView, dim: int, computed: Size) -> Size:
    """A size of the result: as its type has it where it does, as computed elsewhere."""
    size = tensor_type(op.result).sizes[dim]
    return computed if size == DYNAMIC else size


def convert_aten_slice_scatter(op: ir.OpView) -> ir.Value:
    """A tensor with another one in the place of a slice."""
    operand, source = tensor(op.operands[0]), tensor(op.operands[1])
    dim = axis(op.operands[2], operand.type.rank)
    stride = integer(op.operands[5])
    start, length = _bounds(op.operands[0], dim, op.operands[3], op.operands[4])
    sizes = size_arithmetic.all_of(operand)
    sizes[dim] = divide_up(length, stride)
    source = broadcast_to(cast(source, operand.type.dtype), sizes)
    starts: list[Size] = [0] * len(sizes)
    strides = [1] * len(sizes)
    starts[dim], strides[dim] = start, stride
    return insert(source, operand, starts, strides).value


def convert_aten_select(op: ir.OpView) -> ir.Value:
    """One place along a dimension, without that dimension."""
    operand = tensor(op.operands[0])
    dim = axis(op.operands[1], operand.type.rank)
    place = integer(op.operands[2])
    whole = size_arithmetic.of(operand, dim)
    start = size_arithmetic.add(whole, place) if place < 0 else place
    return _squeeze(slice_along(operand, dim, start, 1), [dim]).value


def convert_prim_list_unpack(op: ir.OpView) -> Sequence[ir.Value]:
    """The tensors of a list that `split_with_sizes` makes, one after the other."""
    split = op.operands[0].owner
    if isinstance(split, ir.Block) or split.name != "torch.aten.split_with_sizes":
        raise Unsupported("a list of tensors of another origin than split_with_sizes")
    operand = tensor(split.operands[0])
    dim = axis(split.operands[2], operand.type.rank)
    start: Size = 0
    parts = []
    for size_value, result in zip(items(split.operands[1]), op.results, strict=True):
        known = tensor_type(result).sizes[dim]
        size = evaluate(size_value) if known == DYNAMIC else known
        parts.append(slice_along(operand, dim, start, size).value)
        start = size_arithmetic.add(start, size)
    return parts


# -- joining ---------------------------------------------------------------------------------------


def convert_aten_cat(op: ir.OpView) -> ir.Value:
    """Tensors one after the other; PyTorch lets empty ones of rank 1 join those of any rank."""
    result = tensor_type(op.result)
    dim = axis(op.operands[1], result.rank)
    types = [tensor_type(operand) for operand in items(op.operands[0])]
    if 0 in result.sizes and DYNAMIC not in result.sizes:
        # torch-mlir drops empty operands from the list, down to none.
        return _filled(0, result.dtype, result.sizes).value
    operands = [
        cast(tensor(operand), result.dtype)
        for operand, type_ in zip(items(op.operands[0]), types, strict=True)
        if type_.rank == result.rank
    ]
    return concatenate(operands, dim, result.sizes).value


def convert_aten_roll(op: ir.OpView) -> ir.Value:
    """The elements moved on by some places, those at the end coming in at the start."""
    operand = tensor(op.operands[0])
    shifts = [integer(shift) for shift in items(op.operands[1])]
    dims = [axis(dim, operand.type.rank) for dim in items(op.operands[2])]
    if dims:
        return _roll(operand, shifts, dims).value
    sizes = size_arithmetic.all_of(operand)
    return reshape(_roll(reshape(operand, [None]), shifts, [0]), sizes).value


def _roll(operand: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    for shift, dim in zip(shifts, dims, strict=True):
        whole = size_arithmetic.of(operand, dim)
        if isinstance(whole, int):
            first: Size = shift % max(whole, 1)
        else:
            # An empty dimension has no remainder to be taken by.
            divisor = value(greatest(whole, 1))
            turned = arith.remsi(value(shift), divisor)
            first = arith.remsi(arith.addi(turned, divisor), divisor)
        split = subtract(whole, first) if first != 0 else whole
        parts = [slice_along(operand, dim, split, first), slice_along(operand, dim, 0, split)]
        operand = concatenate(parts, dim, operand.type.sizes)
    return operand


def convert_aten_constant_pad(op: ir.OpView) -> ir.Value:
    """A constant before and after along the last dimensions; negative amounts cut off."""
    operand = tensor(op.operands[0])
    constant = number(op.operands[2]) or 0
    amounts = [evaluate(amount) for amount in items(op.operands[1])]
    low: list[Size] = [0] * operand.type.rank
    high: list[Size] = [0] * operand.type.rank
    for place in range(len(amounts) // 2):
        dim = operand.type.rank - 1 - place
        low[dim], high[dim] = amounts[2 * place], amounts[2 * place + 1]
    return pad(operand, scalar(constant, operand.type.dtype), low, high).value


PATTERNS: Patterns = {
    "torch.prim.ListUnpack": convert_prim_list_unpack,
    "torch.prim.NumToTensor.Scalar": convert_prim_num_to_tensor,
    "torch.aten.arange.start_step": convert_aten_arange,
    "torch.aten.broadcast_to": convert_aten_expand,
    "torch.aten.cat": convert_aten_cat,
    "torch.aten.constant_pad_nd": convert_aten_constant_pad,
    "torch.aten.empty.memory_format": convert_aten_empty,
    "torch.aten.expand": convert_aten_expand,
    "torch.aten.flip": convert_aten_flip,
    "torch.aten.permute": convert_aten_permute,
    "torch.aten.roll": convert_aten_roll,
    "torch.aten.select.int": convert_aten_select,
    "torch.aten.slice.Tensor": convert_aten_slice,
    "torch.aten.slice_scatter": convert_aten_slice_scatter,
    "torch.aten.squeeze": convert_aten_squeeze,
    "torch.aten.squeeze.dim": convert_aten_squeeze_dim,
    "torch.aten.t": convert_aten_t,
    "torch.aten.transpose.int": convert_aten_transpose,
    "torch.aten.unsqueeze": convert_aten_unsqueeze,
    "torch.aten.view": convert_aten_view,
    "torch.vtensor.literal": convert_vtensor_literal,
}
