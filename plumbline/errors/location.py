"""Where an operation comes from, as people write it."""

import re

from torch_mlir import ir

# MLIR's bindings give a location's text only, for example
#   loc("model.py":12:4)   loc("add"("model.py":12:4))   loc(fused["a.py":1:2, "b.py":3:4])
_FILE_LINE_COLUMN = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')

# JAX says where a place ends, too. Of one that is called from elsewhere, `at` and that follow.
_PLACE_AND_CALLED = re.compile(_FILE_LINE_COLUMN.pattern + r"(?: to \d*:\d+)?(\)* at )?")

_LIBRARY = "torch/"
"""Where the files lie that are PyTorch's own, as the exporter names them."""

_UNKNOWN = "<unknown location>"

# loc("model/dense/MatMul")   loc(fused["model/dense/MatMul", unknown])
_NAME = re.compile(r'"((?:[^"\\]|\\.)+)"')

# loc("encoder.layer.0"(callsite(...))), or that within a fused location
_NAMED = re.compile(r'"(?P<name>(?:[^"\\]|\\.)*)"\(')


def describe(location: ir.Location) -> str:
    """Where `location` is, as `file:line:column`.

    Where a library's code was called from the user's, the user's line comes first: `model.py:7, in
    torch/nn/modules/linear.py:134`. A position in Python has no column (PyTorch records lines only,
    MLIR then prints 0): it is left out. Without any file it is a name, if there is one, and else
    `<unknown location>`.
    """
    text = str(location)
    places = [
        f"{file}:{line}" if column == "0" else f"{file}:{line}:{column}"
        for file, line, column in _FILE_LINE_COLUMN.findall(text)
    ]
    if not places:
        # A framework may have names for ops; later stages note what op of TCP one comes from.
        names = (name for name in _NAME.findall(text) if not name.startswith("tcp."))
        return next(names, _UNKNOWN)
    # loc(callsite("callee":1:0 at callsite("caller":2:0 at "its caller":3:0)))
    if "callsite(" in text and len(places) > 1:
        return f"{places[-1]}, in {places[0]}"
    return places[0]


def nearest_lines(location: ir.Location) -> list[tuple[str, int]]:
    """The files and lines that a location has, each once, in its order.

    Of calls within calls that is the innermost line outside of PyTorch, if there is one, and else
    the innermost.
    """
    return lines_in(str(location))


def lines_in(text: str) -> list[tuple[str, int]]:
    """Those of a location as MLIR prints it, without names for others in it."""
    lines: dict[tuple[str, int], None] = {}
    calls: list[tuple[str, int]] = []
    for file, line, _, is_called in _PLACE_AND_CALLED.findall(text):
        calls.append((file, int(line)))
        if not is_called:
            own = (call for call in calls if not call[0].startswith(_LIBRARY))
            lines[next(own, calls[0])] = None
            calls.clear()
    return list(lines)


def located(location: ir.Location, message: str) -> str:
    """A message of an error that begins with its place, where that is known."""
    place = describe(location)
    return message if place == _UNKNOWN else f"{place}: error: {message}"


def module_path(location: ir.Location) -> str:
    """The path of the PyTorch module in a location that the exporter made; else nothing.

    It is the name around the place: `loc("encoder.layer.0"("model.py":7:0))`.
    """
    found = _NAMED.search(str(location))
    return found["name"] if found else ""
