"""How tensors of Python's libraries that are on a GPU are handed to machine code, without a copy.

PyTorch's are known here, and those of every other library by the CUDA array interface or by DLPack.
Each is read for a stream: what its library has queued before is done before what is queued there.
"""

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plumbline.errors import UserError
from plumbline.library.device import LEGACY_STREAM, open_driver
from plumbline.library.tensor_arguments import Parameter
from plumbline.signature import element_type
from plumbline.signature.element_type import ElementType
from plumbline.signature.signature import TensorSpec

_CUDA, _CUDA_MANAGED = 2, 13
"""The numbers of devices in DLPack that are GPUs of NVIDIA's."""


@dataclass(frozen=True, slots=True)
class DeviceReading:
    """A tensor on a GPU, row-major without gaps."""

    address: int
    shape: tuple[int, ...]
    nbytes: int
    device: int
    is_writable: bool
    keep: Any
    """Has its memory stay."""


def is_torch(tensor: Any) -> bool:
    """Whether a tensor is PyTorch's."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(tensor, torch.Tensor)


def stream_of(tensors: Sequence[Any]) -> int:
    """The stream that a call with such arguments is to be queued on; 0 is the default one.

    That is PyTorch's current one where one of them is PyTorch's, else that of the first which has
    one by the CUDA array interface, else the default one.
    """
    for tensor in tensors:
        if is_torch(tensor) and tensor.is_cuda:
            return int(sys.modules["torch"].cuda.current_stream(tensor.device).cuda_stream)
    for tensor in tensors:
        if not is_torch(tensor) and hasattr(tensor, "__cuda_array_interface__"):
            stream = tensor.__cuda_array_interface__.get("stream")
            if stream is not None:
                return _handle(stream)
    return 0


def _handle(stream: int) -> int:
    """What the driver calls a stream of an interface's."""
    return 0 if stream == LEGACY_STREAM else int(stream)


def read(tensor: Any, parameter: Parameter, stream: int) -> DeviceReading:
    """Takes a tensor to be used on a stream.

    Raises:
      UserError: it is none, is on the CPU, has another element type, or has gaps.
    """
    if is_torch(tensor):
        return _read_torch(tensor, parameter)
    if hasattr(tensor, "__cuda_array_interface__"):
        return _read_interface(tensor, parameter, stream)
    if hasattr(tensor, "__dlpack__") and hasattr(tensor, "__dlpack_device__"):
        return _read_dlpack(tensor, parameter, stream)
    raise _refusal(parameter, tensor, "it is no tensor on a GPU")


def _refusal(parameter: Parameter, tensor: Any, problem: str) -> UserError:
    return UserError(
        f"{parameter.name} is a {type(tensor).__name__}: {problem}. The program takes tensors on "
        "a GPU: PyTorch's, or others that have __cuda_array_interface__ or lend their memory by "
        "DLPack"
    )


def _read_torch(tensor: Any, parameter: Parameter) -> DeviceReading:
    if not tensor.is_cuda:
        raise _refusal(parameter, tensor, f"it is on the device {str(tensor.device)!r}")
    name = str(tensor.dtype)
    parameter.spec.check(
        parameter.name, element_type.from_torch_name(name).name, tuple(tensor.shape)
    )
    # PyTorch's own copy, on its current stream.
    kept = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return DeviceReading(
        kept.data_ptr(),
        tuple(kept.shape),
        kept.numel() * kept.element_size(),
        kept.device.index,
        kept.data_ptr() == tensor.data_ptr(),
        kept,
    )


