"""Calls compiled machine code from Python, by the entry of `kernels_to_llvm/pointer_entries.py`.

What of a call follows from the shapes of its arguments (whether they fit, the shapes of the
results) is worked out once for each of their combinations.
"""

import ctypes
import functools
import importlib
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plumbline.errors import UserError
from plumbline.reference_archive import Tensor
from plumbline.signature import WORKSPACE_ALIGNMENT, Signature, TensorSpec
from plumbline.size_expressions import evaluate
from plumbline.tensor_arguments import KINDS, Parameter, address, kind_of, read_number

if TYPE_CHECKING:
    from plumbline.device_function import DeviceCalls

_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)

_MOST_PLANS = 256
"""So many combinations of shapes are remembered."""

_ALIGNMENT = WORKSPACE_ALIGNMENT
"""Of large results, and of a workspace, in bytes."""
_LARGE = 1 << 16
"""From so many bytes on a result is worth being aligned."""

Shapes = tuple[tuple[int, ...], ...]

_NO_MEMORY = np.empty(0)
"""What stands for the memory of a number, which has none."""

_Span = tuple[int, int]
"""The addresses of a tensor's first byte, and of that after its last."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """What follows from the shapes of a call's arguments."""

    results: tuple[tuple[tuple[int, ...], "np.dtype[np.generic]"], ...]
    """The shapes of the results, and their element types."""
    sizes: tuple[int, ...]
    """The values of the symbols."""
    workspace: int | None
    """The bytes of the workspace, where there is one."""


class NativeFunction:
    """A program that has been compiled: call it with what `signature` lists.

    It takes numpy arrays, torch tensors, and tensors of other libraries by DLPack, on the CPU. They
    are not copied if they are contiguous. For a scalar it takes and returns a number. Several
    threads may call it at once.

    Where the program has its tensors on a GPU (`signature.on_device`), it takes torch tensors that
    are there, and others by the CUDA array interface or DLPack; results are torch tensors if an
    argument is one, else `device.DeviceTensor`s. With `signature.has_stream` it returns as soon as
    all is queued on the arguments' stream (`device_arguments.stream_of`).

    What `signature.inout` lists is written in place. It is then an array or a tensor that is
    contiguous and not read-only, and shares no memory with another argument or result.
    """

    _give_without_arguments: Callable[[Tensor, TensorSpec], Any] | None = None
    """What results are made of a program that has no argument to go by."""

    def __init__(self, signature: Signature, entry: int, keeps: object) -> None:
        """`entry` is the address of the packed entry, which is there for as long as `keeps`."""
        self.signature = signature
        self._keeps = keeps
        self._entry = _ENTRY(entry)
        self._parameters = _parameters("argument", signature.inputs)
        self._results = _parameters("out", signature.outputs)
        words = len(signature.inputs) + len(signature.outputs) + len(signature.shapes.symbols)
        words += (signature.workspace is not None) + signature.has_stream
        self._pack = struct.Struct(f"{words}Q").pack
        self._inout = signature.inout
        self._returns_scalars = any(spec.is_scalar for spec in signature.outputs)
        self._plans: dict[Shapes, _Plan] = {}
        self._run = functools.partial(_run, self._entry, self._pack)
        self._on_device: DeviceCalls | None = None
        if signature.on_device:
            # Which programs for the CPU do not need.
            self._on_device = importlib.import_module("plumbline.device_function").DeviceCalls(
                signature, self._parameters, self._results, self._run
            )

    def __call__(self, *arguments: Any, out: Any = None) -> tuple[Any, ...]:
        """Runs the program.

        Args:
          *arguments: the tensors.
          out: tensors to put the results into, which share no memory with an argument: a sequence,
            or a single one of a program with one result. They are what is returned then.

        Returns:
          A tuple of results: torch tensors if an argument is one, else numpy arrays.

        Raises:
          UserError: an argument is missing, is no tensor, has another element type or shape than
            compiled, or a size outside its range or that disagrees with another; or the program
            fails: an index is out of range, there is no memory. The message says what and where.
        """
        parameters = self._parameters
        if len(arguments) != len(parameters):
            raise UserError(
                f"{self.signature.name} takes {len(parameters)} arguments, not {len(arguments)}"
            )
        if self._on_device is not None:
            return self._call_on_device(self._on_device, arguments, out)
        give = None if arguments else self._give_without_arguments
        words: list[int] = []
        shapes: list[tuple[int, ...]] = []
        kept: list[Any] = []
        for argument, parameter in zip(arguments, parameters, strict=True):
            if parameter.spec.is_scalar:
                words.append(read_number(argument, parameter))
                shapes.append(())
                kept.append(_NO_MEMORY)
                continue
            kind = KINDS.get(type(argument)) or kind_of(argument, parameter.name)
            word, shape, keep = kind.read(argument, parameter)
            words.append(word)
            shapes.append(shape)
            kept.append(keep)
            give = kind.give or give
        if self._inout:
            self._check_inout(arguments, words, kept)
        of_call = tuple(shapes)
        plan = self._plans.get(of_call) or self._new_plan(of_call)
        results: Sequence[Any]
        if out is None:
            results = self._new_results(plan)
            words += map(address, results)
        else:
            results, give = out if isinstance(out, tuple | list) else (out,), None
            words += self._places(results, plan, _spans(words, kept))
        words += plan.sizes
        if plan.workspace is not None:
            # One for each call, as several threads may call at once.
            workspace = _aligned(plan.workspace)
            # An empty array may lie anywhere.
            words.append(address(workspace) if plan.workspace else 0)
        self._run(words)
        if out is None and self._returns_scalars:
            return tuple(
                result.item() if spec.is_scalar else give(result, spec) if give else result
                for result, spec in zip(results, self.signature.outputs, strict=True)
            )
        if give is None:
            return tuple(results)
        return tuple(map(give, results, self.signature.outputs))

    def _call_on_device(
        self, calls: "DeviceCalls", arguments: Sequence[Any], out: Any
    ) -> tuple[Any, ...]:
        words, readings, stream = calls.read(arguments)
        of_call = calls.shapes(readings)
        plan = self._plans.get(of_call) or self._new_plan(of_call)
        shapes = [shape for shape, _ in plan.results]
        return calls.call(
            arguments, words, readings, stream, shapes, plan.sizes, plan.workspace, out
        )

    def _new_results(self, plan: _Plan) -> list[Tensor]:
        try:
            return [_new_array(shape, dtype) for shape, dtype in plan.results]
        except (MemoryError, ValueError) as error:
            bytes_ = max(math.prod(shape) * dtype.itemsize for shape, dtype in plan.results)
            raise UserError(
                f"{self.signature.name}: there is no memory for {bytes_} bytes"
            ) from error

    def _new_plan(self, shapes: Shapes) -> _Plan:
        signature = self.signature
        for parameter, shape in zip(self._parameters, shapes, strict=True):
            parameter.spec.check(parameter.name, parameter.spec.element_type.name, tuple(shape))
        signature.shapes.check(signature.name, shapes)
        values = signature.shapes.solve(shapes)
        results = []
        for parameter, sizes in zip(self._results, signature.result_shapes, strict=True):
            known = [evaluate(size, values) for size in sizes]
            results.append((tuple(size or 0 for size in known), parameter.dtype))
        symbols = tuple(values[index] for index in sorted(values))
        memory = signature.workspace
        workspace = None if memory is None else evaluate(memory.bytes, values)
        plan = _Plan(tuple(results), symbols, workspace)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        # As plain tuples, which torch.Size is equal to.
        self._plans[tuple(map(tuple, shapes))] = plan
        return plan

    def _check_inout(
        self, arguments: Sequence[Any], addresses: Sequence[int], kept: Sequence[Any]
    ) -> None:
        for number in self._inout:
            _check_writable(self._parameters[number].name, arguments[number], kept[number])
        # In the order of memory, so that what overlaps another does so with one before it.
        spans = sorted((*span, number) for number, span in enumerate(_spans(addresses, kept)))
        any_end = written_end = 0
        for start, end, number in spans:
            is_written = number in self._inout
            if end > start and start < (any_end if is_written else written_end):
                raise UserError(
                    f"{self._parameters[number].name} shares memory with another argument, where "
                    f"{self.signature.name} writes in place: hand over a copy"
                )
            any_end = max(any_end, end)
            if is_written:
                written_end = max(written_end, end)

    def _places(self, given: Sequence[Any], plan: _Plan, others: list[_Span]) -> list[int]:
        """The addresses of what results are to be put into, which lies beside all `others`."""
        if len(given) != len(plan.results):
            raise UserError(
                f"{self.signature.name} has {len(plan.results)} results, and out is {len(given)} "
                "tensors"
            )
        words = []
        for tensor, parameter, (shape, _) in zip(given, self._results, plan.results, strict=True):
            name = parameter.name
            kind = KINDS.get(type(tensor)) or kind_of(tensor, name)
            word, has, kept = kind.read(tensor, parameter)
            if has != shape:
                element_type = parameter.spec.element_type
                TensorSpec(element_type, shape).check(name, element_type.name, tuple(has))
            _check_writable(name, tensor, kept)
            own_end = word + tensor.nbytes
            for start, end in others:
                if start < own_end and word < end:
                    raise UserError(f"{name} shares memory with an argument or another result")
            others.append((word, own_end))
            words.append(word)
        return words


