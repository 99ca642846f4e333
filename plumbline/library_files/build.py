"""Makes the files of a library, each from those before it, as the targets of aot_library do."""

import contextlib
import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from plumbline.archives import atomic_file, text_file
from plumbline.archives.serialised_weights import serialised
from plumbline.errors import UserError
from plumbline.errors.temporary_folder import temporary_folder
from plumbline.kernels_to_llvm.description import describe
from plumbline.kernels_to_llvm.stage import kernels_to_llvm
from plumbline.library_files.c_header import c_header
from plumbline.library_files.cmake_config import cmake_config
from plumbline.library_files.entries import entries
from plumbline.library_files.javascript import exported_functions, javascript, types
from plumbline.library_files.kinds import (
    KINDS,
    OF_TORCH,
    OF_WEIGHTS,
    STAGES,
    not_of,
)
from plumbline.library_files.options import LibraryOptions
from plumbline.library_files.pkg_config import pkg_config
from plumbline.library_files.toolchain import GPU_RUNTIME_OBJECT, Toolchain
from plumbline.linalg_to_kernels.stage import linalg_to_kernels
from plumbline.llvm_to_asm.fatbin import fatbin
from plumbline.llvm_to_asm.library_assembly import llvm_ir_to_asm
from plumbline.llvm_to_asm.ptx_stage import nvvm_to_ptx
from plumbline.llvm_to_asm.stage import llvm_to_llvm_ir
from plumbline.loader_to_stablehlo import bytecode
from plumbline.loader_to_stablehlo.program import (
    StablehloProgram,
    stablehlo_of_file,
    stablehlo_of_text,
)
from plumbline.runtime.c_library.stand_in import stand_in_for
from plumbline.signature.library_description import LibraryDescription
from plumbline.target.choices import LIBRARY_ABIS
from plumbline.target.cpu import cpu_target
from plumbline.target.target import Target
from plumbline.tcp_to_linalg.stage import tcp_to_linalg
from plumbline.torch_to_tcp.stage import torch_to_tcp

if TYPE_CHECKING:
    from plumbline.loader_to_torch.loader import TorchLoaderOutput


@dataclass(frozen=True)
class TorchProgram:
    """A program to begin with that PyTorch exports."""

    who: str
    """What messages call it: "loader examples.my_loader_lib.my_loader"."""
    origin: str
    """What a header calls it, in the user's own words: "examples.my_loader_lib.my_loader"."""
    load: Callable[[], "TorchLoaderOutput"]
    recorded: bool = True
    """Whether PyTorch runs it as well, for reference tensors; else it has no such file."""
    watched: Callable[[str], AbstractContextManager[None]] = lambda what: contextlib.nullcontext()
    """In its contexts the user's code runs, which its argument names."""


@dataclass(frozen=True)
class TcpProgram:
    """A program to begin with that is a file of TCP."""

    dialect: ClassVar[str] = "TCP"
    file: Path

    @property
    def origin(self) -> str:
        """What a header calls it."""
        return self.file.as_posix()


Program = TorchProgram | TcpProgram | StablehloProgram

_OP_OF_STABLEHLO = re.compile(r'^\s*(?:%[^=]*=\s*)?"?(?:stablehlo|chlo)\.', re.MULTILINE)


def program_of_file(file: Path) -> TcpProgram | StablehloProgram:
    """The program of a .mlir file, which is StableHLO if it has ops of that, or is bytecode.

    Raises:
      UserError: it cannot be read.
    """
    # Bytecode is of StableHLO, and refused there if it is of something else.
    if bytecode.is_bytecode(file):
        return stablehlo_of_file(file)
    text = text_file.read(file)
    if _OP_OF_STABLEHLO.search(text) is None:
        return TcpProgram(file)
    return stablehlo_of_text(text, file)


