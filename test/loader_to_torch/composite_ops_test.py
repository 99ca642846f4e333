"""The rules that exports put at composite ops are PyTorch's, each time, and gone after."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._export import utils
from torch._subclasses.fake_impls import op_implementations_dict as fake_rules
from torch.export import exported_program

from plumbline.loader_to_torch.composite_ops import quick_composite_ops

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


def test_what_may_be_kept_is_what_pytorch_says() -> None:
    ops = [aten.linear.default, aten.add_.Tensor, aten.reshape.default, aten.sin.default]
    expected = [utils._check_valid_to_preserve(op) for op in ops]
    assert True in expected
    assert False in expected
    for _ in range(2):
        with quick_composite_ops():
            assert [utils._check_valid_to_preserve(op) for op in ops] == expected


def test_pytorch_asks_no_op_twice_whether_it_may_be_kept() -> None:
    misses = []
    for _ in range(2):
        with quick_composite_ops():
            exported_program._split_decomp_table_to_cia_and_python_decomp({})
            misses.append(utils._check_valid_to_preserve.cache_info().misses)  # type: ignore[attr-defined]
    assert misses[1] == misses[0] > 0


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
