import sys

import pytest

from plumbline.errors.unsupported_ops import UnsupportedOp, report


def _op(name: str, line: int, *, operands: str = "f32[2]", module: str = "") -> UnsupportedOp:
    return UnsupportedOp(name, operands, f"model.py:{line}", module, f"replace {name}")


def test_ops_of_one_name_and_types_are_one_group() -> None:
    ops = [
        _op("aten.foo", 1, module="layer.0"),
        _op("aten.bar", 2),
        _op("aten.foo", 1, module="layer.1"),
        _op("aten.foo", 3, operands="f64[2]"),
    ]

    assert (
        report(ops)
        == """\
  aten.foo(f32[2]): 2 places
    model.py:1, in module layer.0
    model.py:1, in module layer.1
    what would help: replace aten.foo
  aten.bar(f32[2]): 1 place
    model.py:2
    what would help: replace aten.bar
  aten.foo(f64[2]): 1 place
    model.py:3
    what would help: replace aten.foo"""
    )


@pytest.mark.parametrize(
    ("count", "last"),
    [(3, "    model.py:2"), (4, "    and 1 more place"), (9, "    and 6 more places")],
)
def test_a_long_list_is_cut(count: int, last: str) -> None:
    lines = report(_op("aten.foo", line) for line in range(count)).splitlines()

    assert lines[0] == f"  aten.foo(f32[2]): {count} places"
    assert lines[1:4] == [f"    model.py:{line}" for line in range(3)]
    assert lines[-2] == last
    assert len(lines) == 5 + (count > 3)
    assert lines[-1] == "    what would help: replace aten.foo"


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