class LibraryBuild:
    """The files of one library, in a folder, made when they are asked for."""

    def __init__(
        self,
        program: Program,
        options: LibraryOptions,
        folder: Path,
        *,
        when_begun: Callable[[str], None] = lambda message: None,
    ) -> None:
        """Files are made in `folder`; `when_begun` is told what happens before it does.

        Raises:
          UserError: there is an option that does not go with the program.
        """
        if isinstance(program, TcpProgram) and options.func_name is not None:
            raise UserError(
                f"{program.origin}: its function cannot be called {options.func_name}: that of "
                "a file of TCP is called what it says"
            )
        refused = ("arguments", "file") if isinstance(program, TcpProgram) else ("arguments",)
        if not isinstance(program, TorchProgram) and options.weights in refused:
            raise UserError(
                f'{program.origin}: weights "{options.weights}" are of a PyTorch program; the '
                f"arguments of one of {program.dialect} are what it says"
            )
        self._program, self._options, self._folder = program, options, folder
        self._when_begun = when_begun
        self._made: set[str] = set()
        self._makers: dict[str, Callable[[], None]] = {
            "torch": self._export,
            "references": self._export,
            "weights": self._write_weights,
            "tcp": self._lower_to_tcp,
            "linalg": self._lower_to_linalg,
            "kernels": self._lower_to_kernels,
            "llvm": self._lower_to_llvm,
            "gpu": self._lower_to_gpu,
            "nvvm": self._lower_to_nvvm,
            "ptx": self._compile_kernels,
            "fatbin": self._assemble_kernels,
            "llvm-ir": self._translate_to_llvm_ir,
            "asm": self._compile,
            "packed-weights": self._compile,
            "weights-file": self._compile,
            "object": self._assemble,
            "archive": self._archive,
            "shared-object": self._link,
            "link": self._link_by_own_name,
            "dll": self._link_dll,
            "import-library": self._link_dll,
            "module": self._link_module,
            "javascript": self._write_javascript,
            "types": self._write_types,
            "header": self._write_header,
            "description": self._describe,
            "pkg-config": self._write_pkg_config,
            "cmake": self._write_cmake_config,
        }

    def file(self, kind: str) -> Path:
        """The file of a kind, one of `KINDS`; makes it and what it is made from, once.

        Raises:
          UserError: the program cannot be compiled, or has no such file. The message says why.
        """
        if isinstance(self._program, TorchProgram):
            if kind == "references" and not self._program.recorded:
                raise UserError(f"{self._program.who}: no references are recorded of it")
        elif kind in OF_TORCH or (kind in OF_WEIGHTS and isinstance(self._program, TcpProgram)):
            raise UserError(
                f"{self._program.origin} is a program of {self._program.dialect}: there is no "
                f"{kind} file of it"
            )
        if kind in not_of(self._options.made_for):
            raise UserError(
                f"{self._program.origin}: there is no {kind} file of it for the target "
                f"{self._options.made_for}"
            )
        if kind == ("packed-weights" if self._options.weights == "file" else "weights-file"):
            raise UserError(
                f"{self._program.origin}: there is no {kind} file of it with weights "
                f'"{self._options.weights}"'
            )
        if kind == "fatbin" and not self._options.cubins:
            raise UserError(f"{self._program.origin}: there is no fatbin of it without cubins")
        if kind not in self._made:
            self._makers[kind]()
            self._made.add(kind)
        return self._place(kind)

    @property
    def stages(self) -> tuple[str, ...]:
        """The kinds of files that are texts of its stages, in order."""
        left_out = set(not_of(self._options.made_for))
        if not isinstance(self._program, TorchProgram):
            left_out.update(OF_TORCH)
        return tuple(kind for kind in STAGES if kind not in left_out)

    def _place(self, kind: str) -> Path:
        return self._folder / KINDS[kind].file_name(self._options.name)

    def _text(self, kind: str) -> tuple[str, str]:
        """The text of a file, and what messages call it."""
        file = self.file(kind)
        return file.read_text(encoding="utf-8"), file.name

    def _write(self, kind: str, content: str) -> None:
        atomic_file.write_text(self._place(kind), content)

    def _export(self) -> None:
        self._when_begun("exporting from PyTorch")
        # These import PyTorch, which a file of TCP does not need.
        from plumbline.loader_to_torch.export import export
        from plumbline.loader_to_torch.recorded_export import export_and_record
        from plumbline.loader_to_torch.state import with_mutations_returned
        from plumbline.loader_to_torch.weights import serialise

        assert isinstance(self._program, TorchProgram)
        who, weights = self._program.who, self._options.weights
        watched = self._program.watched
        with watched(who):
            program = self._program.load()
        if self._program.recorded:
            recorded = export_and_record(who, program, weights=weights, watched=watched)
            recorded.references.write(self._place("references"))
            exported = recorded.exported
        else:
            exported = export(
                who, with_mutations_returned(who, program), embedded=weights != "arguments"
            )
        self._write("torch", exported.text)
        atomic_file.write_bytes(self._place("weights"), serialise(exported.weights))
        self._made |= {"torch", "references", "weights"}

    def _write_weights(self) -> None:
        if isinstance(self._program, StablehloProgram):
            atomic_file.write_bytes(self._place("weights"), serialised(self._program.weights))
        else:
            self._export()

    def _lower_to_tcp(self) -> None:
        program = self._program
        if isinstance(program, TcpProgram):
            self._write("tcp", text_file.read(program.file))
        elif isinstance(program, StablehloProgram):
            # Knows StableHLO, which other programs do not need.
            from plumbline.stablehlo_to_tcp.stage import stablehlo_to_tcp

            self._when_begun("lowering StableHLO to TCP")
            func_name = self._options.func_name or self._options.name
            self._write("tcp", stablehlo_to_tcp(program.text, program.who, func_name))
        else:
            source = self._text("torch")
            self._when_begun("lowering Torch to TCP")
            self._write("tcp", torch_to_tcp(*source))

    def _lower_to_linalg(self) -> None:
        text, filename = self._text("tcp")
        if isinstance(self._program, TcpProgram):
            filename = str(self._program.file)
        self._when_begun("lowering TCP to linalg")
        self._write("linalg", tcp_to_linalg(text, filename, self._options.runtime_checks))

    def _lower_to_kernels(self) -> None:
        source, options = self._text("linalg"), self._options
        self._when_begun("lowering linalg to kernels")
        kernels = linalg_to_kernels(*source, target_cpu=options.target_cpu, threads=options.threads)
        self._write("kernels", kernels)

    def _lower_to_llvm(self) -> None:
        source, options = self._text("kernels"), self._options
        self._when_begun("lowering kernels to the LLVM dialect")
        abi = LIBRARY_ABIS[options.abi]
        self._write("llvm", kernels_to_llvm(*source, abi, options.memory, options.weights))

    def _lower_to_gpu(self) -> None:
        # Knows GPUs, which programs for a CPU do not need.
        from plumbline.linalg_to_gpu.stage import linalg_to_gpu

        source, gpu = self._text("linalg"), self._options.gpu
        self._when_begun("lowering linalg to kernels of a GPU")
        lowered = linalg_to_gpu(
            *source, gpu_arch=gpu.target.cpu, allow_tf32=gpu.allow_tf32, tensors=gpu.tensors
        )
        self._write("gpu", lowered)

    def _lower_to_nvvm(self) -> None:
        from plumbline.gpu_to_nvvm.stage import gpu_to_nvvm

        source, options = self._text("gpu"), self._options
        self._when_begun("lowering kernels of a GPU to NVVM")
        abi, queue = LIBRARY_ABIS[options.abi], options.gpu.queue
        self._write("nvvm", gpu_to_nvvm(*source, abi, options.memory, options.weights, queue))

    def _compile_kernels(self) -> None:
        source, options = self._text("nvvm"), self._options
        self._when_begun("making PTX")
        ptx = nvvm_to_ptx(*source, gpu_arch=options.gpu_arch, opt_level=options.opt_level)
        self._write("ptx", ptx)

    def _assemble_kernels(self) -> None:
        ptx, _ = self._text("ptx")
        options = self._options
        self._when_begun(f"assembling PTX for {', '.join(options.cubins)}")
        image = fatbin(ptx, options.gpu_arch, options.cubins)
        atomic_file.write_bytes(self._place("fatbin"), image)

    @property
    def _gpu_image(self) -> Path | None:
        """What the driver is given, where there are kernels of a GPU."""
        if not self._is_for_gpu:
            return None
        return self.file("fatbin" if self._options.cubins else "ptx")

    @property
    def _is_for_gpu(self) -> bool:
        return self._options.target == "nvptx"

    def _translate_to_llvm_ir(self) -> None:
        source = self._text("nvvm" if self._is_for_gpu else "llvm")
        self._when_begun("translating to LLVM IR")
        self._write("llvm-ir", llvm_to_llvm_ir(*source))

    def _compile(self) -> None:
        llvm_ir, _ = self._text("llvm-ir")
        description, _ = self._text("description")
        has_weights = not isinstance(self._program, TcpProgram)
        beside = "weights-file" if self._options.weights == "file" else "packed-weights"
        written = {beside: self._place(beside)} if has_weights else {}
        self._when_begun("making assembly")
        assembly = llvm_ir_to_asm(
            llvm_ir,
            target_cpu=self._options.target_cpu,
            opt_level=self._options.opt_level,
            weights=self.file("weights") if has_weights else None,
            packed_weights=written.get("packed-weights"),
            weights_file=written.get("weights-file"),
            gpu_image=self._gpu_image,
            description=description,
            program=self._options.symbol_text(self._program.origin),
        )
        self._write("asm", assembly)
        self._made |= {"asm", *written}

    @property
    def _cpu(self) -> Target:
        return cpu_target(self._options.target_cpu)

    @property
    def _toolchain(self) -> Toolchain:
        return Toolchain.of_environment(self._cpu)

    def _assemble(self) -> None:
        assembly = self.file("asm")
        self._when_begun("assembling")
        self._toolchain.assemble(assembly, self._place("object"))

    def _objects(self) -> list[Path]:
        """The object files of the library, of which its runtime is one, if it has any."""
        objects = [self.file("object")]
        if self._is_for_gpu:
            runtime = self._folder / GPU_RUNTIME_OBJECT
            self._toolchain.compile_gpu_runtime(runtime)
            objects.append(runtime)
        if (stand_in := stand_in_for(self._cpu)) is not None:
            objects.append(self._toolchain.compile_stand_in(stand_in, self._folder))
        return objects

    def _archive(self) -> None:
        self._toolchain.archive(self._objects(), self._place("archive"))

    def _link(self) -> None:
        objects = self._objects()
        self._when_begun("linking")
        self._toolchain.link(objects, self._place("shared-object"), threads=self._options.threads)

    def _link_by_own_name(self) -> None:
        self._place("link").symlink_to(self._place("shared-object").name)

    def _link_dll(self) -> None:
        objects = self._objects()
        self._when_begun("linking")
        self._toolchain.link_dll(
            objects,
            self._place("dll"),
            self._place("import-library"),
            entries(self._description()),
            threads=self._options.threads,
        )
        self._made |= {"dll", "import-library"}

    def _link_module(self) -> None:
        objects = self._objects()
        self._when_begun("linking")
        functions = exported_functions(self._description())
        self._toolchain.link_module(objects, self._place("module"), functions)

    def _write_javascript(self) -> None:
        self._write("javascript", javascript(self._description(), self._place("module").name))

    def _write_types(self) -> None:
        self._write("types", types(self._description()))

    def _describe(self) -> None:
        options = self._options
        source = self._text("gpu" if self._is_for_gpu else "kernels")
        self._when_begun("describing the library")
        described = describe(
            *source,
            options.target_cpu,
            self._program.origin,
            options.memory,
            options.abi,
            options.weights,
            *([options.gpu.queue, options.gpu_arch] if self._is_for_gpu else []),
        )
        self._write("description", described)

    def _write_header(self) -> None:
        self._write("header", c_header(self._description()))

    def _write_pkg_config(self) -> None:
        options = self._options
        self._write("pkg-config", pkg_config(self._description(), options.name, options.threads))

    def _write_cmake_config(self) -> None:
        options = self._options
        self._write("cmake", cmake_config(self._description(), options.name, options.threads))

    def _description(self) -> LibraryDescription:
        text, filename = self._text("description")
        return LibraryDescription.from_json(filename, text)


