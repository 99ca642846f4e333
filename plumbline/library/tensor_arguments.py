"""How tensors of Python's libraries are handed to machine code: where they lie, without a copy.

numpy's arrays are known here, and those of every other library by the DLPack protocol, but for
PyTorch's tensors, which `torch_arguments.py` reads in a tenth of the time that takes.
"""

import ctypes
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.signature import element_type
from plumbline.signature.signature import Signature, TensorSpec

if TYPE_CHECKING:
    from plumbline.library.call_plan import CallPlan

_from_buffer = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


@dataclass(frozen=True, slots=True)
class Parameter:
    """A place for a tensor in a call."""

    name: str
    """How messages call what is given for it: "argument 0"."""
    spec: TensorSpec
    dtype: "np.dtype[np.generic]"


Reading = tuple[int, tuple[int, ...], Any]
"""The address of a tensor that lies as the parameter says, without gaps, its sizes, and an array or
a tensor that keeps it there."""


PlainReading = tuple[list[int], list[tuple[int, ...]]]
"""The addresses of tensors, and their sizes."""

ReadPlain = Callable[[Sequence[Any]], PlainReading]
"""Takes the arguments of a call where they are as most are: as parameters lie, writable, of the
right element types, all of one library. To ask more of each of them in Python would take most
of a small call's time. Raises one of `NOT_PLAIN` where one is something else."""

Copy = Callable[[Sequence[Any]], Sequence[Any] | None]
"""Takes the arguments of a call, and gives them with copies that lie as the parameters say of those
that are plain but for that; None where there are none. Raises one of `NOT_PLAIN` where it cannot be
said how one lies, or there is no memory."""

Repeat = Callable[..., Any]
"""Takes the arguments of a call that is like one before, and gives a tuple of results; the address
of a message, which is to be freed, where the program fails; None, having done nothing, where the
call is another."""


class Repeats(NamedTuple):
    """The functions for calls that are like one before; None where there is none for such calls."""

    new: Repeat | None = None
    """Makes new results."""
    into: Repeat | None = None
    """Takes a tuple more, of what the results are put into."""


