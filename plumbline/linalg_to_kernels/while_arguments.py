"""Has loops hand values on in the places that they came in.

`one-shot-bufferize` lets what an `scf.while` carries lie where it did only if its operand, what the
condition hands on, and the result have one number. Loops that carry their condition, too, the first
of all, have all tensors copied twice in each round.
"""

from torch_mlir import ir

from plumbline.bindings.walk import operations_named


def align_while_arguments(root: ir.Operation) -> None:
    """Orders what each `scf.while` carries as its condition hands it on; the rest comes last."""
    for op in operations_named(root, "scf.while"):
        _align(op)


def _align(loop: ir.Operation) -> None:
    before, after = (region.blocks[0] for region in loop.regions)
    given = list(before.arguments)
    handed = list(before.operations)[-1].operands[1:]
    order = _order(given, list(handed))
    if order == list(range(len(given))):
        return
    last = list(after.operations)[-1].operation
    for of in (loop, last):
        for place, value in enumerate([of.operands[number] for number in order]):
            of.operands[place] = value
    for number in order:
        moved = before.add_argument(given[number].type, given[number].location)
        given[number].replace_all_uses_with(moved)
    for number in reversed(range(len(given))):
        before.erase_argument(number)


def _order(given: list[ir.Value], handed: list[ir.Value]) -> list[int]:
    """The number of the argument for each place."""
    wanted: list[int | None] = []
    for value in handed:
        number = given.index(value) if value in given else None
        wanted.append(None if number in wanted else number)
    rest = [number for number in range(len(given)) if number not in wanted]
    order = [rest.pop(0) if number is None and rest else number for number in wanted]
    return [number for number in order if number is not None] + rest
