"""The context that every stage works in."""

import importlib.abc
import subprocess
import sys
import threading
from typing import BinaryIO

import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from plumbline.bindings.walk import operations_of
from plumbline.context import lent_context, load_tcp, make_context, prepare_context, register_torch
from plumbline.tcp.assembly.module import parse_module, print_module
from test.forked import run_forked
from test.tcp.checks import function

TANH = function(["tensor<2xf32>"], "%0 = tcp.tanh %arg0 : tensor<2xf32> -> tensor<2xf32>")


def test_all_dialects_are_there() -> None:
    context = make_context()
    for dialect in ("tcp", "func", "linalg", "tensor", "arith", "scf", "llvm"):
        assert context.is_dialect_loaded(dialect), dialect


def test_contexts_do_not_share() -> None:
    first, second = make_context(), make_context()
    module = parse_module(TANH, first, "a.mlir")
    del first
    assert print_module(parse_module(TANH, second, "a.mlir")) == print_module(module) == TANH


def test_one_that_is_prepared_is_given_once() -> None:
    prepare_context(torch=True)
    plain = make_context()
    assert not plain.is_dialect_loaded("torch_c")
    first, second = make_context(torch=True), make_context(torch=True)
    for context in (first, second):
        assert context.is_dialect_loaded("torch_c")
        assert print_module(parse_module(TANH, context, "a.mlir")) == TANH
    # What one interns the other does not have: contexts are told apart by what belongs to them.
    assert ir.Type.parse("f32", first).context == first != second


def _print_in_a_lent_context() -> ir.Context:
    with lent_context() as context:
        assert print_module(parse_module(TANH, context, "a.mlir")) == TANH
    return context


def test_a_context_that_was_lent_is_lent_again() -> None:
    first = _print_in_a_lent_context()
    with lent_context() as context:
        assert context == first
        # Two at a time have two.
        with lent_context() as another:
            assert another != first


def test_none_is_lent_again_with_a_module_in_it_or_after_a_mistake() -> None:
    with lent_context() as first:
        module = parse_module(TANH, first, "a.mlir")
    with pytest.raises(ValueError, match="within"), lent_context() as second:
        raise ValueError("within")
    with lent_context() as third:
        assert third not in (first, second)
    assert print_module(module) == TANH


def test_none_is_lent_for_ever() -> None:
    contexts = [_print_in_a_lent_context() for _ in range(200)]
    assert contexts[-1] != contexts[0]


def test_loading_twice_does_nothing() -> None:
    context = make_context(torch=True)
    load_tcp(context)
    register_torch(context)
    assert print_module(parse_module(TANH, context, "a.mlir")) == TANH


def test_the_torch_dialect_is_there_if_asked() -> None:
    text = "func.func private @f(!torch.vtensor<[?],f32>)"
    assert "!torch.vtensor" in str(parse_module(text, make_context(torch=True), "a.mlir"))
    with make_context(torch=True):
        PassManager.parse("builtin.module(func.func(torch-finalizing-backend-type-conversion))")


def test_what_stands_beside_tcp_is_there_too() -> None:
    # Sorts; in a stage that reads a file, no pass has made one yet.
    context = make_context(torch=True)
    assert context.is_dialect_loaded("tm_tensor")


def test_a_context_of_someone_else_can_have_tcp() -> None:
    context = ir.Context()
    load_tcp(context)
    assert print_module(parse_module(TANH, context, "a.mlir")) == TANH


_TORCH = """
func.func @f(%x: !torch.vtensor<[2],f32>) -> tensor<2xf32> {
  %0 = torch_c.to_builtin_tensor %x : !torch.vtensor<[2],f32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


@pytest.mark.parametrize(
    ("text", "op"), [(TANH, "tcp.tanh"), (_TORCH, "torch_c.to_builtin_tensor")]
)
def test_no_module_is_searched_for_at_each_op(text: str, op: str) -> None:
    context = make_context(torch=True)
    program = parse_module(text, context, "a.mlir")
    dialect = op.partition(".")[0]
    # The first time, one is.
    assert operations_of(program, dialect)[0].opview.name == op
    tried: list[str] = []

    class Recorder(importlib.abc.MetaPathFinder):
        """Finds nothing, and keeps what was asked for."""

        def find_spec(self, fullname: str, *unused: object) -> None:
            tried.append(fullname)

    recorder = Recorder()
    sys.meta_path.insert(0, recorder)
    try:
        assert operations_of(program, dialect)[0].opview.name == op
    finally:
        sys.meta_path.remove(recorder)
    assert not tried


def test_torch_is_not_imported() -> None:
    program = (
        "import sys\n"
        "from plumbline.context import make_context\n"
        "make_context(torch=True)\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_threads_make_contexts_at_once() -> None:
    # In a process of its own: what this guards against is no exception but a signal.
    (end,) = run_forked([None], _make_contexts_at_once, time_limit=60)
    assert not end.death


def _make_contexts_at_once(_: None, pipe: BinaryIO) -> None:
    barrier = threading.Barrier(4)

    def make_some() -> None:
        for _ in range(10):
            barrier.wait()
            make_context(torch=True)

    threads = [threading.Thread(target=make_some) for _ in range(barrier.parties)]
    # Threads that take turns this often do in each run what others do once in hundreds.
    sys.setswitchinterval(1e-6)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
