"""Every op's text and every rule that its declaration states is in a file of its family."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from plumbline.tcp import ops
from plumbline.tcp.assembly.format import ValueField
from plumbline.tcp.constraints import AnyType
from plumbline.tcp.dialect import TCP, TcpOp, Trait

FOLDER = Path(__file__).parent

# In the message of a rule, what depends on the text that breaks it.
ANY = "..."


def _family(op: type[TcpOp]) -> str:
    return op.__module__.rpartition(".")[2]


def _name(op: type[TcpOp]) -> str:
    return str(op.OPERATION_NAME)


def _value_rules(op: type[TcpOp], kind: str, fields: list[ValueField]) -> list[str]:
    rules = []
    # What number an operand has depends on the text then.
    behind_variadic = False
    for index, field in enumerate(fields):
        constraint = op.type_constraints[field.name]
        if constraint is not AnyType:
            number = ANY if behind_variadic else str(index)
            rules.append(f"{kind} #{number} must be {constraint.description}, but got {ANY}")
        behind_variadic |= field.variadic
    return rules


def _declared_rules(op: type[TcpOp]) -> Counter[str]:
    """The messages, and how many different ones there must be of each."""
    signature = op.assembly.signature
    rules = Counter(_value_rules(op, "operand", signature.operands))
    rules.update(_value_rules(op, "result", signature.results))
    for name, constraint in op.attribute_constraints.items():
        if name not in op.optional_attributes:
            rules[f"requires attribute '{name}'"] += 1
        rules[f"attribute '{name}' failed to satisfy constraint: {constraint.description}"] += 1
    for trait in op.traits:
        if issubclass(trait, Trait):
            rules[trait.message] += 1
    return rules


def _refusals(op: type[TcpOp]) -> set[str]:
    """What `<family>_invalid.mlir` expects to be said of the op."""
    text = (FOLDER / f"{_family(op)}_invalid.mlir").read_text()
    return set(re.findall(rf"// expected-error .*\{{\{{'{_name(op)}' op (.*)\}}\}}$", text, re.M))


def _is_about(refusal: str, rule: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, rule.split(ANY))), refusal) is not None


@pytest.mark.parametrize("op", TCP.operations, ids=_name)
def test_round_trip(op: type[TcpOp]) -> None:
    text = (FOLDER / f"{_family(op)}.mlir").read_text()
    assert re.search(rf"^ *// CHECK-NEXT: +(%\S+ = )?{re.escape(_name(op))}\b", text, re.M)


@pytest.mark.parametrize("op", TCP.operations, ids=_name)
def test_refusals(op: type[TcpOp]) -> None:
    refusals = _refusals(op)
    assert refusals
    untested = [
        rule
        for rule, count in _declared_rules(op).items()
        if sum(_is_about(refusal, rule) for refusal in refusals) < count
    ]
    lacking = "".join(f"\n'{_name(op)}' op {rule}" for rule in untested)
    assert not untested, f"{_family(op)}_invalid.mlir does not expect{lacking}"


def test_no_file_is_outside_the_families() -> None:
    files = {file.name for file in FOLDER.glob("*.mlir")}
    assert files == {
        f"{family}{suffix}.mlir" for family in ops.__all__ for suffix in ("", "_invalid")
    }


def test_no_op_is_outside_the_families() -> None:
    families = {f"plumbline.tcp.ops.{family}" for family in ops.__all__}
    assert {op.__module__ for op in TCP.operations} == families


def test_every_op_says_what_it_computes() -> None:
    undocumented = [op.__name__ for op in TCP.operations if "__doc__" not in vars(op)]
    assert not undocumented


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
