"""Makes the files that linkers read of a library's assembly, with a C compiler and its archiver.

The same input gives the same bytes: nothing in them says when or where they were made.
"""

import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plumbline.errors import UserError
from plumbline.errors.temporary_folder import temporary_folder
from plumbline.runtime.c_library.stand_in import StandIn
from plumbline.runtime.cuda.source import INCLUDES, SOURCE
from plumbline.target.target import THUMB, WEBASSEMBLY, Target

_VERSION_SCRIPT = Path(__file__).with_name("library.lds")

_COMPILERS = ("gcc", "cc", "clang")
"""In the order in which they are looked for, as Bazel does."""

# Of an assembler, for what `cpu_target` says of WebAssembly.
_WEBASSEMBLY_FEATURES = (
    "-msimd128",
    "-mbulk-memory",
    "-mmutable-globals",
    "-mnontrapping-fptoint",
    "-msign-ext",
)

_WEBASSEMBLY_PACKAGES = "clang, lld, llvm, wasi-libc and libclang-rt-14-dev-wasm32"
"""Of Debian 12, which make modules of WebAssembly. GNU's ar writes no index of their objects."""

_STACK_BYTES = 1 << 20
"""Of a module of WebAssembly. Linkers give 64 KB, and kernels have blocks of operands there."""

_IMAGE_BASE = 0x180000000
"""Where a DLL asks to be loaded, which other linkers do as well."""

_CALLER = Path(__file__).with_name("call_library.c")
_CALLER_ON_BOARD = Path(__file__).with_name("call_on_board.c")
_BOARD = Path(__file__).with_name("board.lds")

GPU_RUNTIME_OBJECT = "plumbline_cuda.o"
"""What the object file of the runtime is called, in archives too."""

_RUNTIME_OPTIONS = ("-std=gnu11", "-O2", "-fvisibility=hidden", "-g0")

_MOST_LINES = 20
"""Of what a compiler says, in a message."""

_OF_FLOAT16 = ("__extendhfsf2", "__truncsfhf2")
"""What LLVM calls to convert float16 where a CPU cannot. GCC's library for RISC-V has them from
version 13 on."""