NOT_PLAIN = (AttributeError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Kind:
    """How tensors of one Python type are taken, and results given where there are such."""

    read: Callable[[Any, Parameter], Reading]
    """Raises UserError where one has another element type than the parameter, or no memory."""
    give: Callable[[Tensor, TensorSpec], Any] | None = None
    """Makes a result of the same library; None: results stay numpy arrays."""
    plain: Callable[[Sequence[Parameter]], ReadPlain] | None = None
    """Makes what takes all arguments of a program at once."""
    repeats: "Callable[[Signature, int, CallPlan], Repeats] | None" = None
    """Makes functions for calls of a program, with its packed entry at an address, that are as a
    plan says."""
    copying: Callable[[Sequence[Parameter], Collection[int]], Copy] | None = None
    """Makes what copies arguments of a program, but for those of such numbers."""


def read_array(array: Tensor, parameter: Parameter) -> Reading:
    """Takes a numpy array; a copy of it where it does not lie as the parameter, or has gaps."""
    if array.dtype != parameter.dtype:
        try:
            given = element_type.from_numpy_dtype(array.dtype)
        except UserError as error:
            raise UserError(f"{parameter.name}: {error}") from error
        parameter.spec.check(parameter.name, given.name, array.shape)
    order = parameter.spec.order
    lying = array.transpose(order) if order is not None and len(order) == array.ndim else array
    if not lying.flags.c_contiguous:
        # Before it is copied, as it may be of any size: numpy repeats elements without memory.
        parameter.spec.check(parameter.name, parameter.spec.element_type.name, array.shape)
        try:
            copy = np.ascontiguousarray(lying)
        except MemoryError as error:
            raise UserError(
                f"{parameter.name} is to be copied, as it does not lie {lies(parameter.spec)}, and "
                f"there is no memory for its {array.nbytes} bytes"
            ) from error
        return address(copy), array.shape, copy
    return address(lying), array.shape, array


def lies(spec: TensorSpec) -> str:
    """How a tensor is to lie in memory, in words."""
    if spec.order is None:
        return "row-major without gaps"
    return f"without gaps with its axes in the order {spec.order}, the outermost first"


def address(array: Tensor) -> int:
    """Where the elements of an array lie."""
    try:
        # A quarter of the time that `array.ctypes.data` takes.
        return _address_of(_from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # It is empty, or not to be written.
        return array.ctypes.data


def _read_array_like(array: Any, parameter: Parameter) -> Reading:
    return read_array(np.asarray(array), parameter)


def _read_dlpack(tensor: Any, parameter: Parameter) -> Reading:
    try:
        array = np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        # numpy's DLPack knows no element types of ml_dtypes, where arrays of JAX's have such.
        if not _is_of_ml_dtypes(getattr(tensor, "dtype", None)):
            raise UserError(
                f"{parameter.name} is a {type(tensor).__name__}, which does not lend its memory by "
                f"DLPack: {error}"
            ) from error
        array = np.asarray(tensor)
    return read_array(array, parameter)


def _is_of_ml_dtypes(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.type.__module__ == "ml_dtypes"


def _give_array(array: Tensor, spec: TensorSpec) -> Tensor:
    """A result for who has arrays of other libraries: of ml_dtypes where numpy has no such type."""
    if array.dtype.kind == "V" and (ml_dtypes := sys.modules.get("ml_dtypes")) is not None:
        return array.view(getattr(ml_dtypes, spec.element_type.torch_name, array.dtype))
    return array


def _read_jax_key(key: Any, parameter: Parameter) -> Reading:
    """Takes the bits of a key of `jax.random.key`, which a program of JAX's has for it."""
    return read_array(np.asarray(sys.modules["jax"].random.key_data(key)), parameter)


def _read_python_number(number: Any, parameter: Parameter) -> Reading:
    """Takes a number for a tensor of rank 0."""
    if parameter.spec.sizes:
        raise _no_tensor(parameter.name, type(number), f", of rank {len(parameter.spec.sizes)}")
    bits = read_number(number, parameter)
    bytes_ = bits.to_bytes(parameter.dtype.itemsize, "little")
    return read_array(np.frombuffer(bytes_, parameter.dtype).reshape(()), parameter)


def _plain_arrays(parameters: Sequence[Parameter]) -> ReadPlain:
    # A number has none, and is never taken for an array.
    dtypes = [None if parameter.spec.is_scalar else parameter.dtype for parameter in parameters]
    orders = [parameter.spec.order for parameter in parameters]

    def read(arguments: Sequence[Any]) -> PlainReading:
        words: list[int] = []
        shapes: list[tuple[int, ...]] = []
        for array, dtype, order in zip(arguments, dtypes, orders, strict=True):
            if array.dtype is not dtype:
                raise TypeError
            lying = array if order is None else array.transpose(order)
            words.append(_address_of(_from_buffer(lying)))
            shapes.append(array.shape)
        return words, shapes

    return read


_ARRAY = Kind(read_array, plain=_plain_arrays)
_ARRAY_LIKE = Kind(_read_array_like)
_DLPACK = Kind(_read_dlpack, give=_give_array)
_JAX_KEY = Kind(_read_jax_key)
_NUMBER = Kind(_read_python_number)

KINDS: dict[type, Kind] = {np.ndarray: _ARRAY}
"""Those of the types that have been met."""


def kind_of(tensor: Any, name: str) -> Kind:
    """How a tensor is taken, which messages call `name`.

    Raises:
      UserError: it is none.
    """
    type_ = type(tensor)
    if type_ not in KINDS:
        KINDS[type_] = _new_kind(type_, name)
    return KINDS[type_]


def read_number(number: Any, parameter: Parameter) -> int:
    """The word that hands over a number by value.

    Raises:
      UserError: it is none, or not one of the parameter's type.
    """
    dtype = parameter.dtype
    if getattr(number, "ndim", None) == 0 and hasattr(number, "item"):
        number = number.item()
    if dtype.kind == "V":
        raise UserError(
            f"{parameter.name} is a number of type {parameter.spec.element_type.name}, of which "
            "numpy has none: only C can call this program"
        )
    if dtype == np.bool_:
        wanted, taken = "True or False", isinstance(number, bool)
    else:
        is_integral = np.issubdtype(dtype, np.integer)
        wanted = "an int" if is_integral else "a float"
        known = int if is_integral else int | float
        taken = isinstance(number, known) and not isinstance(number, bool)
    if not taken:
        given = repr(number) if isinstance(number, bool | int | float) else type(number).__name__
        raise UserError(f"{parameter.name} is {given}; it is a number, {wanted}")
    try:
        array = np.array(number, dtype)
    except OverflowError as error:
        bits = 8 * dtype.itemsize
        raise UserError(f"{parameter.name} is {number}, which is beyond {bits} bits") from error
    return int.from_bytes(array.tobytes(), "little")


def _new_kind(type_: type, name: str) -> Kind:
    if issubclass(type_, np.ndarray | np.generic):
        return _ARRAY_LIKE
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(type_, torch.Tensor):
        from plumbline.library.torch_arguments import TENSOR

        return TENSOR
    if type_.__name__ == "PRNGKeyArray" and "jax" in sys.modules:
        return _JAX_KEY
    if hasattr(type_, "__dlpack__"):
        return _DLPACK
    if issubclass(type_, bool | int | float):
        return _NUMBER
    raise _no_tensor(name, type_)


def _no_tensor(name: str, type_: type, wanted: str = "") -> UserError:
    return UserError(
        f"{name} is a {type_.__name__}; it is a numpy array, a torch tensor, or another that "
        f"lends its memory by DLPack{wanted}"
    )
