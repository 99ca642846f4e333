"""Asserts what graphs that have been traced before check of factorizations of matrices.

`make_fx` leaves an op for it, that PyTorch takes for one with effects, and orders among others by
tokens, which no later stage knows. Programs that call `torch.linalg` have none: there the rules of
factorizations assert the same.
"""

import torch

aten = torch.ops.aten

_CHECK = aten._linalg_check_errors.default


def assert_factorizations(exported: torch.export.ExportedProgram) -> None:
    """Has assertions in the place of such checks."""
    for module in exported.graph_module.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        found = module.graph.find_nodes(op="call_function", target=_CHECK)
        for node in found:
            _replace(node)
        if found:
            module.recompile()


def _replace(check: torch.fx.Node) -> None:
    info, name, *_ = check.args
    assert isinstance(info, torch.fx.Node)
    graph = check.graph
    with graph.inserting_before(check):
        zero = graph.call_function(aten.eq.Scalar, (info, 0))
        zero.meta = {**check.meta, "val": info.meta["val"] == 0}
        holds = graph.call_function(aten.all.default, (zero,))
        holds.meta = {**check.meta, "val": zero.meta["val"].all()}
        message = f"{name}: a matrix is singular, or not positive-definite"
        assertion = graph.call_function(aten._assert_async.msg, (holds, message))
        assertion.meta = {**check.meta, "val": None}
    graph.erase_node(check)