@dataclass(frozen=True)
class Toolchain:
    """The programs of a C compiler."""

    compiler: tuple[str, ...]
    """A command that takes what gcc and clang take; it assembles and links."""
    archiver: str
    """A command that takes what GNU's and LLVM's ar take."""
    is_for_windows: bool = False

    @classmethod
    def of_environment(cls, target: Target, *, links: bool = False) -> "Toolchain":
        """What the environment variables CC and AR name, and else what there is on PATH.

        For an architecture that is not this machine's ("aarch64"), it is a cross compiler, and
        for WebAssembly clang. For a microcontroller it is either, and the former if it `links`
        programs, which takes a C library.

        Raises:
          UserError: there is no C compiler.
        """
        family = _family(target, links)
        compiler, archiver = shlex.split(os.environ.get("CC", "")), os.environ.get("AR")
        for command, its_archiver in family.candidates:
            if compiler or shutil.which(command[0]):
                found = compiler or command
                whole = (*found, *family.options)
                return cls(whole, archiver or its_archiver, target.is_for_windows)
        looked_for = ", ".join(command[0] for command, _ in family.candidates)
        raise UserError(
            f"there is no C compiler{family.whose}, which assembles and links libraries (looked "
            f"for {looked_for}): install one ({family.packages}), or name it in the environment "
            "variable CC"
        )

    def assemble(self, assembly: Path, object_file: Path) -> None:
        """Makes an object file; weights are copied from files that lie beside the assembly.

        Raises:
          UserError: the compiler is missing, or refuses the text.
        """
        self._run(
            *self.compiler,
            # The preprocessor reads it, whose own names ("linux") weights may have as well.
            "-undef",
            f"-Wa,-I{assembly.parent}",
            "-c",
            str(assembly),
            "-o",
            str(object_file),
        )

    def compile_gpu_runtime(self, object_file: Path) -> None:
        """Makes an object file of the runtime of programs for a GPU, which no other library sees.

        Raises:
          UserError: the compiler is missing, or fails.
        """
        # Neither the folder that it lies in, nor its name, are in what is made.
        options = [*_RUNTIME_OPTIONS, "-fPIC", f"-I{INCLUDES}"]
        self._run(*self.compiler, *options, "-c", str(SOURCE), "-o", str(object_file))

    def compile_stand_in(self, stand_in: StandIn, folder: Path) -> Path:
        """Makes an object file in `folder` of what programs call in place of the C library.

        Raises:
          UserError: the compiler is missing, or fails.
        """
        object_file = folder / stand_in.object_name
        options = [*_RUNTIME_OPTIONS, *stand_in.options, "-c", str(stand_in.source)]
        self._run(*self.compiler, *options, "-o", str(object_file))
        return object_file

    def link_caller(self, program: Path) -> None:
        """Makes the program of call_library.c.

        Raises:
          UserError: the compiler is missing, or fails.
        """
        options = ["-std=gnu11", "-O2", "-g0", "-o", str(program)]
        libraries = [] if self.is_for_windows else ["-ldl"]
        self._run(*self.compiler, *options, str(_CALLER), *libraries)

    def link_caller_on_board(
        self, object_files: Sequence[Path], packed_entry: str, program: Path
    ) -> None:
        """Makes the program of call_on_board.c, which has a library of `object_files`.

        Raises:
          UserError: the compiler is missing, or fails.
        """
        self._run(
            *self.compiler,
            "-std=gnu11",
            "-O2",
            "-g0",
            f"-DPACKED={packed_entry}",
            # newlib, whose files are those of a debugger.
            "--specs=rdimon.specs",
            "-nostartfiles",
            f"-Wl,-T,{_BOARD}",
            # Text is written by what may write to it.
            "-Wl,--no-warn-rwx-segments",
            "-o",
            str(program),
            str(_CALLER_ON_BOARD),
            *map(str, object_files),
            "-lm",
        )

    def archive(self, object_files: Sequence[Path], archive: Path) -> None:
        """Makes a static library of object files.

        Raises:
          UserError: the archiver is missing, or fails.
        """
        archive.unlink(missing_ok=True)
        # D: no times, users or modes.
        self._run(self.archiver, "rcsD", str(archive), *map(str, object_files))

    def link(self, object_files: Sequence[Path], shared_object: Path, *, threads: int) -> None:
        """Makes a shared object of object files, which shows its entries alone.

        It needs the C library, and its mathematics and the runtime library of OpenMP where it calls
        these.

        Raises:
          UserError: the compiler is missing, or cannot link it.
        """
        try:
            self._link(object_files, shared_object, threads=threads)
        except UserError as error:
            if not any(name in str(error) for name in _OF_FLOAT16):
                raise
            raise UserError(
                "float16 takes functions here that this C compiler's library does not have "
                f"({', '.join(_OF_FLOAT16)}): name a target_cpu that converts float16 itself, of "
                "RISC-V rva22u64 or what has Zfhmin, or compile with GCC 13 or later"
            ) from None

    def _link(self, object_files: Sequence[Path], shared_object: Path, *, threads: int) -> None:
        self._run(
            *self.compiler,
            "-shared",
            "-o",
            str(shared_object),
            *map(str, object_files),
            f"-Wl,-soname,{shared_object.name}",
            f"-Wl,--version-script={_VERSION_SCRIPT}",
            "-Wl,-z,relro,-z,now,-z,defs",
            "-Wl,--as-needed",
            "-lm",
            # Which the runtime of programs for a GPU calls; of new C libraries they are a part.
            "-ldl",
            "-lpthread",
            *(["-lgomp"] if threads > 1 else []),
        )

    def link_dll(
        self,
        object_files: Sequence[Path],
        dll: Path,
        import_library: Path,
        functions: Sequence[str],
        *,
        threads: int,
    ) -> None:
        """Makes a library that Windows loads, which shows some `functions`.

        It has what it needs beside Windows itself.

        Raises:
          UserError: the compiler is missing, or cannot link it.
        """
        with temporary_folder() as folder:
            shown = Path(folder, "shown.def")
            shown.write_text("\n".join(["EXPORTS", *functions, ""]), encoding="utf-8")
            self._run(
                *self.compiler,
                "-shared",
                "-static",
                "-s",
                "-o",
                str(dll),
                *map(str, object_files),
                str(shown),
                f"-Wl,--out-implib,{import_library}",
                # Else they depend on when it was made and where. It is moved when it is loaded.
                "-Wl,--no-insert-timestamp",
                f"-Wl,--image-base,{_IMAGE_BASE:#x}",
                *(["-lgomp", "-lpthread"] if threads > 1 else []),
            )

    def link_module(
        self, object_files: Sequence[Path], module: Path, functions: Sequence[str]
    ) -> None:
        """Makes a module of WebAssembly, which shows its memory and some `functions`.

        It has what it needs of the C library.

        Raises:
          UserError: the compiler is missing, or cannot link it.
        """
        command = [
            *self.compiler,
            # Else it is a command, of which each call is the whole life: it would end with what a
            # program does at its end.
            "-mexec-model=reactor",
            "-o",
            str(module),
            *map(str, object_files),
            *(f"-Wl,--export={function}" for function in functions),
            # The names of functions stay, which profilers show.
            "-Wl,--strip-debug",
            # Below the data, so that what overflows it ends the call.
            "-Wl,--stack-first",
            f"-Wl,-z,stack-size={_STACK_BYTES}",
            "-lm",
        ]
        try:
            self._run(*command)
        except UserError as error:
            raise UserError(f"{error}\n(it takes Debian's {_WEBASSEMBLY_PACKAGES})") from None

    def _run(self, *command: str) -> None:
        try:
            result = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
            )
        except OSError as error:
            raise UserError(f"{command[0]} cannot be run: {error.strerror}") from error
        if result.returncode != 0:
            said = "\n".join((result.stdout + result.stderr).strip().splitlines()[:_MOST_LINES])
            raise UserError(f"{shlex.join(command)} failed:\n{said}")


