"""The program that a command line names, and the options of how it is compiled."""

import argparse
import ast
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plumbline import model_files
from plumbline.cli.exit_status import SUCCESS
from plumbline.cli.mistakes import status_of
from plumbline.errors import UserError
from plumbline.errors.watched_process import exit_status
from plumbline.loader_to_torch.watch import Watch, run_in_child
from plumbline.target.choices import (
    LIBRARY_ABIS,
    MEMORIES,
    OPTIMISATION_LEVELS,
    RUNTIME_CHECKS,
    TARGETS,
    WEIGHTS,
)

if TYPE_CHECKING:
    from plumbline.library_files.build import Program, TorchProgram
    from plumbline.library_files.options import LibraryOptions
    from plumbline.loader_to_torch.loader import TorchLoaderOutput

_ENDING = "_loader"
"""What names of loader functions often end with, and those of libraries do not."""


_EXPORTED = ".pt2"
_TORCH_FILES = (*model_files.SUFFIXES, _EXPORTED)


@dataclass(frozen=True)
class Loader:
    """A loader function of a file."""

    folder: Path
    """From where its module is imported."""
    module: str
    """Its name below that folder: "models.blur"."""
    function: str

    @property
    def path(self) -> str:
        """The loader as aot_library names it: "models.blur.blur_loader"."""
        return f"{self.module}.{self.function}"


def add_program(arguments: argparse.ArgumentParser) -> None:
    """Lets a command line say what to compile to a library, and how."""
    _add_source(arguments)
    how = arguments.add_argument_group("how it is compiled")
    _add_code(how)
    _add_library(how)


def add_program_alone(arguments: argparse.ArgumentParser) -> None:
    """Lets a command line say what to compile, and how, for this process alone."""
    _add_source(arguments)
    _add_code(arguments.add_argument_group("how it is compiled"))
    library = argparse.ArgumentParser(add_help=False)
    _add_library(library)
    arguments.set_defaults(**vars(library.parse_args([])))


