"""What is known of a dtype, spelled with its sign as MLIR can: "f32", "si64", "ui8", "i1"."""

from torch_mlir import ir

from plumbline.signature.element_type import ELEMENT_TYPES, from_mlir_signed

DTYPES = tuple(known.mlir_signed for known in ELEMENT_TYPES if known.is_computed_with)
_FLOATS = tuple(dtype for dtype in DTYPES if "f" in dtype)


def element_type(dtype: str) -> ir.Type:
    """The builtin element type for a dtype."""
    return ir.Type.parse(from_mlir_signed(dtype).mlir)


def is_float(dtype: str) -> bool:
    """Whether a dtype is one of the floating-point types."""
    return dtype in _FLOATS


def is_bool(dtype: str) -> bool:
    """Whether a dtype is bool."""
    return dtype == "i1"


def bit_width(dtype: str) -> int:
    """How many bits an element has; 1 for bool, though it is a byte in memory."""
    return int(dtype.strip("bfsui"))


def signedness(dtype: str) -> str | None:
    """How TCP names the sign of an integer dtype; None for floats."""
    if is_float(dtype):
        return None
    return {"s": "Signed", "u": "Unsigned", "i": "Signless"}[dtype[0]]


def computed_in(dtype: str) -> str:
    """What PyTorch computes functions of a dtype in: f32 for half precision, else the dtype."""
    return "f32" if dtype in ("f16", "bf16") else dtype


def summed_in(dtype: str) -> str:
    """What PyTorch sums a dtype in on a CPU (ATen/AccumulateType.h).

    Where it sums f32 in f32, it does so in a tree, to the same end: the error does not grow with
    the count.
    """
    return "f64" if dtype == "f32" else computed_in(dtype)
