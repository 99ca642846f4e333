"""Calls machine code whose tensors are on a GPU: what `native_function.py` does for the CPU."""

import functools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plumbline.errors import UserError
from plumbline.library.call_plan import CallPlan, plan_call
from plumbline.library.device import LEGACY_STREAM, DeviceTensor, open_driver
from plumbline.library.device_arguments import DeviceReading, is_torch, read, stream_of
from plumbline.library.new_arrays import beginning
from plumbline.library.packed_entry import PackedEntry
from plumbline.library.tensor_arguments import Parameter, read_number
from plumbline.signature import element_type
from plumbline.signature.signature import Signature, TensorSpec

if TYPE_CHECKING:
    from plumbline.library.torch_device_calls import TorchDeviceCalls

_MOST_PLANS = 256
"""So many combinations of shapes are remembered."""

_BYTE = element_type.from_name("u8")


@dataclass
class _Workspace:
    """The memory for temporaries of the calls on one stream, which are one after the other."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    memory: DeviceTensor | None = None

    def at_least(self, bytes_: int, device: int) -> int:
        """The address of as many bytes. With the lock held."""
        if self.memory is None or self.memory.nbytes < bytes_:
            # What is queued may have the smaller one: it is waited for as that is given back.
            self.memory = DeviceTensor((bytes_,), _BYTE, device)
        return self.memory.address


class DeviceCalls:
    """The calls of one program whose tensors are on a GPU."""

    def __init__(
        self,
        signature: Signature,
        parameters: Sequence[Parameter],
        results: Sequence[Parameter],
        entry: PackedEntry,
    ) -> None:
        self._signature, self._entry = signature, entry
        self._parameters, self._results = parameters, results
        self._plan = functools.lru_cache(_MOST_PLANS)(
            functools.partial(plan_call, signature, parameters, results)
        )
        self._workspaces: dict[tuple[int, int], _Workspace] = {}

    @functools.cached_property
    def _torch_calls(self) -> "TorchDeviceCalls | None":
        """What makes calls with tensors of PyTorch's alone, which no other caller pays for."""
        from plumbline.library.torch_device_calls import TorchDeviceCalls

        if not TorchDeviceCalls.does(self._signature):
            return None
        return TorchDeviceCalls(self._parameters, self._results, self._entry, self._plan)

    def call(self, arguments: Sequence[Any], out: Any) -> tuple[Any, ...]:
        """Runs the program, as `NativeFunction` does."""
        if out is None and arguments and is_torch(arguments[0]) and self._torch_calls is not None:
            of_torch = self._torch_calls.call(arguments)
            if of_torch is not None:
                return of_torch
        if len(arguments) != len(self._parameters):
            raise UserError(
                f"{self._signature.name} takes {len(self._parameters)} arguments, not "
                f"{len(arguments)}: {', '.join(self._signature.names.inputs)}"
            )
        stream = stream_of(arguments)
        words: list[int] = []
        readings: list[DeviceReading | None] = []
        for argument, parameter in zip(arguments, self._parameters, strict=True):
            if parameter.spec.is_scalar:
                words.append(read_number(argument, parameter))
                readings.append(None)
                continue
            reading = read(argument, parameter, stream)
            words.append(reading.address)
            readings.append(reading)
        self._check_inout(readings)
        shapes = tuple(() if reading is None else reading.shape for reading in readings)
        plan: CallPlan = self._plan(shapes)
        known = [reading for reading in readings if reading is not None and reading.nbytes > 0]
        device = known[0].device if known else 0
        if not self._signature.has_stream and stream != 0:
            # It runs on the default one, which need not wait for others.
            open_driver().wait_for(stream, device)
            stream = 0
        results: Sequence[Any]
        are_torch = any(map(is_torch, arguments))
        if out is None:
            new = _new_torch
            if not are_torch:
                new = functools.partial(DeviceTensor, stream=stream or LEGACY_STREAM)
            results = [
                new(shape, parameter.spec.element_type, device)
                for shape, parameter in zip(plan.result_shapes, self._results, strict=True)
            ]
        else:
            results = out if isinstance(out, tuple | list) else (out,)
        words += self._places(results, plan.result_shapes, stream, known)
        others = list(plan.sizes)
        with self._workspace(plan.workspace, device, stream, are_torch) as workspace:
            if plan.workspace is not None:
                others.append(workspace)
            if self._signature.has_stream:
                others.append(stream)
            found = self._entry.run(words, others, plan.result_shapes)
        if self._signature.unbacked:
            results = [*map(_beginning, results, found)]
        if out is None and any(spec.is_scalar for spec in self._signature.outputs):
            return tuple(map(_number, results, self._signature.outputs))
        return tuple(results)

    @contextmanager
    def _workspace(
        self, bytes_: int | None, device: int, stream: int, are_torch: bool
    ) -> Iterator[int]:
        """The address of the memory for temporaries of a call, which no other has meanwhile."""
        if not bytes_:
            yield 0
        elif are_torch:
            # Its allocator gives it to no other stream before this call has run, and to a graph
            # that the caller captures what stays with that.
            memory = _new_torch((bytes_,), _BYTE, device)
            yield memory.data_ptr()
        else:
            own = self._workspaces.setdefault((device, stream), _Workspace())
            # Two threads that queue at once on one stream would mix what they do there.
            with own.lock:
                yield own.at_least(bytes_, device)

    def _check_inout(self, readings: Sequence[DeviceReading | None]) -> None:
        for number in self._signature.inout:
            name, reading = self._parameters[number].name, readings[number]
            assert reading is not None
            if not reading.is_writable:
                raise UserError(f"{name} cannot be written in place: it has gaps, or is read-only")
            others = (*readings[:number], *readings[number + 1 :])
            if any(other is not None and _overlap(reading, other) for other in others):
                raise UserError(
                    f"{name} shares memory with another argument, where {self._signature.name} "
                    "writes in place: hand over a copy"
                )

    def _places(
        self,
        results: Sequence[Any],
        shapes: Sequence[tuple[int, ...]],
        stream: int,
        arguments: Sequence[DeviceReading],
    ) -> list[int]:
        """The addresses of what results are to be put into."""
        if len(results) != len(shapes):
            raise UserError(
                f"{self._signature.name} has {len(shapes)} results, and out is {len(results)} "
                "tensors"
            )
        before = list(arguments)
        for result, parameter, shape in zip(results, self._results, shapes, strict=True):
            reading = read(result, parameter, stream)
            kind = parameter.spec.element_type
            TensorSpec(kind, shape).check(parameter.name, kind.name, reading.shape)
            if not reading.is_writable:
                raise UserError(f"{parameter.name} cannot be written: it has gaps, or is read-only")
            if any(_overlap(reading, other) for other in before):
                raise UserError(
                    f"{parameter.name} shares memory with an argument or another result"
                )
            before.append(reading)
        return [reading.address for reading in before[len(arguments) :]]


def _beginning(tensor: Any, shape: tuple[int, ...]) -> Any:
    """What is there of a result whose size depends on values."""
    if isinstance(tensor, DeviceTensor):
        return tensor.beginning(shape)
    return beginning(tensor, shape)


def _overlap(one: DeviceReading, other: DeviceReading) -> bool:
    return one.address < other.address + other.nbytes and other.address < one.address + one.nbytes


def _new_torch(shape: tuple[int, ...], kind: element_type.ElementType, device: int) -> Any:
    import torch

    return torch.empty(shape, dtype=getattr(torch, kind.torch_name), device=f"cuda:{device}")


def _number(result: Any, spec: TensorSpec) -> Any:
    """A result as callers have it, who wait for numbers."""
    if not spec.is_scalar:
        return result
    return result.item() if is_torch(result) else result.numpy().item()
