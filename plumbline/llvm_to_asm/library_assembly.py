"""The stage from LLVM IR to the assembly of a whole library: its code, weights and marks."""

from pathlib import Path

from plumbline.archives import atomic_file
from plumbline.llvm_to_asm.assembly import LAUNCHES, emit_assembly
from plumbline.llvm_to_asm.description_section import include_description
from plumbline.llvm_to_asm.function_marks import mark_functions
from plumbline.llvm_to_asm.gnu_assembler import for_gnu_assembler
from plumbline.llvm_to_asm.mapped_weights import map_weights
from plumbline.llvm_to_asm.object_format import object_format
from plumbline.llvm_to_asm.ptx import include_image
from plumbline.llvm_to_asm.weights import include_weights, pack_weights
from plumbline.target.cpu import cpu_target


def llvm_ir_to_asm(
    llvm_ir: str,
    *,
    target_cpu: str,
    opt_level: int = 2,
    weights: Path | None = None,
    packed_weights: Path | None = None,
    weights_file: Path | None = None,
    gpu_image: Path | None = None,
    description: str = "",
    program: str | None = None,
) -> str:
    """Compiles LLVM IR to assembly for a CPU, or for WebAssembly.

    Args:
      llvm_ir: the text.
      target_cpu: as `cpu_target` takes it.
      opt_level: how much LLVM optimises, as in clang -O: nothing of what launches kernels.
      weights: the safetensors file of the program's weights.
      packed_weights: the safetensors file to write: the weights that kernels read in an order of
        their own.
      weights_file: the safetensors file to write that the program maps its weights from.
      gpu_image: the kernels for a GPU that the LLVM IR launches: PTX, or a fatbin.
      description: what the library says of itself, as JSON; empty: it says nothing.
      program: as for `mark_functions`.

    Raises:
      UserError: LLVM cannot read the text, there is no such CPU, or weights are missing.
      OSError: `packed_weights` or `weights_file` cannot be written.
    """
    level = opt_level if gpu_image is None else LAUNCHES
    target = cpu_target(target_cpu)
    format_ = object_format(target)
    assembly = emit_assembly(llvm_ir, target, level, has_its_data=True)
    if weights_file is not None:
        content, weights_assembly = map_weights(llvm_ir, weights)
        atomic_file.write_bytes(weights_file, content)
    else:
        if packed_weights is not None:
            atomic_file.write_bytes(packed_weights, pack_weights(llvm_ir, weights))
        weights_assembly = include_weights(llvm_ir, weights, packed_weights, format_)
    parts = [
        for_gnu_assembler(assembly, target),
        weights_assembly,
        mark_functions(llvm_ir, program, format_),
    ]
    if gpu_image is not None:
        parts.append(include_image(gpu_image))
    if description:
        parts.append(include_description(description, format_))
    return "".join(parts)
