"""Ops that a stage does not support, and the report that lists all of a program."""

from collections.abc import Iterable
from dataclasses import dataclass

from torch_mlir import ir

from plumbline.errors.location import describe, module_path

SHOWN_PLACES = 3
"""How many places of one op with operands of the same types a report lists."""


class Unsupported(Exception):
    """Why a pattern leaves an op alone, in words for the user."""


@dataclass(frozen=True)
class UnsupportedOp:
    """One op of a program, and where it comes from."""

    name: str
    """What PyTorch calls it, such as `aten.special_i0`."""
    operands: str
    """Its operands' types, such as `f32[2,?]`."""
    place: str
    """The user's source line, as `plumbline.errors.location.describe` puts it."""
    module: str
    """The path of the module whose `forward` it is from, such as `encoder.layer.0`, or nothing."""
    advice: str
    """What would help."""


def from_operation(op: ir.Operation, name: str, advice: str) -> UnsupportedOp:
    """An op of a module, which PyTorch calls `name`."""
    types = (_spell(str(operand.type)) for operand in op.operands)
    operands = ", ".join(type_ for type_ in types if type_)
    return UnsupportedOp(name, operands, describe(op.location), module_path(op.location), advice)


def report(ops: Iterable[UnsupportedOp]) -> str:
    """All of `ops`: those of one name and types together, with their count and first places."""
    groups: dict[tuple[str, str, str], list[UnsupportedOp]] = {}
    for op in ops:
        groups.setdefault((op.name, op.operands, op.advice), []).append(op)
    lines = []
    for (name, operands, advice), members in groups.items():
        count = len(members)
        lines.append(f"  {name}({operands}): {count} {_places(count)}")
        for op in members[:SHOWN_PLACES]:
            lines.append(f"    {op.place}" + (f", in module {op.module}" if op.module else ""))
        if (rest := count - SHOWN_PLACES) > 0:
            lines.append(f"    and {rest} more {_places(rest)}")
        lines.append(f"    what would help: {advice}")
    return "\n".join(lines)


def _places(count: int) -> str:
    return "place" if count == 1 else "places"


def _spell(type_: str) -> str:
    """The type of a tensor as `f32[2,?]`; nothing for what is no tensor."""
    if not type_.startswith("!torch.vtensor<["):
        return type_ if type_.startswith("tensor<") else ""
    shape, _, element = type_.removeprefix("!torch.vtensor<[").removesuffix(">").partition("],")
    return f"{element}[{shape}]"
