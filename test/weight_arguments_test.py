import re
import sys

import pytest

from plumbline.weight_arguments import symbol, weight_of


@pytest.mark.parametrize(
    "weight", ["layer.0.weight", "größe", "a b", "a@b", 'a"b', "a\\b", "a%20b", "日本", "linux"]
)
def test_any_name_of_a_weight_makes_a_symbol(weight: str) -> None:
    name = symbol("f", weight)
    assert re.fullmatch(r"[\w.%/~-]+", name, re.ASCII)
    assert weight_of(name) == weight


def test_readable_names_stay() -> None:
    assert symbol("f", "layer.0.weight") == "f.weight.layer.0.weight"


def test_other_symbols_are_no_weights() -> None:
    assert weight_of("f_checked.message0") is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
