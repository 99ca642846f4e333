"""Another buffer in place of one, with views of it as there were of that."""

from torch_mlir import ir
from torch_mlir.dialects import memref

from plumbline.linalg_to_kernels.computations import DYNAMIC


def replace_buffer(old: ir.Value, new: ir.Value) -> None:
    """Has all that use a buffer use another one, whose elements lie elsewhere."""
    for use in list(old.uses):
        user = use.owner.operation
        if user.name == "memref.cast":
            if _tells_more(user.results[0].type, new.type):
                replace_buffer(user.results[0], new)
            else:
                with ir.InsertionPoint(user), user.location:
                    cast = memref.cast(user.results[0].type, new)
                user.results[0].replace_all_uses_with(cast)
            user.erase()
        elif user.name == "memref.subview":
            replace_part(user, new)
        else:
            user.operands[use.operand_number] = new


def _tells_more(cast: ir.Type, given: ir.Type) -> bool:
    """Whether the type of a cast tells of how elements lie what that of another buffer does not."""
    told, known = (_strides_and_offset(ir.MemRefType(type_)) for type_ in (cast, given))
    return any(number not in (DYNAMIC, other) for number, other in zip(told, known, strict=True))


def _strides_and_offset(type_: ir.MemRefType) -> list[int]:
    strides, offset = type_.get_strides_and_offset()
    return [*strides, offset]


def replace_part(part: ir.Operation, whole: ir.Value) -> None:
    """Has all that use a part of a buffer (a `memref.subview`) use that part of another one."""
    given, type_ = part.results[0].type, ir.MemRefType(whole.type)
    with ir.InsertionPoint(part), part.location:
        # Who depends on how elements lie is given what lies so, and is told so.
        keeps_type = part_type(part, type_) == given
        is_whole = _is_all(part, type_) and not keeps_type
        view = whole if is_whole else _subview(part, whole)
    replace_buffer(part.results[0], view)
    part.erase()


def _is_all(part: ir.Operation, whole: ir.MemRefType) -> bool:
    """Whether a part has all elements of a buffer of some type."""
    sizes, steps = (
        list(ir.DenseI64ArrayAttr(part.attributes[f"static_{name}"]))
        for name in ("sizes", "strides")
    )
    return whole.has_static_shape and sizes == list(whole.shape) and {*steps} <= {1}


def _subview(like: ir.Operation, buffer: ir.Value) -> ir.Value:
    """The part of a buffer that `like` gives of another one."""
    attributes = {name: like.attributes[name] for name in like.attributes}
    operands = [buffer, *list(like.operands)[1:]]
    type_ = part_type(like, ir.MemRefType(buffer.type))
    return ir.Operation.create(like.name, [type_], operands, attributes).result


def part_type(subview: ir.Operation, whole: ir.MemRefType) -> ir.MemRefType:
    """The type of the part of a buffer of some type that a `memref.subview` gives.

    As the op defines it, with as many axes as the whole has.
    """
    strides, offset = whole.get_strides_and_offset()
    offsets, steps = (
        list(ir.DenseI64ArrayAttr(subview.attributes[name]))
        for name in ("static_offsets", "static_strides")
    )
    moved = [_times(at, stride) for at, stride in zip(offsets, strides, strict=True)]
    start = DYNAMIC if DYNAMIC in (offset, *moved) else offset + sum(moved)
    apart = [_times(step, stride) for step, stride in zip(steps, strides, strict=True)]
    layout = ir.StridedLayoutAttr.get(start, apart)
    shape = ir.MemRefType(subview.results[0].type).shape
    return ir.MemRefType.get(shape, whole.element_type, layout, whole.memory_space)


def _times(number: int, stride: int) -> int:
    if number == 0:
        return 0
    return DYNAMIC if DYNAMIC in (number, stride) else number * stride
