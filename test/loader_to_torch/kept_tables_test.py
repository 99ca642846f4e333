"""Tables that a program computes at its first call and keeps: no trace's are left in a model."""

import functools
import sys
from collections.abc import Callable

import pytest
import torch
from torch.export import Dim

import plumbline
from plumbline.errors import UserError

_TABLES: dict[int, torch.Tensor] = {}
_TABLE: torch.Tensor | None = None


def _positions(count: int) -> torch.Tensor:
    return torch.arange(count).float().cos()


_kept_positions = functools.lru_cache(_positions)


class _Inner(torch.nn.Module):
    table: torch.Tensor


class _Model(torch.nn.Module):
    """Has a table in one way or another."""

    offset: torch.Tensor
    places: torch.Tensor | None

    def __init__(self, table: Callable[["_Model", int], torch.Tensor]) -> None:
        super().__init__()
        self.register_buffer("places", None, persistent=False)
        self.register_buffer("offset", torch.ones(1))
        self.inner = _Inner()
        self.holder = _Holder()
        self._table = table

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self._table(self, x.shape[-1]) + self.offset


class _Holder:
    def __init__(self) -> None:
        self.table: torch.Tensor | None = None
        self.tables: dict[int, torch.Tensor] = {}


def _as_a_buffer(model: _Model, count: int) -> torch.Tensor:
    if model.places is None:
        model.register_buffer("places", _positions(count), persistent=False)
    assert model.places is not None
    return model.places


def _as_a_new_buffer(model: _Model, count: int) -> torch.Tensor:
    if not hasattr(model.inner, "positions"):
        model.inner.register_buffer("positions", _positions(count), persistent=False)
    return model.inner.get_buffer("positions")


def _as_an_attribute(model: _Model, count: int) -> torch.Tensor:
    if not hasattr(model.inner, "table"):
        model.inner.table = _positions(count)
    return model.inner.table


def _in_an_object(model: _Model, count: int) -> torch.Tensor:
    if model.holder.table is None:
        model.holder.table = _positions(count)
    return model.holder.table


def _in_the_dict_of_an_object(model: _Model, count: int) -> torch.Tensor:
    return model.holder.tables.setdefault(count, _positions(count))


def _in_a_dict_of_the_file(_: _Model, count: int) -> torch.Tensor:
    if count not in _TABLES:
        _TABLES[count] = _positions(count)
    return _TABLES[count]


def _in_a_variable_of_the_file(_: _Model, count: int) -> torch.Tensor:
    global _TABLE
    if _TABLE is None:
        _TABLE = _positions(count)
    return _TABLE


def _in_a_cache(_: _Model, count: int) -> torch.Tensor:
    return _kept_positions(count)


_WAYS = (
    _as_a_buffer,
    _as_a_new_buffer,
    _as_an_attribute,
    _in_an_object,
    _in_the_dict_of_an_object,
    _in_a_dict_of_the_file,
    _in_a_variable_of_the_file,
    _in_a_cache,
)


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    global _TABLE
    _TABLE = None
    _TABLES.clear()
    _kept_positions.cache_clear()


@pytest.mark.parametrize("way", _WAYS)
def test_a_table_is_computed_by_the_program_and_by_the_model(
    way: Callable[[_Model, int], torch.Tensor],
) -> None:
    x = torch.randn(3, 5)
    expected = x * _positions(5) + 1
    model = _Model(way)
    for _ in range(2):
        program = plumbline.compile(model, (x,))
        torch.testing.assert_close(program(x)[0], expected)
    torch.testing.assert_close(model(x), expected)
    # It is there now, and is read.
    torch.testing.assert_close(plumbline.compile(model, (x,))(x)[0], expected)


def test_a_table_is_as_long_as_a_dynamic_size() -> None:
    model = _Model(_as_a_buffer)
    program = plumbline.compile(model, (torch.randn(3, 5),), {"x": {1: Dim("n")}})
    for count in (2, 5, 9):
        x = torch.randn(3, count)
        torch.testing.assert_close(program(x)[0], x * _positions(count) + 1)
    assert model.places is None


def test_a_table_is_taken_out_where_gradients_are_taken() -> None:
    class _Slope(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = _Model(_as_an_attribute)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                (slope,) = torch.autograd.grad(self.model(x).sin().sum(), x)
            return slope

    x = torch.randn(3, 5)
    slope = _Slope()
    program = plumbline.compile(slope, (x,))
    torch.testing.assert_close(program(x)[0], slope(x))


def test_a_table_is_taken_out_of_a_program_that_is_refused() -> None:
    class _Branches(_Model):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = super().forward(x)
            return y if y.sum() > 0 else -y

    model = _Branches(_as_an_attribute)
    with pytest.raises(UserError, match="depends on the values"):
        plumbline.compile(model, (torch.randn(3, 5),))
    assert not hasattr(model.inner, "table")


def test_what_a_model_holds_is_written_as_before() -> None:
    class _Counts(torch.nn.Module):
        count: torch.Tensor
        table: torch.Tensor | None

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(()))
            self.register_buffer("table", None)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.table is None:
                self.table = _positions(5)
            self.count = self.count + 1
            return x * self.table + self.count

    model = _Counts()
    x = torch.randn(3, 5)
    program = plumbline.compile(model, (x,), mutable=["count"])
    count = torch.zeros(())
    for step in (1, 2):
        torch.testing.assert_close(program(x, count)[0], x * _positions(5) + step)
    assert count == 2
    assert model.count == 0
    assert model.table is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
