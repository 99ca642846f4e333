"""Calls machine code by the packed entry of `kernels_to_llvm/pointer_entries.py`.

It takes its arguments as words, one after the other: the addresses of inputs, of results, the
values of symbols, and the address of a workspace. All memory is the caller's. After the results
come the addresses of what their sizes are written to that depend on values.
"""

import ctypes
import struct
from collections.abc import Sequence

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.library.call_plan import CallPlan, Shapes
from plumbline.library.heap import free
from plumbline.library.new_arrays import aligned_bytes, beginning
from plumbline.library.tensor_arguments import address
from plumbline.signature.signature import Signature

_NO_MEMORY = (MemoryError, ValueError)
"""What numpy raises of an array that there is no memory for, or that no memory could hold."""

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)


class PackedEntry:
    """The entry of one program."""

    def __init__(self, signature: Signature, entry: int) -> None:
        """`entry` is its address."""
        self._name = signature.name
        self.address = entry
        self._entry = _ENTRY(entry)
        words = len(signature.inputs) + len(signature.outputs) + len(signature.shapes.symbols)
        words += (signature.workspace is not None) + signature.has_stream
        self._unbacked = signature.unbacked
        words += len(self._unbacked)
        self._pack = struct.Struct(f"{words}Q").pack

    def compute(self, words: list[int], plan: CallPlan) -> Sequence[Tensor]:
        """Runs the program on inputs that lie where `words` say; gives new results.

        Raises:
          UserError: there is no memory, or the program fails.
        """
        results: list[Tensor] = []
        try:
            for new_result in plan.new_results:
                result = new_result()
                results.append(result)
                words.append(address(result))
        except _NO_MEMORY as error:
            raise self._no_memory(max(plan.result_bytes)) from error
        shapes = self._enter(words, plan)
        return [*map(beginning, results, shapes)] if self._unbacked else results

    def compute_into(self, words: list[int], plan: CallPlan, places: Sequence[int]) -> Shapes:
        """Runs the program on inputs that lie where `words` say, its results at `places`.

        Returns:
          The shapes of the results.

        Raises:
          UserError: there is no memory, or the program fails.
        """
        words += places
        return self._enter(words, plan)

    def _enter(self, words: list[int], plan: CallPlan) -> Shapes:
        others = list(plan.sizes)
        if plan.workspace is not None:
            # One for each call, as several threads may call at once.
            try:
                workspace = aligned_bytes(plan.workspace)
            except _NO_MEMORY as error:
                raise self._no_memory(plan.workspace) from error
            # An empty array may lie anywhere.
            others.append(address(workspace) if plan.workspace else 0)
        return self.run(words, others, plan.result_shapes)

    def run(self, tensors: Sequence[int], others: Sequence[int], shapes: Shapes) -> Shapes:
        """Runs the program on the words for tensors, and all others; gives the results' shapes.

        These are `shapes`, but for sizes that depend on values.

        Raises:
          UserError: the program fails.
        """
        if not self._unbacked:
            # As most programs: of a small call, an empty array takes a tenth of the time.
            self._call([*tensors, *others])
            return shapes
        told = (ctypes.c_int64 * len(self._unbacked))()
        first = ctypes.addressof(told)
        places = range(first, first + ctypes.sizeof(told), ctypes.sizeof(ctypes.c_int64))
        self._call([*tensors, *places, *others])
        found = [*map(list, shapes)]
        for size, value in zip(self._unbacked, told, strict=True):
            found[size.output][size.axis] = value
        return tuple(map(tuple, found))

    def _no_memory(self, bytes_: int) -> UserError:
        return UserError(f"{self._name}: there is no memory for {bytes_} bytes")

    def _call(self, words: list[int]) -> None:
        message = self._entry(self._pack(*words))
        if message is not None:
            raise failure(message)


def failure(message: int) -> UserError:
    """What a program says at an address when it fails. That memory is given back."""
    try:
        return UserError(ctypes.string_at(message).decode())
    finally:
        free(message)