@dataclass(frozen=True)
class _Family:
    """The C compilers that make code for a target."""

    candidates: tuple[tuple[tuple[str, ...], str], ...]
    """The commands to look for, in order, and the archiver of each."""
    packages: str
    """Those of Debian that have the first."""
    options: tuple[str, ...] = ()
    """What whichever it is has to be told."""
    whose: str = ""
    """How messages go on after "C compiler"."""


def _family(target: Target, links: bool) -> _Family:
    architecture = target.architecture
    if architecture == WEBASSEMBLY:
        clang = ("clang", "--target=wasm32-wasi"), "llvm-ar"
        packages = f"Debian's packages {_WEBASSEMBLY_PACKAGES}"
        return _Family((clang,), packages, _WEBASSEMBLY_FEATURES, " for WebAssembly")
    if architecture == THUMB:
        floats = "hard" if target.triple.endswith("hf") else "soft"
        options = (f"-mcpu={target.cpu}", "-mthumb", f"-mfloat-abi={floats}")
        gcc = ("arm-none-eabi-gcc",), "arm-none-eabi-ar"
        clang = ("clang", f"--target={target.triple}"), "llvm-ar"
        packages = "Debian's packages gcc-arm-none-eabi and libnewlib-arm-none-eabi"
        candidates = (gcc,) if links else (gcc, clang)
        return _Family(candidates, packages, options, " for microcontrollers")
    if target.is_for_windows:
        prefix = f"{architecture}-w64-mingw32"
        gcc = (f"{prefix}-gcc",), f"{prefix}-ar"
        return _Family((gcc,), "Debian's package gcc-mingw-w64-x86-64", whose=" for Windows")
    if architecture == platform.machine():
        return _Family(tuple(((name,), "ar") for name in _COMPILERS), "Debian's package gcc")
    prefix = f"{architecture}-linux-gnu"
    package = f"Debian's package gcc-{prefix.replace('_', '-')}"
    return _Family((((f"{prefix}-gcc",), f"{prefix}-ar"),), package, whose=f" for {architecture}")
