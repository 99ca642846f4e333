"""Calls libraries for other machines, in a process that something runs such code in: an emulator.

That process answers requests in the format of `serve_calls.h`. It is of `call_library.c`, for a
module of WebAssembly of `call_module.mjs`, and for a microcontroller of `call_on_board.c`.
"""

import ctypes
import shlex
import struct
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.errors.temporary_folder import temporary_folder
from plumbline.library.call_plan import CallPlan, Shapes
from plumbline.library.load import Library, described
from plumbline.library.new_arrays import beginning
from plumbline.library.sections import read_architecture
from plumbline.library.tensor_arguments import address
from plumbline.library_files.toolchain import Toolchain
from plumbline.runtime.c_library.stand_in import stand_in_for
from plumbline.signature.function_name import PACKED_SUFFIX
from plumbline.signature.library_description import LibraryDescription
from plumbline.target.target import THUMB, WEBASSEMBLY, Target

_MODULE_CALLER = Path(__file__).with_name("call_module.mjs")

_WORD = struct.Struct("<q")
_LOAD_WEIGHTS, _STACK_BYTES = -1, -2

_Argument = tuple["_Kind", int, int]
"""Its kind, its bits or how many bytes it has, and where these lie here."""


class _Kind(IntEnum):
    VALUE = 0
    IN = 1
    OUT = 2
    INOUT = 3
    SCRATCH = 4


def load_under(path: Path, command: Sequence[str], name: str | None = None) -> "LibraryUnder":
    """Loads the program of a library that was made for whatever machine.

    Each call copies arguments to a process and results back. It ends with the library.

    Args:
      path: the .so file, the .dll file, the .wasm file, or for a microcontroller the .o file.
      command: what runs programs of that machine, and its arguments; theirs follow. For a DLL it
        is wine. For a module of WebAssembly it runs programs of JavaScript: node. For a
        microcontroller it is an emulator of the board of `board.lds`, "qemu-system-arm -M
        mps3-an547", or runs the program that it is handed on one; that has no arguments, and its
        files by semihosting.
      name: which program, of a file with several.

    Raises:
      UserError: there is no such file or program; or nothing runs it, or there is no C compiler for
        its machine. The message says why.
    """
    description = described(path, name)
    if description.abi != "pointers" or description.gpu_arch is not None:
        raise UserError(
            f"{path}: under another program run libraries for a CPU that are called by pointers"
        )
    try:
        architecture = read_architecture(path)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: it cannot be read: {error}") from error
    folder = temporary_folder()
    call = [*command]
    called = [str(path.absolute()), description.signature.name]
    if architecture == WEBASSEMBLY:
        call += [str(_MODULE_CALLER), *called]
    elif architecture == THUMB:
        program = Path(folder.name, "call_on_board")
        _link_on_board(path, description, program)
        call += [*_options_of_emulator(command), str(program)]
    else:
        # By that name Windows knows a program.
        caller = Path(folder.name, "call_library.exe")
        Toolchain.of_environment(Target(architecture, "")).link_caller(caller)
        call += [str(caller), *called]
    what = f"{path}, under {shlex.join(command)}"
    code = _CodeUnder(what, description, call, folder)
    return LibraryUnder(description, code, counts_stack=architecture == THUMB)


class LibraryUnder(Library):
    """A program in a process of its own."""

    def __init__(
        self, description: LibraryDescription, code: "_CodeUnder", *, counts_stack: bool
    ) -> None:
        super().__init__(description, code)
        self._code_under, self._counts_stack = code, counts_stack

    def stack_bytes(self) -> int | None:
        """How much of its stack a microcontroller has used so far; None if it is something else."""
        return self._code_under.stack_bytes() if self._counts_stack else None


def _link_on_board(path: Path, description: LibraryDescription, program: Path) -> None:
    # With LLVM, which knows what the CPU has, and others do not need.
    from plumbline.target.cpu import cpu_target

    target = cpu_target(description.made_for)
    toolchain = Toolchain.of_environment(target, links=True)
    stand_in = stand_in_for(target)
    assert stand_in is not None
    runtime = toolchain.compile_stand_in(stand_in, program.parent)
    entry = description.signature.name + PACKED_SUFFIX
    toolchain.link_caller_on_board([path, runtime], entry, program)


def _options_of_emulator(command: Sequence[str]) -> tuple[str, ...]:
    """What QEMU's emulators of whole machines are told, before the program: to have no screen."""
    if not Path(command[0]).name.startswith("qemu-system-"):
        return ()
    devices = [
        part for device in ("display", "serial", "monitor") for part in (f"-{device}", "none")
    ]
    return (*devices, "-semihosting-config", "enable=on,target=native", "-kernel")


