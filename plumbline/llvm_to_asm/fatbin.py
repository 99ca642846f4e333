"""Has NVIDIA's programs put PTX and machine code for several GPUs into one image, a fatbin.

The driver takes what is for its GPU, and compiles the PTX where there is no such: so a program
starts without that on the GPUs that one has, and runs on later ones too.
"""

from collections.abc import Sequence
from pathlib import Path

from plumbline.errors.temporary_folder import temporary_folder
from plumbline.llvm_to_asm.ptxas import find_program, run_program, run_ptxas


def fatbin(ptx: str, arch: str, chips: Sequence[str]) -> bytes:
    """An image of PTX for GPUs from `arch` on, and of machine code for each of the `chips`.

    Raises:
      UserError: there are no such programs, or they refuse something.
    """
    with temporary_folder() as folder:
        source = Path(folder, "kernels.ptx")
        source.write_text(ptx)
        images = [f"--image3=kind=ptx,sm={_number(arch)},file={source}"]
        for chip in chips:
            cubin = Path(folder, f"{chip}.cubin")
            run_ptxas(source, chip, cubin)
            images.append(f"--image3=kind=elf,sm={_number(chip)},file={cubin}")
        made = Path(folder, "kernels.fatbin")
        # So that one can read the PTX in it; assembly is compressed by whoever ships it.
        options = ["-64", "--compress=false", f"--create={made}"]
        run_program([find_program("fatbinary"), *options, *images], "fatbinary refuses the kernels")
        return made.read_bytes()


def _number(arch: str) -> str:
    return arch.removeprefix("sm_")
