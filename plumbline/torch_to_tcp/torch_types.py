"""What the types of the Torch dialect say, which the bindings give as text only."""

import re

from torch_mlir import ir

from plumbline.tcp.building.dtypes import DTYPES, bit_width, is_bool, is_float
from plumbline.tcp.building.tensors import TensorType
from plumbline.tcp.shapes import DYNAMIC

_TENSOR = re.compile(r"!torch\.vtensor<\[([^\]]*)\],([a-z0-9]+)>")


def parse_tensor_type(type_: ir.Type) -> TensorType | None:
    """The description of `type_`, or None if it is no tensor of numbers with known rank."""
    match = _TENSOR.fullmatch(str(type_))
    if match is None or match[2] not in DTYPES:
        return None
    sizes = match[1].split(",") if match[1] else []
    return TensorType(tuple(DYNAMIC if size == "?" else int(size) for size in sizes), match[2])


def promote(first: TensorType, second: TensorType) -> str:
    """The dtype that PyTorch computes in for two operands (`torch.result_type`).

    A tensor of rank 0 counts only by its category (bool, integer, float) beside a tensor of
    higher rank: torch documentation, "type promotion".
    """
    if _category(first.dtype) != _category(second.dtype) and (first.rank == 0) == (
        second.rank == 0
    ):
        return max(first.dtype, second.dtype, key=_category)
    if (first.rank == 0) != (second.rank == 0):
        scalar, tensor = (first, second) if first.rank == 0 else (second, first)
        if _category(scalar.dtype) <= _category(tensor.dtype):
            return tensor.dtype
        # A float of rank 0 beside integers counts as itself.
        return scalar.dtype
    return _promote_within_category(first.dtype, second.dtype)


def promote_number(type_: TensorType, number: int | float) -> str:
    """The dtype that PyTorch computes in for a tensor and a Python number.

    The number counts only if its category is above the tensor's; it then has the default dtype.
    """
    dtype = "i1" if isinstance(number, bool) else "si64" if isinstance(number, int) else "f32"
    return dtype if _category(dtype) > _category(type_.dtype) else type_.dtype


def _promote_within_category(first: str, second: str) -> str:
    if first == second:
        return first
    if is_float(first):
        # Neither half holds all of the other.
        if {first, second} == {"f16", "bf16"}:
            return "f32"
        return max(first, second, key=bit_width)
    if first[0] == second[0]:
        return max(first, second, key=bit_width)
    signed, unsigned = (first, second) if first[0] == "s" else (second, first)
    # The smallest signed type that holds both; PyTorch stops at 64 bits.
    return f"si{max(bit_width(signed), min(2 * bit_width(unsigned), 64))}"


def _category(dtype: str) -> int:
    return 2 if is_float(dtype) else 0 if is_bool(dtype) else 1
