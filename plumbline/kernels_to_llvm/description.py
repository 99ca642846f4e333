"""What a library will say of its program, from the text of the kernels."""

from torch_mlir import ir

from plumbline.errors import UserError
from plumbline.kernels_to_llvm.program_signature import program_signature
from plumbline.signature.c_signature import functions_with_bodies
from plumbline.signature.library_description import LibraryDescription
from plumbline.signature.signature import Signature
from plumbline.stages.text_stage import read_module


def describe(
    text: str,
    filename: str,
    target_cpu: str,
    origin: str,
    memory: str = "malloc",
    abi: str = "pointers",
    weights_are: str = "embedded",
    queue: str = "own",
    gpu_arch: str | None = None,
) -> str:
    """The description as JSON, of `text`, which messages call `filename`.

    The rest is as for `LibraryDescription`, `program_signature` and `choices.py`.

    Raises:
      UserError: it is no such module, has not one public function, or one whose results' sizes,
        where the caller brings memory for them, or those of a pool's temporaries, neither follow
        from its arguments nor are bounded by them.
    """
    signature = read_module(
        text,
        filename,
        lambda module: _signature(
            module, filename, memory, weights_are, queue, bounded=abi == "pointers"
        ),
    )
    return LibraryDescription(signature, target_cpu, origin, abi, gpu_arch).to_json()


def _signature(
    module: ir.Module, filename: str, memory: str, weights_are: str, queue: str, *, bounded: bool
) -> Signature:
    """What a caller has to know of the one program of a module."""
    functions = functions_with_bodies(module, "func.func", public=True)
    if len(functions) != 1:
        names = ", ".join(function.sym_name.value for function in functions)
        raise UserError(f"{filename}: a library has one program; the public functions are: {names}")
    name = functions[0].sym_name.value
    return program_signature(module, name, memory, weights_are, queue, bounded=bounded)
