"""Writes docs/tcp_dialect.md, the reference of TCP's ops, from the op classes themselves."""

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from plumbline.archives import atomic_file
from plumbline.tcp import ops
from plumbline.tcp.assembly.format import ValueField
from plumbline.tcp.dialect import NAMESPACE, TCP, TcpOp

# Bazel runs this file through a chain of links that ends in the checkout.
ROOT = Path(__file__).resolve().parents[2]
PAGE = Path("docs/tcp_dialect.md")
_EXAMPLES = "test/tcp/ops/{family}.mlir"

_HEAD = """\
# The TCP dialect

Written by `./bazelw run //tools/tcp_doc` from `plumbline/tcp/ops`; do not edit. How an op is added:
[adding_an_op.md](adding_an_op.md). Integers are signless in TCP: where the sign matters, an op or
an attribute says what they are taken for. The examples are lines of the round-trip tests.

Schedules of the transform dialect tile and fuse through `tcp.slice` once it is lowered:

    tcp-opt file.mlir -tcp-to-linalg-pipeline -convert-strided-slices-to-linalg \\
        -transform-interpreter

Have `transform.structured.fuse` say `{apply_cleanup}`, or merge slices before
`fuse_into_containing_op`: MLIR takes a slice of a slice for no use of the producer otherwise, and
`fuse` leaves it outside without a word ([contiguous
slices](../test/tcp_to_linalg/fuse_through_slice.mlir), [strided
ones](../test/tcp_to_linalg/fuse_through_strided_slice.mlir)). Ops of TCP themselves cannot be
tiled, as a dialect defined in Python can implement no interface of MLIR's for that.
"""


def page(root: Path) -> str:
    """The reference as Markdown.

    Args:
      root: the checkout, whose tests give the examples.
    """
    lines = [_HEAD]
    for family in ops.__all__:
        members = _members(family)
        links = ", ".join(f"[{name}](#{NAMESPACE}{name})" for name in sorted(members))
        lines.append(f"- [{family}](#{family}): {links}")
    for family in ops.__all__:
        examples = (root / _EXAMPLES.format(family=family)).read_text(encoding="utf-8")
        lines += ["", f"## {family}", "", _text(sys.modules[_module(family)].__doc__)]
        for op in _members(family).values():
            lines += _op(op, examples)
    return "\n".join(lines) + "\n"


def _module(family: str) -> str:
    return f"{ops.__name__}.{family}"


def _members(family: str) -> dict[str, type[TcpOp]]:
    """The ops of a family by name, in the order of its module."""
    return {
        op.assembly.signature.name: op for op in TCP.operations if op.__module__ == _module(family)
    }


def _op(op: type[TcpOp], examples: str) -> Iterator[str]:
    signature = op.assembly.signature
    name = f"{NAMESPACE}.{signature.name}"
    yield from ("", f"### {name}", "", _text(op.__doc__), "", "```mlir")
    yield f"// {name} {' '.join(op.assembly_format.split())}"
    yield from (*_example(name, examples), "```", "")
    yield from _values("operand", op, signature.operands)
    for attribute, constraint in op.attribute_constraints.items():
        optional = ", optional" if attribute in op.optional_attributes else ""
        yield f"- attribute `{attribute}`{optional}: {constraint.description}"
    yield from (f"- region `{region}`" for region in signature.regions)
    yield from _values("result", op, signature.results)
    if op.traits:
        names = (trait.__name__.removesuffix("Trait") for trait in op.traits)
        yield f"- traits: {', '.join(f'`{trait}`' for trait in names)}"
    if op.verify_operation is not TcpOp.verify_operation:
        yield f"- verified: {_text(op.verify_operation.__doc__)}"


def _values(kind: str, op: type[TcpOp], fields: Sequence[ValueField]) -> Iterator[str]:
    for field in fields:
        several = ", any number" if field.variadic else ""
        yield f"- {kind} `{field.name}`{several}: {op.type_constraints[field.name].description}"


def _example(name: str, examples: str) -> list[str]:
    """The first op of that name in the round-trip tests, with its region if it has one."""
    lines = examples.splitlines()
    for number, line in enumerate(lines):
        text = line.strip()
        if text.startswith("//") or not re.search(rf"{re.escape(name)}\b", text):
            continue
        indent = len(line) - len(line.lstrip())
        end = number + 1
        if text.endswith("{"):
            end = next(
                index
                for index in range(number + 1, len(lines))
                if lines[index].strip().startswith("}")
                and len(lines[index]) - len(lines[index].lstrip()) == indent
            )
            end += 1
        return [each[indent:] for each in lines[number:end]]
    return []


def _text(docstring: str | None) -> str:
    """A docstring without the sections that tell the Python side (Args, Raises)."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(
        paragraph for paragraph in paragraphs if not paragraph.startswith(("Args:", "Raises:"))
    )


if __name__ == "__main__":
    atomic_file.write_text(ROOT / PAGE, page(ROOT))
    print(f"wrote {PAGE}")
