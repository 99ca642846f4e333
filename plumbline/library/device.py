"""GPUs from Python: their memory, and waiting for them; by the NVIDIA driver alone.

    x = plumbline.device.copy_from(array)      # a numpy array, on the first GPU
    (y,) = program(x)                          # of on_gpu_tensors = True
    plumbline.device.synchronize()
    y.numpy()

Tensors of PyTorch's, CuPy's and others that are on a GPU need none of it.
"""

import ctypes
import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.signature import element_type
from plumbline.signature.element_type import ElementType

LEGACY_STREAM = 1
"""How the CUDA array interface and DLPack call the default stream, which the driver calls null."""

_Function = Callable[..., int]


def synchronize() -> None:
    """Waits until all is done that this process has queued on GPUs.

    Raises:
      UserError: there is no driver or no GPU, or something that was queued has failed.
    """
    driver = open_driver()
    for device in range(driver.count()):
        if driver.is_active(device):
            with driver.current(device):
                driver.call("cuCtxSynchronize")


def copy_from(array: Tensor, device: int = 0) -> "DeviceTensor":
    """A copy of a numpy array on a GPU, by its number among those of CUDA_VISIBLE_DEVICES.

    Raises:
      UserError: there is no such GPU, or no memory on it.
    """
    array = np.ascontiguousarray(array)
    kind = element_type.from_numpy_dtype(array.dtype)
    tensor = DeviceTensor(array.shape, kind, device)
    driver = open_driver()
    with driver.current(device):
        driver.call("cuMemcpyHtoD_v2", _word(tensor.address), _pointer(array), _size(array.nbytes))
        # It may be on its way from where the driver has put it.
        driver.call("cuStreamSynchronize", None)
    return tensor


class DeviceTensor:
    """A tensor in memory of a GPU's, row-major without gaps, which is given back with it.

    It has the CUDA array interface, by which other libraries take it.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        kind: ElementType,
        device: int,
        stream: int = LEGACY_STREAM,
    ) -> None:
        """Of whatever contents, until what is queued on a stream has been done.

        Raises:
          UserError: there is no such GPU, or no memory on it.
        """
        self.shape, self.element_type, self.device = shape, kind, device
        self.stream = stream
        """What is queued there may write it yet, so that who reads it waits for that."""
        self._memory: DeviceTensor | None = None
        """The tensor whose memory this one's is, if it is not its own."""
        count = int(np.prod(shape, dtype=np.int64))
        self.nbytes = count * kind.numpy_dtype.itemsize
        self.address = 0
        """Where it lies; 0 where it has no elements."""
        if self.nbytes > 0:
            driver = open_driver()
            self.address = driver.allocate(self.nbytes, device)
            weakref.finalize(self, driver.free, self.address, device).atexit = False

    def beginning(self, shape: tuple[int, ...]) -> "DeviceTensor":
        """A tensor of its first elements, which has its memory stay."""
        if shape == self.shape:
            return self
        view = DeviceTensor((0,), self.element_type, self.device, self.stream)
        view.shape = shape
        view.nbytes = int(np.prod(shape, dtype=np.int64)) * self.element_type.numpy_dtype.itemsize
        view.address = self.address if view.nbytes > 0 else 0
        view._memory = self
        return view

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "typestr": self.element_type.numpy_dtype.str,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
            "stream": self.stream,
        }

    def numpy(self) -> Tensor:
        """A copy on the CPU, for which it waits for all that is queued on the GPU.

        Raises:
          UserError: something that was queued has failed.
        """
        array = np.empty(self.shape, self.element_type.numpy_dtype)
        if self.nbytes > 0:
            driver = open_driver()
            with driver.current(self.device):
                driver.call("cuCtxSynchronize")
                driver.call(
                    "cuMemcpyDtoH_v2", _pointer(array), _word(self.address), _size(self.nbytes)
                )
        return array


class Driver:
    """The NVIDIA driver: its functions, and the contexts that a process has one of on each GPU."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._contexts: dict[int, ctypes.c_void_p] = {}
        self.call("cuInit", 0)

    def call(self, function: str, *arguments: Any) -> None:
        """Calls a function.

        Raises:
          UserError: it fails. The message names the error.
        """
        error = self._function(function)(*arguments)
        if error != 0:
            name = ctypes.c_char_p()
            known = self._function("cuGetErrorName")(error, ctypes.byref(name)) == 0
            said = name.value.decode() if known and name.value else "an unknown error"
            raise UserError(f"plumbline.device: {function}: {said} ({error})")

    def _function(self, name: str) -> _Function:
        try:
            found: _Function = getattr(self._library, name)
        except AttributeError as error:
            raise UserError(
                f"plumbline.device: the NVIDIA driver is too old: it has no function {name}"
            ) from error
        return found

    def count(self) -> int:
        """How many GPUs there are."""
        count = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        return count.value

    def is_active(self, device: int) -> bool:
        """Whether this process uses a GPU."""
        flags, active = ctypes.c_uint(), ctypes.c_int()
        self.call(
            "cuDevicePrimaryCtxGetState",
            self._handle(device),
            ctypes.byref(flags),
            ctypes.byref(active),
        )
        return bool(active.value)

    @contextmanager
    def current(self, device: int) -> Iterator[None]:
        """Has the calling thread use a GPU."""
        if device not in self._contexts:
            context = ctypes.c_void_p()
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._handle(device))
            self._contexts[device] = context
        self.call("cuCtxPushCurrent_v2", self._contexts[device])
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def allocate(self, bytes_: int, device: int) -> int:
        """Memory on a GPU, which nothing else has."""
        address = ctypes.c_uint64()
        with self.current(device):
            try:
                self.call("cuMemAlloc_v2", ctypes.byref(address), _size(bytes_))
            except UserError as error:
                raise UserError(f"there is no device memory for {bytes_} bytes: {error}") from error
        return address.value

    def free(self, address: int, device: int) -> None:
        """Gives it back."""
        with self.current(device):
            self.call("cuMemFree_v2", _word(address))

    def device_of(self, address: int) -> int | None:
        """The GPU that memory is on; None: on none."""
        kind, device = ctypes.c_int(), ctypes.c_int()
        self.call(
            "cuPointerGetAttributes",
            2,
            (ctypes.c_int * 2)(_MEMORY_TYPE, _DEVICE_ORDINAL),
            (ctypes.c_void_p * 2)(ctypes.addressof(kind), ctypes.addressof(device)),
            _word(address),
        )
        return device.value if kind.value != 0 else None

    def wait_for(self, stream: int, device: int) -> None:
        """Waits until all is done that is queued on a stream."""
        with self.current(device):
            self.call("cuStreamSynchronize", ctypes.c_void_p(stream))

    def _handle(self, device: int) -> ctypes.c_int:
        handle = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(handle), device)
        return handle


_MEMORY_TYPE, _DEVICE_ORDINAL = 2, 9
"""CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0 for what the driver does not know, and _DEVICE_ORDINAL."""


@functools.cache
def open_driver() -> Driver:
    """The driver of this machine.

    Raises:
      UserError: there is none, or it gives no GPU.
    """
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise UserError(
            "no NVIDIA driver was found: there is no library libcuda.so.1 that can be loaded here"
        ) from error
    return Driver(library)


def _word(address: int) -> ctypes.c_uint64:
    return ctypes.c_uint64(address)


def _size(bytes_: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(bytes_)


def _pointer(array: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