class _CodeUnder:
    """The code of a program, in a process of its own. It is its own entry, too."""

    def __init__(
        self,
        what: str,
        description: LibraryDescription,
        call: Sequence[str],
        folder: "tempfile.TemporaryDirectory[str]",
    ) -> None:
        """The command `call` runs a caller, which may be in the `folder`; messages say `what`."""
        self._signature = description.signature
        self._what = what
        # Given back with this, as the process is.
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process = subprocess.Popen(
                call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said
            )
        except OSError as error:
            raise UserError(f"{call[0]} cannot be run: {error.strerror}") from error
        weakref.finalize(self, _end, self._process, folder)

    @property
    def entry(self) -> "_CodeUnder":
        """What calls it."""
        return self

    def load_weights(self, path: bytes) -> str | None:
        """Has it map its weights from a file; gives what it says where it cannot."""
        place = str(Path(path.decode(errors="surrogateescape")).absolute())
        whole = place.encode(errors="surrogateescape")
        self._send(_WORD.pack(_LOAD_WEIGHTS), _WORD.pack(len(whole)), whole)
        return self._reply()

    def stack_bytes(self) -> int:
        """How much of its stack the process has used so far, if that is counted."""
        self._send(_WORD.pack(_STACK_BYTES))
        (bytes_,) = _WORD.unpack(self._receive(_WORD.size))
        return int(bytes_)

    def compute(self, words: list[int], plan: CallPlan) -> Sequence[Tensor]:
        """Runs the program on inputs that lie where `words` say; gives new results.

        Raises:
          UserError: the program fails, or its process ends.
        """
        results = [new_result() for new_result in plan.new_results]
        shapes = self.compute_into(words, plan, [*map(address, results)])
        return [*map(beginning, results, shapes)]

    def compute_into(self, words: list[int], plan: CallPlan, places: Sequence[int]) -> Shapes:
        """Runs the program on inputs that lie where `words` say, its results at `places`.

        Returns:
          The shapes of the results.

        Raises:
          UserError: the program fails, or its process ends.
        """
        signature = self._signature
        unbacked = (ctypes.c_int64 * len(signature.unbacked))()
        arguments: list[_Argument] = []
        for number, (spec, word) in enumerate(zip(signature.inputs, words, strict=True)):
            kind = _Kind.INOUT if number in signature.inout else _Kind.IN
            arguments.append(
                (_Kind.VALUE, word, 0)
                if spec.is_scalar
                else (kind, plan.argument_bytes[number], word)
            )
        arguments += [(_Kind.OUT, *each) for each in zip(plan.result_bytes, places, strict=True)]
        arguments += [
            (_Kind.OUT, ctypes.sizeof(ctypes.c_int64), ctypes.addressof(unbacked) + 8 * number)
            for number in range(len(unbacked))
        ]
        arguments += [(_Kind.VALUE, size, 0) for size in plan.sizes]
        if plan.workspace is not None:
            arguments.append((_Kind.SCRATCH, plan.workspace, 0))
        self._call(arguments)
        found = [*map(list, plan.result_shapes)]
        for size, value in zip(signature.unbacked, unbacked, strict=True):
            found[size.output][size.axis] = value
        return tuple(map(tuple, found))

    def _call(self, arguments: Sequence[_Argument]) -> None:
        header = [_WORD.pack(len(arguments))]
        # The bits of a number, without a sign.
        header += [struct.pack("<qQ", kind, word & (2**64 - 1)) for kind, word, _ in arguments]
        sent = [
            ctypes.string_at(place, bytes_)
            for kind, bytes_, place in arguments
            if kind in (_Kind.IN, _Kind.INOUT)
        ]
        self._send(*header, *sent)
        if (message := self._reply()) is not None:
            raise UserError(message)
        for kind, bytes_, place in arguments:
            if kind in (_Kind.OUT, _Kind.INOUT):
                ctypes.memmove(place, self._receive(bytes_), bytes_)

    def _send(self, *parts: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"".join(parts))
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def _reply(self) -> str | None:
        """What the program says, if it fails."""
        (length,) = _WORD.unpack(self._receive(_WORD.size))
        return self._receive(length).decode() if length else None

    def _receive(self, count: int) -> bytes:
        assert self._process.stdout is not None
        received = self._process.stdout.read(count)
        if len(received) < count:
            raise self._ended()
        return received

    def _ended(self) -> UserError:
        status = self._process.wait()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace").strip()
        how = f"exit status {status}" if status >= 0 else f"signal {-status}"
        return UserError(f"{self._what}: it ended with {how}{said and ': '}{said}")


def _end(process: "subprocess.Popen[bytes]", folder: "tempfile.TemporaryDirectory[str]") -> None:
    process.kill()
    process.communicate()
    folder.cleanup()
