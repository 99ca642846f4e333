import re
import sys

import pytest

from plumbline.signature.packed_layout import PackedLayout
from plumbline.signature.strided_layout import StridedLayout
from plumbline.signature.weight_arguments import EmbeddedWeight
from plumbline.signature.weight_layout import WeightLayout

_PACKED = PackedLayout((1, 0), 1, 64)
_VIEW = StridedLayout(3, (((2, 8), (4, 1)), ((2, -2),)))


@pytest.mark.parametrize(
    "layout",
    [None, WeightLayout(packed=_PACKED), WeightLayout(_VIEW), WeightLayout(_VIEW, _PACKED)],
)
@pytest.mark.parametrize(
    "weight", ["layer.0.weight", "größe", "a b", "a@b", 'a"b', "a\\b", "a%20b", "日本", "linux"]
)
def test_any_name_of_a_weight_makes_a_symbol(weight: str, layout: WeightLayout | None) -> None:
    embedded = EmbeddedWeight(weight, layout)
    symbol = embedded.symbol("f")
    assert re.fullmatch(r"[\w.%/~-]+", symbol, re.ASCII)
    assert EmbeddedWeight.of_symbol(symbol) == embedded


def test_readable_names_stay() -> None:
    assert EmbeddedWeight("layer.0.weight").symbol("f") == "f.weight.layer.0.weight"


def test_a_layout_stands_before_the_name() -> None:
    embedded = EmbeddedWeight("a.weight.b", WeightLayout(packed=PackedLayout((0, 1), 0, 16)))
    assert embedded.symbol("f") == "f.perm_0_1_pos_0_tile_16.weight.a.weight.b"


@pytest.mark.parametrize("symbol", ["f_checked.message0", "f.messages.weight.a"])
def test_other_symbols_are_no_weights(symbol: str) -> None:
    assert EmbeddedWeight.of_symbol(symbol) is None


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", *sys.argv[1:]]))
