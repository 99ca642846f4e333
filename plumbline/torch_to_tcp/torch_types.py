"""What the types of the Torch dialect say, which the bindings give as text only."""

import re
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.element_type import ELEMENT_TYPES, from_torch_dialect

_TENSOR = re.compile(r"!torch\.vtensor<\[([^\]]*)\],([a-z0-9]+)>")

_DTYPES = tuple(known.torch_dialect for known in ELEMENT_TYPES)
_FLOATS = tuple(dtype for dtype in _DTYPES if "f" in dtype)

DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class TorchTensorType:
    """A tensor type with known rank, its dtype spelled as the Torch dialect does ("si64")."""

    sizes: tuple[int, ...]
    """DYNAMIC where the size is not known before run time."""
    dtype: str

    @classmethod
    def parse(cls, type_: ir.Type) -> "TorchTensorType | None":
        """The description of `type_`, or None if it is not such a tensor of numbers."""
        match = _TENSOR.fullmatch(str(type_))
        if match is None or match[2] not in _DTYPES:
            return None
        sizes = match[1].split(",") if match[1] else []
        return cls(tuple(DYNAMIC if size == "?" else int(size) for size in sizes), match[2])

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.sizes)

    def builtin(self) -> ir.RankedTensorType:
        """The builtin type that carries it, whose integers have no sign."""
        return ir.RankedTensorType.get(self.sizes, element_type(self.dtype))


def element_type(dtype: str) -> ir.Type:
    """The builtin element type for a dtype."""
    return ir.Type.parse(from_torch_dialect(dtype).mlir)


def computed_in(dtype: str) -> str:
    """What PyTorch computes functions of a dtype in: f32 for half precision, else the dtype."""
    return "f32" if dtype in ("f16", "bf16") else dtype


def summed_in(dtype: str) -> str:
    """What PyTorch sums a dtype in on a CPU (ATen/AccumulateType.h).

    Where it sums f32 in f32, it does so in a tree, to the same end: the error does not grow with
    the count.
    """
    return "f64" if dtype == "f32" else computed_in(dtype)


def is_float(dtype: str) -> bool:
    """Whether a dtype is one of the floating-point types."""
    return dtype in _FLOATS


def is_bool(dtype: str) -> bool:
    """Whether a dtype is bool."""
    return dtype == "i1"


def signedness(dtype: str) -> str | None:
    """How TCP names the sign of an integer dtype; None for floats."""
    if is_float(dtype):
        return None
    return {"s": "Signed", "u": "Unsigned", "i": "Signless"}[dtype[0]]


def promote(first: TorchTensorType, second: TorchTensorType) -> str:
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


def promote_number(type_: TorchTensorType, number: int | float) -> str:
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
        return max(first, second, key=lambda dtype: int(dtype.strip("bf")))
    if first[0] == second[0]:
        return max(first, second, key=lambda dtype: int(dtype[2:]))
    signed, unsigned = (first, second) if first[0] == "s" else (second, first)
    # The smallest signed type that holds both; PyTorch stops at 64 bits.
    return f"si{max(int(signed[2:]), min(2 * int(unsigned[2:]), 64))}"


def _category(dtype: str) -> int:
    return 2 if is_float(dtype) else 0 if is_bool(dtype) else 1