def _run(
    entry: Callable[[bytes], int | None], pack: Callable[..., bytes], words: Sequence[int]
) -> None:
    """Has machine code run on words."""
    message = entry(pack(*words))
    if message is not None:
        raise UserError(_take(message))


def _check_writable(name: str, tensor: Any, kept: Any) -> None:
    """Refuses a tensor, of which `kept` is what was read, that machine code cannot write to."""
    if kept is not tensor or (isinstance(tensor, np.ndarray) and not tensor.flags.writeable):
        raise UserError(
            f"{name} cannot be written in place: it is a numpy array or a torch tensor "
            "that is row-major without gaps, and not read-only"
        )


def _parameters(name: str, specs: Sequence[TensorSpec]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(f"{name} {index}", spec, spec.element_type.numpy_dtype)
        for index, spec in enumerate(specs)
    )


def _spans(addresses: Sequence[int], tensors: Sequence[Any]) -> list[_Span]:
    return [
        (start, start + tensor.nbytes) for start, tensor in zip(addresses, tensors, strict=True)
    ]


def _new_array(shape: tuple[int, ...], dtype: "np.dtype[np.generic]") -> Tensor:
    bytes_ = math.prod(shape) * dtype.itemsize
    if bytes_ < _LARGE:
        return np.empty(shape, dtype)
    return _aligned(bytes_).view(dtype).reshape(shape)


def _aligned(bytes_: int) -> Tensor:
    memory = np.empty(bytes_ + _ALIGNMENT, np.uint8)
    start = -address(memory) % _ALIGNMENT
    return memory[start : start + bytes_]


def _take(message: int) -> str:
    """A message of the program's, whose memory is given back."""
    try:
        return ctypes.string_at(message).decode()
    finally:
        _free(message)
