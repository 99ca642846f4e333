"""Calls compiled machine code from Python: with numpy arrays, and tensors of other libraries.

What of a call follows from the shapes of its arguments is worked out once for each of their
combinations (`call_plan.py`). How the machine code is then entered, an `Entry` knows.
"""

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.library.call_plan import CallPlan, Shapes, plan_call
from plumbline.library.new_arrays import beginning
from plumbline.library.packed_entry import PackedEntry, failure
from plumbline.library.tensor_arguments import (
    KINDS,
    NOT_PLAIN,
    Copy,
    Parameter,
    ReadPlain,
    Repeat,
    Repeats,
    kind_of,
    lies,
    read_number,
)
from plumbline.signature.signature import Signature, TensorSpec

if TYPE_CHECKING:
    from plumbline.library.device_function import DeviceCalls

_MOST_PLANS = 256
"""So many combinations of shapes are remembered."""

_Span = tuple[int, int]
"""The addresses of a tensor's first byte, and of that after its last."""


_Give = Callable[[Tensor, TensorSpec], Any]

_Reading = tuple[list[int], list[tuple[int, ...]], tuple[Any, ...], _Give | None]


class Entry(Protocol):
    """How machine code is entered: with the addresses of inputs, or the bits of a number.

    The list of these is the entry's then.
    """

    def compute(self, words: list[int], plan: CallPlan) -> Sequence[Tensor]:
        """Gives new results."""

    def compute_into(self, words: list[int], plan: CallPlan, places: Sequence[int]) -> Shapes:
        """Puts the results where they are to lie, row-major; gives their shapes."""