def _add_source(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument(
        "program",
        metavar="FILE.py:LOADER|FILE.pt2|FILE.onnx|FILE.tflite|FILE.mlir",
        help="a function that returns a plumbline.TorchLoaderOutput, or a program that "
        "torch.export.save has written, or a model of ONNX or TensorFlow Lite, or a file of TCP or "
        "StableHLO",
    )
    arguments.add_argument(
        "--name", help="the library's name (default: the loader's or the file's)"
    )
    model_files.add_size(arguments)
    arguments.add_argument(
        "--loader-time-limit",
        type=_seconds,
        default=600,
        metavar="SECONDS",
        help="how long the loader may take, and after it the model; 0: any time (default: 600)",
    )


def _add_code(how: "argparse._ArgumentGroup") -> None:
    """What is chosen of machine code."""
    how.add_argument(
        "--target-cpu",
        default="baseline",
        metavar="CPU",
        help='"baseline" (the default: fixed, widely available), "native", or a name of LLVM\'s; '
        'one of another architecture, too: "cortex-a76", "spacemit-x60", and "aarch64" or '
        '"riscv64" for its baseline; "wasm32", for browsers; a microcontroller, "cortex-m55"; or '
        'for Windows a name of x86-64 with its name behind, "haswell-windows", and '
        '"x86_64-windows" for the baseline',
    )
    how.add_argument(
        "--threads", type=int, default=1, metavar="N", help="how many a call runs on (default: 1)"
    )
    how.add_argument(
        "-O",
        "--opt-level",
        type=int,
        choices=OPTIMISATION_LEVELS,
        default=2,
        help="how much LLVM optimises, as in clang -O (default: 2)",
    )
    how.add_argument(
        "--runtime-checks",
        choices=RUNTIME_CHECKS,
        default="values",
        help="what the program checks as it runs: what PyTorch raises for (values, the default), "
        "also that the sizes of operands agree (all), or neither (off)",
    )


def _add_library(how: "argparse._ActionsContainer") -> None:
    """What is chosen of a library beside that."""
    how.add_argument(
        "--func-name", metavar="NAME", help="the C function's name (default: the library's)"
    )
    how.add_argument(
        "--target",
        choices=TARGETS,
        default=TARGETS[0],
        help="what it is compiled for: this machine's kind of CPU (the default), or NVIDIA's GPUs",
    )
    how.add_argument(
        "--gpu-arch",
        metavar="ARCH",
        default=None,
        help="the oldest GPUs that kernels run on, such as sm_80 (the default) or sm_90a",
    )
    how.add_argument(
        "--cubins",
        type=lambda text: tuple(text.split(",")),
        default=(),
        metavar="ARCH,...",
        help="the GPUs that the library has machine code for beside PTX, such as sm_80,sm_90, so "
        "that a first call there compiles nothing; it takes NVIDIA's ptxas",
    )
    how.add_argument(
        "--allow-tf32",
        action="store_true",
        help="products of f32 may be taken of numbers rounded to TF32, on tensor cores of the GPU",
    )
    how.add_argument(
        "--on-gpu-tensors",
        action="store_true",
        help="all pointers are to memory of the GPU, and nothing is copied",
    )
    how.add_argument(
        "--stream",
        action="store_true",
        help="with --on-gpu-tensors: calls are queued on a stream of the caller's, who brings a "
        "workspace in memory of the GPU along",
    )
    how.add_argument(
        "--abi",
        choices=LIBRARY_ABIS,
        default="pointers",
        help="how C calls it: by pointers to memory of its own (the default), or by MLIR's memrefs",
    )
    how.add_argument(
        "--memory",
        choices=MEMORIES,
        default=MEMORIES[0],
        help="where temporaries come from: the heap (the default), or a workspace of the caller's",
    )
    how.add_argument(
        "--weights",
        choices=WEIGHTS,
        default=WEIGHTS[0],
        help="read-only data of the library (the default), or leading arguments of the function, "
        "or a file that the library maps when it is told where",
    )


def _seconds(text: str) -> int:
    """A number of seconds of a command line."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of seconds")
    return int(text)


Work = Callable[["Program", "LibraryOptions"], int]
"""What a command does with a program; it gives the exit status."""


def with_program(given: argparse.Namespace, work: Work) -> int:
    """Does `work` with what the command line says to compile, and how.

    With a loader it is done in a child process, under a watch that ends it where the user's code
    takes longer than it may.

    Raises:
      UserError: there is no such file or function, or no such choice; or the user's code ended its
        process, or is still running.
    """
    from plumbline.library_files.build import program_of_file
    from plumbline.library_files.options import LibraryOptions, is_library_name

    found = _find(given.program)
    default = (
        found.stem
        if isinstance(found, Path)
        else (found.function.removesuffix(_ENDING) or found.function)
    )
    if given.name is None and not is_library_name(default):
        raise UserError(f"{default!r} cannot be the name of a library: give it another by --name")
    options = LibraryOptions(
        name=default if given.name is None else given.name,
        func_name=given.func_name,
        target_cpu=given.target_cpu,
        abi=given.abi,
        memory=given.memory,
        threads=given.threads,
        weights=given.weights,
        opt_level=given.opt_level,
        runtime_checks=given.runtime_checks,
        target=given.target,
        **_gpu_arch(given),
        cubins=given.cubins,
        allow_tf32=given.allow_tf32,
        on_gpu_tensors=given.on_gpu_tensors,
        stream=given.stream,
    )
    if given.size and not (isinstance(found, Path) and found.suffix in model_files.SUFFIXES):
        raise UserError("--size goes with a model of ONNX or TensorFlow Lite")
    if isinstance(found, Path) and found.suffix not in _TORCH_FILES:
        return work(program_of_file(found), options)

    def work_watched(watch: Watch) -> None:
        if isinstance(found, Path):
            program = _model_program(found, options, dict(given.size))
        else:
            program = _torch_program(found, options, watch)
        sys.exit(
            exit_status(lambda: sys.exit(status_of(given.command, lambda: work(program, options))))
        )

    run_in_child(
        work_watched,
        loader=f"model {found}" if isinstance(found, Path) else f"loader {found.path}",
        time_limit=given.loader_time_limit,
        limit_option="--loader-time-limit",
    )
    return SUCCESS


def _model_program(
    file: Path, options: "LibraryOptions", sizes: Mapping[str, int]
) -> "TorchProgram":
    from plumbline.library_files.build import TorchProgram

    def load_program() -> "TorchLoaderOutput":
        # Imports PyTorch.
        func_name = options.func_name or options.name
        if file.suffix == _EXPORTED:
            from plumbline.loader_to_torch.exported_programs import load_exported

            return load_exported(file, func_name=func_name)
        return model_files.load_model(file, func_name=func_name, sizes=sizes)

    return TorchProgram(f"model {file}", file.as_posix(), load_program)


def _torch_program(loader: Loader, options: "LibraryOptions", watch: Watch) -> "TorchProgram":
    from plumbline.library_files.build import TorchProgram

    def load_program() -> "TorchLoaderOutput":
        # Imports PyTorch.
        from plumbline.loader_to_torch.loader import Front, load
        from plumbline.loader_to_torch.loader_import import find_loaders_in

        file_folder = loader.folder.joinpath(*loader.module.split(".")[:-1])
        sys.path.insert(0, str(loader.folder))
        # As `python FILE.py` does, which finds what lies beside the file.
        find_loaders_in([str(loader.folder), str(file_folder)])
        front = Front(
            "--func-name",
            "the library's, which --name gives",
            "It is named from the folder where one stands, if the file lies below: are there a "
            "package and a folder of one name?",
        )
        return load(loader.path, func_name=options.func_name, target=options.name, front=front)

    return TorchProgram(f"loader {loader.path}", loader.path, load_program, watched=watch.over)


def _gpu_arch(given: argparse.Namespace) -> dict[str, str]:
    if given.gpu_arch is None:
        return {}
    if given.target != "nvptx":
        raise UserError("--gpu-arch goes with --target nvptx")
    return {"gpu_arch": given.gpu_arch}


def _find(text: str) -> Loader | Path:
    """The loader, or the file of another kind, that a command line names."""
    name, colon, function = text.rpartition(":")
    file = Path(name if colon else text)
    if not file.is_file():
        raise UserError(f"{file}: there is no such file")
    if file.suffix in (".mlir", ".mlirbc", *_TORCH_FILES):
        if colon:
            raise UserError(f"{text}: a {file.suffix} file has no loader; leave out :{function}")
        return _relative(file)
    if file.suffix != ".py":
        raise UserError(
            f"{file}: it is neither a .py file, with a loader, nor a .pt2 file, nor a .onnx or "
            ".tflite file, nor a .mlir file of TCP or StableHLO, nor a .mlirbc file of StableHLO"
        )
    if not colon:
        names = ", ".join(_functions_of(file)) or "none"
        raise UserError(f"{file}: say which function is the loader, {file}:NAME; it has {names}")
    if not function.isidentifier():
        raise UserError(f"{text}: {function!r} is no name of a function")
    return _loader(file, function)


def _loader(file: Path, function: str) -> Loader:
    """A function of a file; its module is named from where one stands, if it lies below."""
    relative = _relative(file)
    folder = Path.cwd()
    if relative.is_absolute():
        folder, relative = file.resolve().parent, Path(file.name)
    parts = relative.with_suffix("").parts
    if not parts[-1].isidentifier():
        raise UserError(f"{file}: {parts[-1]!r} is no name of a Python module")
    if len(parts) == 1 and parts[0] in sys.stdlib_module_names:
        raise UserError(
            f"{file}: Python has a module {parts[0]} of its own; give the file another name"
        )
    # Folders whose names no import statement can have are not part of the module's.
    first = max((i + 1 for i, part in enumerate(parts) if not part.isidentifier()), default=0)
    return Loader(folder.joinpath(*parts[:first]), ".".join(parts[first:]), function)


def _relative(file: Path) -> Path:
    """The path from where one stands, if the file lies below."""
    absolute = Path(os.path.abspath(file))
    return absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else absolute


def _functions_of(file: Path) -> list[str]:
    """The functions that a file defines, without running it."""
    try:
        module = ast.parse(file.read_bytes(), str(file))
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except (SyntaxError, ValueError) as error:
        raise UserError(f"{file}: it is not Python: {error}") from error
    return [node.name for node in module.body if isinstance(node, ast.FunctionDef)]
