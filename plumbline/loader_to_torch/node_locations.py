"""Where the ops of an exported program come from, as the locations of the ops made of them."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch_mlir import ir

from plumbline.bindings.walk import all_operations
from plumbline.loader_to_torch.source_path import relative_to_import_path

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)')
# Where a pass of PyTorch's made a node says nothing of the program, nor does code that it made up
# on the way, whose names differ from run to run; nor what calls a model in its place.
_NOT_THE_PROGRAM = re.compile(
    r"torch/fx/passes/|^<eval_|plumbline/loader_to_torch/(stand_in|returned_mutations|structure)\.py$|"
    r"plumbline/(onnx|tflite)_to_torch/|"
    r"torch/_functorch/functional_call\.py$|torch/nn/utils/stateless\.py$"
)
# The file of a location that stands for a node, whose number is the line.
_MARK = "plumbline node"
_MARKED = re.compile(rf'loc\("{_MARK}":(\d+):0\)')


def module_path(node: torch.fx.Node) -> str:
    """The module whose `forward` a node comes from: `encoder.layer.0.attention`, or nothing."""
    stack = node.meta.get("nn_module_stack") or {}
    paths = [path for path, _ in stack.values() if path]
    return str(paths[-1]) if paths else ""


def frames(node: torch.fx.Node) -> list[tuple[str, int]]:
    """The files and lines of the calls that a node comes from, the outermost first."""
    trace = node.meta.get("stack_trace") or ""
    return [
        (found["file"], int(found["line"]))
        for found in _FRAME.finditer(trace)
        if not _NOT_THE_PROGRAM.search(found["file"])
    ]


def place(node: torch.fx.Node) -> str:
    """Where a node comes from, as `plumbline.errors.location.describe` puts it."""
    places = [f"{file}:{line}" for file, line in frames(node)]
    if not places:
        return "<unknown location>"
    return places[0] if len(places) == 1 else f"{places[0]}, in {places[-1]}"


def name_files_by_import_path(exported: torch.export.ExportedProgram) -> None:
    """Has the nodes name source files as they are imported, the same on every machine."""
    for node in all_nodes(exported):
        if trace := node.meta.get("stack_trace"):
            node.meta["stack_trace"] = by_import_path(trace)


def by_import_path(trace: str) -> str:
    """A stack trace that names source files so."""
    return _FRAME.sub(
        lambda found: f'File "{relative_to_import_path(found["file"])}", line {found["line"]}',
        trace,
    )


@contextmanager
def marked(exported: torch.export.ExportedProgram) -> Iterator[list[torch.fx.Node]]:
    """Has an importer meanwhile place ops at the numbers of nodes, for `set_locations`.

    The importer makes locations of files and lines only, which it takes from the text of traces.
    Gives the nodes, by number.
    """
    nodes = [node for node in all_nodes(exported) if node.meta.get("stack_trace")]
    traces = [node.meta["stack_trace"] for node in nodes]
    try:
        for number, node in enumerate(nodes):
            mark = f'File "{_MARK}", line {number}, in forward' if frames(node) else ""
            node.meta["stack_trace"] = mark
        yield nodes
    finally:
        for node, trace in zip(nodes, traces, strict=True):
            node.meta["stack_trace"] = trace


def set_locations(module: ir.Module, nodes: Sequence[torch.fx.Node]) -> None:
    """Places the ops of `module` that stand at the numbers of `nodes` where those come from.

    A location is a call site, of the innermost line from the user's outermost one, within a name
    that is the module's path.
    """
    with module.context:
        made: dict[int, ir.Location] = {}
        for op in all_operations(module):
            found = _MARKED.search(str(op.location))
            if found is None:
                continue
            number = int(found[1])
            if number not in made:
                made[number] = _location(nodes[number])
            # A function is the program's as a whole.
            place = _call_site(nodes[number]) if op.name == "func.func" else made[number]
            op.location = place


def _location(node: torch.fx.Node) -> ir.Location:
    path = module_path(node)
    return ir.Location.name(path, _call_site(node)) if path else _call_site(node)


def _call_site(node: torch.fx.Node) -> ir.Location:
    *callers, callee = [ir.Location.file(file, line, 0) for file, line in frames(node)]
    return ir.Location.callsite(callee, callers[::-1]) if callers else callee


def all_nodes(exported: torch.export.ExportedProgram) -> Iterator[torch.fx.Node]:
    """The nodes of a program, those in the bodies of its loops too."""
    return nodes_within(exported.graph_module)


def nodes_within(module: torch.fx.GraphModule) -> Iterator[torch.fx.Node]:
    """The nodes of a graph, and those of the bodies of its branches and loops."""
    for each in module.modules():
        if isinstance(each, torch.fx.GraphModule):
            yield from each.graph.nodes
