"""The page of a program that this process has compiled."""

import os
from typing import Any

from plumbline.compiler import CompiledProgram, check_compiled
from plumbline.errors import showing_the_message_alone
from plumbline.explorer.page import write_page
from plumbline.llvm_to_asm.assembly import emit_assembly
from plumbline.profiling.measurement import profile


@showing_the_message_alone
def explore(program: CompiledProgram, file: str | os.PathLike[str], *arguments: Any) -> None:
    """Writes a page of all stages of `program`, line by line beside its source.

    It is one file of HTML, for any browser. A line of the source or of a stage shows what it comes
    from, and what becomes of it. The stages are made anew, as the program's own texts do not say
    where their ops come from.

    Args:
      program: what `plumbline.compile` gives, or one of a `Backend`'s `programs`.
      file: where to write it.
      *arguments: those of a call. With them, the page also tells how much of the program's time
        each line of the source takes, as `plumbline.profile` finds it.

    Raises:
      UserError: it is no such program, it cannot be profiled, or the file cannot be written.
    """
    check_compiled("plumbline.explore", program)
    name, lowering = program.signature.name, program.lowering
    _, texts = lowering.run(name, lambda stage: None, debug_info=True)
    texts["asm"] = emit_assembly(texts["llvm_ir"], lowering.target, lowering.host_opt_level)
    stages = {stage.replace("_", "-"): texts[stage] for stage in lowering.stages}
    shares = profile(program, *arguments).shares_of_lines() if arguments else None
    write_page(file, name, stages, shares)