def _read_interface(tensor: Any, parameter: Parameter, stream: int) -> DeviceReading:
    interface = tensor.__cuda_array_interface__
    address, is_read_only = interface["data"]
    dtype = np.dtype(interface["typestr"])
    kind = element_type.from_numpy_dtype(dtype)
    shape = tuple(interface["shape"])
    parameter.spec.check(parameter.name, kind.name, shape)
    strides = interface.get("strides")
    if strides is not None:
        strides = tuple(stride // dtype.itemsize for stride in strides)
    _check_strides(parameter, tensor, shape, strides)
    bytes_ = _bytes(kind, shape)
    device = open_driver().device_of(address) if bytes_ > 0 else 0
    if device is None:
        raise _refusal(parameter, tensor, "its memory is not on a GPU")
    own = interface.get("stream")
    if own is not None and _handle(own) != stream:
        open_driver().wait_for(_handle(own), device)
    return DeviceReading(
        address if bytes_ > 0 else 0, shape, bytes_, device, not is_read_only, tensor
    )


def _bytes(kind: ElementType, shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64)) * int(kind.numpy_dtype.itemsize)


def _check_strides(
    parameter: Parameter, tensor: Any, shape: tuple[int, ...], strides: tuple[int, ...] | None
) -> None:
    """Refuses a tensor with gaps; strides are counted in elements."""
    if strides is None or 0 in shape:
        return
    wanted = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != wanted:
            raise _refusal(parameter, tensor, "it is not row-major without gaps; hand over a copy")
        wanted *= size


# -- DLPack: the structs of dlpack.h, which Python's capsules have ---------------------------------


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _DLManagedTensor(ctypes.Structure):
    _fields_ = (
        ("tensor", _DLTensor),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    )


_ELEMENT_CODES = {0: "i", 1: "u", 2: "f", 4: "bf", 5: "c"}
_BOOL_CODE = 6

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_rename_capsule = ctypes.pythonapi.PyCapsule_SetName
_rename_capsule.argtypes = [ctypes.py_object, ctypes.c_char_p]

_UNUSED, _USED = b"dltensor", b"used_dltensor"
"""The names of a capsule before and after somebody has come to own what is in it."""


class _Lent:
    """Memory that another library lends, and gets back with this."""

    def __init__(self, capsule: Any) -> None:
        self._managed = _DLManagedTensor.from_address(_capsule_pointer(capsule, _UNUSED))
        _rename_capsule(capsule, _USED)

    @property
    def tensor(self) -> _DLTensor:
        """What is said of it."""
        tensor: _DLTensor = self._managed.tensor
        return tensor

    def __del__(self) -> None:
        if hasattr(self, "_managed") and self._managed.deleter:
            self._managed.deleter(ctypes.addressof(self._managed))


def _read_dlpack(tensor: Any, parameter: Parameter, stream: int) -> DeviceReading:
    place, _ = tensor.__dlpack_device__()
    if place not in (_CUDA, _CUDA_MANAGED):
        raise _refusal(parameter, tensor, f"DLPack has its memory on a device of type {place}")
    try:
        lent = _Lent(tensor.__dlpack__(stream=stream or LEGACY_STREAM))
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise _refusal(parameter, tensor, f"it does not lend its memory: {error}") from error
    given = lent.tensor
    shape = tuple(given.shape[axis] for axis in range(given.ndim))
    kind = _kind(parameter.spec, given)
    parameter.spec.check(parameter.name, kind, shape)
    strides = tuple(given.strides[axis] for axis in range(given.ndim)) if given.strides else None
    _check_strides(parameter, tensor, shape, strides)
    bytes_ = _bytes(parameter.spec.element_type, shape)
    address = (given.data or 0) + given.byte_offset if bytes_ > 0 else 0
    # Nothing tells whether it may be written.
    return DeviceReading(address, shape, bytes_, given.device_id, True, lent)


def _kind(spec: TensorSpec, given: _DLTensor) -> str:
    """The name of the element type of a tensor of DLPack's."""
    if given.code == _BOOL_CODE:
        return "i1"
    code = _ELEMENT_CODES.get(given.code)
    if code is None or given.lanes != 1:
        raise UserError(
            f"element type {given.code} of {given.bits} bits in {given.lanes} lanes, by DLPack, is "
            f"not {spec.element_type.name}"
        )
    return f"{code}{given.bits}"
