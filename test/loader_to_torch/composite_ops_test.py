"""The rules that exports put at composite ops are PyTorch's, each time, and gone after."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._export import utils
from torch._subclasses.fake_impls import op_implementations_dict as fake_rules
from torch.export import exported_program
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

import plumbline
from plumbline.loader_to_torch.composite_ops import quick_composite_ops
from plumbline.loader_to_torch.decompositions import decomposition_table

aten = torch.ops.aten

# item has a rule of its own for tensors without data.
_OPS = (aten.linear.default, aten.item.default, aten.matmul.default)


def _keep(*args: Any, **kwargs: Any) -> Any:
    return NotImplemented


def _expand(*args: Any, **kwargs: Any) -> Any:
    return None


def _state() -> dict[Any, Any]:
    return {op: (dict(op.py_kernels), fake_rules.get(op)) for op in _OPS}


def _names(state: dict[Any, Any]) -> dict[Any, Any]:
    """Rules are closures, which are made anew; what they are is in their names."""

    def name(rule: Any) -> str:
        return getattr(getattr(rule, "func", rule), "__qualname__", "none")

    return {
        op: ({key: name(rule) for key, rule in kernels.items()}, name(fake))
        for op, (kernels, fake) in state.items()
    }


def _registered(decomposition: Callable[..., Any]) -> dict[Any, Any]:
    with exported_program._override_composite_implicit_decomp(dict.fromkeys(_OPS, decomposition)):
        return _state()


def test_the_rules_are_those_of_pytorch_and_are_gone_after() -> None:
    before = _state()
    expected = {}
    for decomposition in (_keep, _expand):
        expected[decomposition] = _names(_registered(decomposition))
        # PyTorch's own way back forgets the rule that item had.
        fake_rules[aten.item.default] = before[aten.item.default][1]
    assert _state() == before
    assert expected[_keep] != expected[_expand] != _names(before)

    with quick_composite_ops():
        for decomposition in (_keep, _keep, _expand, _keep):
            assert _names(_registered(decomposition)) == expected[decomposition]
            assert _state() == before


def test_rules_that_came_between_count() -> None:
    with quick_composite_ops():
        _registered(_keep)
        kernel = torch._C.DispatchKey.AutogradCPU
        aten.linear.default.py_kernels[kernel] = _expand
        try:
            before = _state()
            registered = _registered(_keep)
            assert registered[aten.linear.default][0][kernel] is _expand
            assert _state() == before
        finally:
            del aten.linear.default.py_kernels[kernel]


def test_an_exception_puts_them_back() -> None:
    before = _state()
    register = exported_program._override_composite_implicit_decomp
    for _ in range(2):
        with (
            pytest.raises(ValueError, match="within"),
            quick_composite_ops(),
            exported_program._override_composite_implicit_decomp(dict.fromkeys(_OPS, _keep)),
        ):
            raise ValueError("within")
        assert _state() == before
    assert exported_program._override_composite_implicit_decomp is register


_Table = dict[Any, Callable[..., Any]]


def _split(table: _Table) -> tuple[_Table, ...]:
    return exported_program._split_decomp_table_to_cia_and_python_decomp(dict(table))


_TABLES: tuple[_Table, ...] = (
    {},
    {aten.linear.default: _expand, aten.sin.default: _expand},
    {aten.linear.default: _keep, aten.sin.default: _expand},
)


def test_tables_are_split_as_pytorch_does() -> None:
    expected = [_split(table) for table in _TABLES]
    composite, others = expected[1]
    assert composite[aten.linear.default] is others[aten.sin.default] is _expand
    with quick_composite_ops():
        for table, split in [*zip(_TABLES, expected, strict=True)] * 2:
            for _ in range(2):
                assert _split(table) == split


def test_composite_ops_with_a_kernel_are_taken_apart_too() -> None:
    """PyTorch's own split gives their rules to a dispatch key that no call of them arrives at."""
    table: _Table = {aten.silu_backward.default: _expand, aten.linear.default: _expand}
    with quick_composite_ops():
        composite, others = _split(table)
    assert aten.silu_backward.default in others
    assert aten.silu_backward.default not in composite
    assert aten.linear.default in composite


@pytest.mark.parametrize("function", [functional.silu, functional.mish], ids=lambda f: f.__name__)
def test_gradients_of_composite_ops_with_a_kernel(
    function: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    def gradient(x: torch.Tensor) -> torch.Tensor:
        x = x.detach().requires_grad_()
        return torch.autograd.grad(function(x).sum(), x)[0]

    x = torch.randn(3, 5)
    program = plumbline.compile(make_fx(gradient)(x), (x,))
    (actual,) = program(x)
    torch.testing.assert_close(actual, gradient(x))


def test_what_becomes_of_a_part_does_not_come_back() -> None:
    with quick_composite_ops():
        composite, others = _split(_TABLES[1])
        assert _split(_TABLES[1]) == (composite, others)
        composite.clear()
        others.clear()
        composite, others = _split(_TABLES[1])
        assert aten.linear.default in composite
        assert aten.sin.default in others


def test_composite_ops_that_came_between_count() -> None:
    with quick_composite_ops():
        before, _ = _split({})
        torch.library.define("plumbline_test::twice", "(Tensor x) -> Tensor")
        torch.library.impl("plumbline_test::twice", "CompositeImplicitAutograd", lambda x: x + x)
        after, _ = _split({})
    assert after.keys() - before.keys() == {torch.ops.plumbline_test.twice.default}


def test_ops_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    ask = utils._is_preservable_cia_op

    def note(op: torch._ops.OperatorBase) -> Any:
        asked.append(op)
        return ask(op)

    monkeypatch.setattr(utils, ask.__name__, note)
    table = {aten.linear.default: lambda: None}
    counts = []
    with quick_composite_ops():
        for _ in range(2):
            _split(table)
            counts.append(len(asked))
    assert counts[1] == counts[0] > 0


def test_the_rules_of_an_export_are_those_of_the_one_before() -> None:
    # Else they would be split anew each time.
    assert decomposition_table() == decomposition_table()


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
