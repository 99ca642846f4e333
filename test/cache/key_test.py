from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import plumbline
from plumbline.cache import key
from plumbline.cache.key import key_of


@pytest.fixture(autouse=True)
def _compilers_are_looked_at_anew() -> Iterator[None]:
    key._compiler.cache_clear()
    yield
    key._compiler.cache_clear()


def test_parts_are_told_apart() -> None:
    keys = [
        key_of("text", *parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ())
    ]
    assert len(set(keys)) == len(keys)
    assert key_of("text", "abc") != key_of("other", "abc")
    assert key_of("text", b"abc") == key_of("text", "abc")


def test_another_version_of_the_sources_has_other_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "plumbline"
    (package / "tcp").mkdir(parents=True)
    monkeypatch.setattr(plumbline, "__file__", str(package / "__init__.py"))

    def now() -> bytes:
        key._compiler.cache_clear()
        return key_of("text")

    # Without sources, nothing tells which version it is.
    assert now() != now()
    (package / "tcp/ops.py").write_text("TWO = 2\n")
    first = now()
    assert now() == first
    (package / "tcp/ops.py").write_text("TWO = 3\n")
    assert now() != first
    (package / "tcp/ops.py").write_text("TWO = 2\n")
    assert now() == first
    (package / "tcp/ops.py").rename(package / "ops.py")
    assert now() != first


def test_another_version_of_pytorch_has_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    first = key_of("text")
    key._compiler.cache_clear()
    monkeypatch.setattr(torch, "__version__", "2.0")
    assert key_of("text") != first


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__]))