def write_files(
    program: Program,
    options: LibraryOptions,
    kinds: Iterable[str],
    out: Path,
    *,
    when_begun: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Makes files of the library of `program` and writes them to the folder `out`.

    Nothing is written before all have been made; each then appears whole.

    Args:
      program: what is compiled.
      options: how.
      kinds: which files, of `KINDS`.
      out: the folder, which is made where there is none.
      when_begun: as for `LibraryBuild`.

    Returns:
      The files, in order.

    Raises:
      UserError: as `LibraryBuild` does, or `out` cannot be written.
    """
    with temporary_folder() as folder:
        build = LibraryBuild(program, options, Path(folder), when_begun=when_begun)
        made = [build.file(kind) for kind in kinds]
        try:
            out.mkdir(parents=True, exist_ok=True)
            for file in dict.fromkeys(made):
                if file.is_symlink():
                    _write_link(out / file.name, file.readlink())
                else:
                    atomic_file.move(file, out / file.name)
        except OSError as error:
            raise UserError(f"{out}: cannot be written: {error.strerror}") from error
    return [out / file.name for file in made]


def _write_link(link: Path, target: Path) -> None:
    if link.exists() and not link.is_symlink():
        raise UserError(f"{link}: it is no link, and a link to {target} is to be there: move it")
    atomic_file.write_link(link, target)
