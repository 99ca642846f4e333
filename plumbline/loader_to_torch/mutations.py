"""What a program writes in place, which a compiled function does where it is told to."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.export.graph_signature import OutputKind

from plumbline.errors import UserError
from plumbline.loader_to_torch.generator import GENERATOR, first_draw
from plumbline.loader_to_torch.node_locations import all_nodes, place

_KINDS = {
    OutputKind.USER_INPUT_MUTATION: "input",
    OutputKind.BUFFER_MUTATION: "buffer",
    OutputKind.PARAMETER_MUTATION: "parameter",
}

_ADVICE = (
    "a compiled function keeps nothing between calls, and writes into arguments that are declared "
    "to be in-out alone: say mutable=[{}] beside the model, which makes them that, and arguments "
    'of buffers; or mutation="return", which makes new values results and buffers arguments; for '
    "inference, compile model.eval(), in which layers such as nn.BatchNorm2d write nothing"
)


@dataclass(frozen=True)
class Mutation:
    """A tensor that forward writes in place."""

    kind: str
    """`input`, `buffer`, `parameter` or `generator`."""
    name: str
    """The argument of forward, what `state_dict` calls it, or `GENERATOR`."""
    value: torch.fx.Node
    """What it is at the end; of the generator, what draws from it first."""

    @property
    def separator(self) -> str:
        """What stands in its name after the name of what holds it."""
        return "_" if self.kind == "input" else "."


def mutations(exported: torch.export.ExportedProgram) -> list[Mutation]:
    """What a functional program writes in place, in the order of its outputs.

    The generator of random numbers that it draws from comes last.
    """
    draw = first_draw(all_nodes(exported))
    generator = [] if draw is None else [Mutation("generator", GENERATOR, draw)]
    return [*_written(exported), *generator]


def _written(exported: torch.export.ExportedProgram) -> list[Mutation]:
    (output,) = exported.graph.find_nodes(op="output")
    return [
        Mutation(_KINDS[spec.kind], str(spec.target), node)
        for spec, node in zip(exported.graph_signature.output_specs, output.args[0], strict=True)
        if spec.kind in _KINDS
    ]


def mutable_ones(who: str, written: Sequence[Mutation], names: Sequence[str]) -> list[Mutation]:
    """Those of `written` that `names`, the field `mutable` of the program `who`, means.

    Raises:
      UserError: a name means none of them.
    """
    found: list[Mutation] = []
    for name in names:
        meant = [each for each in written if each.name == name]
        meant = meant or [each for each in written if each.name.startswith(name + each.separator)]
        if not meant:
            what = ", ".join(f"the {each.kind} {each.name}" for each in written) or "nothing"
            raise UserError(
                f"{who}: mutable has {name!r}, which forward does not write in place; it writes "
                f"{what}"
            )
        found += [each for each in meant if each not in found]
    return found


def refuse_mutations(who: str, exported: torch.export.ExportedProgram) -> None:
    """Refuses a functional program, which messages call `who`, if it writes into tensors in place.

    Raises:
      UserError: it does; the message lists what is written, and where.
    """
    found = _written(exported)
    if not found:
        return
    lines = [f"  into the {written.kind} {written.name}{_place(written)}" for written in found]
    advice = _ADVICE.format(", ".join(f'"{written.name}"' for written in found))
    raise UserError(
        "\n".join((f"{who}: forward writes in place:", *lines, f"  what would help: {advice}"))
    )


def _place(written: Mutation) -> str:
    # What copies an argument into another has no node of its own.
    return "" if written.value.op == "placeholder" else f": {place(written.value)}"