class NativeFunction:
    """A program that has been compiled: call it with what `signature` lists.

    It takes numpy arrays, torch tensors, and tensors of other libraries by DLPack, on the CPU. They
    are not copied if they lie in memory as the signature says: row-major, where it says nothing of
    the order of their axes, and without gaps. Results lie as it says. For a scalar it takes and
    returns a number. Several threads may call it at once.

    Where the program has its tensors on a GPU (`signature.on_device`), it takes torch tensors that
    are there, and others by the CUDA array interface or DLPack; results are torch tensors if an
    argument is one, else `device.DeviceTensor`s. With `signature.has_stream` it returns as soon as
    all is queued on the arguments' stream (`device_arguments.stream_of`).

    What `signature.inout` lists is written in place. It is then an array or a tensor that is
    contiguous and not read-only, and shares no memory with another argument or result.
    """

    _give_without_arguments: _Give | None = None
    """What results are made of a program that has no tensor among its arguments to go by."""

    def __init__(self, signature: Signature, entry: Entry, keeps: object) -> None:
        """`entry` is there for as long as `keeps`."""
        self.signature = signature
        self._keeps = keeps
        self._entry = entry
        self._parameters = _parameters("argument", signature.inputs)
        self._results = _parameters("out", signature.outputs)
        self._plain: dict[type, tuple[ReadPlain, _Give | None]] = {}
        """How plain arguments are taken, and results given, by the type of the first argument."""
        self._copies: dict[type, Copy] = {}
        """How arguments are copied that lie otherwise, by the type of the first one."""
        self._inout = signature.inout
        self._takes_numbers_alone = all(spec.is_scalar for spec in signature.inputs)
        self._returns_scalars = any(spec.is_scalar for spec in signature.outputs)
        self._plans: dict[Shapes, CallPlan] = {}
        self._last_plan: CallPlan | None = None
        self._repeated_plan: CallPlan | None = None
        """The last that two calls in a row were made by."""
        self._repeat: Repeat | None = None
        """Makes calls that are as that one says."""
        self._repeat_into: Repeat | None = None
        """Does that with results that are given."""
        self._on_device: DeviceCalls | None = None
        if signature.on_device:
            # Which programs for the CPU do not need.
            self._on_device = importlib.import_module(
                "plumbline.library.device_function"
            ).DeviceCalls(signature, self._parameters, self._results, entry)

    def __call__(self, *arguments: Any, out: Any = None) -> tuple[Any, ...]:
        """Runs the program.

        Args:
          *arguments: the tensors.
          out: tensors to put the results into, which share no memory with an argument: a sequence,
            or a single one of a program with one result. They are what is returned then. A size
            that depends on values is the most that it may be, and what is returned is a view of
            what has been written.

        Returns:
          A tuple of results: torch tensors if an argument is one, else numpy arrays. One whose size
          depends on values may be a view of memory for the most that it may be.

        Raises:
          UserError: an argument is missing, is no tensor, has another element type or shape than
            compiled, or a size outside its range or that disagrees with another; or the program
            fails: an index is out of range, there is no memory. The message says what and where.
        """
        return self._call(arguments, out)

    def _call(self, arguments: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
        """As above; small calls are noticeably slower for each time that arguments are spread."""
        results = None
        if out is None:
            if self._repeat is not None:
                results = self._repeat(*arguments)
        else:
            out = tuple(out) if isinstance(out, tuple | list) else (out,)
            if self._repeat_into is not None:
                results = self._repeat_into(*arguments, out)
        if type(results) is tuple:
            return results
        if results is not None:
            raise failure(results)
        if self._on_device is not None:
            return self._on_device.call(arguments, out)
        kept = arguments
        try:
            read, give = self._plain[type(arguments[0])]
            words, shapes = read(arguments)
        except (*NOT_PLAIN, LookupError):
            if (copied := self._copied(arguments)) is not None:
                # As most calls are, which take half as long as those that look at each argument.
                return self._call(tuple(copied), out)
            words, shapes, kept, give = self._read(arguments)
        of_call = tuple(shapes)
        plan = self._plans.get(of_call) or self._new_plan(of_call)
        if plan is not self._last_plan:
            self._last_plan = plan
        elif plan is not self._repeated_plan:
            self._repeated_plan = plan
            self._repeat, self._repeat_into = self._new_repeats(arguments, plan)
        if self._inout:
            spans = [*map(_span, words, plan.argument_bytes)]
            self._check_inout(arguments, spans, kept)
        if out is not None:
            spans = [*map(_span, words, plan.argument_bytes)]
            shapes_of_results = self._entry.compute_into(
                words, plan, self._places(out, plan, spans)
            )
            return tuple(map(beginning, out, shapes_of_results))
        results = self._entry.compute(words, plan)
        if give is None and self._takes_numbers_alone:
            give = self._give_without_arguments
        if self._returns_scalars:
            return tuple(
                result.item() if spec.is_scalar else give(result, spec) if give else result
                for result, spec in zip(results, self.signature.outputs, strict=True)
            )
        if give is None:
            return tuple(results)
        return tuple(map(give, results, self.signature.outputs))

    def _copied(self, arguments: Sequence[Any]) -> Sequence[Any] | None:
        """The arguments with copies of those that only lie otherwise; None if there are none."""
        try:
            return self._copies[type(arguments[0])](arguments)
        except (*NOT_PLAIN, LookupError):
            return None

    def _read(self, arguments: Sequence[Any]) -> _Reading:
        """Takes arguments of all kinds.

        Returns:
          What the entry is told of each, its shape, what keeps it there; and how results are given.
        """
        parameters = self._parameters
        if len(arguments) != len(parameters):
            raise UserError(
                f"{self.signature.name} takes {len(parameters)} arguments, not {len(arguments)}: "
                f"{', '.join(self.signature.names.inputs)}"
            )
        give = None
        words: list[int] = []
        shapes: list[tuple[int, ...]] = []
        kept: tuple[Any, ...] = ()
        for argument, parameter in zip(arguments, parameters, strict=True):
            if parameter.spec.is_scalar:
                words.append(read_number(argument, parameter))
                shapes.append(())
                kept += (None,)
                continue
            kind = KINDS.get(type(argument)) or kind_of(argument, parameter.name)
            word, shape, keep = kind.read(argument, parameter)
            words.append(word)
            shapes.append(shape)
            kept += (keep,)
            give = kind.give or give
            if kind.plain is not None and type(argument) not in self._plain:
                self._plain[type(argument)] = (kind.plain(parameters), kind.give)
                if kind.copying is not None:
                    self._copies[type(argument)] = kind.copying(parameters, self._inout)
        return words, shapes, kept, give

    def _new_plan(self, shapes: Shapes) -> CallPlan:
        # As plain tuples, which torch.Size is equal to.
        plain = tuple(map(tuple, shapes))
        plan = plan_call(self.signature, self._parameters, self._results, plain)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[plain] = plan
        return plan

    def _new_repeats(self, arguments: Sequence[Any], plan: CallPlan) -> Repeats:
        """What makes calls with such arguments, as `plan` says, without Python."""
        kinds = {KINDS.get(type(argument)) for argument in arguments}
        if len(kinds) != 1 or not isinstance(self._entry, PackedEntry):
            return Repeats()
        (kind,) = kinds
        if kind is None or kind.repeats is None:
            return Repeats()
        return kind.repeats(self.signature, self._entry.address, plan)

    def _check_inout(
        self, arguments: Sequence[Any], spans: Sequence[_Span], kept: Sequence[Any]
    ) -> None:
        for number in self._inout:
            _check_writable(self._parameters[number], arguments[number], kept[number])
        # In the order of memory, so that what overlaps another does so with one before it.
        in_order = sorted((*span, number) for number, span in enumerate(spans))
        any_end = written_end = 0
        for start, end, number in in_order:
            is_written = number in self._inout
            if end > start and start < (any_end if is_written else written_end):
                raise UserError(
                    f"{self._parameters[number].name} shares memory with another argument, where "
                    f"{self.signature.name} writes in place: hand over a copy"
                )
            any_end = max(any_end, end)
            if is_written:
                written_end = max(written_end, end)

    def _places(self, given: Sequence[Any], plan: CallPlan, others: list[_Span]) -> list[int]:
        """The addresses of what results are to be put into, which lies beside all `others`."""
        if len(given) != len(plan.result_bytes):
            raise UserError(
                f"{self.signature.name} has {len(plan.result_bytes)} results, and out is "
                f"{len(given)} tensors"
            )
        if not self.signature.are_results_bounded:
            raise UserError(
                f"{self.signature.name}: out needs results of bounded sizes, and nothing says how "
                "large those of this program can be"
            )
        places = []
        for tensor, parameter, shape, bytes_ in zip(
            given, self._results, plan.result_shapes, plan.result_bytes, strict=True
        ):
            place = _place(tensor, parameter, shape)
            end = place + bytes_
            for other, other_end in others:
                if other < end and place < other_end:
                    raise UserError(
                        f"{parameter.name} shares memory with an argument or another result"
                    )
            others.append((place, end))
            places.append(place)
        return places


def _place(tensor: Any, parameter: Parameter, shape: tuple[int, ...]) -> int:
    """The address of what a result of that shape is to be put into."""
    kind = KINDS.get(type(tensor)) or kind_of(tensor, parameter.name)
    place, has, kept = kind.read(tensor, parameter)
    if has != shape:
        element_type = parameter.spec.element_type
        TensorSpec(element_type, shape).check(parameter.name, element_type.name, tuple(has))
    _check_writable(parameter, tensor, kept)
    return place


def _check_writable(parameter: Parameter, tensor: Any, kept: Any) -> None:
    """Refuses a tensor, of which `kept` is what was read, that machine code cannot write to."""
    if kept is not tensor or (isinstance(tensor, np.ndarray) and not tensor.flags.writeable):
        raise UserError(
            f"{parameter.name} cannot be written in place: it is a numpy array or a torch tensor "
            f"that lies {lies(parameter.spec)}, and is not read-only"
        )


def _parameters(name: str, specs: Sequence[TensorSpec]) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(f"{name} {index}", spec, spec.element_type.numpy_dtype)
        for index, spec in enumerate(specs)
    )


def _span(start: int, bytes_: int) -> _Span:
    return start, start + bytes_
