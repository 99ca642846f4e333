"""Pass pipelines as data: a name and the passes in order, which can be printed and run."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from plumbline.errors import UserError
from plumbline.location import describe


class LoweringError(UserError):
    """A pipeline refused a module; the message holds every diagnostic that MLIR gave."""


@dataclass(frozen=True)
class Pipeline:
    """A sequence of passes over a `builtin.module`, in MLIR's textual pipeline syntax."""

    name: str
    passes: tuple[str, ...]

    def __str__(self) -> str:
        """The pipeline as `mlir-opt --pass-pipeline` takes it."""
        return f"builtin.module({','.join(self.passes)})"

    def run(self, module: ir.Module) -> None:
        """Runs the passes on `module`, in place.

        Raises:
          LoweringError: a pass failed. The module is then in an unspecified state.
        """
        with module.context as context:
            context.emit_error_diagnostics = False
            manager = PassManager.parse(str(self))
            try:
                manager.run(module.operation)
            except ir.MLIRError as error:
                raise LoweringError(f"{self.name} failed:\n{_report(error)}") from None


def _report(error: ir.MLIRError) -> str:
    lines = []
    for diagnostic in error.error_diagnostics:
        lines.append(f"  {describe(diagnostic.location)}: error: {diagnostic.message}")
        lines.extend(
            f"    {describe(note.location)}: note: {_first_line(note.message)}"
            for note in diagnostic.notes
        )
    return "\n".join(lines) or f"  {error}"


def _first_line(message: str) -> str:
    # The note "see current operation" carries whole regions, of thousands of lines at times.
    first, _, rest = message.partition("\n")
    return f"{first} ..." if rest else first
