"""How a module says which tensors are in memory of a GPU before a call, and stay after it.

From the gpu stage on, a function whose callers have theirs there has the attribute
`plumbline.device_tensors`; numbers that come by value are on the host all the same. A `gpu.alloc`
with the attribute `plumbline.resident` stays, with what is copied there first.
"""

from torch_mlir import ir

RESIDENT = "plumbline.resident"

_DEVICE_TENSORS = "plumbline.device_tensors"


def note_device_tensors(function: ir.OpView) -> None:
    """Says so."""
    function.attributes[_DEVICE_TENSORS] = ir.UnitAttr.get(function.context)


def has_device_tensors(function: ir.OpView) -> bool:
    """Whether that is said."""
    return _DEVICE_TENSORS in function.attributes


def drop_device_tensors(function: ir.OpView) -> None:
    """Takes the attribute away, once it has been read."""
    if has_device_tensors(function):
        del function.attributes[_DEVICE_TENSORS]
